"""Sliders for alpha and beta of a FastInsight lane.

They rank its documents again. Alpha smooths the scores of documents over their links, and beta is
the weight of the structure of the graph when neighbours are added. The output of the reranker was
saved with the lane, so no model is asked. The new values can be run as a new method.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import streamlit as st

from core.diagnosis.passages import gold_rows
from core.engine import MethodComparison, MethodLane
from core.graph.algorithms.simple_graph import simple_graph
from core.graph.texts import chunk_lists, hit_titles
from core.indexes.vectors import vector_index
from core.models.base import Models
from core.operators.base import Line, Operator
from core.operators.loop import Loop
from core.operators.nodes.documents import DocumentsOfNodes
from core.operators.nodes.expansion import ExpandNodes, cached_similarity
from core.operators.nodes.replay import replay_loop
from core.operators.nodes.smoothing import GraphRerank
from pages.parts.compare.lanes import insert_changed_line
from pages.parts.shared.actions import button
from pages.parts.shared.session import engine
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import noun, tr

MAX_RERANKED_DOCUMENTS = 10  # documents that are listed
MAX_MOVED_GOLD = 4  # moved gold documents that are listed


@dataclass(frozen=True)
class FastInsightSettings:
    """Operators and limits of a FastInsight line.

    Attributes
    ----------
    rerank, expand : its operators for re-ranking along links (with alpha) and for expansion to
        neighbours (with beta).
    budget : most nodes that the reranker reads.
    keep : number of documents that are passed on.
    """

    rerank: GraphRerank
    expand: ExpandNodes
    budget: int
    keep: int = MAX_RERANKED_DOCUMENTS


@dataclass(frozen=True)
class RerankedDocument:
    """A document in the new ranking.

    Attributes
    ----------
    rank : its new rank, from 1.
    old_rank : its rank in the lane; None if the lane did not find it.
    is_gold : whether it is a gold document.
    """

    rank: int
    old_rank: int | None
    title: str
    is_gold: bool


def fastinsight_settings(lane: MethodLane) -> FastInsightSettings | None:
    """Return the settings of a lane that can be ranked again.

    None for other lanes. The line must have a loop of an expansion and a re-ranking, in the
    variants that `replay_loop` can compute. The state must have the hidden states of the reranker
    and the question's vector.
    """
    state = lane.state
    loop = next((operator for operator in lane.method.line if isinstance(operator, Loop)), None)
    if (
        loop is None
        or not lane.retrieved
        or state.hidden is None
        or state.vector is None
        or len(loop.body) != 2
    ):
        return None
    expand, rerank = loop.body
    if (
        not isinstance(expand, ExpandNodes)
        or not isinstance(rerank, GraphRerank)
        or expand.backfill != "none"
        or rerank.lonely != "keep"
        or rerank.steps != 1
    ):
        return None
    for operator in lane.method.line:
        if isinstance(operator, DocumentsOfNodes):
            return FastInsightSettings(rerank, expand, loop.budget, operator.keep)
    return FastInsightSettings(rerank, expand, loop.budget)


def rerank_documents(
    lane: MethodLane, models: Models, lane_settings: FastInsightSettings, alpha: float, beta: float
) -> tuple[list[RerankedDocument], int]:
    """Return the documents ranked with these alpha and beta.

    Returns
    -------
    The documents, and the number of nodes that could not be ranked, because the reranker did not
    read them in the run of the lane.
    """
    graph, state = lane.graph, lane.state
    assert state.hidden is not None and state.vector is not None and state.nodes is not None
    frames = next(step.frames for step in state.trace if step.operator == "Loop")
    # The first frame is the ranking before any round. The reranker read these nodes first, in the
    # order of the first search.
    start = state.hidden.nodes[: len(frames[0].ranking)]
    index = vector_index(graph, models.encoder(lane_settings.expand.encoder), "nodes")
    similar = cached_similarity(graph, index, state.vector)
    result = replay_loop(
        state.hidden,
        start,
        simple_graph(graph),
        similar,
        alpha,
        beta,
        lane_settings.expand.keep,
        lane_settings.budget,
    )
    gold_chunks = gold_rows(graph, lane.ask.question.gold)  # row numbers of chunks
    nodes = result.nodes.items
    titles = hit_titles(graph, "node", nodes)
    old_positions = state.nodes.positions
    rows = []
    for rank, (node, chunks) in enumerate(zip(nodes, chunk_lists(graph, "nodes", nodes)), 1):
        old_rank = old_positions[node] + 1 if node in old_positions else None  # positions: from 0
        is_gold = not gold_chunks.isdisjoint(chunks)
        rows.append(RerankedDocument(rank, old_rank, titles[rank - 1], is_gold))
    return rows, result.unavailable_count


def line_with_settings(line: Line, alpha: float, beta: float) -> Line:
    """Return the line with other values of alpha and beta.

    Alpha is set in every re-ranking along links, and beta in every expansion to neighbours.
    """

    def replace_in(operator: Operator) -> Operator:
        if isinstance(operator, GraphRerank):
            return dataclasses.replace(operator, alpha=alpha)
        if isinstance(operator, ExpandNodes):
            return dataclasses.replace(operator, beta=beta)
        if isinstance(operator, Loop):
            return dataclasses.replace(
                operator, body=tuple(replace_in(part) for part in operator.body)
            )
        return operator

    return Line(tuple(replace_in(operator) for operator in line))


def draw_rerank_sliders(comparison: MethodComparison) -> None:
    """Draw the sliders behind a button, if a lane supports them."""
    lanes = []
    for lane in comparison.lanes:
        lane_settings = fastinsight_settings(lane)
        if lane_settings is not None:
            lanes.append((lane, lane_settings))
    if lanes:
        with st.popover(tr("Alpha, beta"), icon=":material/tune:", key="rerank"):
            _draw_sliders(comparison, lanes)


@st.fragment
def _draw_sliders(
    comparison: MethodComparison, lanes: list[tuple[MethodLane, FastInsightSettings]]
) -> None:
    lane_index = 0
    if len(lanes) > 1:
        lane_index = st.selectbox(
            tr("Method"),
            range(len(lanes)),
            format_func=lambda i: lanes[i][0].method.line.words(),
            key="rerank-lane",
        )
    lane, lane_settings = lanes[lane_index]
    slider_key = f"{lane.method.id}-{hash(comparison.ask.question.text)}"
    alpha = st.slider(
        tr("Smoothing (alpha)"),
        0.0,
        1.0,
        float(lane_settings.rerank.alpha),
        0.05,
        key=f"alpha-{slider_key}",
        help=tr("Share of a document's score that comes from its neighbours; 0 is none."),
    )
    beta = st.slider(
        tr("Structure (beta)"),
        0.0,
        max(3.0, lane_settings.expand.beta),
        float(lane_settings.expand.beta),
        0.1,
        key=f"beta-{slider_key}",
        help=tr(
            "Weight of a neighbour's position in the graph; similarity to the question has weight 1."
        ),
    )
    rows, n_skipped = rerank_documents(lane, engine().models, lane_settings, alpha, beta)
    st.markdown(
        "\n".join(
            _document_text(row) for row in rows[: min(lane_settings.keep, MAX_RERANKED_DOCUMENTS)]
        )
    )
    for text in (_gold_text(rows, lane_settings.keep), _skipped_text(n_skipped)):
        if text:
            st.caption(text)
    same = (alpha, beta) == (lane_settings.rerank.alpha, lane_settings.expand.beta)
    if button(tr("Add as a new method"), key=f"rerank-{slider_key}", type="primary", disabled=same):
        insert_changed_line(lane.method.id, repr(line_with_settings(lane.method.line, alpha, beta)))
        st.rerun()


def _document_text(row: RerankedDocument) -> str:
    if row.old_rank == row.rank:
        shift = ""
    elif row.old_rank is None:
        shift = tr(" :gray[new]")
    else:
        shift = tr(" :gray[was {was:,}]", was=row.old_rank)
    return f"{row.rank}. {':green[★] ' if row.is_gold else ''}{plain(row.title)}{shift}"


def _gold_text(rows: list[RerankedDocument], keep: int) -> str:
    """Return how many gold documents are in the first `keep`.

    It also tells how the others moved. Empty if there are no gold documents.
    """
    gold = [row for row in rows if row.is_gold]
    if not gold:
        return ""
    n_retained_now = sum(row.rank <= keep for row in gold)
    n_retained_before = sum(row.old_rank is not None and row.old_rank <= keep for row in gold)
    moves = [
        f"“{plain(row.title)}” {row.old_rank:,} → {row.rank:,}"
        for row in gold
        if row.rank > keep and row.old_rank not in (None, row.rank)
    ]
    others_text = ""
    if len(moves) > MAX_MOVED_GOLD:
        others_text = tr("; {more:,} more moved", more=len(moves) - MAX_MOVED_GOLD)
    moves_text = ""
    if moves:
        moves_text = tr(
            " Further down: {moved}{rest}.",
            moved="; ".join(moves[:MAX_MOVED_GOLD]),
            rest=others_text,
        )
    return tr(
        "★ {documents} in the first {keep:,}, {before:,} as asked.{more}",
        documents=many(n_retained_now, "evidence document"),
        keep=keep,
        before=n_retained_before,
        more=moves_text,
    )


def _skipped_text(count: int) -> str:
    if not count:
        return ""
    return tr(
        "{neighbours} {was} skipped: the re-ranker has not read them. A new method reads them.",
        neighbours=many(count, "neighbour"),
        was=noun(count, "was", "were"),
    )
