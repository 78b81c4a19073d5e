"""Each place that tells a graph from documents is listed with its reason."""

from __future__ import annotations

import ast

import pytest

from tests.style.project import read_project
from tests.style.source_kinds import TABLE, KindQuestions, asked_places, listed_places


def test_the_table_lists_the_places_of_the_code():
    listed = listed_places(TABLE.read_text("utf-8"))
    assert {place: count for place, (count, _) in listed.items()} == dict(
        asked_places(read_project())
    )
    assert all(reason.endswith(".") for _, reason in listed.values())


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("lane.ask.source.is_corpus and 1", 1),
        ("one.on_documents == source.is_corpus", 2),
        ("graph.columns.has_texts", 1),
        ("x = source.corpus is None", 1),
        ("def f():\n    corpus = source.corpus\n    return corpus is None", 1),
        ("def f():\n    corpus = open_corpus(name)\n    return corpus is None", 0),
        ("CorpusSource(a) if a else GraphSource(b)", 1),
        ("CorpusSource(a) if source.is_corpus else GraphSource(b)", 1),
        ("USUAL[source.kind]", 1),
        ("{GraphSource.kind: 1, CorpusSource.kind: 2}", 1),
        ("isinstance(source, core.sources.CorpusSource)", 1),
        ("key = (source.kind, source.name)", 0),
        ("hits.kind == 'chunk'", 0),
    ],
)
def test_expressions_are_counted(code, count):
    visitor = KindQuestions()
    visitor.visit(ast.parse(code))
    assert visitor.found.total() == count
