"""The builds that a paper's rows stand on, each the same whatever else is built."""

from __future__ import annotations

import pytest

from core.builds import build_for, run_build
from core.corpus import Document, open_corpus, write_corpus
from core.errors import BadInput
from core.evaluation.papers.experiments import find_experiment
from core.evaluation.papers.graphs import (
    check_builds,
    graphs_sentence,
    kind_of_graph,
    replace_build,
)
from core.methods.catalogue import published_methods
from core.models.registry import Registry
from core.operators.texts.built_graph import BuiltGraph


def graphs(id, small=False, wanted=()):
    """The build of each row of an experiment, by the row."""
    _, methods = find_experiment(id).for_question_set(
        published_methods(), "MultihopQA", small, wanted
    )
    names = find_experiment(id).rows.values()
    found = [next(one for one in row.line if isinstance(one, BuiltGraph)) for row in methods]
    return [one.build for one in found] if small else dict(zip(names, (one.build for one in found)))


@pytest.mark.parametrize("id", ["analysis-table-5", "analysis-table-6", "analysis-table-8"])
def test_the_analysis_rows_stand_on_its_builds_of_1200_tokens(id):
    found = graphs(id)
    assert found and all(build.endswith("-paper") for build in found.values())
    assert {
        kind_of_graph(one)
        for one in find_experiment(id).for_question_set(published_methods(), "MultihopQA")[1]
    } <= {build.removesuffix("-paper") for build in found.values()}


def test_of_abstract_questions_too():
    _, methods = find_experiment("analysis-table-10").for_question_set(published_methods(), "Mix")
    assert all("-paper'" in repr(one.line.operators[0]) for one in methods)


def test_others_may_be_named_by_an_extractor_or_one_by_one():
    by_names = graphs("analysis-table-5", wanted=("names", "kg-noun-phrases"))
    assert by_names["VanillaRAG"] == "chunks"  # nobody reads chunks
    assert by_names["DALK"] == "kg-noun-phrases" and by_names["KGP"] == "passage-names"
    assert by_names["RAPTOR"] == "tree"  # there is no tree by names
    assert graphs("analysis-table-5", small=True) == ["chunks", "chunks", "passage", "tree"]
    small = graphs("analysis-table-5", small=True, wanted=("paper",))
    assert small == ["chunks-paper", "chunks-paper", "passage-paper", "tree-paper"]


@pytest.mark.parametrize("wanted", ["kg", "kg-paper", "nobody"])
def test_what_is_no_build_of_a_row_is_refused(wanted):
    with pytest.raises(BadInput):
        check_builds([wanted], ["chunks"])


def test_an_id_is_that_build_whatever_is_built(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    write_corpus(
        tmp_path / "corpora" / "oban", [Document("one", "Tom Reid built the harbour of Oban.")]
    )
    corpus = open_corpus("oban")
    run_build(corpus, "chunks-paper", Registry())
    assert build_for(corpus, "chunks").id == "chunks"
    assert build_for(corpus, "chunks-paper").id == "chunks-paper"
    row = replace_build(published_methods()["vanilla-rag"], ("paper",))
    assert (
        graphs_sentence(corpus, [row], {row.id: "VanillaRAG"})
        == "Graphs: chunks-paper for VanillaRAG."
    )
