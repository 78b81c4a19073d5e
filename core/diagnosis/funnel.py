"""The answer-survival funnel: which known answers are alive at each stage of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.diagnosis.matching import match
from core.graph.names.lookup import names
from core.types import Path, State

STAGES = ("graph", "subgraph", "paths", "prompt", "answer")


@dataclass(frozen=True)
class Stage:
    """One stage: the known answers alive in it, and those lost since the stage before, by name."""

    name: str
    alive: tuple[str, ...]
    lost: tuple[str, ...]
    of: int


def funnel(graph, state: State, answers: Sequence[str]) -> tuple[Stage, ...]:
    """The stages that the run has reached so far; empty where no answer is known.

    graph: a node has the answer's name. subgraph: such a node was extracted. paths: it lies on a path that is left
    after retrieval and refinement. prompt: on a path, or in a community report, that the language model was shown. answer:
    the model's text holds the name, or, where no model was asked, the graph reader names it. A run without extraction skips
    subgraph, paths and prompt.
    """
    answers = tuple(dict.fromkeys(answers))
    if not answers:
        return ()
    found: list[tuple[str, Callable[[str], bool]]] = [("graph", lambda name: bool(gold_nodes(graph, name)))]
    subgraph, said, read = state.subgraph, state.answer, state.reader
    if subgraph is not None:
        found.append(("subgraph", lambda name: any(node in subgraph for node in gold_nodes(graph, name))))
    if state.paths is not None:
        paths = state.paths.items
        on_paths = _on(paths)
        found.append(("paths", lambda name: not on_paths.isdisjoint(gold_nodes(graph, name))))
        if state.prompt is not None:
            on_prompt = _on(paths[: state.prompt.paths])
            report_texts = [report.text for report in (state.reports or ())[: state.prompt.reports]]
            shown = lambda name: not on_prompt.isdisjoint(gold_nodes(graph, name)) or any(match(text, name) for text in report_texts)
            found.append(("prompt", shown))
    if said is not None:
        found.append(("answer", lambda name: match(said, name)))
    elif read is not None:
        found.append(("answer", lambda name: not set(read).isdisjoint(gold_nodes(graph, name))))
    return survivors(found, answers)


def right(graph, state: State, answers: Sequence[str], reader: bool) -> int | None:
    """How many known answers the reader (or the language model) gives; None where it gave no answer or none is known."""
    answers = tuple(dict.fromkeys(answers))
    if not answers:
        return None
    if reader:
        read = state.reader
        return None if read is None else sum(not set(read).isdisjoint(gold_nodes(graph, name)) for name in answers)
    said = state.answer
    return None if said is None else sum(match(said, name) for name in answers)


def survivors(found: Sequence[tuple[str, Callable[[str], bool]]], answers: tuple[str, ...]) -> tuple[Stage, ...]:
    """The stages, each with those of the answers alive in it that pass its test."""
    stages, before = [], answers
    for name, test in found:
        alive = tuple(answer for answer in answers if test(answer))
        stages.append(Stage(name, alive, tuple(a for a in before if a not in alive), len(answers)))
        before = alive
    return tuple(stages)


def gold_nodes(graph, name: str) -> tuple[int, ...]:
    """The nodes that bear an answer's name."""
    return tuple(names(graph).exact(name))


def _on(paths: Sequence[Path]) -> set[int]:
    return {node for path in paths for node in path.nodes}
