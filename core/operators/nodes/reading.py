"""Nodes read by a reranker, each once per question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.errors import BadParameter
from core.graph.texts import node_chunks, node_labels
from core.models.base import Task
from core.models.heads import headed
from core.operators.base import Context, Recorder
from core.runtime.meter import spent
from core.types import HiddenStates, State, Usage

MODEL_HELP = (
    "The re-ranker whose hidden states are smoothed: a cross-encoder by role or name, or any "
    "scorer, whose scores then stand for them."
)


def read(
    state: State, nodes: Sequence[int], model: str, ctx: Context, recorder: Recorder
) -> HiddenStates:
    """Return the hidden states of these nodes and of those read before.

    Only nodes that were not read before are read now. The states are kept after the first weights
    of the head. These weights are linear, so they commute with any smoothing of the states.
    """
    known = state.hidden if state.hidden is not None and state.hidden.model == model else None
    before = set(known.nodes) if known else set()
    fresh = [node for node in nodes if node not in before]
    if known is not None and not fresh:
        return known
    reranker, note = headed(ctx.models.chooser(model), _title(ctx, model))
    if note and note not in recorder.notes:
        recorder.notes.append(note)
    with spent("ranking"):
        task = Task(
            state.question.text,
            "document" if node_chunks(ctx.graph) else "node",
            ctx.seed,
            ctx.watch,
        )
        vectors, head = reranker.head.enter(reranker.hidden(task, node_labels(ctx.graph, fresh)))
    recorder.usage += Usage(texts=len(fresh))
    if known is None:
        return HiddenStates(model, tuple(fresh), vectors, head)
    return HiddenStates(
        model, (*known.nodes, *fresh), np.concatenate([known.vectors, vectors]), head
    )


def _title(ctx: Context, model: str) -> str:
    try:
        return ctx.models.title(model)
    except BadParameter:  # several models in one expression
        return model


def rows_of(hidden: HiddenStates, nodes: Sequence[int]) -> np.ndarray:
    """Return the rows of some nodes in the hidden states, int64 [n]."""
    row = {node: at for at, node in enumerate(hidden.nodes)}
    return np.array([row[node] for node in nodes], np.int64)
