"""FastInsight's GRanker: hidden states of a reranker smoothed over links, then scored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph.algorithms.simple_graph import SimpleGraph, simple_graph
from core.operators.base import Context, Operator, Recorder
from core.operators.nodes.hidden_states import STATES_MODEL_HELP, read_hidden_states, state_rows
from core.operators.texts.hits import HIT_SCORE_DIGITS, best_names
from core.parameters import param
from core.types import HiddenStates, Ranking, State

LONELY_CHOICES = ("keep", "shrink")
LONELY_HELP = (
    "A node without links to others found has nothing to be smoothed with. keep: it stays as it "
    "is; shrink: it is taken (1 - alpha) times, as the formula has it where its sum is empty."
)


@dataclass(frozen=True, repr=False)
class GraphRerank(Operator):
    """The retrieved nodes, reordered by a re-ranker with hidden states smoothed over links.

    FastInsight, GRanker (algorithm 2): H' = (1 - alpha) H + alpha P H, scores = head(H'). H are the
    hidden states of the re-ranker, P the rows of A D^-1 scaled to one, A the links among the
    retrieved nodes, D the degrees in the whole graph, read as an undirected simple graph. The
    printed equation has P H' on the right, which would need a solver. Nodes of equal score keep
    their order. The re-ranker reads each node once per question.

    With `alpha` 0 this is an ordinary re-ranker. In the example, Scrooge is linked to Marley and
    Cratchit, and Cratchit has a second neighbour.

    >>> table = {"Marley: person: Dead for seven years.": 1.0}
    >>> line = "SparseNodes(keep=3) >> GraphRerank(alpha=0.5)"
    >>> question = "Marley Cratchit Scrooge lonely"
    >>> found = retrieve(line, graph=story, question=question, models=scores(table)).nodes
    >>> story.names(found.items), [round(score, 2) for score in found.scores]
    (['Marley', 'Scrooge', 'Cratchit'], [0.5, 0.33, 0.0])
    """

    stage = "refine"
    title = "re-ranked along links"
    plain = "re-ranks them along their links"
    reads, writes = ("nodes",), ("nodes", "hidden")

    model: str = param("cross-encoder", "Re-ranker", STATES_MODEL_HELP, model=True)
    alpha: float = param(
        0.2,
        "Smoothing (alpha)",
        "How much of a node's hidden state is its neighbours'; 0 is none.",
        low=0,
        high=1,
    )
    lonely: str = param("keep", "Without links", LONELY_HELP, choices=LONELY_CHOICES)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        nodes = state.nodes.items if state.nodes else ()
        if not nodes:
            return state.replace(nodes=Ranking("node", (), ()))
        ctx.watch.report("Re-ranking along links")
        hidden = read_hidden_states(state, nodes, self.model, ctx, recorder)
        ranking = smoothed_order(hidden, nodes, simple_graph(ctx.graph), self.alpha, self.lonely)
        recorder.notes.append(lambda: f"The best: {best_names(ctx.graph, ranking)}.")
        return state.replace(nodes=ranking, hidden=hidden)

    def words(self) -> str:
        return f"re-ranked along links, alpha {self.alpha:g}"


def smoothed_order(
    hidden: HiddenStates,
    nodes: tuple[int, ...],
    links: SimpleGraph,
    alpha: float,
    lonely: str = "keep",
) -> Ranking:
    """Rank nodes by the score of their smoothed hidden states.

    Nodes of equal score keep their order. The other parameters are those of `smooth_states`.

    Parameters
    ----------
    hidden : hidden states of all nodes that were read, and the head that scores them.
    nodes : the nodes to rank; all were read.
    """
    ids = np.array(nodes, np.int64)
    rows = state_rows(hidden, nodes)
    if alpha:
        states = smooth_states(hidden.vectors, rows, ids, links, alpha, lonely)
    else:
        states = hidden.vectors[rows]
    scores = np.round(hidden.head(states), HIT_SCORE_DIGITS)
    order = np.argsort(-scores, kind="stable")
    return Ranking("node", tuple(ids[order].tolist()), tuple(scores[order].tolist()))


def smooth_states(
    states: np.ndarray,
    rows: np.ndarray,
    nodes: np.ndarray,
    links: SimpleGraph,
    alpha: float,
    lonely: str = "keep",
) -> np.ndarray:
    """Return the smoothed hidden states of some nodes, float64 [n, d].

    They are H' = (1 - alpha) H + alpha P H.

    Parameters
    ----------
    states : hidden states of all nodes that were read, float [read nodes, d].
    rows : rows of the nodes in `states`.
    nodes : node ids, aligned with `rows`.
    links : the graph as an undirected simple graph.
    alpha : share of the neighbours in the result, 0 .. 1.
    lonely : "keep" leaves a node without links unchanged; "shrink" multiplies it by (1 - alpha).

    Examples
    --------
    >>> from core.graph.algorithms.simple_graph import simple_graph
    >>> from core.operators.nodes.smoothing import smooth_states
    >>> rows, nodes = np.arange(3), np.array([0, 1, 3])  # A and B are linked, D to neither
    >>> smooth_states(np.array([[1.0], [0.0], [0.0]]), rows, nodes, simple_graph(toy), 0.5).tolist()
    [[0.5], [0.5], [0.0]]
    """
    from core.graph.kernels import mix_neighbour_states  # imported here because it loads numba

    lonely_factor = 1.0 if lonely == "keep" else 1.0 - alpha
    return mix_neighbour_states(
        states, rows, nodes, links.indptr, links.neighbour_ids, alpha, lonely_factor
    )
