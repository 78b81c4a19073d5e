"""The sentences of a comparison: one for each lane and one for all, made from the trace."""

from __future__ import annotations

from dataclasses import dataclass

from core.comparison.comparing import ENDED, Comparison, Lane
from core.diagnosis.contrast import Spoken, contrast
from core.diagnosis.explanation import Explained, explained
from core.diagnosis.verdict_texts import explained_texts, verdict_texts
from core.operators.text import parse_line
from core.types import Repair


@dataclass(frozen=True)
class Verdict:
    """The sentence for all lanes, empty until every lane has retrieved, and each lane's own, None until it has."""

    text: str
    lanes: tuple[Explained | None, ...]


def explain(comparison: Comparison) -> Verdict:
    """What is known by now."""
    graph, answers = comparison.graph, comparison.ask.question.answers
    lanes = comparison.lanes
    if comparison.ask.corpus is not None:
        ended = all(lane.status in ENDED for lane in lanes)
        text = verdict_texts(comparison, lane_names(comparison)) if ended else ""
        return Verdict(text, tuple(explained_texts(comparison, lane) for lane in lanes))
    explanations = explained(graph, [lane.states if lane.retrieved else () for lane in lanes], answers)
    if not all(lane.retrieved or lane.status in ENDED for lane in lanes):
        return Verdict("", tuple(explanations))
    by_model = all(lane.state.answer is not None for lane in lanes if lane.retrieved)
    spoken = [
        Spoken(name, one, _says(comparison, lane, by_model), lane.error is not None)
        for name, lane, one in zip(lane_names(comparison), lanes, explanations)
    ]
    return Verdict(contrast(spoken, answers), tuple(explanations))


def best_repair(comparison: Comparison) -> tuple[int, str] | None:
    """The lane whose repair brings most, of several one that keeps its operators, and a label that names the lane; None where no
    change helps."""
    repaired = [(i, lane, lane.repair) for i, lane in enumerate(comparison.lanes) if lane.repair is not None]
    if not repaired:
        return None
    _, _, lane, label = min((-repair.right / repair.of, _swaps(one, repair), i, repair.label) for i, one, repair in repaired)
    return lane, f"Repair {lane_names(comparison)[lane]}: {label[:1].lower()}{label[1:]}"


def _swaps(lane: Lane, repair: Repair) -> bool:
    """Whether the repair puts another operator in the place of one, rather than other values."""
    operator_types = lambda line: [type(operator) for operator in line]
    return operator_types(parse_line(repair.spec)) != operator_types(lane.instance.line)


def lane_names(comparison: Comparison) -> list[str]:
    """What each lane is called in a sentence: its plain name in quotes, the paper's own where two are alike, lane 2 where those are."""
    instances = [lane.instance for lane in comparison.lanes]
    plain, own = [one.label for one in instances], [one.name for one in instances]
    names = [own[i] if plain.count(plain[i]) > 1 else _quoted(plain[i]) for i in range(len(instances))]
    return [f"lane {i + 1}" if names.count(name) > 1 else name for i, name in enumerate(names)]


def _quoted(name: str) -> str:
    """A name of words in quotes, so that it reads as one thing; a number such as No. 12 as it is."""
    return name if any(letter.isdigit() for letter in name) else f"“{name}”"


def _says(comparison: Comparison, lane: Lane, by_model: bool) -> tuple[str, ...]:
    """The names that a lane answers: the model's where every lane has one, else the graph reader's."""
    if by_model and lane.state.answer is not None:
        return tuple(part.strip() for part in lane.state.answer.split(",") if part.strip())
    if lane.state.reader is not None:
        return tuple(comparison.graph.names(lane.state.reader))
    return (lane.state.answer,) if lane.state.answer else ()
