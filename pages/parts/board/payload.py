"""A comparison as the board draws it: lanes, one shared layout, paths and their fates."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from core.comparison.endings import ending
from core.comparison.timing import cost as method_seconds
from core.comparison.timing import spans
from core.datasets.relations import relation_words
from core.datasets.wording import table_of
from core.diagnosis.evidence import evidence
from core.diagnosis.funnel import STAGES, funnel, right
from core.diagnosis.measure import by_model, lane_by_model
from core.diagnosis.missed_answers import lost_paths, read_paths
from core.diagnosis.verdict_words import Verdict, explain
from core.engine import Comparison, Lane
from core.instances.catalogue import Instance
from core.operators import OPERATORS
from core.parameters import parameters
from core.results import answer_fault, prompt_dict, thought
from core.runtime.jobs import CANCELLED, DONE, FAILED
from core.runtime.meter import HowFar
from core.types import State, Step
from pages.parts.board.paths import Paths, counts, seen
from pages.parts.board.picture import Picture, answer_nodes
from pages.parts.board.text_fates import hit_fates
from pages.parts.board.text_hits import hits_of, tables
from pages.parts.board.verdict import repair_data, repair_offered, stage_data, tone_of, verdict_data


class Board:
    """Makes the payload of one comparison; keeps the layout while the retrieved lanes stay the same."""

    def __init__(self, comparison: Comparison):
        self._comparison = comparison
        self._ready: tuple | None = None
        self._shared: dict[str, Any] = {}
        self._rests: dict[int, tuple[tuple, list[dict[str, Any]]]] = {}  # of each lane: what it was made from, and evidence
        self._paths = Paths(comparison, lambda graph, path: (list(path.nodes), list(path.edges)))
        self._words = table_of(comparison.graph.name)
        self._picture = Picture(comparison, self._words)
        self._explained: tuple[tuple, Verdict] | None = None

    def payload(self) -> dict[str, Any]:
        """The board's data as of now."""
        comparison = self._comparison
        statuses = [lane.status for lane in comparison.lanes]  # read first: a lane that is done by now is then drawn as done
        verdict = self._verdict(statuses)
        come = tuple(len(lane.states) if lane.retrieved else 0 for lane in comparison.lanes)
        ready = (by_model(comparison), verdict.named, come)
        if ready != self._ready:
            self._shared, self._ready = self._draw(verdict.named), ready
        shared = self._shared
        lanes = [self._lane(i, lane, status, shared) for i, (lane, status) in enumerate(zip(comparison.lanes, statuses))]
        for lane, one, drawn in zip(comparison.lanes, verdict.lanes, lanes):
            drawn["verdict_text"] = None if one is None else {"stage": one.stage, "head": one.head, "text": one.text, "tone": tone_of(one)}
            drawn["repair"] = repair_offered(comparison, lane)
        return {
            "question": comparison.ask.question.text,
            "verdict": {"text": verdict.text, "repair": repair_data(comparison)} if verdict.text else None,
            "lanes": lanes,
            "evidence": {drawn["id"]: self._evidence(lane, shared) for drawn, lane in zip(lanes, comparison.lanes) if lane.retrieved},
            "layout": shared["layout"],
            "paths": shared["paths"],
            "fates": shared["fates"],
        }

    def _verdict(self, statuses: list[str]) -> Verdict:
        """The sentences as of now, made anew when a lane has come further."""
        ended = (DONE, FAILED, CANCELLED)
        now = tuple((s in ended, lane.retrieved and len(lane.states)) for s, lane in zip(statuses, self._comparison.lanes))
        if self._explained is None or self._explained[0] != now:
            self._explained = (now, explain(self._comparison))
        return self._explained[1]

    def _evidence(self, lane: Lane, shared: dict[str, Any]) -> list[dict[str, Any]]:
        """What the words of a lane's answers rest on; of the paths only those that the board knows."""
        keys, answer = shared["keys"], lane.answer or lane.state.answer or ""
        now = (len(lane.states), answer, id(keys))
        if self._rests.get(id(lane), (None,))[0] != now:
            found = evidence(self._comparison.graph, lane.state, answer)
            known = lambda paths: [keys[path] for path in paths if path in keys]
            rest = [{"text": e.text, "node": e.node, "paths": known(e.paths), "prompt": list(e.lines)} for e in found]
            self._rests[id(lane)] = (now, rest)
        return self._rests[id(lane)][1]

    def _draw(self, named: Sequence[str]) -> dict[str, Any]:
        """Everything that depends on what was retrieved: the paths to show, the nodes to draw, their places, the fates. The answers that
        are `named` come first among those that were lost, and are drawn in any case."""
        comparison = self._comparison
        models = [lane_by_model(comparison, lane) for lane in comparison.lanes]
        lost = lost_paths(comparison.graph, [_states(lane) for lane in comparison.lanes], comparison.ask.question.answers, models)
        drawn = self._paths.draw([sorted(gone, key=lambda one: one[0] not in named) for gone in lost], models)
        ranked = [tables(lane, (), dict(lane.state.prompt.hits) if lane.state.prompt else {}) for lane in comparison.lanes]
        hits = _hits(comparison)
        layout = self._picture.layout(list(drawn.walked.values()), drawn.of(drawn.best), drawn.of(drawn.missed), named, hits.values())
        return {
            "keys": {path: key for key, path in drawn.walked.items()},
            "best": [part or [] for part in drawn.best],
            "missed": drawn.missed,
            "stories": drawn.stories,
            "layout": layout,
            "drawn": [node["id"] for node in layout["nodes"]],
            "ranked": [part or None for part in ranked],
            "hits": hits,
            "paths": {**drawn.paths, **hits},
            "fates": {**drawn.fates, **hit_fates(comparison.lanes, ())},
        }

    def _lane(self, i: int, lane: Lane, status: str, shared: dict[str, Any]) -> dict[str, Any]:
        graph, state = self._comparison.graph, seen(self._comparison, lane)
        subgraph = state.subgraph
        answers = self._comparison.ask.question.answers
        model = lane_by_model(self._comparison, lane)
        stages = {s.name: stage_data(s) for s in funnel(graph, state, answers, model)}
        empty = {"alive": None, "of": None, "lost": [], "aside": False}  # not reached yet, or not a stage of this line
        prompt = prompt_dict(state)
        own = [shared["hits"][hit.key] for hit in hits_of(lane)]
        nodes, edges = ({one for hit in own for one in hit[what]} for what in ("nodes", "edges"))
        drawn = [node for node in shared["drawn"] if node in nodes or (subgraph is not None and node in subgraph)]
        within = lambda edge: edge in edges or (subgraph is not None and subgraph.has_edge(edge))
        return {
            **({"hits": shared["ranked"][i]} if shared["ranked"][i] else {}),
            "id": f"lane-{i}",
            "title": lane.instance.label,
            "number": lane.instance.number_in_heading,
            "subtitle": lane.instance.line.words(),
            "status": status,
            "status_text": ending(lane) or lane.text,
            "retrieved": lane.retrieved,
            "error": lane.error,
            "reader": None if state.reader is None else graph.names(state.reader),
            "answer": lane.answer or state.answer,
            "answer_fault": answer_fault(state),
            "thought": thought(state),
            "model": answerer(self._comparison, lane),
            "verdict": verdict_data(right(graph, state, answers, reader=False), answers),
            "reader_verdict": verdict_data(right(graph, state, answers, reader=True), answers),
            "funnel": [stages.get(name, {"stage": name, **empty}) for name in STAGES] if stages else None,
            "drawn": None if subgraph is None else {"nodes": len(drawn), "of": len(subgraph.nodes)},
            "alive": None if state.paths is None else self._alive(state, model),
            "nodes": drawn,
            "edges": [edge["id"] for edge in shared["layout"]["edges"] if within(edge["id"])],
            "paths": shared["best"][i],
            "found": counts(state),
            "lost": shared["missed"][i],
            "stories": shared["stories"][i],
            "cost": cost(state.trace),
            "spans": [dataclasses.asdict(span) for span in spans(lane)],
            "progress": None if lane.progress is None else _progress(graph, lane.progress),
            "operators": [operator_row(step) for step in state.trace],
            "prompt": prompt["messages"],
            "prompt_tokens": prompt["prompt_tokens"],
        }

    def _alive(self, state: State, by_model: bool) -> list[int]:
        """The known answers on a path that is read: by the language model in its prompt, or by the graph reader."""
        answers = answer_nodes(self._comparison)
        return sorted(answers.intersection(node for path in read_paths(state, by_model) for node in path.nodes))


