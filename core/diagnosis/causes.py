"""Why something wanted was found or lost: one list of causes, one table of how each is said, the fate of a path or
a passage, and the loss of what was wanted."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum, auto
from typing import Literal

from core.types import Step


class Cause(StrEnum):
    """What decided over a path, a passage, or a known answer."""

    FOUND = auto()  # it is there
    NOT_IN_GRAPH = auto()  # the lane's graph has nothing of that name
    NOT_SOUGHT = auto()  # the run seeks nothing of its kind
    NOT_SHOWN = auto()  # nothing was retrieved, and the model did not say it
    LEFT_OUT = auto()  # a node of it is not in the subgraph
    EDGE_LEFT_OUT = auto()  # an edge of it is not in the subgraph
    FILTERED = auto()  # as these two, by a filter of the subgraph
    TOO_FAR = auto()  # further away than is searched
    NO_WAY = auto()  # no path leads there inside the subgraph
    ONE_WAY = auto()  # edges are followed one way only, and it needs the other
    TIE = auto()  # another path to its end is as short
    ONLY_LONGER = auto()  # only longer paths that begin with it were handed on
    OTHER_RELATIONS = auto()  # relations were followed that do not lead there
    BEAM = auto()  # a beam went on without it
    NOT_TRIED = auto()  # a beam never looked at its next step
    BATCH = auto()  # the first search ranked it, and no batch that was read came upon it
    NOT_READ = auto()  # the model stopped reading before it came to it
    OUTRANKED = auto()  # ranked behind what was retained
    NOT_CHOSEN = auto()  # others were picked, by something that gave no order
    NOT_DRAWN = auto()  # others were picked by lot
    NOT_HANDED_ON = auto()  # seen by something that handed nothing on
    NOT_REACHED = auto()  # none of these: the search did not come to it
    NO_ROOM = auto()  # retained, behind what the prompt holds or what is handed on to it
    NOT_FOLLOWED = auto()  # at the end of a path, and the graph reader follows other relations
    NOT_NAMED = auto()  # at the end of a path of those relations, and the graph reader names fewer
    ON_THE_WAY = auto()  # on a path, and at the end of none
    NOT_SAID = auto()  # in the prompt, and the model did not say it


BRIEF = {
    Cause.NOT_IN_GRAPH: "not in the graph",
    Cause.NOT_SOUGHT: "not sought",
    Cause.NOT_SHOWN: "without anything retrieved",
    Cause.LEFT_OUT: "outside the subgraph",
    Cause.EDGE_LEFT_OUT: "cut off",
    Cause.FILTERED: "filtered out",
    Cause.TOO_FAR: "too far",
    Cause.NO_WAY: "without a path there",
    Cause.ONE_WAY: "against the arrows",
    Cause.TIE: "behind a path as short",
    Cause.ONLY_LONGER: "only in longer paths",
    Cause.OTHER_RELATIONS: "led along other relations",
    Cause.BEAM: "left by the beam",
    Cause.NOT_TRIED: "not tried by the beam",
    Cause.BATCH: "in no batch that was read",
    Cause.NOT_READ: "not read by the ranking",
    Cause.OUTRANKED: "ranked too low",
    Cause.NOT_CHOSEN: "not chosen",
    Cause.NOT_DRAWN: "not drawn",
    Cause.NOT_HANDED_ON: "not handed on",
    Cause.NOT_REACHED: "never reached",
    Cause.NO_ROOM: "found too late",
    Cause.NOT_FOLLOWED: "misled by another relation",
    Cause.NOT_NAMED: "not named",
    Cause.ON_THE_WAY: "passed by",
    Cause.NOT_SAID: "not said by the model",
}
"""Each cause in a few words, where questions are counted by it."""
Chain = tuple[tuple[str, bool], ...]  # relations with their directions
# of what was seen
DROPPED = (Cause.NOT_READ, Cause.OUTRANKED, Cause.NOT_CHOSEN, Cause.NOT_HANDED_ON, Cause.NO_ROOM)


@dataclass(frozen=True)
class Fate:
    """What became of a path, or of the passage `document`, in a run: the cause, a few words that say it, then the same in figures.

    `place` (from 1) of `of` candidates, of which `kept` stayed; `hop` is where a beam left it, `what` the node or relation that a subgraph
    lacks. `step` is what the operator did that decided, None where none did. `chunk` is the best chunk of a passage.
    """

    cause: Cause
    text: str
    place: int | None = None
    of: int | None = None
    retained: int | None = None
    hop: int | None = None
    what: str = ""
    step: Step | None = field(default=None, compare=False)
    document: str = ""
    chunk: str = ""

    @property
    def kind(self) -> Literal["found", "dropped", "never"]:
        """Whether it is there, was seen and dropped, or was never reached."""
        if self.cause is Cause.FOUND:
            return "found"
        if self.cause in DROPPED:
            return "dropped"
        return "never"


@dataclass(frozen=True)
class Loss:
    """A known answer or a passage that a run lost, by its name or title: at which stage of the funnel, by what, and the figures of that.

    `place` (from 1) of `of`, of which `kept` stayed (or beyond them, of a node that PageRank left out); `hop` of a beam, or how many
    hops away the answer is; `what` is the node or relation that is missing, or the node that a beam did not go on to from `start`;
    `chain` are the relations on the way to the answer and `instead` those that were followed.
    """

    name: str
    stage: str
    cause: Cause
    place: int | None = None
    of: int | None = None
    retained: int | None = None
    hop: int | None = None
    what: str = ""
    start: str = ""
    chain: Chain = ()
    instead: Chain = ()
    step: Step | None = None


def figure(number: int | None) -> int:
    """A figure that a loss of its cause has."""
    assert number is not None
    return number


@dataclass(frozen=True)
class Phrase:
    """`head` begins a lane's sentence; `one` and `several` say it of one lane and of several, with `{what}` was lost at `{hop}`."""

    head: str
    one: str = ""
    several: str = ""


