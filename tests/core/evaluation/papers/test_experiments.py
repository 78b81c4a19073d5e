"""The papers' tables as data: each names what is here, and has a value for each row."""

from __future__ import annotations

import re

import pytest

from core.cli import COMMANDS
from core.datasets import question_set
from core.errors import BadInput
from core.evaluation.metrics.catalogue import metric
from core.evaluation.papers.experiments import experiment, papers
from core.instances.catalogue import published
from core.io.home import ROOT
from core.sources import corpus_with

ALL = [one for paper in papers() for one in paper.experiments]


def test_the_five_papers_are_there():
    assert {paper.title for paper in papers()} == {
        "LEGO-GraphRAG, technical report",
        "LEGO-GraphRAG v1",
        "In-depth Analysis of Graph-based RAG",
        "FastInsight",
        "Walk&Retrieve",
    }


@pytest.mark.parametrize("one", ALL, ids=[one.id for one in ALL])
def test_an_experiment_names_what_is_here(one):
    assert set(one.rows) <= set(published()) and set(one.small_rows) <= set(one.rows)
    for name, columns in one.printed.items():
        assert one.sets[name].fetch
        for measured, values in columns.items():
            assert metric(measured).name == measured and len(values) == len(one.rows)
            if measured != "seconds":  # shares, whatever the paper prints
                assert all(value is None or 0 <= value <= 1 for value in values)
    for name in ",".join(one.small().values()).split(","):
        assert not name or corpus_with(name) or question_set(name).questions


def test_other_commands_that_are_named_are_there():
    named = [command for paper in papers() for said in paper.elsewhere.values() for command in re.findall(r"python -m core (\w+)", said)]
    assert named and set(named) <= set(COMMANDS)


def test_the_page_has_each_experiment():
    page = (ROOT / "docs" / "reproducing.md").read_text("utf-8")
    assert set(re.findall(r"^\| `([a-z0-9-]+)`", page, re.M)) == {one.id for one in ALL}


def test_values_as_printed():
    # the report's Table 7; the analysis' Table 5, in per cent; FastInsight's Table 3, where PathRAG ran out of time
    assert experiment("lego-table-7").printed["CWQ"]["f1"] == (0.183, 0.224, 0.133)
    raptor = list(experiment("analysis-table-5").rows).index("raptor")
    assert experiment("analysis-table-5").printed["MultihopQA"]["accuracy"][raptor] == pytest.approx(0.56064)
    pathrag = list(experiment("fastinsight-table-3").rows).index("pathrag-corpus-graph")
    assert experiment("fastinsight-table-3").printed["ACL-OCL"]["ndcg@10"][pathrag] is None


def test_an_unknown_experiment_is_a_sentence():
    with pytest.raises(BadInput, match="Did you mean “lego-table-7”"):
        experiment("lego-tabel-7")
