"""Descriptions of lines in everyday words, without technical terms."""

from __future__ import annotations

import re

import pytest

from core.methods.catalogue import catalogue
from core.operators.text import parse_line

TERMS = re.compile(
    r"\b(PageRank|beam|BM25|TF-IDF|encoder|rerank(er)?|alpha|beta|vector|chunks by|wide|deep|set aside|context tables)\b"
)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "PersonalizedPageRank(keep=1000) >> BeamSearch(width=8) >> Answer()",
            "Looks at 1,000 nodes near the entities, then follows the 8 best-matching paths by meaning, up to 4 hops.",
        ),
        (
            "BuiltGraph() >> EmbedQuery() >> VectorChunks(keep=4) >> AnswerFromTables()",
            "Searches the chunks alone, then takes the 4 passages closest in meaning.",
        ),
        (
            "EgoNetwork(hops=2) >> ShortestPaths() >> Rank(model='bm25', keep=9) >> Answer()",
            "Takes the nodes within 2 hops of the entities, finds the shortest paths, then keeps the best 9 by shared words.",
        ),
        (
            "EgoNetwork(hops=2) >> ShortestPaths() >> Rank(model='prefilter(encoder, choose, 32)', keep=9)",
            "Takes the nodes within 2 hops of the entities, finds the shortest paths, then keeps the best 9 by the language model.",
        ),
        (
            "EgoNetwork(hops=1) >> BeamSearch(width=1, hops=1) >> GraphReader()",
            "Takes the nodes within 1 hop of the entities, then follows the 1 best-matching path by meaning, up to 1 hop.",
        ),
        ("Answer(prompt='question-only')", "Answers from the question alone."),
        (
            "BuiltGraph(build='tree') >> EmbedQuery() >> VectorNodes(keep=4) >> AnswerFromPassages(form='context')",
            "Searches the tree of summaries, then takes the 4 summaries and passages closest in meaning.",
        ),
    ],
)
def test_line_is_described_in_everyday_words(line, sentence):
    assert parse_line(line).plain_words() == sentence


@pytest.mark.parametrize("key", list(catalogue()))
def test_every_row_is_described_without_terms(key):
    sentence = catalogue()[key].line.plain_words()
    assert re.fullmatch(r"[A-Z].*[^.]\.", sentence) and "{" not in sentence
    assert not TERMS.search(sentence), sentence
