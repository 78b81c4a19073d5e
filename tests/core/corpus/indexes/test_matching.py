"""Which documents of a corpus the texts of an index are: by text, else by the chunks in it."""

from __future__ import annotations

import pytest

from core.corpus.document import Document
from core.corpus.indexes.assembling import assembled
from core.corpus.indexes.index import Chunk, Entity, Index, Text
from core.corpus.indexes.matching import matched
from core.errors import BadInput
from tests.core.corpus.indexes.kit import HARBOUR, RECORDED, SHIP, index_in

OURS = [
    Document("a.md", HARBOUR, "The harbour"),
    Document("b.md", f"Of ships.\n\n{SHIP}", "The ship"),
    Document("c.md", "Another."),
]


def test_a_text_is_the_document_with_the_same_text_whatever_it_is_called():
    index = Index(
        documents=[Text("k", "port.txt", f"  {HARBOUR.replace('. ', '.  ')}")],
        chunks=[Chunk("1", HARBOUR[:30], "k")],
    )
    opened = assembled(index, "tool", "x", OURS)
    chunks = opened.graph.columns.chunks
    assert [one.id for one in opened.documents] == ["a.md"]
    assert (chunks.texts("id"), chunks.texts("document"), chunks.texts("title")) == (
        ["a.md#tool-0"],
        ["a.md"],
        ["The harbour"],
    )


def test_chunks_without_a_document_come_in_the_order_of_their_places():
    later, first = Chunk("2", "Bo Holm was born in Varna."), Chunk("1", "The Marie is a ship.")
    index = Index(chunks=[later, first], entities=[Entity("Bo Holm", chunks=("2",))])
    opened = assembled(index, "tool", "x", OURS)
    chunks = opened.graph.columns.chunks
    assert chunks.texts("id") == ["b.md#tool-0", "b.md#tool-1"] and chunks.texts("text") == [
        first.text,
        later.text,
    ]
    assert opened.graph.columns.nodes.lists("chunks").lists() == [[1]]


def test_a_document_is_the_one_that_has_all_its_chunks_not_the_first_that_quotes_one():
    known = [
        Document("q", "He said: Once upon a time."),
        Document("t", "Once upon a time. There was a ship."),
    ]
    documents = {"k": Document("k", "Once upon a time.\n\nThere was a ship.!")}
    found, chunks = matched(
        documents, {"k": [Chunk("1", "Once upon a time."), Chunk("2", "There was a ship.")]}, known
    )
    assert list(found) == ["t"] and [one.key for one in chunks["t"]] == ["1", "2"]


def test_texts_do_not_run_over_the_end_of_a_document():
    with pytest.raises(BadInput):
        matched(
            {"k": Document("k", "one two")},
            {"k": [Chunk("1", "one two")]},
            [Document("a", "one"), Document("b", "two")],
        )


def test_other_texts_are_refused_with_how_many():
    index = Index(chunks=[Chunk("1", HARBOUR), Chunk("2", "Of the moon.")])
    with pytest.raises(
        BadInput,
        match="1 of 2 .*“Of the moon.”. Open it und",
    ):
        assembled(index, "tool", "x", OURS)


@pytest.mark.parametrize("tool", ["lightrag", "nano-graphrag", "fast-graphrag", "hipporag"])
def test_recorded_indexes_are_of_documents_with_their_texts(tool):
    opened = assembled(index_in(RECORDED / tool)[1], tool, "x", OURS)
    assert {one.id for one in opened.documents} == {"a.md", "b.md"}
    assert (
        set(opened.graph.columns.chunks.texts("document")) == {"a.md", "b.md"}
        and not opened.notes[2:]
    )
