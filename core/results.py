"""Comparisons as plain data for JSON.

Examples are downloads and output of the command line. The keys are described in the file
results.schema.json.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from core.comparison.build_title import build_title
from core.comparison.lane import MethodComparison, MethodLane
from core.comparison.lane_run import build_of
from core.diagnosis.causes import Cause, Fate
from core.diagnosis.funnel import funnel
from core.diagnosis.influence import influence_text
from core.diagnosis.measure import lane_counts_by_model
from core.diagnosis.passages import fates, gold_rows
from core.diagnosis.prompt_items import item_at
from core.diagnosis.reading import context_label, lane_reading_text
from core.diagnosis.targets import answers_of, passages_of
from core.graph.texts import chunk_lists, chunk_nodes, hit_names, hit_texts
from core.operators.generate import estimate_prompt_tokens
from core.types import Influence, Ranking, State, Step

MAX_COMMUNITY_MEMBERS = 30  # members named for each community hit


def comparison_dict(comparison: MethodComparison) -> dict[str, Any]:
    """Return a comparison as values that JSON can hold.

    The keys are `question`, `entities`, `answers`, `graph`, `seed` and `lanes`. Some keys appear
    only if they apply:

    - `corpus` and `gold` (the documents that the answer rests on) for a question to a corpus,
    - `aliases` (groups of names, one group an answer) if the question has any,
    - `edits` (what was removed from the graph or corpus, merged or renamed) if there are any.
    """
    comparison = comparison.snapshot
    question, source = comparison.ask.question, comparison.ask.source
    fields: dict[str, Any] = {
        "question": question.text,
        "entities": list(question.entities),
        "answers": list(question.answers),
        "graph": source.graph.name,
        "seed": comparison.ask.seed,
    }
    if source.is_corpus:
        fields |= {"corpus": source.name, "gold": list(question.gold)}
    if question.aliases:
        fields["aliases"] = [list(names) for names in question.aliases]
    if source.edits:
        fields["edits"] = [edit.description for edit in source.edits]
    fields["lanes"] = [
        lane_dict(lane, lane_counts_by_model(comparison, lane)) for lane in comparison.lanes
    ]
    return fields


def method_row_dict(row: Any) -> dict[str, Any]:
    """Return a dataclass about a method as values that JSON can hold.

    The method is under the key `instance`, as in `lane_dict`.
    """
    return dataclasses.asdict(row, dict_factory=_with_json_names)


def _with_json_names(items: list[tuple[str, Any]]) -> dict[str, Any]:
    return {"instance" if name == "method" else name: value for name, value in items}


def lane_dict(lane: MethodLane, by_model: bool) -> dict[str, Any]:
    """Return a lane as values that JSON can hold.

    A value is null if the method has no such output or nothing is known about it. `partly` is how
    much of the searched data was available. `answer_fault` is the reason why the model's answer is
    blank or cut. `beside` compares the answer with the one before the graph was edited. The funnel
    counts the language model's answer if `by_model` is true, and the reader's otherwise. `reading`
    is there only if the reader was asked again.
    """
    graph = lane.graph
    state = lane.state
    reading = {} if lane.reading is None else {"reading": reading_dict(lane)}
    return {
        "instance": lane.method.id,
        "line": repr(lane.line),
        "graph": {**graph_dict(lane), "title": build_title(lane) or None},
        "status": lane.status,
        "partly": state.partly or None,
        "answer": state.answer,
        "answer_fault": answer_fault(state) or None,
        "thought": answer_thoughts(state) or None,
        "reader_answers": None if state.reader is None else graph.names(state.reader),
        "paths": paths_list(graph, state),
        "hits": hits_dict(graph, state, lane.ask.question.gold),
        "excerpt": excerpt_dict(graph, state),
        "points": points_list(graph, state),
        "reports": None
        if state.reports is None
        else [dataclasses.asdict(report) for report in state.reports],
        "subgraph": None
        if state.subgraph is None
        else {"nodes": len(state.subgraph.nodes), "edges": len(state.subgraph.edges)},
        "funnel": funnel_dict(lane, by_model),
        "gold": gold_dict(lane),
        "beside": None if lane.beside is None else dataclasses.asdict(lane.beside),
        "influence": [influence_dict(lane, influence) for influence in lane.influences],
        **reading,
        **prompt_dict(state),
        "operators": [step_dict(step) for step in state.trace],
        "error": lane.error,
    }


def graph_dict(lane: MethodLane) -> dict[str, Any]:
    """Return name, build and size of a lane's graph.

    `build` is null on a graph of triples. `nodes` and `edges` are the counts of the whole graph.
    """
    graph = lane.graph
    # An excerpt knows the counts of the whole graph; for all others they are its own.
    nodes, edges = getattr(graph, "original_counts", (graph.n_nodes, graph.n_edges))[:2]
    return {"name": graph.name, "build": build_of(lane.line), "nodes": nodes, "edges": edges}


def paths_list(graph, state: State) -> list[dict[str, Any]]:
    """Return the paths of a state, best first.

    The keys of a path are `text`, `score`, `nodes`, `relations` and `forward`. The score is null
    if the order of the paths has no scores.
    """
    if state.paths is None:
        return []
    return [
        {
            "text": text,
            "score": state.paths.score(i),
            "nodes": graph.names(path.nodes),
            "relations": [graph.relation_name(edge) for edge in path.edges],
            "forward": list(path.forward),
        }
        for i, (path, text) in enumerate(zip(state.paths.items, graph.texts(state.paths.items)))
    ]


def funnel_dict(lane: MethodLane, by_model: bool) -> dict[str, list[str] | None] | None:
    """Return the correct answers that are still present after each stage of a lane.

    A stage that the method does not have is null. The result is null if no answer is known.
    """
    source = lane.ask.source
    answers = answers_of(lane.ask.question)
    stages = funnel(source, lane.graph, lane.state, answers, by_model, lane.saved_alive)
    alive = {stage.name: list(stage.alive) for stage in stages}
    return {name: alive.get(name) for name in source.stages} if stages else None


def gold_dict(lane: MethodLane) -> dict[str, Any] | None:
    """Return the evidence passages still present after each stage, and the `fates` of all.

    The result is null if no evidence passage is known.
    """
    question, source = lane.ask.question, lane.ask.source
    gold = passages_of(question)
    if not gold:
        return None
    stages = funnel(source, lane.graph, lane.state, gold, saved_alive=lane.saved_alive)
    alive = {stage.name: list(stage.alive) for stage in stages}
    return {
        "alive": {name: alive.get(name) for name in source.stages[:-1]},
        "fates": [
            _fate_dict(fate, lane.state) for fate in fates(lane.graph, lane.states, question.gold)
        ],
    }


def _fate_dict(fate: Fate, state: State) -> dict[str, Any]:
    is_cut = fate.step is not None and fate.cause is not Cause.NO_ROOM
    return {
        "document": fate.document,
        "chunk": fate.chunk,
        "place": fate.rank,
        "of": fate.n_candidates or 0,
        "cut_by": fate.step.operator if fate.step is not None and is_cut else "",
        "shown": fate.cause is Cause.FOUND and state.prompt is not None,
    }


def hits_dict(graph, state: State, gold: tuple[str, ...] = ()) -> dict[str, list[dict[str, Any]]]:
    """Return the hits by kind (chunk, node, relation, community), best first.

    The keys of a hit are `id`, `score`, `text` and `source`. A chunk, or a node made from one, also
    has the key `gold`, which is true for evidence. `source` lists the origin of the hit: for a
    chunk its document, title and place, for an entity or a relation the chunks that mention it, and
    for a community its first members.
    """
    rows = gold_rows(graph, gold)
    return {
        "relation" if hits.kind == "triple" else hits.kind: _hit_dicts(graph, hits, rows)
        for hits in state.hits
    }


def _hit_dicts(graph, hits: Ranking, gold: frozenset[int]) -> list[dict[str, Any]]:
    if hits.kind == "node":
        chunk_of_item = chunk_nodes(graph, hits.items)
    elif hits.kind == "chunk":
        chunk_of_item = dict(zip(hits.items, hits.items))
    else:
        chunk_of_item = {}
    rows = zip(
        hits.items,
        hit_names(graph, hits.kind, hits.items),
        hit_texts(graph, hits.kind, hits.items),
        _hit_sources(graph, hits),
    )
    hit_dicts = []
    for index, (item, name, text, source) in enumerate(rows):
        hit_dict = {"id": name, "score": hits.score(index), "text": text, "source": source}
        if item in chunk_of_item:
            hit_dict["gold"] = chunk_of_item[item] in gold
        hit_dicts.append(hit_dict)
    return hit_dicts


def _hit_sources(graph, hits: Ranking) -> list[list[str]]:
    if hits.kind in ("node", "triple"):
        chunks = chunk_lists(graph, "nodes" if hits.kind == "node" else "edges", hits.items)
        return [hit_names(graph, "chunk", rows) for rows in chunks]
    table = graph.columns.communities if hits.kind == "community" else graph.columns.chunks
    if table is None:  # a graph without the table has no such hits
        return []
    if hits.kind == "community":
        members = table.id_lists("members")
        return [graph.names(members[row][:MAX_COMMUNITY_MEMBERS]) for row in hits.items]
    columns = ("document", "title", "place")
    return [list(filter(None, (table.text(name, row) for name in columns))) for row in hits.items]


def excerpt_dict(graph, state: State) -> dict[str, Any] | None:
    """Return the sentence nearest to the question.

    The result is null if a language model was asked. The keys are `text`, `chunk` and `score`.
    """
    excerpt = state.excerpt
    if excerpt is None:
        return None
    return {
        "text": excerpt.text,
        "chunk": hit_names(graph, "chunk", [excerpt.chunk])[0],
        "score": excerpt.score,
    }


def prompt_dict(state: State) -> dict[str, Any]:
    """Return the prompt of a state and the counts of its contents.

    `prompt` is one text and `messages` are the messages that were sent. `prompt_paths` and
    `prompt_hits` count the paths and hits that are shown. `prompt_tokens` is estimated if no model
    counted the tokens. `prompt_source` names the paper whose prompt is followed, or says that a
    person wrote the prompt.
    """
    if state.prompt is None:
        return {
            "prompt": None,
            "messages": None,
            "prompt_paths": None,
            "prompt_hits": None,
            "prompt_tokens": None,
            "prompt_source": "",
        }
    messages = [dict(message) for message in state.prompt.messages]
    tokens = state.prompt.tokens
    return {
        "prompt": "\n\n".join(f"{message['role']}:\n{message['content']}" for message in messages),
        "messages": messages,
        "prompt_paths": state.prompt.paths,
        "prompt_hits": {
            "relation" if kind == "triple" else kind: count
            for kind, count in state.prompt.hits.items()
        },
        "prompt_tokens": estimate_prompt_tokens(messages) if tokens is None else tokens,
        "prompt_source": state.prompt.source,
    }


def step_dict(step: Step) -> dict[str, Any]:
    """Return the work and the cost of one operator.

    `seconds` include neither the seconds of `waiting` nor those of preparations that are made once
    for all questions (`prepared`).
    """
    usage = step.usage
    return {
        "name": step.operator,
        "stage": step.stage,
        "parameters": dict(step.parameters),
        "seconds": round(step.seconds, 6),
        "waiting": step.waiting,
        "prepared": dict(step.prepared),
        "calls": usage.calls,
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "texts": usage.texts,
        "sizes": dict(step.sizes),
        "notes": list(step.notes),
        "thoughts": list(step.thoughts),
    }


def answer_fault(state: State) -> str:
    """Return why the language model's answer is blank or cut.

    The text is empty if the answer is whole or no model was asked.
    """
    faults = (step.fault for step in reversed(state.trace) if step.stage == "generate")
    return next(filter(None, faults), "")


def answer_thoughts(state: State) -> str:
    """Return the thoughts that the language model wrote before its answer.

    They are no part of the answer. The text is empty if the model wrote none.
    """
    thoughts: list[str] = []
    for step in state.trace:
        if step.stage == "generate":
            thoughts += step.thoughts
    return "\n\n".join(thoughts)


def influence_dict(lane: MethodLane, influence: Influence) -> dict[str, Any]:
    """Return a measured influence: the items that an answer rests on.

    `by` is the reader or the model, and `text` is a summary. Each of the `items` was left out
    alone. It has a `kind`, a `name` and an `influence`. `changes` is true if the answer changes
    without it, and `smallest` if it is in the smallest set without which the answer changes.
    `exact` is true if no smaller set changes the answer. `others` counts the items that were never
    left out.
    """
    items = []
    for index, weight in enumerate(influence.weights):
        item = item_at(lane.state, influence.by_model, weight.kind, weight.place)
        if weight.kind == "path":
            name = lane.graph.text(item)
        else:
            name = hit_names(lane.graph, weight.kind, [item])[0]
        items.append(
            {
                "kind": "relation" if weight.kind == "triple" else weight.kind,
                "name": name,
                "influence": weight.influence,
                "changes": weight.changes,
                "smallest": index in influence.smallest,
            }
        )
    return {
        "by": "model" if influence.by_model else "reader",
        "text": influence_text(influence),
        "exact": influence.exact,
        "others": influence.others,
        "items": items,
    }


def reading_dict(lane: MethodLane) -> dict[str, Any]:
    """Return the answers of a lane's reader to other contexts.

    `by` is the reader or the model, and `text` a summary. `evidence` has the ranks, from 1, of the
    items with evidence. Of the `needed` pieces of evidence, `missing` were not read. `answers` has
    an object for each context. Its `right` is null if no correct answer is known. `repair` is the
    line of a method that shows fewer items and answers right; empty without one.
    """
    reading, repair = lane.reading, lane.repair
    assert reading is not None
    return {
        "by": "model" if reading.by_model else "reader",
        "text": lane_reading_text(lane),
        "items": reading.items,
        "evidence": [position + 1 for position in reading.evidence],
        "needed": reading.needed,
        "missing": reading.missing,
        "answers": [
            {
                "context": context_label(answer),
                "answer": answer.answer,
                "right": answer.right,
                "items": answer.items,
                "tokens": answer.tokens,
                "fault": answer.fault,
            }
            for answer in reading.answers
        ],
        "repair": repair.spec if repair is not None and repair.by_answer else "",
    }


def points_list(graph, state: State) -> list[dict[str, Any]] | None:
    """Return the notes that a language model took on parts of the hits.

    The keys of a note are `score`, `text`, `kind`, and `of`, the hits of the part. The result is
    null for methods that take no notes.
    """
    if state.points is None:
        return None
    return [
        {
            "score": point.score,
            "text": point.text,
            "kind": "relation" if point.kind == "triple" else point.kind,
            "of": hit_names(graph, point.kind, point.items),
        }
        for point in state.points
    ]
