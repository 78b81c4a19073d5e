"""Gold passages that a lane did not bring into its prompt.

Each has the stage and the cause of its loss.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.comparison.lane import MethodLane
from core.comparison.lane_run import LaneRun
from core.diagnosis.causes import Cause, Fate, Loss
from core.diagnosis.funnel import FunnelStage
from core.diagnosis.passages import chunk_rows, fates, retained_by
from core.diagnosis.path_outcome import step_title
from core.diagnosis.wording import is_or_are


def lost_passages(run: LaneRun | MethodLane, stages: Sequence[FunnelStage]) -> tuple[Loss, ...]:
    """Return the passages that were lost in `stages`, those of the earliest stage first.

    `stages` are the result of `core.diagnosis.funnel.funnel` for the gold passages of the run.
    """
    lost: list[tuple[str, str]] = []
    for stage in stages:
        lost += [(stage.name, document) for document in stage.lost]
    outcomes = fates(run.graph, run.states, [document for _, document in lost])
    return tuple(
        Loss(
            _title(run.graph, fate),
            stage,
            fate.cause,
            fate.rank,
            fate.n_candidates,
            fate.n_retained,
            step=fate.step,
        )
        for (stage, _), fate in zip(lost, outcomes)
    )


def _title(graph, fate: Fate) -> str:
    """Return the title of the passage's document.

    The result is the document's id if it has no title or is not in the graph.
    """
    rows = chunk_rows(graph, fate.document)
    return title_of_chunk(graph, min(rows)) if rows else fate.document


def title_of_chunk(graph, row: int) -> str:
    """Return the title of a chunk's document, without a full stop.

    It is the document's id if it has no title.
    """
    table = graph.columns.chunks
    title = table.text("title", row) if table.has_column("title") else ""
    return title.strip().removesuffix(".") or table.text("document", row)


def loss_reason(lost: Loss) -> str:
    """Return why a passage was not read, as a clause without a full stop."""
    limit = retained_by(lost.step) if lost.step is not None else None
    if lost.stage == "corpus":
        return "it is not among the documents"
    if lost.stage == "graph":
        return "nothing of it is in the graph"
    if lost.stage == "prompt":
        rank_clause = f" at rank {lost.rank:,}" if lost.rank else ""
        if limit is not None and lost.rank is not None and lost.rank > limit:
            are = is_or_are(limit)
            return f"it was found{rank_clause}, and only the first {limit:,} {are} handed on"
        return f"it was found{rank_clause}, and the prompt had no room for it"
    if lost.rank is None:
        return "no step found it"
    if lost.cause is Cause.BATCH:
        return f"the first search had it at rank {lost.rank:,}, and no batch reached it"
    if limit is not None:
        return f"it had rank {lost.rank:,}, and only the top {limit:,} {is_or_are(limit)} kept"
    operator_title = step_title(lost.step) if lost.step is not None else "the ranking"
    return f"it had rank {lost.rank:,} of {lost.n_candidates:,} and was cut by {operator_title}"
