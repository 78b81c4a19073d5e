"""Work on two Ray workers: ordered results equal to those of one process.

Dead workers, errors and cancellation are covered too. The module starts the workers.
"""

from __future__ import annotations

import json
import os
from argparse import Namespace
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from core.builds import fact_collections
from core.builds import run_build as build_of_texts
from core.builds.base import BuildContext
from core.builds.extract import extractor, noun_phrases, worker_extraction
from core.builds.report import BuildReport
from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.corpus import Document, new_folder, write_corpus
from core.errors import BadParameter, HopscopeError, RunCancelled
from core.evaluation.runs.store import Store, evaluations_file
from core.graph.building.build import build
from core.graph.pagerank.top_nodes import top_pagerank
from core.indexes import vector_blocks
from core.indexes.vectors import build_vectors, delete_vectors, vector_folder
from core.models.price import Cap
from core.models.registry import Registry
from core.runtime.cluster import WORKER_DIED_MESSAGE, LostResult, Workers
from core.types import Usage
from core.watch import Watch
from tests.benchmarks import documents_scale
from tests.core import cluster_work as work
from tests.films import TRIPLES
from tests.real_models import registry as models

pytestmark = pytest.mark.skipif(
    find_spec("ray") is None, reason="Ray is not installed; get it with: pip install ray"
)
TWO_WORKERS = Workers(2)


@pytest.fixture(scope="module", autouse=True)
def ray():
    """Ray, started once for the module, since a start takes seconds."""
    with TWO_WORKERS.start_ray() as ray:
        yield ray


