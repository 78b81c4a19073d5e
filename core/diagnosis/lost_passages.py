"""The passages an answer rests on that a lane on documents never read: at which stage each was lost, and by what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.comparison.comparing import Lane
from core.diagnosis.funnel import Stage
from core.diagnosis.funnel_texts import Fate, chunk_rows, fates
from core.diagnosis.wording import are
from core.operators import OPERATORS
from core.operators.nodes.documents import DocumentsOfNodes
from core.types import Step


@dataclass(frozen=True)
class LostPassage:
    """A passage by its title, the stage of the funnel at which it was lost, what became of it, and the step that cut it, if one did.

    `walked` tells that the lane went on from what it found first, batch by batch, and did not come upon it.
    """

    title: str
    stage: str
    fate: Fate
    step: Step | None = None
    walked: bool = False

    @property
    def kept(self) -> int | None:
        """How many the step that cut it kept of what it ranked, where a parameter says so."""
        return kept_by(self.step) if self.step is not None else None


def lost_passages(lane: Lane, stages: Sequence[Stage]) -> tuple[LostPassage, ...]:
    """The passages that `stages` lost, those of the earliest stage first, as `gold_funnel` gives them for the lane."""
    lost = [(stage.name, document) for stage in stages for document in stage.lost]
    told = {fate.document: fate for fate in fates(lane.graph, lane.states, [document for _, document in lost])}
    return tuple(_lost(lane, stage, told[document]) for stage, document in lost)


def _lost(lane: Lane, stage: str, fate: Fate) -> LostPassage:
    cut_by = fate.cut_by or (DocumentsOfNodes.__name__ if stage == "prompt" else "")  # which cuts documents of nodes that stay found
    steps = (step for step in reversed(lane.state.trace) if step.operator == cut_by and step.before_cut is not None)
    return LostPassage(_title(lane.graph, fate), stage, fate, next(steps, None), any(in_batches(step) for step in lane.state.trace))


def in_batches(step: Step) -> bool:
    """Whether an operator found nodes in several batches."""
    return len(step.frames) > 1 and step.frames[0].ranking.kind == "node"


def _title(graph, fate: Fate) -> str:
    """The title of the passage's document; its id where it has none or is not there."""
    rows = chunk_rows(graph, fate.document)
    return title_of_chunk(graph, min(rows)) if rows else fate.document


def title_of_chunk(graph, row: int) -> str:
    """The title of a chunk's document, without a full stop, as it stands inside a sentence; its id where it has none."""
    table = graph.columns.chunks
    return (table.text("title", row) if table.has("title") else "").strip().removesuffix(".") or table.text("document", row)


def kept_by(step: Step) -> int | None:
    """How many an operator kept of what it ranked, where a parameter says so.

    >>> from core.diagnosis.lost_passages import kept_by
    >>> from core.types import Step
    >>> kept_by(Step("SparseChunks", "retrieve", {"keep": 4, "by": "bm25"}, 0.0))
    4
    """
    keep = step.parameters.get("keep")
    return keep if isinstance(keep, int) and keep > 0 else None


def why(lost: LostPassage) -> str:
    """Why a passage was not read, in a few words without a full stop."""
    fate = lost.fate
    if lost.stage == "corpus":
        return "it is not among the documents"
    if lost.stage == "graph":
        return "nothing of it is in the graph"
    if lost.stage == "prompt":
        place = f" at place {fate.place:,}" if fate.place else ""
        if lost.kept is not None and fate.place is not None and fate.place > lost.kept:
            return f"it was found{place}, and the first {lost.kept:,} are handed on"
        return f"it was found{place}, and the prompt had no room for it"
    if fate.place is None:
        return "no step of this line came upon it"
    if lost.walked and fate.cut_by:
        return f"the first search had it at place {fate.place:,}, and no batch came upon it"
    if lost.kept is not None:
        return f"only {lost.kept:,} {are(lost.kept)} kept, it was place {fate.place:,}"
    by = OPERATORS[fate.cut_by].title if fate.cut_by in OPERATORS else "the ranking"
    return f"it was place {fate.place:,} of {fate.of:,} and cut by {by}"
