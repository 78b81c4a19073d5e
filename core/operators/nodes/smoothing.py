"""FastInsight's GRanker: hidden states of a reranker smoothed over links, then scored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.errors import BadParameter
from core.graph.algorithms.simple_graph import SimpleGraph, simple_graph
from core.operators.base import Context, Operator, Recorder
from core.operators.nodes.hidden_states import STATES_MODEL_HELP, read_hidden_states, state_rows
from core.operators.texts.hits import HIT_SCORE_DIGITS, best_names
from core.parameters import param
from core.types import HiddenStates, Ranking, State

STEPS_HELP = (
    "Steps of smoothing; the paper takes 1. Further steps approach the minimum of its objective, "
    "and 0 solves for it."
)
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

    With more `steps` the states are smoothed again, H'' = (1 - alpha) H + alpha P H', and so on.
    This approaches the minimum (I + lambda L)^-1 H of the paper's objective (section 3.3), with
    lambda = alpha / (1 - alpha) and L = I - P. With `steps` 0 it is solved for.

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
    steps: int = param(1, "Smoothing steps", STEPS_HELP, low=0, high=100)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps == 0 and self.alpha == 1:
            raise BadParameter("With alpha 1 the smoothed states have no single minimum (steps 0).")

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        nodes = state.nodes.items if state.nodes else ()
        if not nodes:
            return state.replace(nodes=Ranking("node", (), ()))
        ctx.watch.report("Re-ranking along links")
        hidden = read_hidden_states(state, nodes, self.model, ctx, recorder)
        links = simple_graph(ctx.graph)
        ranking = smoothed_order(hidden, nodes, links, self.alpha, self.lonely, self.steps)
        recorder.notes.append(lambda: f"The best: {best_names(ctx.graph, ranking)}.")
        return state.replace(nodes=ranking, hidden=hidden)

    def words(self) -> str:
        repeated = {0: ", solved", 1: ""}.get(self.steps, f", {self.steps} steps")
        return f"re-ranked along links, alpha {self.alpha:g}{repeated}"


def smoothed_order(
    hidden: HiddenStates,
    nodes: tuple[int, ...],
    links: SimpleGraph,
    alpha: float,
    lonely: str = "keep",
    steps: int = 1,
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
        states = smooth_states(hidden.vectors, rows, ids, links, alpha, lonely, steps)
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
    steps: int = 1,
) -> np.ndarray:
    """Return the smoothed hidden states of some nodes, float64 [n, d].

    One step is H' = (1 - alpha) H + alpha P H, and each further one (1 - alpha) H + alpha P H'.

    Parameters
    ----------
    states : hidden states of all nodes that were read, float [read nodes, d].
    rows : rows of the nodes in `states`.
    nodes : node ids, aligned with `rows`.
    links : the graph as an undirected simple graph.
    alpha : share of the neighbours in the result, 0 .. 1.
    lonely : "keep" leaves a node without links unchanged; "shrink" multiplies it by (1 - alpha).
    steps : number of steps; 0 returns their limit, for which alpha must be below 1.

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
    if steps == 1:
        return mix_neighbour_states(
            states, rows, nodes, links.indptr, links.neighbour_ids, alpha, lonely_factor
        )
    n = len(nodes)
    own_states = states[rows].astype(np.float64)
    propagation = mix_neighbour_states(  # P, float64 [n, n]
        np.eye(n),
        np.arange(n),
        nodes,
        links.indptr,
        links.neighbour_ids,
        alpha=1.0,
        lonely_factor=1.0 if lonely == "keep" else 0.0,
    )
    if steps == 0:
        return np.linalg.solve(np.eye(n) - alpha * propagation, (1 - alpha) * own_states)
    smoothed = own_states
    for _ in range(steps):
        smoothed = (1 - alpha) * own_states + alpha * propagation @ smoothed
    return smoothed
