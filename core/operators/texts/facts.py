"""HippoRAG 2: passages by PageRank in a graph of entities and passages, restarting at facts.

A fact is an edge that a text states, unlike an edge that links similar names.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.builds.merge.synonyms import SIMILAR_TO
from core.graph.pagerank.problem import Adjacency
from core.graph.protocol import KnowledgeGraph
from core.graph.store import Graph
from core.graph.texts import chunks_of, edge_weights, n_chunks
from core.indexes.vector_blocks import ItemKind
from core.indexes.vectors import vector_index
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import best_hits, best_names, keep_best_hits
from core.operators.texts.pagerank import MAX_EDGES_SOLVED
from core.parameters import param
from core.types import Ranking, State

EXACT_PASSAGES = 100  # best passages that must be stable before an approximate PageRank ends
LINKS_CACHE_KEY = "walk among entities and passages"  # in the derived values of a graph


@dataclass(frozen=True, repr=False)
class PassagesOfFacts(Operator):
    """The passages of largest PageRank in a graph of entities and passages.

    HippoRAG 2. The walk restarts at the ends of the retrieved facts and, with a small weight, at
    every passage. The restart weight of an entity is the mean score of its facts, divided by the
    number of its passages; only the best `ends` entities have one. The restart weight of a passage
    is `everywhere` times its score. The score of a fact or passage is its cosine with the question,
    scaled to 0 .. 1 over all of them.

    An edge between two entities weighs twice the number of facts that join them, or twice the
    cosine of their names if these are similar. An edge between an entity and a passage that states
    a fact of it weighs 1. An entity without a fact has no edges. If no fact was retrieved, the
    passages nearest to the question are returned. On a graph of more than 250,000 edges PageRank is
    approximated by a push until the order of the best passages no longer changes, as a note says.

    >>> line = "EmbedQuery() >> VectorRelations(keep=1) >> PassagesOfFacts(keep=2)"
    >>> found = retrieve(line, graph=story, question="the nephew", models=scores({})).chunks
    >>> story.columns.chunks.texts("id", found.items)
    ['carol#1', 'carol#2']
    """

    stage = "retrieve"
    title = "passages of the facts"
    plain = "spreads the weight of these facts and takes {keep:,} passages"
    reads, writes = ("vector", "relations"), ("nodes", "chunks")

    keep: int = param(5, "Passages", "How many are taken.", low=1, high=10_000)
    ends: int = param(
        5, "Entities", "How many ends of facts the walk restarts at.", low=1, high=1000
    )
    everywhere: float = param(
        0.05, "Everywhere", "The weight of the passages' own scores.", low=0, high=1
    )
    damping: float = param(
        0.5,
        "Damping",
        "Probability of following an edge; the rest jumps back to the start.",
        low=0.0,
        high=0.999,
    )
    encoder: str = param(
        "encoder", "Encoder", "The sentence encoder; the one that read the question.", model=True
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.relations is not None and state.vector is not None
        graph = ctx.graph
        rows = np.arange(n_chunks(graph))
        if not len(rows):
            return state.replace(nodes=Ranking("node", (), ()), chunks=Ranking("chunk", (), ()))
        ctx.watch.report("PageRank from the facts")
        passage_scores = _scaled_cosines(ctx, state.vector, self.encoder, "chunks", rows)
        if not len(state.relations):
            recorder.notes.append(
                "There is no fact to start from; passages are those nearest to the question."
            )
            nearest = keep_best_hits(recorder, "chunk", rows, passage_scores, self.keep)
            return state.replace(nodes=Ranking("node", (), ()), chunks=nearest)
        starts = ends_of_facts(
            ctx, state.relations, state.vector, self.encoder, self.ends, recorder
        )
        recorder.notes.append(f"Restarted at: {best_names(graph, starts)}.")
        # restart weights of all entities, then of all passages
        shares = np.concatenate([np.zeros(graph.n_nodes), self.everywhere * passage_scores])
        shares[list(starts.items)] = starts.scores
        scores = _page_rank(graph, shares, self.damping, ctx, recorder)[graph.n_nodes :]
        chunks = keep_best_hits(recorder, "chunk", rows, scores, self.keep)
        return state.replace(nodes=starts, chunks=chunks)

    def words(self) -> str:
        return f"{self.keep:,} passages by PageRank from facts"


def ends_of_facts(
    ctx: Context,
    relations: Ranking,
    vector: np.ndarray,
    encoder: str,
    keep: int,
    recorder: Recorder,
) -> Ranking:
    """Return the best `keep` entities of some relations, with their restart weights.

    The weight of an entity is the mean score of its relations, divided by the number of its
    passages. A relation's score is its cosine with the question's `vector`, scaled to 0 .. 1 over
    all facts. An approximate index does not compute all cosines. The scores are then scaled between
    the nearest and the farthest fact that it finds, and a note says so.
    """
    graph = ctx.graph
    edges = np.array(relations.items, np.int64)
    scores = _scores_of_facts(ctx, edges, vector, encoder, recorder)
    links = _passage_links(graph)
    # the links from passages end at entities, so they count the passages of each entity
    n_passages = graph.derived.get_or_make(
        LINKS_CACHE_KEY,
        "passages of entities",
        lambda: np.bincount(
            links.tails[links.out_indptr[graph.n_nodes] :], minlength=graph.n_nodes
        ),
    )
    heads, _, tails = graph.triples(edges)
    end_scores: dict[int, list[float]] = {}
    for score, head, tail in zip(scores.tolist(), heads.tolist(), tails.tolist()):
        for end in (head, tail):
            end_scores.setdefault(end, []).append(score / max(n_passages[end], 1))
    means = [float(np.mean(scores)) for scores in end_scores.values()]
    return best_hits("node", end_scores, means, keep)


def _scores_of_facts(
    ctx: Context, edges: np.ndarray, vector: np.ndarray, encoder: str, recorder: Recorder
) -> np.ndarray:
    """Return the cosine of each edge with the question, scaled to 0 .. 1, float64 [n].

    It is 0 for an edge between similar names, which no text states.
    """
    graph = ctx.graph
    synonyms = similarity_edges(graph)
    index = vector_index(graph, ctx.models.encoder(encoder), "relations", ctx.watch)
    if index.approximation_note:
        high = float(index.nearest(vector, 1, synonyms)[1][0])
        # the fact farthest from the question is the one nearest to the opposite vector
        low = -float(index.nearest(-vector, 1, synonyms)[1][0])
        recorder.notes.append(
            "Scores of facts are scaled between the nearest and the farthest found, "
            f"{high:.2f} and {low:.2f}."
        )
        cosines = index.cosines(vector, edges)
        scores = np.clip((cosines - low) / max(high - low, 1e-9), 0.0, 1.0)
    else:
        facts = facts_of(graph)
        if not len(facts):
            return np.zeros(len(edges))
        # an edge that is no fact gets the row of another one here, and 0 below
        fact_rows = np.minimum(np.searchsorted(facts, edges), len(facts) - 1)
        scores = _scaled_cosines(ctx, vector, encoder, "relations", facts)[fact_rows]
    return np.where(np.isin(edges, synonyms), 0.0, scores)


def _scaled_cosines(
    ctx: Context, vector: np.ndarray, encoder: str, kind: ItemKind, items: np.ndarray
) -> np.ndarray:
    """Return the cosines of items with the question, scaled to 0 .. 1 over these items.

    All are 1 if the cosines are equal.
    """
    index = vector_index(ctx.graph, ctx.models.encoder(encoder), kind, ctx.watch)
    cosines = index.cosines(vector, items)
    spread = float(np.ptp(cosines)) if len(cosines) else 0.0
    return (cosines - cosines.min()) / spread if spread else np.ones(len(cosines))


def facts_of(graph: KnowledgeGraph) -> np.ndarray:
    """Return the edges that a text states, ascending: all except those of similar names."""
    return graph.derived.get_or_make(
        "edges that a text tells",
        None,
        lambda: np.setdiff1d(np.arange(graph.n_edges), similarity_edges(graph), assume_unique=True),
    )


def similarity_edges(graph: KnowledgeGraph) -> np.ndarray:
    """Return the edges between similar names, which no text states, ascending."""
    names = list(graph.relation_names)
    if SIMILAR_TO not in names:
        return np.empty(0, np.int64)
    relation = names.index(SIMILAR_TO)
    return graph.derived.get_or_make(
        "edges of alike names",
        None,
        lambda: np.flatnonzero(graph.triples(np.arange(graph.n_edges))[1] == relation),
    )


def _passages_of_entities(graph: KnowledgeGraph) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of a passage and an entity of its facts.

    The facts are those that the passage states. The pairs are two aligned arrays: rows of passages,
    and entities. Each pair occurs once.
    """
    facts = facts_of(graph)
    rows = chunks_of(graph, "edges")
    heads, _, tails = graph.triples(facts)
    passages = rows.concat_rows(facts)
    counts = rows.counts[facts]
    n = max(1, graph.n_nodes)
    # each pair encoded as one number
    pair_codes = np.unique(
        np.concatenate([passages * n + np.repeat(nodes, counts) for nodes in (heads, tails)])
    )
    return pair_codes // n, pair_codes % n


