"""The answer-survival funnel: which known answers are alive at each stage of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.diagnosis.matching import match
from core.graph.names.lookup import names as names_of
from core.types import Path, State

STAGES = ("graph", "subgraph", "paths", "prompt", "answer")


@dataclass(frozen=True)
class Stage:
    """One stage: the known answers alive in it, and those lost since the stage before, by name. `aside` where it is not on the way to
    the answer that counts, so that nothing is lost there."""

    name: str
    alive: tuple[str, ...]
    lost: tuple[str, ...]
    of: int
    aside: bool = False


def funnel(graph, state: State, answers: Sequence[str], by_model: bool | None = None) -> tuple[Stage, ...]:
    """The stages that the run has reached so far; empty where no answer is known.

    graph: a node has the answer's name, or an alias of it that the state's question knows. subgraph: such a node was extracted.
    paths: it lies on a path that is left after retrieval and refinement. prompt: on a path, or in a community report, that the
    language model was shown. answer: the model's text holds the name, or, where `by_model` is false (as it is where no model was
    asked), the graph reader names it; the prompt is then aside, as the graph reader reads all paths. A run without extraction skips
    subgraph, paths and prompt.
    """
    answers = tuple(dict.fromkeys(answers))
    if not answers:
        return ()
    names = state.question.names
    nodes = {answer: gold_nodes(graph, *names(answer)) for answer in answers}
    found: list[tuple[str, Callable[[str], bool]]] = [("graph", lambda answer: bool(nodes[answer]))]
    subgraph, said, read = state.subgraph, state.answer, state.reader
    if by_model is None:
        by_model = said is not None
    if subgraph is not None:
        found.append(("subgraph", lambda answer: any(node in subgraph for node in nodes[answer])))
    if state.paths is not None:
        paths = state.paths.items
        on_paths = _on(paths)
        found.append(("paths", lambda answer: not on_paths.isdisjoint(nodes[answer])))
        if state.prompt is not None:
            on_prompt = _on(paths[: state.prompt.paths])
            report_texts = [report.text for report in (state.reports or ())[: state.prompt.reports]]
            told = lambda answer: any(match(text, name) for text in report_texts for name in names(answer))
            shown = lambda answer: not on_prompt.isdisjoint(nodes[answer]) or told(answer)
            found.append(("prompt", shown))
    if by_model and said is not None:
        found.append(("answer", lambda answer: any(match(said, name) for name in names(answer))))
    elif read is not None:
        found.append(("answer", lambda answer: not set(read).isdisjoint(nodes[answer])))
    return survivors(found, answers, aside="" if by_model or read is None else "prompt")


def right(graph, state: State, answers: Sequence[str], reader: bool) -> int | None:
    """How many known answers the reader (or the language model) gives; None where it gave no answer or none is known."""
    answers = tuple(dict.fromkeys(answers))
    if not answers:
        return None
    names = state.question.names
    if reader:
        read = state.reader
        return None if read is None else sum(not set(read).isdisjoint(gold_nodes(graph, *names(answer))) for answer in answers)
    said = state.answer
    return None if said is None else sum(any(match(said, name) for name in names(answer)) for answer in answers)


def survivors(found: Sequence[tuple[str, Callable[[str], bool]]], answers: tuple[str, ...], aside: str = "") -> tuple[Stage, ...]:
    """The stages, each with those of the answers alive in it that pass its test; at that one called `aside` none is lost."""
    stages, before = [], answers
    for name, test in found:
        alive = tuple(answer for answer in answers if test(answer))
        if name == aside:
            stages.append(Stage(name, alive, (), len(answers), aside=True))
            continue
        stages.append(Stage(name, alive, tuple(a for a in before if a not in alive), len(answers)))
        before = alive
    return tuple(stages)


def gold_nodes(graph, *named: str) -> tuple[int, ...]:
    """The nodes that bear an answer's name, or one of its names."""
    return tuple(dict.fromkeys(node for name in named for node in names_of(graph).exact(name)))


def _on(paths: Sequence[Path]) -> set[int]:
    return {node for path in paths for node in path.nodes}
