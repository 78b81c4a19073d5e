"""FastInsight's sliders: the same settings give what was found, others a new order, from what the re-ranker said."""

from types import SimpleNamespace

import pytest

from core.operators.text import parse_line
from core.types import Question
from pages.parts.compare.rerank_sliders import (
    fastinsight_settings,
    line_with_settings,
    rerank_documents,
)
from tests.core.operators.nodes.kit import TEXTS, Reranker, RerankerModels, corpus_graph, run

LINE = (
    "EmbedQuery() >> VectorNodes(keep=1) >> GraphRerank(alpha=0.0) >> "
    "Loop(body=ExpandNodes(keep=1, beta=0.0) >> GraphRerank(alpha=0.0), budget=3) >> DocumentsOfNodes(keep=2)"
)


def lane(line=LINE, question="cider apples"):
    reranker = Reranker({TEXTS["a"]: (1.0, 0.0), TEXTS["b"]: (0.9, 0.0)})
    graph, models, parsed = corpus_graph(), RerankerModels(reranker), parse_line(line)
    found = SimpleNamespace(
        graph=graph,
        state=run(parsed, question, graph, models),
        retrieved=True,
        method=SimpleNamespace(line=parsed),
        ask=SimpleNamespace(question=Question(question, gold=("c",))),
    )
    return found, models, reranker


def test_the_sliders_move_documents_without_the_re_ranker():
    one, models, reranker = lane()  # reads c, its neighbour a, then b or d, which share no word: b
    asked, read = fastinsight_settings(one), list(reranker.asked)
    rows, unread = rerank_documents(one, models, asked, 0.0, 0.0)
    assert [(row.rank, row.old_rank, row.title, row.is_gold) for row in rows] == [
        (1, 1, "a", False),
        (2, 2, "b", False),
        (3, 3, "c", True),
    ]
    assert not unread
    # all smoothing: b and c have a alone for a neighbour and become it (1.0, c read first), a has both, by half: (0.9 + 0) / 2
    rows, _ = rerank_documents(one, models, asked, 1.0, 0.0)
    assert [(row.title, row.old_rank) for row in rows] == [("c", 3), ("b", 2), ("a", 1)]
    assert reranker.asked == read


def test_a_lane_of_its_own_has_the_settings_everywhere():
    assert repr(line_with_settings(parse_line(LINE), 0.5, 2.0)) == repr(
        parse_line(LINE.replace("alpha=0.0", "alpha=0.5").replace("beta=0.0", "beta=2.0"))
    )


@pytest.mark.parametrize(
    "line", ["EmbedQuery() >> VectorNodes(keep=2)", LINE.replace("beta=0.0", "backfill='vector'")]
)
def test_lanes_that_cannot_be_run_again_have_no_sliders(line):
    assert fastinsight_settings(lane(line)[0]) is None
