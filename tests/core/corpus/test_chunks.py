"""Documents cut into chunks, by hand and by properties that hold for any text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpus import Document
from core.corpus.chunks import chunk_by_sentences, chunk_by_tokens, documents_as_chunks
from core.corpus.sentences import sentence_spans
from core.corpus.tokens import _tokenizer, token_spans
from core.errors import BadParameter

TEN = Document("ten", "one two three four five six seven eight nine ten")


def texts(table):
    return table.texts("text")


def test_windows_of_tokens_overlap_by_the_given_number():
    table = chunk_by_tokens([TEN], size=4, overlap=1)
    assert texts(table) == ["one two three four", "four five six seven", "seven eight nine ten"]
    assert table.texts("id") == ["ten#0", "ten#1", "ten#2"] and table.numbers(
        "tokens"
    ).tolist() == [4, 4, 4]
    assert texts(chunk_by_tokens([TEN], size=5, overlap=0)) == [
        "one two three four five",
        "six seven eight nine ten",
    ]
    assert texts(chunk_by_tokens([TEN], size=10, overlap=9)) == [TEN.text]


def test_no_last_chunk_lies_within_the_one_before_it():
    assert texts(chunk_by_tokens([TEN], size=9, overlap=3)) == [
        "one two three four five six seven eight nine",
        "seven eight nine ten",
    ]


def test_a_full_stop_stays_with_its_word():
    assert texts(chunk_by_tokens([Document("d", "aa bb cc. dd ee.")], size=3, overlap=0)) == [
        "aa bb",
        "cc. dd",
        "ee.",
    ]


def test_a_word_longer_than_a_chunk_is_cut():
    found = chunk_by_tokens([Document("d", "xyzzyxyzzyxyzzyxyzzy end")], size=3, overlap=1)
    assert (
        "".join(texts(found)).startswith("xyzzy")
        and texts(found)[-1].endswith("end")
        and max(found.numbers("tokens")) <= 3
    )


def test_chinese_is_cut_between_characters_but_not_before_a_full_stop():
    table = chunk_by_tokens([Document("d", "我们去公园。他们回家。")], size=5, overlap=0)
    assert texts(table) == ["我们去公", "园。他们回", "家。"]


def test_a_chunk_has_its_document_title_and_place():
    document = Document(
        "d", "alpha beta gamma delta", "Title", places=((0, "page 1"), (11, "page 2"))
    )
    table = chunk_by_tokens([document, Document("e", "short")], size=2, overlap=0)
    assert table.texts("document") == ["d", "d", "e"] and table.texts("title") == [
        "Title",
        "Title",
        "",
    ]
    assert table.texts("place") == ["page 1", "page 2", ""] and table.texts("id") == [
        "d#0",
        "d#1",
        "e",
    ]


@pytest.mark.parametrize(
    ("title", "source", "read"),
    [
        ("p000", "p000.txt", ""),
        ("p000.txt", "p000.txt", ""),
        ("p000", "notes/p000.txt", ""),
        ("notes\\p000.txt", "notes\\p000.txt", ""),
        ("The Heron", "p000.txt", "The Heron"),
        ("Node.js", "pages.jsonl", "Node.js"),
        ("Varna", "", "Varna"),
    ],
)
def test_the_name_of_a_file_is_no_title(title, source, read):
    table = documents_as_chunks([Document("d", "A boat.", title, source)])
    assert table.texts("title") == [read]


def test_marks_stay_as_they_are():
    wild = "<script>alert('{x}')</script> {braces} {{}} %s \\n &amp; “quoted”"
    for table in (
        chunk_by_tokens([Document("w", wild)]),
        chunk_by_sentences([Document("w", wild)]),
        documents_as_chunks([Document("w", wild)]),
    ):
        assert texts(table) == [wild]


def test_sentences_are_packed_up_to_the_size():
    document = Document("d", "One two. Three four five. Six. Seven eight nine ten eleven twelve.")
    table = chunk_by_sentences([document], size=7)
    assert texts(table) == [
        "One two. Three four five.",
        "Six.",
        "Seven eight nine ten eleven twelve.",
    ]
    assert texts(chunk_by_sentences([document], size=4)) == [
        "One two.",
        "Three four five.",
        "Six.",
        "Seven eight nine ten",
        "eleven twelve.",
    ]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Mr. Fox met J. R. Smith. They left!", ["Mr. Fox met J. R. Smith.", "They left!"]),
        ("It is 3.14 today. “Is it?” she said.", ["It is 3.14 today.", "“Is it?” she said."]),
        ("天气很好。你去吗？“去！”他说。", ["天气很好。", "你去吗？", "“去！”", "他说。"]),
        ("A title\n\nA text without a stop\n\n", ["A title", "A text without a stop"]),
        ("e.g. this one. And that.", ["e.g. this one.", "And that."]),
        ("Wait... what? No", ["Wait... what?", "No"]),
        ("  ", []),
        ("", []),
    ],
)
def test_sentence_ends_are_found(text, expected):
    assert [text[a:b] for a, b in sentence_spans(text)] == expected


def test_chunk_ids_are_unique():
    documents = [Document("a", TEN.text), Document("a#0", "one"), Document("a#0#0", "two")]
    ids = chunk_by_tokens(documents, size=6, overlap=0).texts("id")
    assert ids == ["a#0", "a#1", "a#0#0", "a#0#0#0"]


def test_tokens_are_word_pieces_and_a_strange_word_counts_its_characters():
    texts = ("Unbelievable don't", "", "东京")
    assert [len(token_spans(text)) for text in texts] == [4, 0, 2]
    assert token_spans("ab ฿ๆๆๆๆ").tolist()[-5:] == [[n, n + 1] for n in range(3, 8)]


@pytest.mark.parametrize("size, overlap", [(10, 10), (1, 2), (0, 0), (5, -1)])
def test_an_overlap_that_would_never_end_is_refused(size, overlap):
    with pytest.raises(BadParameter, match="overlap"):
        chunk_by_tokens([TEN], size, overlap)


TEXT = st.text(alphabet="ab .\n中。😀,éก", max_size=300)


@given(TEXT, st.integers(1, 30), st.integers(0, 29))
def test_chunks_are_slices_that_cover_the_text_within_the_size(text, size, overlap):
    document, bare = Document("d", text), re.sub(r"\s", "", text)
    for table in (
        chunk_by_tokens([document], size, min(overlap, size - 1)),
        chunk_by_tokens([document], size, 0),
        chunk_by_sentences([document], size),
    ):
        assert all(chunk in text and chunk == chunk.strip() for chunk in texts(table))
        assert all(1 <= number <= size for number in table.numbers("tokens"))
    assert re.sub(r"\s", "", "".join(texts(chunk_by_tokens([document], size, 0)))) == bare
    assert re.sub(r"\s", "", "".join(texts(chunk_by_sentences([document], size)))) == bare


@given(
    st.lists(st.sampled_from(["alpha", "beta", "gamma.", "(delta)", "x"]), max_size=60),
    st.integers(4, 12),
    st.integers(0, 3),
)
def test_no_cut_falls_within_a_word(words, size, overlap):
    table = chunk_by_tokens([Document("d", " ".join(words))], size, overlap)
    assert all(set(chunk.split()) <= set(words) for chunk in texts(table))
    plain = [
        word
        for chunk in texts(chunk_by_tokens([Document("d", " ".join(words))], size, 0))
        for word in chunk.split()
    ]
    assert plain == words


def test_cutting_is_the_same_in_a_long_text_read_in_pieces(monkeypatch):
    text = "Some words, and then more of them. " * 300
    whole = chunk_by_tokens([Document("d", text)], 50, 10)
    monkeypatch.setattr("core.corpus.tokens.PIECE_CHARACTERS", 200)
    assert chunk_by_tokens([Document("d", text)], 50, 10).digest == whole.digest


@given(
    st.lists(
        st.text(alphabet="aB é我们[UNK].,'\u0301\u200b\xa0\x1c\x0b\u3000#", max_size=30), max_size=4
    ).map(" \n".join)
)
def test_tokens_of_words_are_those_of_the_whole_text(text):
    encoded = _tokenizer()[0].encode(text, add_special_tokens=False)
    strange = _tokenizer()[1]
    whole = [
        [start + (at if id == strange else 0), start + at + 1 if id == strange else end]
        for id, (start, end) in zip(encoded.ids, encoded.offsets)
        for at in (range(end - start) if id == strange else (0,))
    ]
    assert token_spans(text).tolist() == whole
