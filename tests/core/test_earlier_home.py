"""The home of an earlier version opens.

It is a person's folder as it was written then, in tests/earlier/home.tar.gz.

It holds a graph of nine triples with a question set and vectors of its nodes, a corpus of three
documents with a question set and four builds, two evaluations, a search, two saved methods, two
cases, a rating, a declared model and a declared retriever; and `expected.json`, the cases and
evaluations as plain data as that version printed them.
"""

from __future__ import annotations

import json
import math
import tarfile
from pathlib import Path
from typing import Any

import pytest

from core.builds import build_status
from core.cases import cases, comparison_of_case, ratings
from core.cli import EXIT_OK, main
from core.corpus import open_corpus
from core.datasets import dataset_of, open_graph
from core.evaluation.metrics.catalogue import metric
from core.evaluation.reports.summary import RunSummary, summary_dict
from core.evaluation.runs.store import Store, evaluations_file
from core.methods.catalogue import catalogue
from core.models.registry import Registry
from core.results import comparison_dict

SAVED = Path(__file__).parents[1] / "earlier" / "home.tar.gz"
BUILT = ("chunks", "tree-llm", "kg-llm", "kg-noun-phrases")


@pytest.fixture
def earlier(tmp_path, monkeypatch) -> dict[str, Any]:
    """The earlier home as the person's folder; what is expected of it."""
    with tarfile.open(SAVED) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return json.loads((tmp_path / "expected.json").read_text("utf-8"))


def differences(expected: Any, found: Any, where: str = "") -> list[str]:
    """The places at which something expected is not found.

    Anything that is found beside it does not count.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        return [
            one
            for key, value in expected.items()
            for one in differences(value, found.get(key, "nothing"), f"{where}/{key}")
        ]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [
            one
            for place, pair in enumerate(zip(expected, found))
            for one in differences(*pair, f"{where}/{place}")
        ]
    if (
        isinstance(expected, float)
        and isinstance(found, float)
        and math.isclose(expected, found, rel_tol=1e-12)
    ):
        return []  # Python adds up more exactly from 3.12 on
    return [] if expected == found else [f"{where}: {str(expected)[:80]} became {str(found)[:80]}"]


def plain(value: Any) -> Any:
    """A value as JSON holds it."""
    return json.loads(json.dumps(value))


def test_cases_open_as_they_were(earlier):
    known = {case.id: case for case in cases() if not case.example}
    assert {case.notes for case in known.values()} == {"", "Cleo is the boss."}
    assert {tag for case in known.values() for tag in case.tags} == {"demo", "documents"}
    for key, expected in earlier["cases"].items():
        assert not differences(expected, plain(comparison_dict(comparison_of_case(key))))
    assert [(rating.question, rating.up) for rating in ratings()] == [("Who works for Cleo?", True)]


def test_evaluations_open_as_they_were(earlier):
    store = Store(evaluations_file())
    summaries = {str(run.id): RunSummary(run, store.rows(run.id)) for run in store.runs()}
    assert summaries.keys() == earlier["evaluations"].keys()
    for key, expected in earlier["evaluations"].items():
        found = plain(summary_dict(summaries[key]))
        for convention in expected["conventions"].values():
            # words of the metric's, which are not saved and may be said better
            del convention["convention"], convention["title"], convention["definition"]
        for one in (expected, found):
            _without_cut_passages(one, summaries[key])
        assert not differences(expected, found)


def _without_cut_passages(one: dict[str, Any], summary: RunSummary) -> None:
    """Leave out figures of the first k passages.

    The earlier version gave them of lines that hand on fewer as well.
    """
    cut = lambda name: "@" in name and metric(name).over_passages
    one["paired"] = [test for test in one["paired"] if not cut(test["metric"])]
    one["fronts"] = [front for front in one["fronts"] if not cut(front["quality"])]
    for method, figures in one["instances"].items():
        for table in (
            figures["metrics"],
            figures["metrics_with_context"],
            *figures["by_hops"].values(),
        ):
            for name in [name for name in table if summary.max_passages_below_cutoff(method, name)]:
                del table[name]


def test_graphs_question_sets_and_builds_are_used_as_they_are(earlier, capsys):
    graph, corpus = open_graph("towns"), open_corpus("letters")
    assert (graph.n_nodes, graph.n_edges) == (7, 9)
    dataset = dataset_of("towns")
    assert dataset is not None and [q.answers for q in dataset.questions("town-questions")] == [
        ("Leeds",),
        ("Ada", "Cleo"),
        ("Leeds",),
    ]
    assert [question.gold for question in corpus.questions("letter-questions")] == [
        ("ada.txt",),
        ("cleo.txt",),
    ]
    assert all(build_status(corpus, build).can_be_opened for build in BUILT)
    assert main(["index", "list", "--graph", "towns"]) == EXIT_OK
    (vectors,) = (
        line for line in capsys.readouterr().out.splitlines() if line.startswith("vectors-nodes")
    )
    # they were made on a processor with bfloat16
    assert "ready" in vectors or "for another setting" in vectors


def test_saved_methods_and_declared_models_are_there(earlier, capsys):
    assert {key for key, one in catalogue().items() if one.group == "own"} == {
        "own-my-paths",
        "own-found",
    }
    assert Registry().title("office") == "A server at the office"
    assert (
        main(
            [
                "ask",
                "where does Ada live",
                "--graph",
                "towns",
                "--method",
                "own-my-paths",
                "--no-llm",
                "--json",
            ]
        )
        == EXIT_OK
    )
    (lane,) = json.loads(capsys.readouterr().out)["lanes"]
    assert lane["status"] == "done"


@pytest.mark.parametrize(
    "asked",
    [
        ["--set", "town-questions", "--methods", "lego-12,lego-1"],
        [
            "--set",
            "letter-questions",
            "--methods",
            "vanilla-rag,BuiltGraph(build='kg-noun-phrases') >> SparseChunks(keep=1) >> AnswerFromTables()",
        ],
    ],
    ids=["graph", "documents"],
)
def test_an_evaluation_that_was_done_is_not_asked_again(earlier, capsys, asked):
    assert main(["evaluate", *asked, "--sample", "all", "--no-llm", "--json"]) == EXIT_OK
    assert str(json.loads(capsys.readouterr().out)["run"]) in earlier["evaluations"]
    assert len(Store(evaluations_file()).runs()) == 2
