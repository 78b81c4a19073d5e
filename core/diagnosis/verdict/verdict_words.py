"""The sentences of a comparison: one for each lane and one for all, made from the trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.comparison.endings import without_end
from core.comparison.lane import ENDED, Comparison, Lane
from core.diagnosis.funnel import right
from core.diagnosis.measure import READER, by_model, counted_by, lane_by_model, two_measures
from core.diagnosis.verdict.contrast import LaneSummary, contrast
from core.diagnosis.verdict.explanation import Explained, explained
from core.diagnosis.verdict.verdict_texts import explained_texts, verdict_texts
from core.diagnosis.wording import joined, sentence


@dataclass(frozen=True)
class Verdict:
    """The sentence for all lanes, empty until every lane has retrieved, and each lane's own, None until it has. While lanes are added to
    others that are done, it is the sentence of those, and `pending` says that it is counted again."""

    text: str
    lanes: tuple[Explained | None, ...]
    named: tuple[str, ...] = ()  # the known answers that the sentence for all lanes names
    pending: str = ""


def explain(comparison: Comparison) -> Verdict:
    """What is known by now."""
    now, taken = _explain(comparison), [lane for lane in comparison.lanes if lane.taken]
    if now.text or not taken:
        return now
    before = _explain(replace(comparison, lanes=taken))
    new = [
        name
        for name, lane in zip(lane_names(comparison), comparison.lanes)
        if not lane.taken and lane.status not in ENDED
    ]
    pending = (
        f"It is counted again once {joined(new)} {'has' if len(new) == 1 else 'have'} run."
        if new and before.text
        else ""
    )
    return replace(now, text=before.text, named=before.named, pending=pending)


def _explain(comparison: Comparison) -> Verdict:
    """What is known of the lanes by now."""
    graph, answers = comparison.graph, comparison.ask.question.answers
    lanes = comparison.lanes
    if comparison.ask.source.is_corpus:
        ended = all(lane.status in ENDED for lane in lanes)
        text = verdict_texts(comparison, lane_names(comparison)) if ended else ""
        return Verdict(text, tuple(explained_texts(comparison, lane) for lane in lanes))
    models = [lane_by_model(comparison, lane) for lane in lanes]
    found = explained(
        graph, [lane.states if lane.retrieved else () for lane in lanes], answers, models
    )
    explanations = tuple(one and _beside(comparison, lane, one) for lane, one in zip(lanes, found))
    if not all(lane.retrieved or lane.status in ENDED for lane in lanes):
        return Verdict("", explanations)
    names = lane_names(comparison)
    summaries = [
        LaneSummary(
            name,
            one,
            says(lane, model),
            without_end(lane),
            _by_reader(comparison, lane) if model else None,
        )
        for name, lane, model, one in zip(names, lanes, models, explanations)
    ]
    others = [
        name
        for name, model, one in zip(names, models, summaries)
        if model and one.explained and not by_model(comparison)
    ]
    parts = [
        contrast(summaries, answers, counted_by(comparison)),
        _otherwise(others) if answers and len(others) < len(lanes) else "",
    ]
    text = " ".join(filter(None, parts))
    return Verdict(
        text, explanations, tuple(answer for answer in dict.fromkeys(answers) if answer in text)
    )


def _by_reader(comparison: Comparison, lane: Lane) -> int | None:
    """How many known answers a lane's graph reader names; None where it has none."""
    return right(comparison.graph, lane.state, comparison.ask.question.answers, reader=True)


def _beside(comparison: Comparison, lane: Lane, one: Explained) -> Explained:
    """The explanation of a lane that is counted by the graph reader although a language model was asked: it says so, and what that one
    names, once it has answered."""
    if not one.of or not two_measures(comparison) or lane_by_model(comparison, lane):
        return one
    said = right(comparison.graph, lane.state, comparison.ask.question.answers, reader=False)
    also = "" if said is None else f"; the language model names {said:,} of {one.of:,}"
    return replace(one, text=f"{one.text} Counted {READER}{also}.")


def _otherwise(names: Sequence[str]) -> str:
    """That some lanes have no graph reader, so that their language model is counted."""
    return (
        f"{sentence(joined(names))} {'has' if len(names) == 1 else 'have'} only the language model's answer."
        if names
        else ""
    )


def lane_names(comparison: Comparison) -> list[str]:
    """What each lane is called in a sentence: its plain name in quotes, the paper's own where two are alike, and its lane beside where
    those are."""
    instances = [lane.instance for lane in comparison.lanes]
    plain, own = [one.label for one in instances], [one.name for one in instances]
    names = [
        own[i] if plain.count(plain[i]) > 1 else _quoted(plain[i]) for i in range(len(instances))
    ]
    return [
        f"{name} (lane {i + 1})" if names.count(name) > 1 else name for i, name in enumerate(names)
    ]


def _quoted(name: str) -> str:
    """A name of words in quotes, so that it reads as one thing; a number such as No. 12 as it is."""
    return name if any(letter.isdigit() for letter in name) else f"“{name}”"


def says(lane: Lane, by_model: bool) -> tuple[str, ...]:
    """The names that a lane answers: the model's where that counts, else the graph reader's."""
    if by_model:
        return tuple(part.strip() for part in (lane.state.answer or "").split(",") if part.strip())
    return tuple(lane.graph.names(lane.state.reader or ()))
