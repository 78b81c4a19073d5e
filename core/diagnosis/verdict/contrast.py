"""The sentence or two on the outcome of a comparison of lanes on triples.

They tell which lanes find most known answers, and where the others lose them. Lanes that agree are
summarised; lanes that differ are named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.diagnosis.causes import CAUSE_WORDINGS, Cause
from core.diagnosis.measure import BY_MODEL, BY_READER
from core.diagnosis.verdict.explanation import LaneExplanation
from core.diagnosis.wording import (
    all_words,
    capitalised,
    count_noun,
    is_or_are,
    join_words,
    list_names,
    number_words,
)
from core.languages.spelling import normalize

# First words of a clause that may be lowered, as they are no names of methods.
FIRST_CLAUSE_WORDS = ("Neither", "None", "Only", "Both", "All")
ADD_ANSWER_HINT = "Enter the correct answer to see where it is lost."


@dataclass(frozen=True)
class LaneSummary:
    """The facts about one lane from which the sentence for all lanes is made.

    Parameters
    ----------
    name : the lane's name in sentences.
    explanation : the lane's own explanation; None before it has retrieved.
    answer_names : the names in its answer.
    ending : "failed" or "was cancelled" if it did not finish; else empty.
    n_right_by_reader : how many known answers its graph reader names, if the model's answers count;
        else None.
    """

    name: str
    explanation: LaneExplanation | None
    answer_names: tuple[str, ...] = ()
    ending: str = ""
    n_right_by_reader: int | None = None

    @property
    def known_explanation(self) -> LaneExplanation:
        """The explanation, for a lane that has retrieved."""
        assert self.explanation is not None
        return self.explanation

    @property
    def n_right(self) -> int:
        """The number of known answers that the lane gives. The question has known answers."""
        assert self.known_explanation.n_right is not None
        return self.known_explanation.n_right


def compare_lanes(lanes: Sequence[LaneSummary], answers: Sequence[str], measure: str = "") -> str:
    """Return the sentences for all lanes; empty for no lanes.

    Parameters
    ----------
    lanes : the lanes of the comparison.
    answers : the known answers.
    measure : words for whose answers are counted, such as `BY_MODEL`; empty if the sentence
        need not say it.
    """
    retrieved = [lane for lane in lanes if not lane.ending and lane.explanation is not None]
    answers = tuple(dict.fromkeys(answers))
    parts = ending_sentences((lane.name, lane.ending) for lane in lanes)
    if retrieved and answers:
        parts.insert(0, _compare_known(retrieved, answers, f", {measure}" if measure else ""))
    elif retrieved:
        parts.insert(0, _compare_unknown(retrieved))
    return " ".join(filter(None, parts))


def ending_sentences(lanes: Iterable[tuple[str, str]]) -> list[str]:
    """Return sentences that name the lanes that failed or were cancelled.

    `lanes` are pairs of a name and how the lane ended, which is empty for a lane that finished.

    >>> from core.diagnosis.verdict.contrast import ending_sentences
    >>> ending_sentences([("No. 1", ""), ("No. 2", "failed"), ("No. 3", "was cancelled")])
    ['No. 2 failed.', 'No. 3 was cancelled.']
    """
    names_by_ending: dict[str, list[str]] = {}
    for name, ending in lanes:
        if ending:
            names_by_ending.setdefault(ending, []).append(name)
    sentences = []
    for ending, names in names_by_ending.items():
        verb = ending.replace("was ", "were ") if len(names) > 1 else ending
        sentences.append(f"{capitalised(join_words(names))} {verb}.")
    return sentences


def _compare_known(lanes: Sequence[LaneSummary], answers: tuple[str, ...], measure: str) -> str:
    """Return the sentences for a question with known answers."""
    absent = [
        loss.name for loss in lanes[0].known_explanation.losses if loss.cause is Cause.NOT_IN_GRAPH
    ]
    total = len(answers)
    if len(absent) == total:
        return (
            f"{list_names([f'“{name}”' for name in absent])} {is_or_are(len(absent))} not in the "
            f"graph, so no method can find {'it' if len(absent) == 1 else 'them'}."
        )
    max_right = max(lane.n_right for lane in lanes)
    best = [lane for lane in lanes if lane.n_right == max_right]
    other_lanes = [lane for lane in lanes if lane.n_right < max_right]
    first_sentence = _compare_best(lanes, best, answers, measure)
    if not other_lanes and max_right == total:
        return f"{first_sentence} {_other_names(lanes)}".strip()
    return f"{first_sentence} {_loss_clauses(other_lanes or lanes, total, len(lanes))}".strip()


def _compare_best(
    lanes: Sequence[LaneSummary],
    best: Sequence[LaneSummary],
    answers: tuple[str, ...],
    measure: str,
) -> str:
    """Return the sentence on the `best` lanes.

    If graph readers find more than these, it is on the graph readers.
    """
    max_right = best[0].n_right
    by_reader = [lane.n_right_by_reader for lane in lanes if lane.n_right_by_reader is not None]
    if len(by_reader) == len(lanes) and max(by_reader) > max_right:
        return _compare_readers(lanes, best, answers, max(by_reader))
    return capitalised(f"{_count_clause(lanes, best, max_right, answers)}{measure}.")


def _compare_readers(
    lanes: Sequence[LaneSummary], best: Sequence[LaneSummary], answers: tuple[str, ...], count: int
) -> str:
    """Compare the graph readers, which find up to `count` answers, with the language models."""
    readers = [lane for lane in lanes if lane.n_right_by_reader == count]
    first_clause = capitalised(f"{_count_clause(lanes, readers, count, answers)}, {BY_READER};")
    model_count = best[0].n_right
    if len(readers) == 1 and readers[0] in best:
        names = f"names {number_words(model_count) if model_count else 'none'} of them"
        return f"{first_clause} its language model {names if count > 1 else 'does not name it'}."
    model_clause = _lower_first(_count_clause(lanes, best, model_count, answers))
    return f"{first_clause} {BY_MODEL} {model_clause}."


def _lower_first(text: str) -> str:
    """Lower the first letter of a clause, unless its first word is a name."""
    first = text.partition(" ")[0]
    return text[:1].lower() + text[1:] if first in FIRST_CLAUSE_WORDS else text


def _count_clause(
    lanes: Sequence[LaneSummary], best: Sequence[LaneSummary], count: int, answers: tuple[str, ...]
) -> str:
    """Return the clause on the lanes that find most, `count` of the answers: the `best` of all."""
    total = len(answers)
    names = join_words([lane.name for lane in best])
    goal = answers[0] if total == 1 else all_words(total)
    if count == 0:
        any_goal = goal if total == 1 else f"any of the {number_words(total)}"
        if len(lanes) == 1:
            return f"{lanes[0].name} does not find {any_goal}"
        who = "Neither" if len(lanes) == 2 else f"None of the {number_words(len(lanes))}"
        return f"{who} finds {any_goal}{'' if total == 1 else ' answers'}"
    what = goal if count == total else f"{count:,} of {total:,}"
    if len(best) == len(lanes):
        who = names if len(lanes) == 1 else capitalised(all_words(len(lanes)))
        return f"{who} {'finds' if len(lanes) == 1 else 'find'} {what}"
    if count == total:
        return f"Only {names} {'finds' if len(best) == 1 else 'find'} {what}"
    return f"{names} {'finds' if len(best) == 1 else 'find'} most, {what}"


def _loss_clauses(lanes: Sequence[LaneSummary], total: int, lane_count: int) -> str:
    """Return clauses on the places where lanes lose answers.

    Lanes with the same loss share a clause. `lanes` have lost answers. `total` is the number of
    known answers, and `lane_count` the number of all lanes.
    """
    # Lanes with the same main cause, the same lost answers and the same hop are grouped.
    groups: dict[tuple, list[LaneSummary]] = {}
    for lane in lanes:
        losses = lane.known_explanation.losses
        same_cause = [loss for loss in losses if loss.cause == losses[0].cause]
        hop = same_cause[0].hop if same_cause[0].cause in (Cause.BEAM, Cause.NOT_TRIED) else None
        groups.setdefault(
            (lane.known_explanation.cause, tuple(loss.name for loss in same_cause), hop), []
        ).append(lane)
    clauses = []
    for (cause, lost, hop), group in groups.items():
        if total == 1:
            what = "it"
        elif len(lost) == total:
            what = all_words(total)
        elif len(lost) == 1:
            what = lost[0]
        else:
            what = f"{number_words(len(lost))} of them"
        if lane_count == 1:
            who = "it"
        elif len(group) == lane_count:
            who = all_words(lane_count)
        else:
            who = join_words([lane.name for lane in group])
        words = CAUSE_WORDINGS[cause]
        wording = words.for_several if len(group) > 1 else words.for_one
        clauses.append(f"{who} {wording.format(what=what, hop=hop)}")
    return capitalised("; ".join(clauses) + ".") if clauses else ""


def _other_names(lanes: Sequence[LaneSummary]) -> str:
    """Return a sentence on lanes that give wrong names too. Empty if none or all do."""
    lanes_with_extra = [lane for lane in lanes if lane.known_explanation.n_extra_names]
    if not lanes_with_extra or len(lanes_with_extra) == len(lanes):
        return ""
    extras = [
        f"{lane.name} gives {count_noun(lane.known_explanation.n_extra_names, 'other name')} too"
        for lane in lanes_with_extra
    ]
    return f"{capitalised(join_words(extras))}."


def _compare_unknown(lanes: Sequence[LaneSummary]) -> str:
    """Return a sentence on the lanes' answers and if they agree, without known answers."""
    lanes_by_answer: dict[frozenset[str], list[LaneSummary]] = {}
    for lane in lanes:
        lanes_by_answer.setdefault(frozenset(map(normalize, lane.answer_names)), []).append(lane)
    if len(lanes_by_answer) == 1:
        first = lanes[0]
        who = first.name if len(lanes) == 1 else capitalised(all_words(len(lanes)))
        if not first.answer_names:
            return f"{who} {'gives' if len(lanes) == 1 else 'give'} no answer."
        say = "says" if len(lanes) == 1 else "say"
        return f"{who} {say} {_said(first)}. {ADD_ANSWER_HINT}"
    clauses = []
    for group in lanes_by_answer.values():
        verb = "say" if len(group) > 1 else "says"
        clauses.append(f"{join_words([lane.name for lane in group])} {verb} {_said(group[0])}")
    return f"They disagree: {'; '.join(clauses)}. {ADD_ANSWER_HINT}"


def _said(lane: LaneSummary) -> str:
    """Return the lane's answer without the full stop that its sentence may have."""
    return list_names(lane.answer_names).rstrip(".") if lane.answer_names else "nothing"
