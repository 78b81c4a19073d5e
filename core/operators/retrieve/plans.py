"""Path retrieval by relation plans that a language model writes (Reasoning on Graphs).

A plan is a sequence of relations from a question entity towards the answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import shorten
from core.graph.algorithms.local_adjacency import LocalAdjacency
from core.models.base import Messages
from core.models.chat.json_reply import json_reply
from core.models.chat.token_estimates import LIST_ITEM_MARK
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.operators.model_replies import request_reply
from core.operators.retrieve.paths import CAP_HELP
from core.parameters import param
from core.prompts import make_messages
from core.types import Path, Ranking, State

Plan = tuple[str, ...]  # names of relations
ARROW_PATTERN = re.compile(r"->|→|,")  # separates the relations of a plan


@dataclass(frozen=True, repr=False)
class RelationPlans(Operator):
    """The paths from the seeds along the relations of at most `plans` plans.

    A language model, preferably one trained for this, names chains of at most `hops` relations. It
    may use only the relations of the subgraph that are nearest to the seeds. The chains are
    followed breadth-first inside the subgraph. Paths are ordered by plan, then by seed, then as
    found.

    Reasoning on Graphs (ICLR 2024) makes plans by three beams and follows them in an undirected
    graph whose edge must have the plan's relation. In this operator one reply lists the plans, and
    each of parallel edges gives a path.

    A plan with a relation that is not in the list is dropped. A reply without any usable plan gives
    no path. A note reports either case.

    >>> planned = says('{"plans": [["r1", "r4"], ["r1", "r9"]]}')
    >>> answers("EgoNetwork() >> RelationPlans()", "A", models=planned)
    ['A -> r1 -> C -> r4 -> D']
    """

    stage = "retrieve"
    title = "relation plans"
    plain = "follows {plans} plans of relations that the language model writes"
    reads, writes = ("seeds", "subgraph"), ("paths",)

    plans: int = param(
        3, "Plans", "How many chains of relations the language model may propose.", low=1, high=32
    )
    hops: int = param(3, "Hops", "Longest plan.", low=1, high=8)
    role: str = param(
        "choose", "Language model", "The role or name of the chat model that plans.", chat=True
    )
    shown: int = param(
        64,
        "Relations shown",
        "The relations nearest to the seeds, of those the most frequent.",
        low=1,
        high=1000,
    )
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)
    cap: int = param(10_000, "Cap", CAP_HELP, low=1, high=1_000_000)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.subgraph is not None
        local = LocalAdjacency(ctx.graph, state.subgraph, self.direction)
        relations = near_relations(local, state.seeds)[: self.shown]
        plans = self._request_plans(state, ctx, recorder, relations) if relations else []
        all_paths: dict[Path, None] = {}
        for number, plan in enumerate(plans, 1):
            paths: list[Path] = []
            for seed in dict.fromkeys(state.seeds):
                paths += follow_plan(local, seed, plan, self.cap, ctx)
            all_paths |= dict.fromkeys(paths)
            recorder.notes.append(
                f"Plan {number}, {' → '.join(plan)}: "
                f"{len(paths):,} path{'' if len(paths) == 1 else 's'}."
            )
        if len(all_paths) > self.cap:
            recorder.notes.append(f"Of {len(all_paths):,} paths the first {self.cap:,} were kept.")
        return state.replace(paths=Ranking("path", tuple(all_paths)[: self.cap]))

    def _request_plans(
        self, state: State, ctx: Context, recorder: Recorder, relations: Sequence[str]
    ) -> list[Plan]:
        """Return at most `plans` different plans of known relations, as the model lists them."""
        ctx.watch.report("Planning which relations to follow")
        messages = plan_prompt(
            state.question.text, ctx.graph.names(state.seeds), relations, self.plans, self.hops
        )
        # about two characters a token, 4 tokens of JSON around each name, and 24 around the list
        relation_tokens = 4 + max(map(len, relations)) // 2
        reply = request_reply(
            ctx.models.chat(self.role),
            messages,
            ctx,
            recorder,
            24 + self.plans * self.hops * relation_tokens,
            schema=plan_schema(relations, self.plans, self.hops),
        )
        plans, notes = parse_plans(reply.text, relations)
        recorder.notes += notes
        return [plan[: self.hops] for plan in plans][: self.plans]

    def words(self) -> str:
        return f"{self.plans} plans of up to {self.hops} relations"


def plan_prompt(
    question: str, entities: Sequence[str], relations: Sequence[str], plans: int, hops: int
) -> Messages:
    """Return the planning prompt with the known relations, the question and its entities."""
    values = dict(question=question, entities=", ".join(entities), k=str(plans), hops=str(hops))
    return make_messages("relations", "plans", relations="\n".join(relations), **values)


def near_relations(local, seeds: Sequence[int]) -> list[str]:
    """Return the relations of a subgraph by their distance from the seeds.

    They are ordered by (hops from a seed to the nearest edge, -number of edges, name). Relations
    that no path from a seed reaches come last. `local` is the subgraph as adjacency lists.
    """
    distances = {local.local_id(seed): 0 for seed in seeds if local.local_id(seed) >= 0}
    level = list(distances)
    while level:
        next_level: dict[int, None] = {}
        for node in level:
            for neighbour, _, _ in local.step_lists[node]:
                if neighbour not in distances:
                    next_level[neighbour] = None
        distance = distances[level[0]] + 1
        distances |= dict.fromkeys(next_level, distance)
        level = list(next_level)
    sources = np.repeat(np.arange(len(local)), np.diff(local.indptr))
    farthest = len(local) + 1  # more than any path has
    nearest: dict[int, int] = {}
    counts: Counter[int] = Counter()
    for edge, source in zip(local.edges.tolist(), sources.tolist()):
        relation = local.relation_of[edge]
        distance = distances.get(source, farthest)
        nearest[relation] = min(nearest.get(relation, farthest), distance)
        counts[relation] += 1
    names = local.graph.relation_names
    order = sorted(nearest, key=lambda r: (nearest[r], -counts[r], names[r]))
    return [names[relation] for relation in order]


def plan_schema(relations: Sequence[str], plans: int, hops: int) -> dict[str, Any]:
    """Return the JSON schema of a reply: at most `plans` chains of 1 to `hops` relations."""
    plan = {
        "type": "array",
        "minItems": 1,
        "maxItems": hops,
        "items": {"type": "string", "enum": list(relations)},
    }
    plan_list = {"type": "array", "maxItems": plans, "items": plan}
    return {
        "type": "object",
        "properties": {"plans": plan_list},
        "required": ["plans"],
        "additionalProperties": False,
    }


def parse_plans(reply: str, relations: Sequence[str]) -> tuple[list[Plan], list[str]]:
    """Return the different plans in a reply, and notes on unusable ones.

    The reply is read as JSON, else line by line with arrows or commas between relations. A suffix
    _reverse is ignored, as a step may follow its relation in either direction.
    """
    known_names = set(relations)
    plans = [_drop_suffixes(plan, known_names) for plan in _read_plans(reply) if plan]
    usable = [plan for plan in plans if known_names.issuperset(plan)]
    if not usable:
        return [], [
            f"The model's reply (“{shorten(reply)}”) holds no plan of known relations, so none was "
            "followed."
        ]
    notes = []
    n_unusable = len(plans) - len(usable)
    if n_unusable:
        notes.append(f"{n_unusable} of {len(plans)} plans name unknown relations and were dropped.")
    return list(dict.fromkeys(usable)), notes


def _read_plans(reply: str) -> list[Plan]:
    """Return the plans in a reply, some of which may be empty.

    They are read from its JSON, else from its lines.
    """
    parsed = json_reply(reply, ("plans",))
    if parsed is not None and isinstance(parsed.value["plans"], list):
        return [tuple(map(str, plan)) for plan in parsed.value["plans"] if isinstance(plan, list)]
    lines = [LIST_ITEM_MARK.sub("", line) for line in reply.splitlines()]
    return [tuple(filter(None, map(str.strip, ARROW_PATTERN.split(line)))) for line in lines]


def _drop_suffixes(plan: Plan, names: set[str]) -> Plan:
    """Return a plan without the suffix _reverse.

    The suffix stays at names that are known with it.
    """
    return tuple(name if name in names else name.removesuffix("_reverse") for name in plan)


def follow_plan(local, seed: int, plan: Plan, cap: int, ctx: Context) -> list[Path]:
    """Return the paths from `seed` along the relations of `plan`, breadth-first.

    At most `cap` + 1 paths of each length are followed: one more than is kept shows that there are
    more.
    """
    if seed not in local.subgraph:
        return []
    names = local.graph.relation_names
    paths = [Path((seed,))]
    for relation in plan:
        ctx.watch.check()
        longer: list[Path] = []
        for path in paths:
            for neighbour, edge, forward in local.step_lists[local.local_id(path.end)]:
                if names[local.relation_of[edge]] == relation and len(longer) <= cap:
                    longer.append(path.extended(int(local.nodes[neighbour]), edge, forward))
        paths = longer
    return paths
