"""Unchanged documents are not cut again.

The chunks are the same as if the whole corpus were cut.
"""

from __future__ import annotations

import pytest

from core.builds import build_status, run_build
from core.corpus import Document, write_corpus
from core.corpus.chunk_reuse import (
    CHUNKED_DOCUMENTS_FILE,
    ChunkReuse,
    read_saved_chunks,
    reuse_chunks,
)
from core.corpus.chunks import chunk_by_tokens
from core.models.base import NoModels

LINE = "TokenChunks(size=5, overlap=0)"


def document(id, *sentences):
    return Document(id, " ".join(f"{one} two three four." for one in sentences))


FIRST_DOCUMENTS = [
    document("b", "One", "And"),
    Document("c", " "),
    document("d", "Just"),
    document("f", "First", "Next", "Last"),
]


@pytest.fixture
def recording_chunker():
    """A chunking function that records the ids of its documents."""

    def cut(documents):
        given = list(documents)
        cut.seen = [one.id for one in given]
        return chunk_by_tokens(given, 5, 0)

    return cut


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


def test_only_new_or_changed_documents_are_cut(tmp_path, recording_chunker):
    corpus = write_corpus(tmp_path / "one", FIRST_DOCUMENTS)
    before, fresh = reuse_chunks(corpus, recording_chunker, None)
    assert fresh == 4 and before.counts.tolist() == [2, 0, 1, 3]
    corpus = corpus.update([document("a", "New"), document("d", "Just", "More")], removed=["b"])
    after, fresh = reuse_chunks(corpus, recording_chunker, before)
    assert (
        recording_chunker.seen == ["a", "d"]
        and fresh == 2
        and after.counts.tolist() == [1, 0, 2, 3]
    )
    assert after.chunks.digest == chunk_by_tokens(corpus, 5, 0).digest
    assert after.chunks.texts("id") == ["a", "d#0", "d#1", "f#0", "f#1", "f#2"]


def test_unchanged_corpora_are_not_cut_and_fully_changed_ones_wholly(tmp_path, recording_chunker):
    corpus = write_corpus(tmp_path / "one", FIRST_DOCUMENTS)
    before, _ = reuse_chunks(corpus, recording_chunker, None)
    same, fresh = reuse_chunks(corpus, recording_chunker, before)
    assert (
        fresh == 0 and recording_chunker.seen == [] and same.chunks.digest == before.chunks.digest
    )
    other = write_corpus(tmp_path / "two", [document("x", "Other")])
    assert reuse_chunks(other, recording_chunker, before)[0].chunks.texts("id") == ["x"]


def test_a_document_whose_title_alone_changed_is_cut_again(tmp_path, recording_chunker):
    corpus = write_corpus(tmp_path / "one", FIRST_DOCUMENTS)
    before, _ = reuse_chunks(corpus, recording_chunker, None)
    corpus = corpus.change([Document("d", FIRST_DOCUMENTS[2].text, "A title")])
    assert reuse_chunks(corpus, recording_chunker, before)[0].chunks.texts("title").count(
        "A title"
    ) == 1 and recording_chunker.seen == ["d"]


def test_builds_report_cut_documents_and_share_equal_chunks(
    tmp_path,
):
    corpus = write_corpus(tmp_path / "one", FIRST_DOCUMENTS)
    run_build(corpus, LINE, NoModels())
    corpus = corpus.update([document("a", "New")])
    grown = run_build(corpus, LINE, NoModels())
    assert build_status(corpus, LINE).report["counts"]["documents cut"] == 1
    longer = f"{LINE} >> SharedTerms(keep=2)"
    run_build(corpus, longer, NoModels())
    assert build_status(corpus, longer).report["counts"]["documents cut"] == 0
    run_build(corpus, "TokenChunks(size=6, overlap=2)", NoModels())
    assert (
        build_status(corpus, "TokenChunks(size=6, overlap=2)").report["counts"]["documents cut"]
        == 5
    )
    assert (
        grown.digest
        == run_build(write_corpus(tmp_path / "two", list(corpus)), LINE, NoModels()).digest
    )


@pytest.mark.parametrize("damage", ["another byte", "of another graph", "absent"])
def test_all_documents_are_cut_if_the_record_does_not_fit_the_graph(tmp_path, damage):
    corpus = write_corpus(tmp_path / "one", FIRST_DOCUMENTS)
    folder = run_build(corpus, LINE, NoModels()).folder
    file, cutter = folder / CHUNKED_DOCUMENTS_FILE, f"{LINE} 1"
    assert (
        read_saved_chunks(folder, cutter) is not None
        and read_saved_chunks(folder, f"{LINE} 2") is None
    )
    if damage == "another byte":
        held = file.read_bytes()
        file.write_bytes(held[:90] + bytes([held[90] ^ 1]) + held[91:])
    elif damage == "absent":
        file.unlink()
    else:
        note = file.read_bytes()
        run_build(corpus.update([document("a", "New")]), LINE, NoModels())
        file.write_bytes(note)
    assert read_saved_chunks(folder, cutter) is None
    assert ChunkReuse((folder,)).cut_chunks(
        corpus, cutter, lambda documents: chunk_by_tokens(documents, 5, 0)
    )[1] == len(corpus)