def _page_rank(
    graph: Graph, shares: np.ndarray, damping: float, ctx: Context, recorder: Recorder
) -> np.ndarray:
    """Return the PageRank of every entity, then of every passage, which sums to 1.

    `shares` are their restart weights in the same order. On a graph of more than `MAX_EDGES_SOLVED`
    edges the result is only as exact as the best `EXACT_PASSAGES` passages need.
    """
    from core.graph.pagerank.exact import solve
    from core.graph.pagerank.many_restarts import push_everywhere  # loads numba

    links = _passage_links(graph)
    shares = shares / shares.sum()

    def solve_shares(restarts: np.ndarray) -> np.ndarray:
        seeds = np.flatnonzero(restarts)
        scores = solve(links, seeds, restarts[seeds], damping, tolerance=0.5e-8, watch=ctx.watch)
        return np.maximum(scores, 0.0)  # the solver may return tiny negative values

    if graph.n_edges <= MAX_EDGES_SOLVED:
        scores = solve_shares(shares)
        return scores / scores.sum()
    passages = np.arange(graph.n_nodes, len(shares))
    # every passage is a restart of every question, so the push starts from their PageRank
    even = np.zeros(len(shares))
    even[passages] = 1.0 / len(passages)
    start_state = graph.derived.get_or_make(
        LINKS_CACHE_KEY, ("everywhere", damping), lambda: solve_shares(even)
    )
    push = push_everywhere(
        links,
        shares,
        passages,
        start_state,
        damping,
        slice(graph.n_nodes, None),
        EXACT_PASSAGES,
        ctx.watch,
    )
    recorder.notes.append(push.describe_end(f"{EXACT_PASSAGES:,} passages"))
    return push.scores


