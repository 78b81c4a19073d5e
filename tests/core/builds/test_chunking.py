"""Documents cut into chunks, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.builds.base import BuildContext, Made
from core.builds.chunking import SentenceChunks, TokenChunks, WholeDocuments
from core.builds.spans import by_sentences, by_tokens, tokens
from core.errors import BadParameter
from core.models.base import NoModels
from tests.core.builds.kit import Texts


def cut(chunker, folder, **texts):
    return chunker.apply(Made(Texts(folder, **texts)), BuildContext(NoModels())).chunks


def test_a_document_of_one_chunk_keeps_its_id_and_others_are_numbered(tmp_path):
    chunks = cut(TokenChunks(size=8, overlap=0), tmp_path, a="Short text.", b="One two three four. Five six seven eight.")
    assert chunks.texts("id") == ["a", "b#0", "b#1"]
    assert chunks.texts("document") == ["a", "b", "b"]
    assert chunks.texts("text") == ["Short text.", "One two three four.", "Five six seven eight."]


def test_a_chunk_ends_with_a_sentence_where_there_is_one_in_its_second_half():
    text = "Aaa bbb ccc. Ddd eee fff ggg"  # 8 tokens are 28 bytes, 7 are 24, of which a sentence takes 13
    assert [text[a:b] for a, b in by_tokens(text, 7, 0)] == ["Aaa bbb ccc. ", "Ddd eee fff ggg"]


def test_sentences_overlap(tmp_path):
    chunks = cut(SentenceChunks(sentences=2, overlap=1), tmp_path, d="One. Two. Three.")
    assert chunks.texts("text") == ["One. Two.", "Two. Three."]
    assert by_sentences("", 2, 1)


def test_blank_documents_have_no_chunk_and_an_empty_corpus_none(tmp_path):
    assert len(cut(WholeDocuments(), tmp_path, a="  \n", b="Text.")) == 1
    assert len(cut(WholeDocuments(), tmp_path)) == 0


def test_a_token_is_three_and_a_half_bytes():
    assert (tokens(""), tokens("a" * 7), tokens("a" * 8), tokens("中文")) == (0, 2, 3, 2)


@pytest.mark.parametrize("make", [lambda: TokenChunks(size=10, overlap=6), lambda: SentenceChunks(sentences=2, overlap=2)])
def test_an_overlap_that_would_never_end_is_refused(make):
    with pytest.raises(BadParameter, match="overlap"):
        make()


@given(st.text(alphabet="ab .\n中😀", max_size=300), st.integers(8, 30), st.integers(0, 4))
def test_chunks_cover_the_text_and_are_no_larger_than_said(text, size, overlap):
    spans = list(by_tokens(text, size, overlap))
    assert all(b > a and tokens(text[a:b]) <= size for a, b in spans)
    assert all(late[0] <= early[1] and late[0] > early[0] for early, late in zip(spans, spans[1:]))
    assert not text or (spans[0][0], spans[-1][1]) == (0, len(text))
