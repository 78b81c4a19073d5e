"""Plans of relations that a language model makes before it looks, followed in the graph (Reasoning on Graphs)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import shorten
from core.graph.algorithms.local import Local
from core.models.base import Messages
from core.models.chat.json_reply import json_reply
from core.models.chat.replies import BULLET
from core.operators.asking import asked
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.operators.retrieve.paths import CAP_HELP
from core.parameters import param
from core.prompts import messages
from core.types import Path, Ranking, State

Plan = tuple[str, ...]
ARROW = re.compile(r"->|→|,")  # between the relations of a plan


@dataclass(frozen=True, repr=False)
class RelationPlans(Operator):
    """The paths from the seeds whose relations are, step by step, those of one of at most `plans` plans.

    A language model that is trained for it, or any other, names chains of at most `hops` relations, held to those of the
    subgraph that lie nearest to the seeds; they are followed breadth-first inside the subgraph. Paths come plan by plan, within
    one by seed, then as found (Reasoning on Graphs, ICLR 2024: plans by three beams, followed in an undirected graph whose edge
    must bear the plan's relation; here one reply lists the plans, and parallel edges each give a path).

    A relation that is not in the list makes its plan unusable; a reply without any usable plan gives no path. Both are noted.

    >>> answers("EgoNetwork() >> RelationPlans()", "A", models=says('{"plans": [["r1", "r4"], ["r1", "r9"]]}'))
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
        assert state.subgraph is not None  # a line that lacks it is refused
        local = Local(ctx.graph, state.subgraph, self.direction)
        known = near_relations(local, state.seeds)[: self.shown]
        found: dict[Path, None] = {}
        for number, plan in enumerate(self._plans(state, ctx, recorder, known) if known else (), 1):
            paths = [
                path
                for seed in dict.fromkeys(state.seeds)
                for path in follow(local, seed, plan, self.cap, ctx)
            ]
            found |= dict.fromkeys(paths)
            recorder.notes.append(
                f"Plan {number}, {' → '.join(plan)}: {len(paths):,} path{'' if len(paths) == 1 else 's'}."
            )
        if len(found) > self.cap:
            recorder.notes.append(f"Of {len(found):,} paths the first {self.cap:,} were kept.")
        return state.replace(paths=Ranking("path", tuple(found)[: self.cap]))

    def _plans(
        self, state: State, ctx: Context, recorder: Recorder, known: Sequence[str]
    ) -> list[Plan]:
        ctx.watch.report("Planning which relations to follow")
        prompt_messages = prompt(
            state.question.text, ctx.graph.names(state.seeds), known, self.plans, self.hops
        )
        longest = 24 + self.plans * self.hops * (4 + max(map(len, known)) // 2)
        reply = asked(
            ctx.models.chat(self.role),
            prompt_messages,
            ctx,
            recorder,
            longest,
            schema=schema(known, self.plans, self.hops),
        )
        plans, notes = parse(reply.text, known)
        recorder.notes += notes
        return [plan[: self.hops] for plan in plans][: self.plans]

    def words(self) -> str:
        return f"{self.plans} plans of up to {self.hops} relations"


def prompt(
    question: str, entities: Sequence[str], known: Sequence[str], plans: int, hops: int
) -> Messages:
    """What the model that plans is told: the known relations, one a line, the question and its entities."""
    values = dict(question=question, entities=", ".join(entities), k=str(plans), hops=str(hops))
    return messages("relations", "plans", relations="\n".join(known), **values)


def near_relations(local, seeds: Sequence[int]) -> list[str]:
    """The relations of a subgraph by (hops of their nearest edge from a seed, -edges, name); those out of reach last."""
    depth = {place: 0 for seed in seeds if (place := local.place(seed)) >= 0}
    level, hop = list(depth), 0
    while level:
        hop += 1
        level = [
            near
            for place in level
            for near, _, _ in local.lists[place]
            if depth.setdefault(near, hop) == hop
        ]
        level = list(dict.fromkeys(level))
    sources = np.repeat(np.arange(len(local)), np.diff(local.indptr))
    far = len(local) + 1
    found: dict[int, tuple[int, int]] = {}
    for edge, source in zip(local.edges.tolist(), sources.tolist()):
        relation = local.relation_of[edge]
        nearest, count = found.get(relation, (far, 0))
        found[relation] = (min(nearest, depth.get(source, far)), count + 1)
    names = local.graph.relation_names
    return [names[r] for r in sorted(found, key=lambda r: (found[r][0], -found[r][1], names[r]))]


def schema(known: Sequence[str], plans: int, hops: int) -> dict[str, Any]:
    """The JSON schema of a reply: at most `plans` chains of 1 to `hops` of the known relations."""
    plan = {
        "type": "array",
        "minItems": 1,
        "maxItems": hops,
        "items": {"type": "string", "enum": list(known)},
    }
    listed = {"type": "array", "maxItems": plans, "items": plan}
    return {
        "type": "object",
        "properties": {"plans": listed},
        "required": ["plans"],
        "additionalProperties": False,
    }


def parse(reply: str, known: Sequence[str]) -> tuple[list[Plan], list[str]]:
    """The different plans that a reply names, in its order, and notes on what could not be used.

    Read as JSON, else line by line with the relations between arrows or commas. A suffix _reverse is passed over, as a step
    may follow its relation either way.
    """
    found = json_reply(reply, ("plans",))
    if found is not None and isinstance(found.value["plans"], list):
        plans = [tuple(map(str, plan)) for plan in found.value["plans"] if isinstance(plan, list)]
    else:
        lines = [BULLET.sub("", line) for line in reply.splitlines()]
        plans = [tuple(filter(None, map(str.strip, ARROW.split(line)))) for line in lines]
    plain = [
        tuple(name.removesuffix("_reverse") if name not in known else name for name in plan)
        for plan in plans
        if plan
    ]
    usable = list(dict.fromkeys(plan for plan in plain if set(plan) <= set(known)))
    if not usable:
        return [], [
            f"The model's reply (“{shorten(reply)}”) holds no plan of known relations, so none was followed."
        ]
    unusable = len([plan for plan in plain if not set(plan) <= set(known)])
    return usable, [
        f"{unusable} of {len(plain)} plans name unknown relations and were dropped."
    ] if unusable else []


def follow(local, seed: int, plan: Plan, cap: int, ctx: Context) -> list[Path]:
    """The paths from `seed` along the relations of `plan`, breadth-first; never more than `cap` + 1 at a time."""
    if seed not in local.subgraph:
        return []
    names, relation_of, level = local.graph.relation_names, local.relation_of, [Path((seed,))]
    for relation in plan:
        ctx.watch.check()
        longer: list[Path] = []
        for path in level:
            for near, edge, forward in local.lists[local.place(path.end)]:
                if names[relation_of[edge]] == relation and len(longer) <= cap:
                    longer.append(path.extended(int(local.nodes[near]), edge, forward))
        level = longer
    return level