def answerer(comparison: Comparison, lane: Lane) -> str | None:
    """The title of the model that answers in a lane; None where none does."""
    role = next((o.role for o in lane.instance.line if o.stage == "generate"), None)
    return lane.run.environment.models.title(role) if role and comparison.ask.model else None


def idle(instances: Iterable[Instance], documents: bool = False) -> dict[str, Any]:
    """The board's data before anything was asked: the lanes' methods alone; with `documents` of lanes that show hits."""
    more = {"hits": None, "paths": None} if documents else {}
    lanes = [
        {"id": f"lane-{i}", "title": one.label, "number": one.number_in_heading, "subtitle": one.line.words(), "status": "idle", **more}
        for i, one in enumerate(instances)
    ]
    return {"question": "", "documents": documents, "lanes": lanes, "layout": {"nodes": [], "edges": []}, "paths": {}, "fates": {}}


def _hits(comparison: Comparison) -> dict[str, dict[str, Any]]:
    """The nodes and relations that lanes rank, by key, as the board knows paths: of a relation both ends and what joins them."""
    found = {}
    for hit in (hit for lane in comparison.lanes for hit in hits_of(lane)):
        nodes, edges = [hit.item], list[int]()
        if hit.kind == "triple":
            heads, _, tails = comparison.graph.triples([hit.item])
            nodes, edges = [int(heads[0]), int(tails[0])], [hit.item]
        found[hit.key] = {"nodes": nodes, "edges": edges, "forward": [], "steps": [hit.key], "words": []}
    return found


