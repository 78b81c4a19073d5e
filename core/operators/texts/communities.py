"""Operators that return communities: those of the retrieved entities, or all up to a level.

Level 0 holds the coarsest communities. A report is the summary of a community.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph.columns import IdLists, Table
from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunks_of, community_text, n_chunks
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import (
    arrays_of,
    best_hits,
    count_fitting_texts,
    keep_best_hits,
    missing_reports_note,
)
from core.parameters import param
from core.types import Ranking, State

LEVEL_HELP = "Communities of this level and coarser ones; 0 is the coarsest."
REPORT_BUDGET_HELP = "How many tokens their reports may have together; 0: no limit."


@dataclass(frozen=True, repr=False)
class CommunitiesOfNodes(Operator):
    """The communities that hold the retrieved entities, by the rating of their reports.

    The rating is the relevance score that the language model gave a report. A report written
    without a language model is rated by the number of chunks that mention its community. The
    defaults are levels up to 2 and 3,200 tokens of reports.

    With `reading` “paper”, communities are ranked by rating, and equal ratings by the number of
    retrieved entities in them. With “code” they are ranked by that number first, then by rating.
    The second criterion is added to the score as a fraction.

    Notes
    -----
    This is the community operator Entity (LGraphRAG) of the paper In-depth Analysis of Graph-based
    RAG, section 6.1. The paper ranks by rating. Its published code and nano-graphrag rank by the
    number of entities first.

    Examples
    --------

    >>> line = "NamesInQuestion() >> LinkNames() >> CommunitiesOfNodes()"
    >>> question = "Tim and Cratchit"
    >>> found = retrieve(line, graph=story, question=question, models=scores({})).communities
    >>> # both hold both entities; the family is rated higher
    >>> story.columns.communities.texts("title", found.items)
    ['Family', 'Scrooge and his circle']
    """

    stage = "retrieve"
    title = "communities of the entities"
    plain = "takes the reports of their communities"
    reads, writes = ("nodes",), ("communities",)

    keep: int = param(
        4, "Communities at most", "0: limited by the tokens only.", low=0, high=10_000
    )
    level: int = param(2, "Level", LEVEL_HELP, low=0, high=64)
    budget: int = param(3200, "Tokens", REPORT_BUDGET_HELP, low=0, high=1_000_000)
    reading: str = param(
        "paper",
        "Reading",
        "By rating (the paper's rule), or by the entities in them first.",
        choices=("paper", "code"),
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        table = _communities(ctx.graph, recorder)
        if table is None or state.nodes is None:
            return state.replace(communities=Ranking("community", (), ()))
        communities_of_node = ctx.graph.derived.get_or_make(
            "communities of", None, lambda: table.id_lists("members").invert(ctx.graph.n_nodes)
        )
        counts = np.zeros(len(table), np.int64)
        for node in state.nodes.items:
            np.add.at(counts, communities_of_node[node], 1)
        ids = np.flatnonzero((counts > 0) & (_levels(table) <= self.level))
        ratings = _ratings(table)
        if self.reading == "paper":
            # The fraction, below 0.001, changes no digit of the rounded rating.
            scores = ratings.round(2) + _as_fractions(counts) / 1000
        else:
            scores = counts + _as_fractions(ratings)
        order = keep_best_hits(recorder, "community", ids, scores[ids], self.keep)
        texts = [community_text(ctx.graph, row) for row in order.items]
        hits = order.head(count_fitting_texts(texts, self.budget))
        recorder.notes += missing_reports_note(ctx.graph, hits)
        return state.replace(communities=hits)

    def words(self) -> str:
        return "their communities"


@dataclass(frozen=True, repr=False)
class CommunitiesAtLevel(Operator):
    """All communities of a level and of coarser levels, whatever the question.

    By default these are the first 512 by occurrence, without those rated below `rating`. Occurrence
    is the number of chunks that mention a member. The score is the occurrence, with the rating
    added as a fraction below 1.

    Notes
    -----
    This is the community operator Layer (GGraphRAG) of the paper In-depth Analysis of Graph-based
    RAG.

    Examples
    --------

    >>> # members occur in 3, 3 and 2 chunks
    >>> found = retrieve("CommunitiesAtLevel(level=1)", graph=story).communities
    >>> story.columns.communities.texts("title", found.items)
    ['Firm', 'Scrooge and his circle', 'Family']
    """

    stage = "retrieve"
    title = "communities up to a level"
    plain = "takes all community reports up to level {level}"
    writes = ("communities",)

    level: int = param(2, "Level", LEVEL_HELP, low=0, high=64)
    keep: int = param(512, "Communities at most", "The first by occurrence.", low=1, high=100_000)
    rating: float = param(0.0, "Least rating", "Reports rated lower are left out.", low=0, high=10)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        table = _communities(ctx.graph, recorder)
        if table is None:
            return state.replace(communities=Ranking("community", (), ()))
        occurrence = ctx.graph.derived.get_or_make(
            "occurrence", None, lambda: _chunk_counts(ctx.graph, table.id_lists("members"))
        )
        ids = np.flatnonzero(_levels(table) <= self.level)
        ratings = _ratings(table)
        scores = occurrence[ids] + _as_fractions(ratings)[ids]
        order = best_hits("community", ids, scores, self.keep)
        items, item_scores = arrays_of(order)
        is_rated = ratings[items] >= self.rating
        hits = Ranking(
            "community", tuple(items[is_rated].tolist()), tuple(item_scores[is_rated].tolist())
        )
        recorder.notes += missing_reports_note(ctx.graph, hits)
        return state.replace(communities=hits)

    def words(self) -> str:
        return f"communities up to level {self.level}"


def _communities(graph: KnowledgeGraph, recorder: Recorder) -> Table | None:
    """Return the graph's table of communities; None, with a note, if there are none."""
    table = graph.columns.communities
    if table is None or not len(table):
        recorder.notes.append(f"The graph “{graph.name}” has no communities; it was built without.")
        return None
    return table


def _levels(table: Table) -> np.ndarray:
    return table.numbers("level") if table.has_column("level") else np.zeros(len(table), np.int32)


def _ratings(table: Table) -> np.ndarray:
    return (
        table.numbers("rating").astype(float)
        if table.has_column("rating")
        else np.zeros(len(table))
    )


def _as_fractions(values: np.ndarray) -> np.ndarray:
    """Return the values scaled to fractions below 1, aligned with the values.

    Larger values stay larger. Negative values become 0.
    """
    values = np.maximum(values, 0.0)
    return values / (1.0 + (values.max() if len(values) else 0.0))


def _chunk_counts(graph: KnowledgeGraph, members: IdLists) -> np.ndarray:
    """Return for each community the number of chunks that mention a member, float64."""
    rows = chunks_of(graph, "nodes")
    counts = np.zeros(len(members))
    for community in range(len(members)):
        mentions_member = np.zeros(n_chunks(graph), bool)
        for node in members[community].tolist():
            mentions_member[rows[node]] = True
        counts[community] = mentions_member.sum()
    return counts
