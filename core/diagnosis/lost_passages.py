"""The passages an answer rests on that a lane on documents never read: at which stage each was lost, and by what."""

from __future__ import annotations

from collections.abc import Sequence

from core.comparison.lane import Lane
from core.comparison.run import LaneRun
from core.diagnosis.causes import Cause, Fate, Loss
from core.diagnosis.funnel import Stage
from core.diagnosis.passages import chunk_rows, fates, retained_by
from core.diagnosis.path_outcome import title
from core.diagnosis.wording import are


def lost_passages(run: LaneRun | Lane, stages: Sequence[Stage]) -> tuple[Loss, ...]:
    """The passages that `stages` lost, those of the earliest stage first, as `gold_funnel` gives them for the run."""
    lost = [(stage.name, document) for stage in stages for document in stage.lost]
    found = fates(run.graph, run.states, [document for _, document in lost])
    return tuple(
        Loss(
            _title(run.graph, fate),
            stage,
            fate.cause,
            fate.place,
            fate.of,
            fate.retained,
            step=fate.step,
        )
        for (stage, _), fate in zip(lost, found)
    )


def _title(graph, fate: Fate) -> str:
    """The title of the passage's document; its id where it has none or is not there."""
    rows = chunk_rows(graph, fate.document)
    return title_of_chunk(graph, min(rows)) if rows else fate.document


def title_of_chunk(graph, row: int) -> str:
    """The title of a chunk's document, without a full stop, as it stands inside a sentence; its id where it has none."""
    table = graph.columns.chunks
    return (table.text("title", row) if table.has("title") else "").strip().removesuffix(
        "."
    ) or table.text("document", row)


def why(lost: Loss) -> str:
    """Why a passage was not read, in a few words without a full stop."""
    retained = retained_by(lost.step) if lost.step is not None else None
    if lost.stage == "corpus":
        return "it is not among the documents"
    if lost.stage == "graph":
        return "nothing of it is in the graph"
    if lost.stage == "prompt":
        place = f" at place {lost.place:,}" if lost.place else ""
        if retained is not None and lost.place is not None and lost.place > retained:
            return f"it was found{place}, and the first {retained:,} are handed on"
        return f"it was found{place}, and the prompt had no room for it"
    if lost.place is None:
        return "no step of this line came upon it"
    if lost.cause is Cause.BATCH:
        return f"the first search had it at place {lost.place:,}, and no batch came upon it"
    if retained is not None:
        return f"only {retained:,} {are(retained)} kept, it was place {lost.place:,}"
    by = title(lost.step) if lost.step is not None else "the ranking"
    return f"it was place {lost.place:,} of {lost.of:,} and cut by {by}"