def test_results_are_ordered_and_dead_workers_items_retried(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_OF_THE_TEST", "seen")
    flag = str(tmp_path / "flag")
    pieces = [
        ("square", 7),
        ("die_once", flag),
        ("settings", ["HOPSCOPE_OF_THE_TEST", "HOPSCOPE_THREADS"]),
        ("die", None),
        ("square", 3),
    ]
    found = list(TWO_WORKERS.run_each(work.any_of, pieces))
    assert [piece for piece, _ in found] == pieces
    results = [result for _, result in found]
    assert (
        results[0] == 49
        and results[1] != os.getpid()
        and results[4] == 9
        and results[3] == LostResult(WORKER_DIED_MESSAGE)
    )
    assert results[2]["HOPSCOPE_OF_THE_TEST"] == "seen" and results[2]["HOPSCOPE_THREADS"]
    assert (tmp_path / "flag").exists()


@pytest.mark.parametrize("method", ["hgpa", "delta-push"])
def test_pagerank_of_workers_has_the_bytes_of_one_process(tmp_path, method):
    # Ends drawn like this give hubs, so that HGPA has several parts.
    ends = (900 * np.random.default_rng(3).random((2700, 2)) ** 2).astype(int)
    graph = build([(f"n{a}", "r", f"n{b}") for a, b in ends], tmp_path / "g", "g")
    results = []
    for workers in (None, Workers(1), TWO_WORKERS):
        nodes, scores = top_pagerank(graph, [5, 9], 40, method=method, workers=workers)
        results.append((nodes.tobytes(), scores.tobytes()))
    assert results[0] == results[1] == results[2]


def test_error_and_cancel_end_the_work():
    drawn = []

    def items():
        for number in range(100):
            drawn.append(number)
            yield number

    with pytest.raises(HopscopeError, match="There is no one."):
        list(TWO_WORKERS.run_each(work.fail, items()))
    assert len(drawn) <= 10  # No more items were drawn than were in progress.

    def cancelled():
        raise RunCancelled()

    with pytest.raises(RunCancelled):
        list(TWO_WORKERS.run_each(work.slow, range(8), Watch(cancelled)))


def rows_without_times(rows):
    """Rows without measured times."""
    found = []
    for row in rows:
        told = None if row.outcome is None else row.outcome.to_dict()
        for cost in told["costs"] if told else ():
            cost["seconds"] = 0.0
        found.append((row.method, row.question.id, row.error, told))
    return found


TIMES = ("seconds", "ranking", "model", "waiting", "prepared", "saved")


def without_seconds(value):
    if isinstance(value, dict):
        return {key: without_seconds(inner) for key, inner in value.items() if key not in TIMES}
    return [without_seconds(inner) for inner in value] if isinstance(value, list) else value


@pytest.fixture
def films_file(tmp_path, monkeypatch):
    """The films graph and a question file for it, in a user folder of the test's own.

    One of the questions has no entity.
    """
    monkeypatch.setenv("HOPSCOPE_MODELS", str(models_folder()))
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    graph, file = build(TRIPLES, tmp_path / "films", "films", "both"), tmp_path / "mine.txt"
    file.write_text(
        (
            "what genre has [One]\tDrama\nwho directed [Two]\tAnn\nwho is [Nobody]\tAnn\n"
            "when was [Two] made\t1999\n"
        ),
        "utf-8",
    )
    return graph, file


def models_folder():
    from core.io.home import models_folder as folder

    return folder()


def test_evaluation_equals_that_of_one_process(films_file, capsys):
    graph, file = films_file
    lines = (
        "EgoNetwork(hops=2) >> ShortestPaths() >> Rank(model='bm25', keep=2),RandomWalks() >> "
        "ShortestPaths()"
    )
    command = [
        "evaluate",
        "--set",
        str(file),
        "--graph",
        str(graph.folder),
        "--methods",
        lines,
        "--no-llm",
        "--json",
    ]
    told = []
    for more in ([], ["--again", "--workers", "2"]):
        assert main([*command, *more]) == EXIT_OK
        told.append(json.loads(capsys.readouterr().out)["run"])
    alone, spread = (Store(evaluations_file()).rows(run) for run in told)
    assert (
        told[0] != told[1]
        and len(alone) == 8
        and rows_without_times(alone) == rows_without_times(spread)
    )
    assert (
        sum(row.error is not None for row in spread) == 2
        and Store(evaluations_file()).run(told[1]).status == "done"
    )
    for row in alone:
        states = [
            Store(evaluations_file()).states(run, row.method, row.question.id) for run in told
        ]
        assert without_seconds(states[0]) == without_seconds(states[1])


def test_vectors_equal_those_of_one_process(films_file, monkeypatch):
    info = models().info("encoder")
    if not info.present:
        pytest.skip(info.how_to_get)
    graph, encoder = films_file[0], models().encoder()
    monkeypatch.setattr(vector_blocks, "BLOCK_TEXTS", 2)
    found = []
    for encode in (None, vector_blocks.encode_over_workers(TWO_WORKERS, "encoder")):
        built = build_vectors(graph, encoder, "triples", encode=encode)
        assert built.facts["encoded"] == 5
        folder = vector_folder(graph, encoder, "triples")
        found.append(
            {
                file.name: file.read_bytes()
                for file in folder.iterdir()
                if file.name != vector_blocks.DONE_FILE
            }
        )
        delete_vectors(folder)
    assert found[0] == found[1] and len(found[0]) == 3  # The files are keys, index and lock.


def test_document_graph_equals_that_of_one_process(films_file, monkeypatch, tmp_path):
    info = models().info("encoder")
    if not info.present:
        pytest.skip(info.how_to_get)
    documents = [
        Document(f"d{number}", f"Ann Smith met Bob Jones in Paris in {1900 + number}. They left.")
        for number in range(5)
    ]
    monkeypatch.setattr(vector_blocks, "BLOCK_TEXTS", 2)
    monkeypatch.setattr(noun_phrases, "PARSE_BATCH_CHUNKS", 2)
    # There are five chunks, so results are merged across workers too.
    monkeypatch.setattr(extractor, "HELD_CHUNKS", 2)
    monkeypatch.setattr(fact_collections, "MAX_RUN_CHUNKS", 2)
    found = []
    for name, workers in (("one", None), ("two", TWO_WORKERS)):
        monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / name))
        report = BuildReport()
        graph = build_of_texts(
            write_corpus(new_folder("texts"), documents),
            "rkg-noun-phrases",
            Registry(),  # Its encoder saves vectors in this user folder.
            report=report,
            workers=workers,
        )
        files = {
            file.name: file.read_bytes()
            for file in sorted((graph.folder / "indexes").rglob("*.faiss"))
        }
        found.append((graph.digest, files, report.counts, report.new_texts))
    assert found[0] == found[1] and found[0][3] > 5 and found[0][1]


