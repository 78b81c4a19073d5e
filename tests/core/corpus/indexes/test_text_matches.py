"""Texts of an index are matched to documents of a corpus by text, else by chunks."""

from __future__ import annotations

import pytest

from core.corpus.document import Document
from core.corpus.indexes.index import IndexChunk, IndexContent, IndexDocument, IndexEntity
from core.corpus.indexes.index_assembly import assemble_index
from core.corpus.indexes.text_matches import match_texts
from core.errors import BadInput
from tests.core.corpus.indexes.kit import HARBOUR, RECORDED, SHIP, index_in

OURS = [
    Document("a.md", HARBOUR, "The harbour"),
    Document("b.md", f"Of ships.\n\n{SHIP}", "The ship"),
    Document("c.md", "Another."),
]


def test_texts_match_documents_by_content_not_by_name():
    index = IndexContent(
        documents=[IndexDocument("k", "port.txt", f"  {HARBOUR.replace('. ', '.  ')}")],
        chunks=[IndexChunk("1", HARBOUR[:30], "k")],
    )
    opened = assemble_index(index, "tool", "x", OURS)
    chunks = opened.graph.columns.chunks
    assert [one.id for one in opened.documents] == ["a.md"]
    assert (chunks.texts("id"), chunks.texts("document"), chunks.texts("title")) == (
        ["a.md#tool-0"],
        ["a.md"],
        ["The harbour"],
    )


def test_chunks_without_a_document_come_in_the_order_of_their_places():
    later, first = (
        IndexChunk("2", "Bo Holm was born in Varna."),
        IndexChunk("1", "The Marie is a ship."),
    )
    index = IndexContent(chunks=[later, first], entities=[IndexEntity("Bo Holm", chunks=("2",))])
    opened = assemble_index(index, "tool", "x", OURS)
    chunks = opened.graph.columns.chunks
    assert chunks.texts("id") == ["b.md#tool-0", "b.md#tool-1"] and chunks.texts("text") == [
        first.text,
        later.text,
    ]
    assert opened.graph.columns.nodes.id_lists("chunks").to_lists() == [[1]]


def test_a_document_matches_only_if_it_has_all_chunks():
    known = [
        Document("q", "He said: Once upon a time."),
        Document("t", "Once upon a time. There was a ship."),
    ]
    documents = {"k": Document("k", "Once upon a time.\n\nThere was a ship.!")}
    found, chunks = match_texts(
        documents,
        {"k": [IndexChunk("1", "Once upon a time."), IndexChunk("2", "There was a ship.")]},
        known,
    )
    assert list(found) == ["t"] and [one.key for one in chunks["t"]] == ["1", "2"]


def test_texts_do_not_run_over_the_end_of_a_document():
    with pytest.raises(BadInput):
        match_texts(
            {"k": Document("k", "one two")},
            {"k": [IndexChunk("1", "one two")]},
            [Document("a", "one"), Document("b", "two")],
        )


def test_unknown_texts_are_refused_with_their_number():
    index = IndexContent(chunks=[IndexChunk("1", HARBOUR), IndexChunk("2", "Of the moon.")])
    with pytest.raises(
        BadInput,
        match="1 of 2 .*“Of the moon.”. Open it und",
    ):
        assemble_index(index, "tool", "x", OURS)


@pytest.mark.parametrize("tool", ["lightrag", "nano-graphrag", "fast-graphrag", "hipporag"])
def test_recorded_indexes_are_of_documents_with_their_texts(tool):
    opened = assemble_index(index_in(RECORDED / tool)[1], tool, "x", OURS)
    assert {one.id for one in opened.documents} == {"a.md", "b.md"}
    assert (
        set(opened.graph.columns.chunks.texts("document")) == {"a.md", "b.md"}
        and not opened.notes[2:]
    )
