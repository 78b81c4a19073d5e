"""A changed corpus gives the graph of a full rebuild, and only new texts are read.

Documents are added, changed and removed, and builds are killed.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace

import pytest

from core.builds import build_status, fact_collections, find_build, open_graph, run_build
from core.builds.base import BuildState
from core.builds.chunkers import WholeDocuments
from core.builds.cost import estimate_cost
from core.builds.extract import extractor
from core.builds.extract.language_model import LanguageModelExtraction
from core.builds.merge import row_pairs, synonyms
from core.builds.report import BuildReport
from core.builds.run import build_context
from core.corpus import Document, write_corpus
from core.indexes import vectors
from core.io.home import ROOT
from tests.core.builds.test_language_model import ChatModels, entity, relation

EXTRACTION_LINE = "WholeDocuments() >> LanguageModelExtraction(gleaning=0)"
LINES = {
    "merged": f"{EXTRACTION_LINE} >> Merge()",
    "linked": f"{EXTRACTION_LINE} >> Merge(by='name') >> AddSynonymEdges(least=0.5)",
    "grouped": f"{EXTRACTION_LINE} >> Merge() >> Communities(max_size=3) >> Reports(writer='extractive')",
    "passages": f"{EXTRACTION_LINE} >> PassageGraph(common=9)",
    "tree": "WholeDocuments() >> Tree(summaries='extractive')",
    "balanced tree": "WholeDocuments() >> Tree(clusters='k-means', summaries='extractive')",
    "parsed": (
        "WholeDocuments() >> NounPhrases() >> Merge() >> Communities(max_size=3) >> "
        "Reports(writer='extractive')"
    ),
    "parsed passages": "WholeDocuments() >> NounPhrases() >> PassageGraph(common=9)",
    "nearest": "WholeDocuments() >> NearestDocuments(keep=2) >> Vectors(of='nodes')",
    "terms": "WholeDocuments() >> SharedTerms(keep=2)",
}
# Two circles of five people.
NAMES = ["Ann", "Bob", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida", "Jon"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


class NameExtractionModels(ChatModels):
    """Models with a chat that extracts every known name and joins neighbours.

    The encoder counts letters.
    """

    def __init__(self):
        super().__init__(self._say)

    @staticmethod
    def _say(asked, number):
        names = [word.strip(".") for word in asked.split() if word.strip(".") in NAMES]
        found = {
            "entities": [entity(name) for name in names],
            "relations": [relation(a, b, f"{a} met {b}.") for a, b in zip(names, names[1:])],
        }
        return found


def document(number, *names):
    return Document(f"d{number:02}", f"In text {number} {names[0]} met {' and '.join(names[1:])}.")


FIRST_DOCUMENTS = [
    document(n, *(NAMES[n % 2 * 5 + k % 5] for k in (n, n * 2 + 1, n + 3))) for n in range(13)
]
FIRST_DOCUMENTS += [document(13, "Dan", "Fay")]  # This document joins the circles.


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_changed_corpus_gives_the_graph_of_a_rebuild(line, tmp_path, monkeypatch):
    models = NameExtractionModels()
    corpus = write_corpus(tmp_path / "one", FIRST_DOCUMENTS)
    run_build(corpus, line, models)
    corpus = corpus.add([document(20, "Eve", "Ann", "Bob"), document(21, "Cleo", "Dan")])
    corpus = corpus.change([document(3, "Dan", "Eve")])
    corpus = corpus.remove(["d00", "d07"])
    before = len(models.writer.asked)
    grown = run_build(corpus, line, models)
    if "LanguageModel" in line:
        # Two documents are new, and one has changed.
        assert before == 14 and len(models.writer.asked) - before == 3
        assert build_status(corpus, line).report["counts"]["extracted"] == 3
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "another home"))
    afresh = run_build(write_corpus(tmp_path / "two", list(corpus)), line, NameExtractionModels())
    assert grown.digest == afresh.digest and open_graph(corpus, line).digest == grown.digest


@pytest.mark.parametrize(
    "line", ["merged", "linked", "grouped", "passages", "parsed", "parsed passages", "nearest"]
)
def test_a_large_changed_corpus_gives_the_graph_of_a_rebuild_too(line, tmp_path, monkeypatch):
    monkeypatch.setattr(extractor, "HELD_CHUNKS", 4)
    monkeypatch.setattr(fact_collections, "CHUNKS_PER_RUN_END", 2)
    monkeypatch.setattr(row_pairs, "ROW_SEARCH", replace(row_pairs.ROW_SEARCH, max_exact_rows=5))
    monkeypatch.setattr(synonyms, "ROW_SEARCH", replace(synonyms.ROW_SEARCH, max_exact_rows=5))
    monkeypatch.setattr(vectors, "VECTOR_INDEX", replace(vectors.VECTOR_INDEX, max_exact_vectors=5))
    test_a_changed_corpus_gives_the_graph_of_a_rebuild(LINES[line], tmp_path, monkeypatch)


@pytest.fixture
def looked_up_texts(monkeypatch):
    """Texts whose facts were looked up, with each chunk as a separate run."""
    monkeypatch.setattr(extractor, "HELD_CHUNKS", 4)
    monkeypatch.setattr(fact_collections, "CHUNKS_PER_RUN_END", 1)
    read, found = list[str](), extractor.Extractor.find_facts
    monkeypatch.setattr(
        extractor.Extractor,
        "find_facts",
        lambda self, texts, *rest: read.extend(texts) or found(self, texts, *rest),
    )
    return read


def test_only_changed_runs_are_merged_again(tmp_path, looked_up_texts):
    corpus, line = write_corpus(tmp_path / "one", FIRST_DOCUMENTS), LINES["parsed"]
    counts = lambda: tuple(
        build_status(corpus, line).report["counts"][name] for name in ("extracted", "kept")
    )
    first = run_build(corpus, line, NameExtractionModels()).digest
    # Once to count, and once to merge.
    assert sorted(looked_up_texts) == sorted(
        2 * [one.text for one in FIRST_DOCUMENTS]
    ) and counts() == (14, 0)
    corpus = (
        corpus.add([document(20, "Eve", "Ann", "Bob")])
        .change([document(3, "Dan", "Eve")])
        .remove(["d07"])
    )
    looked_up_texts.clear()
    assert run_build(corpus, line, NameExtractionModels()).digest != first and counts() == (2, 12)
    assert sorted(looked_up_texts) == sorted(
        2 * [corpus.document(one).text for one in ("d03", "d20")]
    )


def overwrite_pages(file):
    """Overwrite all pages but the first, which marks the file as a database."""
    with closing(sqlite3.connect(file)) as base:
        base.execute("pragma wal_checkpoint(truncate)")
    whole = file.read_bytes()
    file.write_bytes(whole[:4096] + bytes([255]) * (len(whole) - 4096))


@pytest.mark.parametrize("harm", ["a run", "the file", "its pages", "no room"])
def test_unusable_saved_runs_are_merged_again(harm, tmp_path, looked_up_texts, monkeypatch):
    if harm == "no room":
        monkeypatch.setattr(fact_collections, "MAX_SAVED_RUNS_BYTES", 1)
    corpus, file = (
        write_corpus(tmp_path / "one", FIRST_DOCUMENTS),
        tmp_path / "home" / "gathered.sqlite",
    )
    first = run_build(corpus, LINES["parsed passages"], NameExtractionModels()).digest
    shutil.rmtree(corpus.folder / "graphs")
    if harm == "the file":
        file.write_bytes(b"no database" * 1000)
    elif harm == "its pages":
        overwrite_pages(file)
    else:
        with closing(sqlite3.connect(file)) as base, base:
            there = base.execute("update runs set gathered = substr(gathered, 1, 99)").rowcount
        assert there == (0 if harm == "no room" else 28)
    looked_up_texts.clear()
    assert (
        run_build(corpus, LINES["parsed passages"], NameExtractionModels()).digest == first
        and len(looked_up_texts) == 28
    )
    notes = [
        note
        for note in build_status(corpus, LINES["parsed passages"]).report["notes"]
        if "gathered.sqlite" in note
    ]
    assert len(notes) == (harm in ("the file", "its pages")) and all(
        "damaged and is begun anew" in note for note in notes
    )
    looked_up_texts.clear()
    shutil.rmtree(corpus.folder / "graphs")
    # Uses the runs that the second build saved.
    assert run_build(corpus, LINES["parsed passages"], NameExtractionModels()).digest == first
    assert len(looked_up_texts) == (28 if harm == "no room" else 0)
    assert not [
        note
        for note in build_status(corpus, LINES["parsed passages"]).report["notes"]
        if "gathered" in note
    ]


def test_a_failure_to_save_merged_facts_is_noted(tmp_path, looked_up_texts):
    corpus, file = (
        write_corpus(tmp_path / "one", FIRST_DOCUMENTS),
        tmp_path / "home" / "gathered.sqlite",
    )
    with closing(sqlite3.connect(file)) as base:
        base.execute("create table others (key text)")
    report = BuildReport()
    run_build(corpus, LINES["parsed"], NameExtractionModels(), report=report)
    (note,) = [note for note in report.notes if "gathered" in note]
    assert note.startswith("Merged facts were not saved") and "remove that file" in note
    with closing(sqlite3.connect(file)) as base:
        # Tables of others are not removed.
        assert base.execute("select name from sqlite_master").fetchall() == [("others",)]


def test_facts_of_very_many_chunks_are_read_from_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(extractor, "HELD_CHUNKS", 4)
    corpus, models = write_corpus(tmp_path / "one", FIRST_DOCUMENTS), NameExtractionModels()
    ctx, chunks = build_context(corpus, models), WholeDocuments().table(corpus)
    facts = LanguageModelExtraction(gleaning=0).apply(BuildState(corpus, chunks), ctx).facts
    asked = len(models.writer.asked)
    assert isinstance(facts, extractor.SavedFacts) and len(facts) == len(FIRST_DOCUMENTS) == asked
    assert list(facts) == [facts[place] for place in range(len(facts))] and facts[2:4] == [
        facts[2],
        facts[3],
    ]
    # No text is sent to the model twice.
    assert len(models.writer.asked) == asked and ctx.report.counts["extracted"] == asked


def test_another_community_size_reads_no_chunk_again(tmp_path):
    models, report = NameExtractionModels(), BuildReport()
    corpus = write_corpus(tmp_path / "one", FIRST_DOCUMENTS)
    before = run_build(corpus, LINES["grouped"], models)
    after = run_build(
        corpus, LINES["grouped"].replace("max_size=3", "max_size=5"), models, report=report
    )
    assert len(models.writer.asked) == 14 and (
        report.counts["extracted"],
        report.counts["kept"],
    ) == (0, 14)
    members = [set(after.names(one)) for one in after.columns.communities.id_lists("members")]
    # Circles with more than 3 members are split.
    assert sorted(members, key=min) == [set(NAMES[:5]), set(NAMES[5:])]
    assert after.n_edges == before.n_edges and len(before.columns.communities) > 2


def test_the_estimate_counts_the_chunks_to_read(tmp_path):
    models, line = NameExtractionModels(), find_build(LINES["merged"])
    corpus = write_corpus(tmp_path / "one", FIRST_DOCUMENTS)
    first = estimate_cost(corpus, line, models)
    assert (first.chunks, first.missing, first.usage.calls, first.seconds) == (14, 14, 14, None)
    run_build(corpus, line, models, lanes=1)
    corpus = corpus.add([document(20, "Eve", "Ann")])
    later = estimate_cost(corpus, line, models)
    assert (later.chunks, later.missing, later.usage.calls, later.usage.tokens_out) == (
        15,
        1,
        1,
        50,
    )
    # Replies took 2 seconds for 1000 tokens in and 50 out. A token out takes as long as four in.
    assert later.seconds == pytest.approx(2 * (later.usage.tokens_in + 4 * 50) / (1000 + 4 * 50))
    assert "1 of 15 chunks" in later.words() and "calls of a language model" in later.words()


KILLED_SCRIPT = """
import sys, time
from core.builds import run_build
from core.corpus import Corpus
from tests.core.builds.test_incremental import LINES, NameExtractionModels

models = NameExtractionModels()
say = models.writer.say

def slowly(asked, number):
    if number > 6:
        time.sleep(600)
    return say(asked, number)

models.writer.say = slowly
run_build(Corpus.open(sys.argv[1]), LINES["merged"], models, lanes=1)
"""


def test_a_killed_build_continues_and_loses_only_the_running_call(tmp_path, monkeypatch):
    corpus = write_corpus(tmp_path / "one", FIRST_DOCUMENTS)
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED_SCRIPT, str(corpus.folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        until = time.monotonic() + 60
        while (
            estimate_cost(corpus, find_build(LINES["merged"]), NameExtractionModels()).usage.calls
            > 8
        ):
            assert time.monotonic() < until and process.poll() is None
            time.sleep(0.1)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    models = NameExtractionModels()
    graph = run_build(corpus, LINES["merged"], models)
    assert len(models.writer.asked) == 8
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "another home"))
    assert (
        run_build(
            write_corpus(tmp_path / "two", FIRST_DOCUMENTS), LINES["merged"], NameExtractionModels()
        ).digest
        == graph.digest
    )