@pytest.mark.parametrize("line", ["kg-noun-phrases", "passage-noun-phrases"])
def test_merged_facts_equal_those_of_one_process(line, monkeypatch, tmp_path):
    documents = [
        Document(f"d{number}", f"Ann Smith met Bob Jones in Paris in {1900 + number}. They left.")
        for number in range(5)
    ]
    monkeypatch.setattr(extractor, "HELD_CHUNKS", 2)
    monkeypatch.setattr(fact_collections, "MAX_RUN_CHUNKS", 2)
    found = []
    for name, workers in (("one", None), ("two", TWO_WORKERS)):
        monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / name))
        report = BuildReport()
        graph = build_of_texts(
            write_corpus(new_folder("texts"), documents),
            line,
            models(),
            report=report,
            workers=workers,
            indexed=False,
        )
        found.append((graph.digest, graph.n_edges, report.counts, report.notes))
    assert found[0] == found[1] and found[0][1] > 0


def test_document_benchmark_builds_equal_graphs_on_workers(monkeypatch, tmp_path):
    monkeypatch.setattr(extractor, "HELD_CHUNKS", 8)
    monkeypatch.setattr(fact_collections, "MAX_RUN_CHUNKS", 8)
    monkeypatch.setattr(vector_blocks, "BLOCK_TEXTS", 16)
    found = []
    for name, workers in (("one", None), ("two", 2)):
        monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / name))
        given = {
            "made": ["vectors", "facts"],
            "documents": 40,
            "workers": workers,
            "cluster": None,
            "unindexed": False,
        }
        options = Namespace(step=["build", "rkg-noun-phrases"], **given)
        documents_scale.corpus(options)
        *_, whole = documents_scale.built(options)
        files = {
            file.name: file.read_bytes()
            for file in sorted((tmp_path / name).rglob("indexes/**/*"))
            if file.suffix in (".npy", ".faiss")
        }
        found.append((whole.note, files))
    assert found[0] == found[1] and "digest" in found[0][0] and len(found[0][1]) > 1


def test_workers_read_chunks_by_their_language_models(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    report, ctx = BuildReport(), BuildContext(models())
    with_workers = replace(ctx, report=report, workers=TWO_WORKERS)
    texts = [f"chunk {number}" for number in range(worker_extraction.WORKER_BATCH_CHUNKS + 1)]
    found = list(
        worker_extraction.extract_over_workers(work.LastWordExtractor(), texts, with_workers)
    )
    assert found == sorted(
        work.LastWordExtractor().extract_facts(texts, ctx), key=lambda pair: pair[0]
    )
    assert report.usage == Usage(len(texts), 2 * len(texts), len(texts)) and report.counts[
        "asked again"
    ] == len(texts)


def test_spending_cap_needs_one_process(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    corpus = write_corpus(new_folder("texts"), [Document("d", "Ann met Bob.")])
    with pytest.raises(BadParameter, match="single process"):
        build_of_texts(corpus, "kg-llm", models(), cap=Cap(10.0), workers=TWO_WORKERS)


def test_invalid_worker_options_are_refused():
    with pytest.raises(BadParameter, match="at least 0, not -1"):
        Workers(-1)
    assert list(TWO_WORKERS.run_each(work.square, [])) == []
    assert (TWO_WORKERS.description(), Workers(0, "far:6379").description()) == (
        "2 workers",
        "the workers of far:6379",
    )


def test_timed_evaluation_needs_one_process(films_file, capsys):
    graph, file = films_file
    command = [
        "evaluate",
        "--set",
        str(file),
        "--graph",
        str(graph.folder),
        "--methods",
        "lego-1",
        "--no-llm",
        "--cold",
        "--workers",
        "2",
    ]
    assert (
        main(command) == EXIT_WRONG_INPUT and "measured in one process" in capsys.readouterr().err
    )
