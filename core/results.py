"""A comparison as plain data: what the command line prints and a download holds."""

from __future__ import annotations

import dataclasses
from typing import Any

from core.comparison.build_title import build_title
from core.comparison.lane import Comparison, Lane
from core.comparison.run import build_of
from core.diagnosis.causes import Cause, Fate
from core.diagnosis.funnel import funnel
from core.diagnosis.influence import influence_text
from core.diagnosis.measure import lane_by_model
from core.diagnosis.passages import fates, gold_rows
from core.diagnosis.prompt_items import item_at
from core.diagnosis.targets import answers_of, passages_of
from core.graph.texts import chunk_lists, hit_names, hit_texts, leaves
from core.operators.generate import about_tokens
from core.types import Influence, Ranking, State, Step

MEMBERS = 30  # of a community that are named


def comparison_dict(comparison: Comparison) -> dict[str, Any]:
    """`question, entities, answers, graph, seed, lanes` as JSON can hold them; for a question to a corpus also `corpus` and `gold`, the
    documents that the answer rests on; `aliases`, groups of names of one answer each, where the question's set has any; `edits`, what was
    taken away from what was asked, merged or renamed, where anything was."""
    comparison = comparison.now
    ask, lanes = comparison.ask, comparison.lanes
    about: dict[str, Any] = (
        {"corpus": ask.source.name, "gold": list(ask.question.gold)} if ask.source.is_corpus else {}
    )
    about |= (
        {"aliases": [list(names) for names in ask.question.aliases]} if ask.question.aliases else {}
    )
    about |= {"edits": [edit.words for edit in ask.source.edits]} if ask.source.edits else {}
    return {
        "question": ask.question.text,
        "entities": list(ask.question.entities),
        "answers": list(ask.question.answers),
        "graph": ask.source.graph.name,
        "seed": ask.seed,
        **about,
        "lanes": [lane_dict(lane, lane_by_model(comparison, lane)) for lane in lanes],
    }


def lane_dict(lane: Lane, by_model: bool) -> dict[str, Any]:
    """Return a lane as JSON can hold it; its funnel is counted `by_model` or by the reader.

    A value is null where the line has no such thing or nothing is known of it. `partly` is how
    much of what it searched was there, `answer_fault` why the model's answer is blank or cut,
    `beside` what it said before its graph was edited.
    """
    graph, state = lane.graph, lane.state
    return {
        "instance": lane.instance.id,
        "line": repr(lane.line),
        "graph": {**graph_dict(lane), "title": build_title(lane) or None},
        "status": lane.status,
        "partly": state.partly or None,
        "answer": state.answer,
        "answer_fault": answer_fault(state) or None,
        "thought": thought(state) or None,
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
        "influence": [influence_dict(lane, one) for one in lane.influences],
        **prompt_dict(state),
        "operators": [step_dict(step) for step in state.trace],
        "error": lane.error,
    }


def graph_dict(lane: Lane) -> dict[str, Any]:
    """The graph of a lane: `name`, `build` (null on a graph of triples), and how many `nodes` and `edges` that graph has."""
    graph = lane.graph
    nodes, edges = getattr(graph, "whole", (graph.n_nodes, graph.n_edges))[:2]
    return {
        "name": graph.name,
        "build": build_of(lane.line),
        "nodes": nodes,
        "edges": edges,
    }


def paths_list(graph, state: State) -> list[dict[str, Any]]:
    """The kept paths, best first: `text, score, nodes, relations, forward`; score is null where the order carries none."""
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


def funnel_dict(lane: Lane, by_model: bool) -> dict[str, list[str] | None] | None:
    """The known answers alive at each stage; null for a stage this line has not, and as a whole where no answer is known."""
    ask = lane.ask
    wanted = answers_of(ask.question)
    stages = funnel(ask.source, lane.graph, lane.state, wanted, by_model, lane.saved_alive)
    alive = {stage.name: list(stage.alive) for stage in stages}
    return {name: alive.get(name) for name in ask.source.stages} if stages else None


def gold_dict(lane: Lane) -> dict[str, Any] | None:
    """Of the passages that the answer rests on: those alive at each stage, and the `fates` of all; null where none is known."""
    source, gold = lane.ask.source, passages_of(lane.ask.question)
    if not gold:
        return None
    alive = {
        stage.name: list(stage.alive)
        for stage in funnel(source, lane.graph, lane.state, gold, saved=lane.saved_alive)
    }
    found = [
        _fate_dict(fate, lane.state)
        for fate in fates(lane.graph, lane.states, lane.ask.question.gold)
    ]
    return {
        "alive": {name: alive.get(name) for name in source.stages[:-1]},
        "fates": found,
    }


def _fate_dict(fate: Fate, state: State) -> dict[str, Any]:
    cut = fate.step is not None and fate.cause is not Cause.NO_ROOM
    shown = fate.cause is Cause.FOUND and state.prompt is not None
    return {
        "document": fate.document,
        "chunk": fate.chunk,
        "place": fate.place,
        "of": fate.of or 0,
        "cut_by": fate.step.operator if fate.step is not None and cut else "",
        "shown": shown,
    }


