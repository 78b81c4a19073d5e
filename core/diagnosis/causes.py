"""Causes of found and lost paths, passages and answers, with their wording.

A lane is the run of one method on a question, in a comparison of methods. It loses a known answer
or a gold passage if its result lacks it. The cause is read from the trace of its operators.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum, auto
from typing import Literal

from core.types import Step


class Cause(StrEnum):
    """The event that decided over a path, a passage, or a known answer."""

    FOUND = auto()  # it was found
    NOT_IN_GRAPH = auto()  # the lane's graph has no such name
    NOT_SOUGHT = auto()  # the method seeks nothing of this kind
    NOT_SHOWN = auto()  # nothing was retrieved, and the model did not name it
    LEFT_OUT = auto()  # one of its nodes is not in the subgraph
    EDGE_LEFT_OUT = auto()  # one of its edges is not in the subgraph
    FILTERED = auto()  # a node or an edge of it was removed by a filter of the subgraph
    TOO_FAR = auto()  # more hops away than are searched
    NO_WAY = auto()  # no path inside the subgraph leads to it
    ONE_WAY = auto()  # edges are followed in one direction, and it needs the other
    TIE = auto()  # another path to its end is as short
    ONLY_LONGER = auto()  # only longer paths that begin with it were kept
    OTHER_RELATIONS = auto()  # the relations that were followed do not lead to it
    BEAM = auto()  # a beam dropped it
    NOT_TRIED = auto()  # a beam never scored its next step
    BATCH = auto()  # the first search ranked it, but none of the batches that were read held it
    NOT_READ = auto()  # the ranking model read only some candidates, and it was not among them
    OUTRANKED = auto()  # it was ranked behind the kept ones
    NOT_CHOSEN = auto()  # others were chosen, without an order
    NOT_DRAWN = auto()  # others were drawn at random
    NOT_HANDED_ON = auto()  # the operator that saw it returned nothing
    NOT_REACHED = auto()  # the search did not reach it, and no other cause is known
    NO_ROOM = auto()  # it was kept, but ranked too low to be passed on or shown in the prompt
    NOT_FOLLOWED = auto()  # a path ends at it, but the graph reader follows other relations
    NOT_NAMED = auto()  # a path of the followed relations ends at it, but the reader names fewer
    ON_THE_WAY = auto()  # it lies on a path, but no path ends at it
    NOT_SAID = auto()  # it was in the prompt, but the model did not name it


CAUSE_LABELS = {
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
    Cause.OTHER_RELATIONS: "followed other relations",
    Cause.BEAM: "dropped by the beam",
    Cause.NOT_TRIED: "not tried by the beam",
    Cause.BATCH: "in no batch that was read",
    Cause.NOT_READ: "not read by the ranking",
    Cause.OUTRANKED: "ranked too low",
    Cause.NOT_CHOSEN: "not chosen",
    Cause.NOT_DRAWN: "not drawn",
    Cause.NOT_HANDED_ON: "not handed on",
    Cause.NOT_REACHED: "never reached",
    Cause.NO_ROOM: "found too late",
    Cause.NOT_FOLLOWED: "led by the wrong relation",
    Cause.NOT_NAMED: "not named",
    Cause.ON_THE_WAY: "not at the end of a path",
    Cause.NOT_SAID: "not said by the model",
}
"""Short labels of the causes, for counts of questions by cause."""
# The relations of a path, each with True if it is followed from head to tail.
Chain = tuple[tuple[str, bool], ...]
# Causes of candidates that were seen and then dropped.
DROP_CAUSES = (
    Cause.NOT_READ,
    Cause.OUTRANKED,
    Cause.NOT_CHOSEN,
    Cause.NOT_HANDED_ON,
    Cause.NO_ROOM,
)


@dataclass(frozen=True)
class Fate:
    """The outcome of a path or a passage, with its cause and figures.

    Parameters
    ----------
    text : the outcome in a few words.
    rank : the rank, from 1, among `n_candidates` candidates.
    n_retained : how many candidates were kept or read; for `TOO_FAR` how many hops were searched.
    hop : the hop, from 1, at which a beam dropped the path.
    missing_name : the node or relation that the subgraph lacks.
    step : the step of the trace that decided; None if none did.
    document : the passage, if this is a passage's outcome.
    chunk : the best chunk of the passage.
    """

    cause: Cause
    text: str
    rank: int | None = None
    n_candidates: int | None = None
    n_retained: int | None = None
    hop: int | None = None
    missing_name: str = ""
    step: Step | None = field(default=None, compare=False)
    document: str = ""
    chunk: str = ""

    @property
    def kind(self) -> Literal["found", "dropped", "never"]:
        """The outcome in short: found, seen and dropped, or never reached."""
        if self.cause is Cause.FOUND:
            return "found"
        if self.cause in DROP_CAUSES:
            return "dropped"
        return "never"


@dataclass(frozen=True)
class Loss:
    """A lost answer or passage, with the stage, the cause and figures.

    Parameters
    ----------
    name : the answer's name, or the passage's title.
    stage : the stage of the funnel (`core.diagnosis.funnel`) at which it was lost.
    rank : the rank, from 1, among `n_candidates` candidates. A node that PageRank left out has a
        rank beyond `n_retained`, and `n_candidates` is None.
    n_retained : how many candidates were kept or read; for `TOO_FAR` and `NOT_REACHED` how many
        hops were searched, and for `NOT_NAMED` how many names the graph reader gave.
    hop : the hop, from 1, at which a beam dropped the path, or the number of hops to the answer.
    missing_name : the missing node or relation, or the node to which a beam did not continue.
    start : the node from which the beam did not continue.
    chain : the relations on the way to the answer.
    followed_chain : the relations that were followed instead.
    step : the step of the trace that decided; None if none did.
    """

    name: str
    stage: str
    cause: Cause
    rank: int | None = None
    n_candidates: int | None = None
    n_retained: int | None = None
    hop: int | None = None
    missing_name: str = ""
    start: str = ""
    chain: Chain = ()
    followed_chain: Chain = ()
    step: Step | None = field(default=None, repr=False)


def required_figure(number: int | None) -> int:
    """Return a figure that is not None for the cause at hand. In general, it may be None."""
    assert number is not None
    return number


@dataclass(frozen=True)
class CauseWording:
    """The wording of a cause.

    `head` begins the sentence of a lane. `for_one` and `for_several` are clauses whose subject is
    one lane or several lanes, with the placeholders `what` for the lost item and `hop`.
    """

    head: str
    for_one: str = ""
    for_several: str = ""


CAUSE_WORDINGS = {
    Cause.NOT_IN_GRAPH: CauseWording(
        "Not in the graph",
        "cannot know {what}, which the graph lacks",
        "cannot know {what}, which the graph lacks",
    ),
    Cause.NOT_SHOWN: CauseWording("Not known", "does not know {what}", "do not know {what}"),
    Cause.NOT_SOUGHT: CauseWording("No answer", "gives no answer", "give no answer"),
    Cause.LEFT_OUT: CauseWording(
        "Never in the subgraph",
        "leaves {what} out of its subgraph",
        "leave {what} out of their subgraphs",
    ),
    Cause.FILTERED: CauseWording(
        "Lost when filtering", "filters out the way to {what}", "filter out the way to {what}"
    ),
    Cause.EDGE_LEFT_OUT: CauseWording("Cut off", "cuts the way to {what}", "cut the way to {what}"),
    Cause.TOO_FAR: CauseWording(
        "Too far", "does not search far enough", "do not search far enough"
    ),
    Cause.NO_WAY: CauseWording("No way there", "finds no way to {what}", "find no way to {what}"),
    Cause.ONE_WAY: CauseWording(
        "Against the arrows", "follows edges one way only", "follow edges one way only"
    ),
    Cause.BEAM: CauseWording(
        "Lost at hop {hop}", "loses {what} at hop {hop}", "lose {what} at hop {hop}"
    ),
    Cause.NOT_TRIED: CauseWording(
        "Not tried at hop {hop}",
        "does not try the right edge at hop {hop}",
        "do not try the right edge at hop {hop}",
    ),
    Cause.OTHER_RELATIONS: CauseWording(
        "Followed other relations", "follows other relations", "follow other relations"
    ),
    Cause.NOT_READ: CauseWording(
        "Not read when ranking",
        "does not read the paths to {what}",
        "do not read the paths to {what}",
    ),
    Cause.OUTRANKED: CauseWording(
        "Lost when ranking", "ranks {what} too low", "rank {what} too low"
    ),
    Cause.NOT_DRAWN: CauseWording("Lost by lot", "does not draw {what}", "do not draw {what}"),
    Cause.NOT_CHOSEN: CauseWording("Not chosen", "does not choose {what}", "do not choose {what}"),
    Cause.NOT_HANDED_ON: CauseWording("Not handed on", "hands nothing on", "hand nothing on"),
    Cause.NO_ROOM: CauseWording(
        "Too low for the prompt",
        "ranks {what} too low for the prompt",
        "rank {what} too low for the prompt",
    ),
    Cause.NOT_FOLLOWED: CauseWording(
        "Took another relation", "takes another relation", "take another relation"
    ),
    Cause.ON_THE_WAY: CauseWording(
        "Seen but not named",
        "has {what} on a path but not at its end",
        "have {what} on a path but not at its end",
    ),
    Cause.NOT_NAMED: CauseWording("Not named", "does not name {what}", "do not name {what}"),
    Cause.NOT_SAID: CauseWording(
        "Lost in the answer",
        "has {what} in the prompt, but not in the model's answer",
        "have {what} in the prompt, but not in the model's answer",
    ),
    Cause.NOT_REACHED: CauseWording(
        "Never reached", "does not reach {what}", "do not reach {what}"
    ),
}


def rank_words(loss: Loss) -> str:
    """Return the rank of a loss in words, else its cause.

    >>> from core.diagnosis.causes import Cause, Loss, rank_words
    >>> (rank_words(Loss("Don Cheadle", "paths", Cause.OUTRANKED, 41, 1317)),
    ...  rank_words(Loss("Don Cheadle", "paths", Cause.NO_WAY)))
    ('rank 41 of 1,317', 'no way there')
    """
    if loss.rank is not None:
        if loss.n_candidates is not None:
            total = f" of {loss.n_candidates:,}"
        elif loss.n_retained:
            total = f", {loss.n_retained:,} kept"
        else:
            total = ""
        return f"rank {loss.rank:,}{total}"
    head = CAUSE_WORDINGS[loss.cause].head.format(hop=loss.hop)
    return head[:1].lower() + head[1:]