def _passage_links(graph: KnowledgeGraph) -> Adjacency:
    """Return the adjacency of the graph of entities and passages, computed once."""
    return graph.derived.get_or_make(LINKS_CACHE_KEY, "links", lambda: _make_passage_links(graph))


def _make_passage_links(graph: KnowledgeGraph) -> Adjacency:
    """Return the adjacency of entities and passages, with each edge in both directions.

    The nodes are the entities of `graph`, then its passages. `PassagesOfFacts` has the weights.
    """
    facts = facts_of(graph)
    synonyms = similarity_edges(graph)
    weights = edge_weights(graph)
    weights = np.ones(graph.n_edges) if weights is None else weights
    heads, _, tails = graph.triples(np.arange(graph.n_edges))
    # an entity without a fact is no node of this graph
    has_fact = np.zeros(graph.n_nodes, bool)
    has_fact[heads[facts]] = True
    has_fact[tails[facts]] = True
    synonyms = synonyms[has_fact[heads[synonyms]] & has_fact[tails[synonyms]]]
    # an edge of similar names replaces the facts between the same entities
    pair_codes = np.minimum(heads, tails) * graph.n_nodes + np.maximum(heads, tails)
    edges = np.concatenate([facts[~np.isin(pair_codes[facts], pair_codes[synonyms])], synonyms])
    edges = edges[heads[edges] != tails[edges]]
    rows, entities = _passages_of_entities(graph)
    sources = np.concatenate([heads[edges], entities])
    targets = np.concatenate([tails[edges], graph.n_nodes + rows])
    link_weights = np.concatenate([2 * weights[edges], np.ones(len(rows))])
    starts = np.concatenate([sources, targets])
    ends = np.concatenate([targets, sources])
    strength = np.concatenate([link_weights, link_weights])
    n = graph.n_nodes + n_chunks(graph)
    order = np.lexsort((strength, starts * n + ends))
    starts, ends, strength = starts[order], ends[order], strength[order]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(starts, minlength=n))]).astype(np.int64)
    totals = np.bincount(starts, strength, n)
    # as each edge has both directions, the outgoing and the incoming links are the same
    return Adjacency(1, indptr, ends, indptr, ends, strength, strength, totals)
