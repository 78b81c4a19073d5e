"""Documents of a reply matched with a corpus by id, title or quotation; misses are counted."""

import pytest

from core.corpus import Document, new_folder, write_corpus
from core.engine import Engine
from core.operators.texts.sparse import word_search
from core.retrievers.document_matching import match_documents
from core.retrievers.reply import ReplyDocument, UnfitReply, check_documents_reply, check_reply
from core.sources import CorpusSource
from tests.notes import NoteWith

# About 600 tokens, in three chunks.
LONG = " ".join(f"Sentence number {i} of the long book speaks of thing{i}." for i in range(60))
DOCUMENTS = (
    Document(
        "carol", "Marley was dead, to begin with. Scrooge was his partner.", "A Christmas Carol"
    ),
    Document(
        "fred", "Fred, the nephew of Scrooge, wished his uncle a merry Christmas.", "The nephew"
    ),
    Document("book", LONG, "The long book"),
    Document("twin-1", "One twin.", "Twins"),
    Document("twin-2", "Another one.", "Twins"),
)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        write_corpus(new_folder("books"), DOCUMENTS)
        yield CorpusSource("books").open(Engine()).graph


def matched(graph, *given, question="who"):
    found = match_documents(graph, question, given, word_search(graph, "chunks", "bm25"))
    return graph.columns.chunks.texts("id", list(found.rows)), list(found.rows.values()), found


def test_documents_match_by_id_title_and_quotation(graph):
    given = (ReplyDocument("fred", score=3.0), ReplyDocument(title="a christmas  CAROL", score=2.0))
    ids, scores, found = matched(graph, *given)
    assert (ids, scores, found.n_unmatched, found.notes) == (["fred", "carol"], [3.0, 2.0], 0, [])
    assert matched(graph, ReplyDocument(text="scrooge was\n his partner"))[0] == ["carol"]
    assert matched(
        graph,
        *(ReplyDocument(named=name) for name in ("fred", "Scrooge was his", "the long book#no")),
    )[0] == ["fred", "carol"]
    assert matched(graph, ReplyDocument("book#1"))[0] == ["book#1"]


def test_id_matches_the_nearest_passage(graph):
    """thing55 is in the last of the book's chunks, thing1 in its first."""
    last, _, found = matched(graph, ReplyDocument("book"), question="what of thing55")
    first, _, _ = matched(graph, ReplyDocument("book"), question="what of thing1")
    assert first == ["book#0"] and last == [
        f"book#{len([i for i in graph.columns.chunks.texts('document') if i == 'book']) - 1}"
    ]
    assert found.notes == [NoteWith("1 document", "several passages", "nearest")]


def test_long_text_matches_each_passage_it_covers(graph):
    chunks = [
        id
        for id, of in zip(graph.columns.chunks.texts("id"), graph.columns.chunks.texts("document"))
        if of == "book"
    ]
    ids, scores, found = matched(
        graph, ReplyDocument(text=LONG, score=1.0), ReplyDocument("fred", score=0.5)
    )
    assert ids == [*chunks, "fred"] and scores == [1.0] * len(chunks) + [0.5] and len(chunks) > 1
    assert NoteWith("1 document", "several passages", "follow one another") in found.notes
    # The quotation crosses the first chunk border.
    across = LONG[len(graph.columns.chunks.text("text", chunks.index("book#0"))) - 200 :][:400]
    assert (
        set(matched(graph, ReplyDocument(text=across))[0]) <= set(chunks)
        and matched(graph, ReplyDocument(text=across))[0]
    )


def test_unknown_and_repeated_documents_are_counted(graph):
    given = (
        ReplyDocument("fred", score=1.0),
        ReplyDocument("<script>"),
        ReplyDocument(text="A whale was white."),
        ReplyDocument("fred"),
    )
    ids, scores, found = matched(graph, *given)
    assert (ids, scores, found.n_unmatched) == (["fred"], [1.0], 2)
    assert found.notes == [
        NoteWith(2, "4 documents", "not in the corpus", "“<script>”", "“A whale was white.”"),
        NoteWith("1 document", "named before", "first place"),
    ]
    assert matched(graph)[2].rows == {} and matched(graph)[2].notes == []


def test_ambiguous_title_needs_a_text(graph):
    ids, _, found = matched(
        graph, ReplyDocument(title="Twins"), ReplyDocument(title="Twins", text="Another one.")
    )
    assert ids == ["twin-2"] and found.n_unmatched == 1
    assert any("title is that of several" in note for note in found.notes)


def test_id_precedes_a_different_text(graph):
    ids, _, found = matched(graph, ReplyDocument("fred", text="Marley was dead"))
    assert ids == ["fred"] and found.notes == [
        NoteWith("1 document", "id", "text", "the id counts")
    ]


def test_reply_of_documents_is_parsed():
    reply = check_documents_reply(
        {
            "documents": [{"id": "a", "score": 1}, {"title": "B", "score": 2, "rank": 1}],
            "answer": " Ann ",
        }
    )
    assert [(one.id, one.title, one.score) for one in reply.documents] == [
        ("", "B", 2.0),
        ("a", "", 1.0),
    ]
    assert (
        reply.answer == " Ann "
        and reply.prompt is None
        and reply.notes == (NoteWith("document", "“rank”", "id, title, text, score"),)
    )
    assert check_documents_reply({"chunks": ["x", {"id": 7}]}).documents == (
        ReplyDocument(named="x"),
        ReplyDocument("7"),
    )
    assert (
        check_documents_reply({}).documents == ()
        and check_documents_reply({"answer": ""}).answer == ""
    )


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ([], "it should be an object with “documents” or “chunks”"),
        ({"documents": {}}, "“documents” should be a list"),
        ({"documents": [3]}, "entry 1 of “documents” should be an object"),
        ({"chunks": [{}]}, "entry 1 of “chunks” has no “id”, “title” or “text”"),
        (
            {"documents": [{"id": "a", "score": "high"}]},
            "the score of entry 1 of “documents” should be a number",
        ),
        ({"documents": [{"id": "\ud800"}]}, "half a letter"),
        ({"answer": ["Ann"]}, "“answer” of the reply should be a text"),
        ({"paths": [{"nodes": ["a", "b"]}]}, "ask it of a graph of triples"),
        ({"nodes": ["a"]}, "ask it of a graph of triples"),
    ],
)
def test_invalid_reply_of_documents_is_refused(data, why):
    with pytest.raises(UnfitReply, match=why):
        check_documents_reply(data)


def test_documents_are_refused_for_a_graph():
    with pytest.raises(UnfitReply, match="ask it of a corpus"):
        check_reply({"documents": [{"id": "a"}]})
    assert check_reply({"documents": [{"id": "a"}], "answers": ["Ann"]}).answers == ("Ann",)