def hits_dict(graph, state: State, gold: tuple[str, ...] = ()) -> dict[str, list[dict[str, Any]]]:
    """The hits by kind (chunk, node, relation, community), best first: `id, score, text, source`, and whether a chunk is `gold`.

    `source` lists where it comes from: of a chunk its document, title and place, of an entity or a relation the chunks that tell of it,
    of a community its first members.
    """
    rows = gold_rows(graph, gold)
    return {
        "relation" if hits.kind == "triple" else hits.kind: _hits(graph, hits, rows)
        for hits in state.hits
    }


def _hits(graph, hits: Ranking, gold: frozenset[int]) -> list[dict[str, Any]]:
    if hits.kind == "node":
        own = leaves(graph, hits.items)
    elif hits.kind == "chunk":
        own = dict(zip(hits.items, hits.items))
    else:
        own = {}
    rows = zip(
        hits.items,
        hit_names(graph, hits.kind, hits.items),
        hit_texts(graph, hits.kind, hits.items),
        _sources(graph, hits),
    )
    found = []
    for place, (item, name, text, source) in enumerate(rows):
        row = {"id": name, "score": hits.score(place), "text": text, "source": source}
        found.append(row | ({"gold": own[item] in gold} if item in own else {}))
    return found


def _sources(graph, hits: Ranking) -> list[list[str]]:
    if hits.kind in ("node", "triple"):
        chunks = chunk_lists(graph, "nodes" if hits.kind == "node" else "edges", hits.items)
        return [hit_names(graph, "chunk", rows) for rows in chunks]
    table = graph.columns.communities if hits.kind == "community" else graph.columns.chunks
    if table is None:  # and so there are no such hits
        return []
    if hits.kind == "community":
        members = table.lists("members")
        return [graph.names(members[row][:MEMBERS]) for row in hits.items]
    return [
        [text for name in ("document", "title", "place") if (text := table.text(name, row))]
        for row in hits.items
    ]


def excerpt_dict(graph, state: State) -> dict[str, Any] | None:
    """The sentence nearest to the question, where no language model was asked: `text, chunk, score`."""
    one = state.excerpt
    if one is None:
        return None
    return {
        "text": one.text,
        "chunk": hit_names(graph, "chunk", [one.chunk])[0],
        "score": one.score,
    }


def prompt_dict(state: State) -> dict[str, Any]:
    """`prompt` as one text, `messages` as sent, `prompt_paths` shown, `prompt_tokens` (estimated where no model counted), and
    `prompt_source`, the paper whose prompt it follows, or that it is a person's own."""
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
    counted = state.prompt.tokens
    return {
        "prompt": "\n\n".join(f"{message['role']}:\n{message['content']}" for message in messages),
        "messages": messages,
        "prompt_paths": state.prompt.paths,
        "prompt_hits": {
            "relation" if kind == "triple" else kind: count
            for kind, count in state.prompt.hits.items()
        },
        "prompt_tokens": about_tokens(messages) if counted is None else counted,
        "prompt_source": state.prompt.source,
    }


def step_dict(step: Step) -> dict[str, Any]:
    """One operator: `name, parameters, seconds, waiting, prepared, calls, tokens_in, tokens_out, texts, sizes, notes, thoughts`. Seconds of
    `waiting`, and of what was `prepared` once for all questions, are not among `seconds`."""
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
    """Why the language model's answer is blank or cut; empty where it is whole, or none was asked for."""
    return next(
        (step.fault for step in reversed(state.trace) if step.stage == "generate" and step.fault),
        "",
    )


def thought(state: State) -> str:
    """What the language model thought before it answered, which is no part of the answer; empty where it did not."""
    return "\n\n".join(
        thought for step in state.trace if step.stage == "generate" for thought in step.thoughts
    )


def influence_dict(lane: Lane, one: Influence) -> dict[str, Any]:
    """What an answer rests on: `by` reader or model, `text`, and the `items` that were left out one by one: `kind, name, influence`,
    whether the answer `changes` without it, and whether it is in the `smallest` set without which it does; `exact`: none smaller does."""
    items = []
    for at, weight in enumerate(one.weights):
        item = item_at(lane.state, one.by_model, weight.kind, weight.place)
        if weight.kind == "path":
            name = lane.graph.text(item)
        else:
            name = hit_names(lane.graph, weight.kind, [item])[0]
        kind = "relation" if weight.kind == "triple" else weight.kind
        said = {
            "influence": weight.influence,
            "changes": weight.changes,
            "smallest": at in one.smallest,
        }
        items.append({"kind": kind, "name": name, **said})
    text = influence_text(one)
    return {
        "by": "model" if one.by_model else "reader",
        "text": text,
        "exact": one.exact,
        "others": one.others,
        "items": items,
    }


def points_list(graph, state: State) -> list[dict[str, Any]] | None:
    """What a language model noted on parts of what was found: `score, text, kind, of`, the hits that the part held; null in other lines."""
    if state.points is None:
        return None
    kinds = {"triple": "relation"}
    return [
        {
            "score": one.score,
            "text": one.text,
            "kind": kinds.get(one.kind, one.kind),
            "of": hit_names(graph, one.kind, one.items),
        }
        for one in state.points
    ]
