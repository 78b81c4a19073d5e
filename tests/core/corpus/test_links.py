"""Links between documents, in files, in corpora and in BEIR folders."""

import gzip

import pytest

from core.corpus import import_documents, write_corpus
from core.corpus.document import Document
from core.corpus.links import DocumentLink, read_folder_links, read_links
from core.errors import BadInput

DOCUMENTS = [Document(id, f"Text {id}.") for id in "abc"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


def test_a_line_has_two_ids_and_optionally_type_and_count(tmp_path):
    file = tmp_path / "links.tsv"
    file.write_text("from\tto\ttype\tcount\na\tb\nb\tc\tcites\na\tc\tcites\t2.5\n", "utf-8")
    assert read_links(file) == [
        DocumentLink("a", "b"),
        DocumentLink("b", "c", "cites"),
        DocumentLink("a", "c", "cites", 2.5),
    ]


def test_without_a_header_the_first_line_is_a_link(tmp_path):
    with gzip.open(tmp_path / "links.tsv.gz", "wt") as file:
        file.write("a\tb\n")
    assert read_folder_links(tmp_path) == [DocumentLink("a", "b")]


def test_a_folder_without_a_file_of_links_has_none(tmp_path):
    assert read_folder_links(tmp_path) == []


@pytest.mark.parametrize(
    "line, told",
    [
        ("a", "line 2: expected two ids"),
        ("a\t\tcites", "line 2: expected two ids"),
        ("a\tb\tcites\tmany", "“many” is no number above 0"),
    ],
)
def test_a_line_that_is_no_link_is_reported_with_its_number(tmp_path, line, told):
    file = tmp_path / "links.tsv"
    file.write_text(f"a\tb\n{line}\n", "utf-8")
    with pytest.raises(BadInput, match=told):
        read_links(file)


def test_a_corpus_keeps_links_once_and_its_digest_covers_them(tmp_path):
    links = [DocumentLink("b", "c"), DocumentLink("a", "b", count=2.0), DocumentLink("b", "c")]
    linked, bare = (
        write_corpus(tmp_path / "one", DOCUMENTS, links=links),
        write_corpus(tmp_path / "two", DOCUMENTS),
    )
    assert (
        linked.links == (DocumentLink("a", "b", count=2.0), DocumentLink("b", "c", count=2.0))
        and bare.links == ()
    )
    assert linked.digest != bare.digest
    assert (
        write_corpus(tmp_path / "three", DOCUMENTS, links=reversed(links)).digest == linked.digest
    )


def test_links_stay_when_documents_come_and_go(tmp_path):
    corpus = write_corpus(tmp_path / "one", DOCUMENTS, links=[DocumentLink("a", "c")])
    gone = corpus.remove(["c"])
    assert gone.links == corpus.links and gone.digest != corpus.digest
    assert gone.update([DOCUMENTS[2]]).digest == corpus.digest


def folder(tmp_path, qrels="q1\ta\t1\n", corpus="abc"):
    """Write a folder in BEIR form with links."""
    place = tmp_path / "set"
    (place / "qrels").mkdir(parents=True)
    (place / "corpus.jsonl").write_text(
        "".join(
            f'{{"_id": "{id}", "title": "", "text": "Text {n}."}}\n' for n, id in enumerate(corpus)
        )
    )
    (place / "queries.jsonl").write_text('{"_id": "q1", "text": "Which?"}\n')
    (place / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{qrels}")
    (place / "links.tsv").write_text("a\tb\n")
    return place


def test_a_beir_folder_brings_its_links(tmp_path):
    corpus = import_documents("mine", [folder(tmp_path)], format="beir").corpus
    assert corpus.links == (DocumentLink("a", "b"),) and corpus.questions("mine-test")[0].gold == (
        "a",
    )


def test_two_documents_of_one_id_that_differ_are_refused(tmp_path):
    with pytest.raises(BadInput, match="Two documents have the id “a” and differ"):
        import_documents("mine", [folder(tmp_path, corpus="aba")], format="beir")


def test_two_queries_of_one_id_that_differ_are_refused(tmp_path):
    place = folder(tmp_path)
    again = '{"_id": "q1", "text": "Which?"}\n'
    (place / "queries-more.jsonl").write_text(again)
    assert (
        import_documents("mine", [place], format="beir").corpus.questions("mine-test")[0].text
        == "Which?"
    )
    (place / "queries-more.jsonl").write_text(again + '{"_id": "q1", "text": "Who?"}\n')
    with pytest.raises(BadInput, match="line 2: there is another query with the id “q1”"):
        import_documents("other", [place], format="beir")


def test_a_judgement_on_an_unknown_query_is_left_out_and_counted(tmp_path):
    brought = import_documents(
        "mine", [folder(tmp_path, qrels="q1\ta\t1\nq7\ta\t1\n")], format="beir"
    )
    assert [one.gold for one in brought.corpus.questions("mine-test")] == [("a",)]
    assert any(
        "Left out of test.tsv: 1 judgement of a query that the folder does not have, such as “q7”"
        in note
        for note in brought.notes
    )


def test_judgements_on_unknown_queries_alone_are_refused(tmp_path):
    with pytest.raises(
        BadInput, match="judges no document of this folder above 0.*1 judgement of a query.*“q7”"
    ):
        import_documents("mine", [folder(tmp_path, qrels="q7\ta\t1\n")], format="beir")
