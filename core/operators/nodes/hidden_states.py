"""Hidden states of nodes that a reranker reads, each node once per question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.errors import BadParameter
from core.graph.texts import has_chunk_nodes, node_labels
from core.models.base import Task
from core.models.heads import with_hidden_states
from core.operators.base import Context, Recorder
from core.runtime.meter import count_time
from core.types import HiddenStates, State, Usage

STATES_MODEL_HELP = (
    "The re-ranker whose hidden states are smoothed: a cross-encoder by role or name, or any "
    "scorer, whose scores then stand for them."
)


def read_hidden_states(
    state: State, nodes: Sequence[int], model: str, ctx: Context, recorder: Recorder
) -> HiddenStates:
    """Return the hidden states of these nodes and of earlier ones.

    The earlier ones were read before for the same question. Only nodes that were not read before
    are read. The first weights of the reranker's head are already applied to the states, once for
    each node. These weights are linear, so the result is the same as if they were applied after the
    smoothing.

    Parameters
    ----------
    state : its field `hidden` has the states of the nodes read before, if there are any.
    nodes : node ids.
    model : the reranker, by role or name.
    """
    old_states = state.hidden if state.hidden is not None and state.hidden.model == model else None
    read_nodes = set(old_states.nodes) if old_states else set()
    new_nodes = [node for node in nodes if node not in read_nodes]
    if old_states is not None and not new_nodes:
        return old_states
    reranker, note = with_hidden_states(ctx.models.chooser(model), _reranker_title(ctx, model))
    if note and note not in recorder.notes:
        recorder.notes.append(note)
    with count_time("ranking"):
        unit = "document" if has_chunk_nodes(ctx.graph) else "node"
        task = Task(state.question.text, unit, ctx.seed, ctx.watch)
        texts = node_labels(ctx.graph, new_nodes)
        vectors, head = reranker.head.apply_first_weights(reranker.hidden(task, texts))
    recorder.usage += Usage(texts=len(new_nodes))
    if old_states is None:
        return HiddenStates(model, tuple(new_nodes), vectors, head)
    vectors = np.concatenate([old_states.vectors, vectors])
    return HiddenStates(model, (*old_states.nodes, *new_nodes), vectors, head)


def _reranker_title(ctx: Context, model: str) -> str:
    try:
        return ctx.models.title(model)
    except BadParameter:  # several models in one expression
        return model


def state_rows(hidden: HiddenStates, nodes: Sequence[int]) -> np.ndarray:
    """Return the rows of some nodes in the hidden states.

    They are int64 [n]. All nodes must have been read.
    """
    rows = {node: row for row, node in enumerate(hidden.nodes)}
    return np.array([rows[node] for node in nodes], np.int64)
