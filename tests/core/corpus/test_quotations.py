"""Gold passages that are parts of documents are found by a quotation in any chunks."""

from __future__ import annotations

import pytest

from core.builds import run_build
from core.corpus import Document, new_folder, write_corpus
from core.corpus.corpus_import import import_question_set
from core.corpus.quotations import passage_name, split_passage_name
from core.diagnosis.passages import chunk_rows, gold_rows
from core.models.base import NoModels
from core.sources import CorpusSource

BUILT, MARRIED = "Ann Lee built the harbour of Oban.", "Later she married Tom Reid of Ayr."
TEXT = f"{BUILT} {MARRIED} Nobody else came."


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return write_corpus(
        new_folder("coast"), [Document("a.md", TEXT, "Coast"), Document("b.md", f"A copy: {BUILT}")]
    )


def build_chunks(corpus, size: int):
    return run_build(corpus, f"SentenceChunks(size={size}) >> NounPhrases() >> Merge()", NoModels())


def texts(graph, passage: str) -> list[str]:
    return [graph.columns.chunks.text("text", row) for row in sorted(chunk_rows(graph, passage))]


def test_a_quotation_finds_its_chunk_in_any_chunking(corpus):
    passage = passage_name("a.md", MARRIED.replace(" ", "\n "))
    assert split_passage_name(passage) == ("a.md", MARRIED)
    assert texts(build_chunks(corpus, 9), passage) == [MARRIED]
    assert texts(build_chunks(corpus, 100), passage) == [TEXT]
    # The other document has the same text and is not matched.
    assert texts(build_chunks(corpus, 9), passage_name("a.md", BUILT)) == [BUILT]


def test_a_cut_quotation_finds_the_chunk_with_a_whole_half(corpus):
    """The halves are “Later she married” and “Tom Reid of Ayr.”.

    The document was cut after “Tom”.
    """
    graph = build_chunks(corpus, 4)
    assert texts(graph, passage_name("a.md", MARRIED)) == ["Later she married Tom"]


def test_a_document_name_finds_all_its_chunks(corpus):
    graph = build_chunks(corpus, 9)
    assert len(chunk_rows(graph, "a.md")) == 3 and chunk_rows(graph, "c.md") == frozenset()
    assert chunk_rows(graph, passage_name("a.md", "It rained all year in Rome.")) == frozenset()
    assert gold_rows(graph, ["a.md", "b.md"]) == chunk_rows(graph, "a.md") | chunk_rows(
        graph, "b.md"
    )


def test_a_source_has_a_passage_where_its_document_holds_the_quotation(corpus):
    source = CorpusSource("coast", corpus=corpus)
    assert passage_name("a.md", MARRIED) in source and "a.md" in source
    assert passage_name("b.md", MARRIED) not in source and passage_name("c.md", BUILT) not in source


def test_questions_may_bring_parts_of_documents_by_title(corpus, tmp_path):
    file = tmp_path / "asked.jsonl"
    file.write_text(
        '{"question": "Who?", "answer": "Tom Reid", "gold": ["Coast\\nLater she married '
        'Tom Reid of Ayr.", "Coast\\nNot so."]}'
    )
    brought = import_question_set("coast", file)
    assert brought.corpus.questions("coast")[0].gold == (
        passage_name("a.md", MARRIED),
        "a.md\nNot so.",
    )
    assert any("does not have: “a.md Not so.”, 1 in all" in note for note in brought.notes)


def test_gold_titles_and_quotations_are_found_in_other_typography(corpus, tmp_path):
    corpus.update([Document("c.md", "“Jo’Ann” kept\u00a0the light.", "O’Neil’s Light\u2011House")])
    file = tmp_path / "asked.jsonl"
    file.write_text(
        '{"question": "Who?", "answer": "Jo", "gold": ["o\'neil\'s light-house"]}\n'
        '{"question": "What?", "answer": "Jo", "gold": ["c.md\\n\\"Jo\'Ann\\" kept the light."]}\n'
    )
    brought = import_question_set("coast", file)
    assert [one.gold[0].split("\n")[0] for one in brought.corpus.questions("coast")] == ["c.md"] * 2
    assert not any("does not have" in note for note in brought.notes)
    quoted = brought.corpus.questions("coast")[1].gold[0]
    assert len(chunk_rows(build_chunks(brought.corpus, 100), quoted)) == 1