def _states(lane: Lane) -> tuple[State, ...]:
    return lane.states if lane.retrieved else ()


def cost(trace: Iterable[Step]) -> str:
    """What a run cost, in a few words: `0.9 s · 948 texts scored · 612 + 14 tokens`."""
    trace = list(trace)
    parts = [f"{method_seconds(trace):.2f} s"] if trace else []
    texts = sum(step.usage.texts for step in trace)
    tokens_in, tokens_out = sum(s.usage.tokens_in for s in trace), sum(s.usage.tokens_out for s in trace)
    parts += [f"{texts:,} text{'s' * (texts != 1)} scored"] if texts else []
    parts += [f"{tokens_in:,} + {tokens_out:,} token{'s' * (tokens_out != 1)}"] if tokens_in + tokens_out else []
    return " · ".join(parts)


def operator_row(step: Step) -> dict[str, Any]:
    """A row of the table of steps."""
    cls = OPERATORS[step.operator]
    changed = [f"{p.label.lower()} {step.parameters[p.name]}" for p in parameters(cls) if p.name in step.parameters]
    usage = step.usage
    return {
        "label": step.operator,
        "detail": " · ".join(changed),
        "seconds": step.seconds,
        "calls": usage.calls,
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "texts": usage.texts,
        "sizes": dict(step.sizes),
        "notes": list(step.notes),
    }


def _progress(graph, how: HowFar) -> dict[str, Any]:
    """How far a lane at work is; its best path so far with the relations in words."""
    best, table = how.best, table_of(graph.name)
    for name in graph.relation_names if best and " -> " in best else ():
        for printed, forward in ((f" -> {name} -> ", True), (f" -> {name}_reverse -> ", False)):
            best = best.replace(printed, f" {relation_words(name, forward, table)} ")
    return {**dataclasses.asdict(how), "best": best}