PHRASES = {
    Cause.NOT_IN_GRAPH: Phrase(
        "Not in the graph",
        "cannot know {what}, which the graph lacks",
        "cannot know {what}, which the graph lacks",
    ),
    Cause.NOT_SHOWN: Phrase("Not known", "does not know {what}", "do not know {what}"),
    Cause.NOT_SOUGHT: Phrase("No answer", "gives no answer", "give no answer"),
    Cause.LEFT_OUT: Phrase(
        "Never in the subgraph",
        "leaves {what} out of its subgraph",
        "leave {what} out of their subgraphs",
    ),
    Cause.FILTERED: Phrase(
        "Lost when filtering", "filters out the way to {what}", "filter out the way to {what}"
    ),
    Cause.EDGE_LEFT_OUT: Phrase("Cut off", "cuts the way to {what}", "cut the way to {what}"),
    Cause.TOO_FAR: Phrase("Too far", "does not search far enough", "do not search far enough"),
    Cause.NO_WAY: Phrase("No way there", "finds no way to {what}", "find no way to {what}"),
    Cause.ONE_WAY: Phrase(
        "Against the arrows", "follows edges one way only", "follow edges one way only"
    ),
    Cause.BEAM: Phrase(
        "Lost at hop {hop}", "loses {what} at hop {hop}", "lose {what} at hop {hop}"
    ),
    Cause.NOT_TRIED: Phrase(
        "Not tried at hop {hop}",
        "does not try the step at hop {hop}",
        "do not try the step at hop {hop}",
    ),
    Cause.OTHER_RELATIONS: Phrase(
        "Followed other relations", "follows other relations", "follow other relations"
    ),
    Cause.NOT_READ: Phrase(
        "Not read when ranking",
        "does not read the paths to {what}",
        "do not read the paths to {what}",
    ),
    Cause.OUTRANKED: Phrase("Lost when ranking", "ranks {what} too low", "rank {what} too low"),
    Cause.NOT_DRAWN: Phrase("Lost by lot", "does not draw {what}", "do not draw {what}"),
    Cause.NOT_CHOSEN: Phrase("Not chosen", "does not choose {what}", "do not choose {what}"),
    Cause.NOT_HANDED_ON: Phrase("Not handed on", "hands nothing on", "hand nothing on"),
    Cause.NO_ROOM: Phrase("Found too late", "finds {what} too late", "find {what} too late"),
    Cause.NOT_FOLLOWED: Phrase(
        "Read another relation", "reads another relation", "read another relation"
    ),
    Cause.ON_THE_WAY: Phrase("Passed by", "passes by {what}", "pass by {what}"),
    Cause.NOT_NAMED: Phrase("Not named", "does not name {what}", "do not name {what}"),
    Cause.NOT_SAID: Phrase(
        "Lost in the answer",
        "has {what} in the prompt, but the model does not say so",
        "have {what} in the prompt, but the model does not say so",
    ),
    Cause.NOT_REACHED: Phrase("Never reached", "does not reach {what}", "do not reach {what}"),
}


def place_words(loss: Loss) -> str:
    """Name the place of a loss in a few words, or its cause where it has no place.

    >>> from core.diagnosis.causes import Cause, Loss, place_words
    >>> place_words(Loss("Don Cheadle", "paths", Cause.OUTRANKED, 41, 1317)), place_words(Loss("Don Cheadle", "paths", Cause.NO_WAY))
    ('place 41 of 1,317', 'no way there')
    """
    if loss.place is not None:
        if loss.of is not None:
            behind = f" of {loss.of:,}"
        elif loss.retained:
            behind = f", {loss.retained:,} kept"
        else:
            behind = ""
        return f"place {loss.place:,}{behind}"
    head = PHRASES[loss.cause].head.format(hop=loss.hop)
    return head[:1].lower() + head[1:]
