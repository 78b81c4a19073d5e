"""Chunkers of a build, apart from the cutting itself (see core.corpus.chunks)."""

import pytest

from core.builds.base import BuildContext, BuildState
from core.builds.chunkers import SentenceChunks, TokenChunks, WholeDocuments
from core.errors import BadParameter, RunCancelled
from core.models.base import NoModels
from core.watch import NO_WATCH, Watch
from tests.core.builds.kit import Texts


def cut_chunks(chunker, folder, watch=NO_WATCH, **texts):
    return chunker.apply(
        BuildState(Texts(folder, **texts)), BuildContext(NoModels(), watch=watch)
    ).chunks


def test_a_document_of_one_chunk_keeps_its_id_and_others_are_numbered(tmp_path):
    chunks = cut_chunks(
        TokenChunks(size=5, overlap=0),
        tmp_path,
        a="Short text.",
        b="One two three four. Five six seven eight.",
    )
    assert chunks.texts("id") == ["a", "b#0", "b#1"]
    assert chunks.texts("document") == ["a", "b", "b"]
    assert chunks.texts("text") == ["Short text.", "One two three four.", "Five six seven eight."]


def test_each_chunker_cuts_in_its_own_way(tmp_path):
    text = "One two three. Four five."
    assert cut_chunks(TokenChunks(size=5, overlap=2), tmp_path, d=text).texts("text") == [
        "One two three. Four",
        "Four five.",
    ]
    assert cut_chunks(SentenceChunks(size=5), tmp_path, d=text).texts("text") == [
        "One two three.",
        "Four five.",
    ]
    assert cut_chunks(WholeDocuments(), tmp_path, d=text).texts("text") == [text]


def test_blank_documents_have_no_chunk_and_an_empty_corpus_none(tmp_path):
    for chunker in (WholeDocuments(), TokenChunks(), SentenceChunks()):
        assert cut_chunks(chunker, tmp_path, a="  \n", b="Text.").texts("id") == ["b"]
        assert len(cut_chunks(chunker, tmp_path)) == 0


def test_cutting_can_be_cancelled(tmp_path):
    def cancelled():
        raise RunCancelled()

    with pytest.raises(RunCancelled):
        cut_chunks(TokenChunks(), tmp_path, Watch(cancelled), a="Text.")


def test_an_overlap_that_would_never_end_is_refused():
    with pytest.raises(BadParameter, match="overlap"):
        TokenChunks(size=10, overlap=10)
