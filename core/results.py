"""A comparison as plain data: what the command line prints and a download holds."""

from __future__ import annotations

import dataclasses
from typing import Any

from core.diagnosis.funnel import STAGES, funnel
from core.engine import Comparison, Lane
from core.operators.generate import about_tokens
from core.types import State, Step


def comparison_dict(comparison: Comparison) -> dict[str, Any]:
    """`question, entities, answers, graph, seed, lanes` as JSON can hold them."""
    ask = comparison.ask
    return {
        "question": ask.question.text,
        "entities": list(ask.question.entities),
        "answers": list(ask.question.answers),
        "graph": ask.graph.name,
        "seed": ask.seed,
        "lanes": [lane_dict(comparison, lane) for lane in comparison.lanes],
    }


def lane_dict(comparison: Comparison, lane: Lane) -> dict[str, Any]:
    """One lane: the instance, its answers, paths, community reports, subgraph size, funnel, prompt, operators and error."""
    graph, state = comparison.graph, lane.state
    return {
        "instance": lane.instance.id,
        "line": repr(lane.instance.line),
        "status": lane.status,
        "answer": state.answer,
        "reader_answers": None if state.reader is None else graph.names(state.reader),
        "paths": paths_list(graph, state),
        "reports": None if state.reports is None else [dataclasses.asdict(report) for report in state.reports],
        "subgraph": None if state.subgraph is None else {"nodes": len(state.subgraph.nodes), "edges": len(state.subgraph.edges)},
        "funnel": funnel_dict(comparison, lane),
        **prompt_dict(state),
        "operators": [step_dict(step) for step in state.trace],
        "error": lane.error,
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


def funnel_dict(comparison: Comparison, lane: Lane) -> dict[str, list[str] | None] | None:
    """The known answers alive at each stage; null for a stage this line has not, and as a whole where no answer is known."""
    stages = funnel(comparison.graph, lane.state, comparison.ask.question.answers)
    alive = {stage.name: list(stage.alive) for stage in stages}
    return {name: alive.get(name) for name in STAGES} if stages else None


def prompt_dict(state: State) -> dict[str, Any]:
    """`prompt` as one text, `messages` as sent, `prompt_paths` shown, `prompt_tokens` (estimated where no model counted)."""
    if state.prompt is None:
        return {"prompt": None, "messages": None, "prompt_paths": None, "prompt_tokens": None}
    messages = [dict(message) for message in state.prompt.messages]
    counted = state.prompt.tokens
    return {
        "prompt": "\n\n".join(f"{message['role']}:\n{message['content']}" for message in messages),
        "messages": messages,
        "prompt_paths": state.prompt.paths,
        "prompt_tokens": about_tokens(messages) if counted is None else counted,
    }


def step_dict(step: Step) -> dict[str, Any]:
    """One operator: `name, parameters, seconds, waiting, prepared, calls, tokens_in, tokens_out, texts, sizes, notes`. Seconds of
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
    }
