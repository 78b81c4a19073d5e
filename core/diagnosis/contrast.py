"""What a comparison comes to, in a sentence or two for all lanes: what agrees is said shortly, what differs by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.diagnosis.explanation import Explained
from core.diagnosis.matching import normalize
from core.diagnosis.wording import are, counted, every, joined, named, number, sentence

ADD = "Add the right answer to see where it is lost."
CLAUSES = {  # what a lane does with {what} is lost there: for one lane, and for several
    "unshown": ("does not know {what}", "do not know {what}"),
    "outside": ("leaves {what} out of its subgraph", "leave {what} out of their subgraphs"),
    "cut": ("cuts the way to {what}", "cut the way to {what}"),
    "far": ("does not search far enough", "do not search far enough"),
    "apart": ("finds no way to {what}", "find no way to {what}"),
    "oneway": ("follows edges one way only", "follow edges one way only"),
    "beam": ("loses {what} at hop {hop}", "lose {what} at hop {hop}"),
    "untried": ("does not try the step at hop {hop}", "do not try the step at hop {hop}"),
    "elsewhere": ("follows other relations", "follow other relations"),
    "outranked": ("ranks {what} too low", "rank {what} too low"),
    "unchosen": ("does not choose {what}", "do not choose {what}"),
    "late": ("finds {what} too late", "find {what} too late"),
    "unread": ("reads another relation", "read another relation"),
    "unsaid": ("has {what} in the prompt, but the model does not say so", "have {what} in the prompt, but the model does not say so"),
    "unreached": ("does not reach {what}", "do not reach {what}"),
}


@dataclass(frozen=True)
class Spoken:
    """One lane as the sentence for all needs it: its name, its own explanation, what it answers, and whether it failed."""

    name: str
    explained: Explained | None
    says: tuple[str, ...] = ()
    failed: bool = False

    @property
    def own(self) -> Explained:
        """Its explanation, of one that has retrieved."""
        assert self.explained is not None
        return self.explained

    @property
    def right(self) -> int:
        """How many of the known answers it gives, where some are known."""
        assert self.own.right is not None
        return self.own.right


def contrast(lanes: Sequence[Spoken], answers: Sequence[str]) -> str:
    """The sentences for all lanes; empty for none."""
    retrieved = [lane for lane in lanes if not lane.failed and lane.explained is not None]
    failed = [lane.name for lane in lanes if lane.failed]
    answers = tuple(dict.fromkeys(answers))
    parts = [_known(retrieved, answers) if answers else _unknown(retrieved)] if retrieved else []
    parts += [f"{joined(failed)} failed."] if failed else []
    return " ".join(filter(None, parts))


def _known(lanes: Sequence[Spoken], answers: tuple[str, ...]) -> str:
    absent = [loss.answer for loss in lanes[0].own.losses if loss.cause == "unknown"]
    if len(absent) == len(answers):
        return f"{named([f'“{name}”' for name in absent])} {are(len(absent))} not in the graph, so no method can find {_it(absent)}."
    of, counts = len(answers), [lane.right for lane in lanes]
    most = max(counts)
    best = [lane for lane in lanes if lane.right == most]
    rest = [lane for lane in lanes if lane.right < most]
    head = _head(lanes, best, most, answers)
    if not rest and most == of:
        return f"{head} {_beside(lanes)}".strip()
    return f"{head} {_clauses(rest or lanes, of, len(lanes))}".strip()


def _head(lanes: Sequence[Spoken], best: Sequence[Spoken], most: int, answers: tuple[str, ...]) -> str:
    """Who finds how many."""
    of, names = len(answers), joined([lane.name for lane in best])
    goal = answers[0] if of == 1 else every(of)
    if most == 0:
        if len(lanes) == 1:
            return f"{lanes[0].name} does not find {goal if of == 1 else f'any of the {number(of)}'}."
        who = "Neither" if len(lanes) == 2 else f"None of the {number(len(lanes))}"
        return f"{who} finds {goal if of == 1 else f'any of the {number(of)} answers'}."
    what = goal if most == of else f"{most:,} of {of:,}"
    if len(best) == len(lanes):
        who = names if len(lanes) == 1 else sentence(every(len(lanes)))
        return f"{who} {'finds' if len(lanes) == 1 else 'find'} {what}."
    if most == of:
        return f"Only {names} {'finds' if len(best) == 1 else 'find'} {what}."
    return f"{names} {'finds' if len(best) == 1 else 'find'} most, {what}."


def _clauses(lanes: Sequence[Spoken], of: int, among: int) -> str:
    """Where each of the lanes loses, those that lose alike together; `among` is how many lanes there are."""
    groups: dict[tuple, list[Spoken]] = {}
    for lane in lanes:
        losses = lane.own.losses
        alike = [loss for loss in losses if loss.cause == losses[0].cause]
        hop = alike[0].hop if alike[0].cause in ("beam", "untried") else None
        groups.setdefault((alike[0].cause, tuple(loss.answer for loss in alike), hop), []).append(lane)
    clauses = []
    for (cause, lost, hop), group in groups.items():
        if cause in CLAUSES:
            what = "it" if of == 1 else every(of) if len(lost) == of else lost[0] if len(lost) == 1 else f"{number(len(lost))} of them"
            who = every(among) if 1 < len(group) == among else joined([lane.name for lane in group])
            clauses.append(f"{who} {CLAUSES[cause][len(group) > 1].format(what=what, hop=hop)}")
    return sentence("; ".join(clauses) + ".") if clauses else ""


def _beside(lanes: Sequence[Spoken]) -> str:
    """Who gives other names too, where somebody does not."""
    extra = [lane for lane in lanes if lane.own.extra]
    if not extra or len(extra) == len(lanes):
        return ""
    extras = [f"{lane.name} gives {counted(lane.own.extra, 'other name')} too" for lane in extra]
    return f"{sentence(joined(extras))}."


def _unknown(lanes: Sequence[Spoken]) -> str:
    """Whether the lanes agree, where no right answer is known."""
    says: dict[frozenset[str], list[Spoken]] = {}
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
