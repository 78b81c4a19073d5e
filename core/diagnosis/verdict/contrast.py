"""The outcome of a comparison in a sentence or two for all lanes.

Lanes that agree are summarised. Lanes that differ are named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.diagnosis.causes import PHRASES, Cause
from core.diagnosis.measure import MODEL, READER
from core.diagnosis.verdict.explanation import Explained
from core.diagnosis.wording import are, counted, every, joined, named, number, sentence
from core.languages.spelling import normalize

CLAUSE_WORDS = ("Neither", "None", "Only", "Both", "All")  # first words of a clause, no names
ADD = "Add the right answer to see where it is lost."


@dataclass(frozen=True)
class LaneSummary:
    """One lane as the sentence for all lanes needs it.

    Parameters
    ----------
    name : the lane's name in sentences.
    explained : the lane's own explanation; None before it has retrieved.
    says : the names that it answers.
    ended : how it ended (failed, was cancelled) if it did not finish; else empty.
    by_reader : how many known answers its graph reader names, where the model's answers are
        counted.
    """

    name: str
    explained: Explained | None
    says: tuple[str, ...] = ()
    ended: str = ""
    by_reader: int | None = None

    @property
    def own(self) -> Explained:
        """The explanation of a lane that has retrieved."""
        assert self.explained is not None
        return self.explained

    @property
    def right(self) -> int:
        """The number of known answers that the lane gives, where some are known."""
        assert self.own.right is not None
        return self.own.right


def contrast(lanes: Sequence[LaneSummary], answers: Sequence[str], by: str = "") -> str:
    """Return the sentences for all lanes; empty for no lanes.

    `by` tells whose answers are counted, if that is to be mentioned.
    """
    retrieved = [lane for lane in lanes if not lane.ended and lane.explained is not None]
    answers = tuple(dict.fromkeys(answers))
    parts = []
    if retrieved:
        parts = [
            _known(retrieved, answers, f", {by}" if by else "") if answers else _unknown(retrieved)
        ]
    return " ".join(filter(None, [*parts, *ends((lane.name, lane.ended) for lane in lanes)]))


def ends(lanes: Iterable[tuple[str, str]]) -> list[str]:
    """Return sentences that name the lanes that failed or were cancelled.

    `lanes` are pairs of a name and how the lane ended, which is empty for a lane that finished.

    >>> from core.diagnosis.verdict.contrast import ends
    >>> ends([("No. 1", ""), ("No. 2", "failed"), ("No. 3", "was cancelled")])
    ['No. 2 failed.', 'No. 3 was cancelled.']
    """
    named_by: dict[str, list[str]] = {}
    for name, ended in lanes:
        if ended:
            named_by.setdefault(ended, []).append(name)
    plural = lambda ended, names: ended.replace("was ", "were ") if len(names) > 1 else ended
    return [
        f"{sentence(joined(names))} {plural(ended, names)}." for ended, names in named_by.items()
    ]


def _known(lanes: Sequence[LaneSummary], answers: tuple[str, ...], by: str) -> str:
    absent = [loss.name for loss in lanes[0].own.losses if loss.cause is Cause.NOT_IN_GRAPH]
    if len(absent) == len(answers):
        return (
            f"{named([f'“{name}”' for name in absent])} {are(len(absent))} not in the graph, so "
            f"no method can find {_it(absent)}."
        )
    of, counts = len(answers), [lane.right for lane in lanes]
    most = max(counts)
    best = [lane for lane in lanes if lane.right == most]
    rest = [lane for lane in lanes if lane.right < most]
    head = sentence(f"{_head(lanes, best, most, answers)}{by}.")
    by_reader = [lane.by_reader for lane in lanes if lane.by_reader is not None]
    if len(by_reader) == len(lanes) and max(by_reader) > most:
        head = _both(lanes, best, answers, max(by_reader))
    if not rest and most == of:
        return f"{head} {_beside(lanes)}".strip()
    return f"{head} {_clauses(rest or lanes, of, len(lanes))}".strip()


def _both(
    lanes: Sequence[LaneSummary], best: Sequence[LaneSummary], answers: tuple[str, ...], most: int
) -> str:
    """Compare the graph readers with the language models, where the readers find more."""
    readers = [lane for lane in lanes if lane.by_reader == most]
    found = sentence(f"{_head(lanes, readers, most, answers)}, {READER};")
    count = best[0].right
    if len(readers) == 1 and readers[0] in best:
        names = f"names {number(count) if count else 'none'} of them"
        return f"{found} its language model {names if most > 1 else 'does not name it'}."
    return f"{found} {MODEL} {_uncapitalised(_head(lanes, best, count, answers))}."


def _uncapitalised(text: str) -> str:
    """Lower the first letter of a clause, unless its first word is a name."""
    first = text.partition(" ")[0]
    return text[:1].lower() + text[1:] if first in CLAUSE_WORDS else text


def _head(
    lanes: Sequence[LaneSummary], best: Sequence[LaneSummary], most: int, answers: tuple[str, ...]
) -> str:
    """Return the clause on which lanes find how many answers."""
    of, names = len(answers), joined([lane.name for lane in best])
    goal = answers[0] if of == 1 else every(of)
    if most == 0:
        if len(lanes) == 1:
            return (
                f"{lanes[0].name} does not find {goal if of == 1 else f'any of the {number(of)}'}"
            )
        who = "Neither" if len(lanes) == 2 else f"None of the {number(len(lanes))}"
        return f"{who} finds {goal if of == 1 else f'any of the {number(of)} answers'}"
    what = goal if most == of else f"{most:,} of {of:,}"
    if len(best) == len(lanes):
        who = names if len(lanes) == 1 else sentence(every(len(lanes)))
        return f"{who} {'finds' if len(lanes) == 1 else 'find'} {what}"
    if most == of:
        return f"Only {names} {'finds' if len(best) == 1 else 'find'} {what}"
    return f"{names} {'finds' if len(best) == 1 else 'find'} most, {what}"


def _clauses(lanes: Sequence[LaneSummary], of: int, among: int) -> str:
    """Return where each of some lanes loses answers; lanes with the same loss share a clause.

    `among` is the number of all lanes.
    """
    groups: dict[tuple, list[LaneSummary]] = {}
    for lane in lanes:
        losses = lane.own.losses
        alike = [loss for loss in losses if loss.cause == losses[0].cause]
        hop = alike[0].hop if alike[0].cause in (Cause.BEAM, Cause.NOT_TRIED) else None
        groups.setdefault((lane.own.phrase, tuple(loss.name for loss in alike), hop), []).append(
            lane
        )
    clauses = []
    for (phrase, lost, hop), group in groups.items():
        if of == 1:
            what = "it"
        elif len(lost) == of:
            what = every(of)
        elif len(lost) == 1:
            what = lost[0]
        else:
            what = f"{number(len(lost))} of them"
        if among == 1:
            who = "it"
        elif len(group) == among:
            who = every(among)
        else:
            who = joined([lane.name for lane in group])
        said = PHRASES[phrase].several if len(group) > 1 else PHRASES[phrase].one
        clauses.append(f"{who} {said.format(what=what, hop=hop)}")
    return sentence("; ".join(clauses) + ".") if clauses else ""


def _beside(lanes: Sequence[LaneSummary]) -> str:
    """Name the lanes that give other names too, unless all do."""
    extra = [lane for lane in lanes if lane.own.extra]
    if not extra or len(extra) == len(lanes):
        return ""
    extras = [f"{lane.name} gives {counted(lane.own.extra, 'other name')} too" for lane in extra]
    return f"{sentence(joined(extras))}."


def _unknown(lanes: Sequence[LaneSummary]) -> str:
    """Return whether the lanes agree, for a question without a known answer."""
    says: dict[frozenset[str], list[LaneSummary]] = {}
    for lane in lanes:
        says.setdefault(frozenset(map(normalize, lane.says)), []).append(lane)
    if len(says) == 1:
        first = lanes[0]
        who = first.name if len(lanes) == 1 else sentence(every(len(lanes)))
        if not first.says:
            return f"{who} {'gives' if len(lanes) == 1 else 'give'} no answer."
        return f"{who} {'says' if len(lanes) == 1 else 'say'} {named(first.says)}. {ADD}"
    clauses = []
    for group in says.values():
        verb = ("says", "say")[len(group) > 1]
        said = named(group[0].says) if group[0].says else "nothing"
        clauses.append(f"{joined([lane.name for lane in group])} {verb} {said}")
    return f"They differ: {'; '.join(clauses)}. {ADD}"


def _it(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"
