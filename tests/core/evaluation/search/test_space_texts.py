"""Every line drawn for documents can be run on the graph that it names.

The lines are drawn from the design space of lines on documents, and every operator is drawn.
"""

import itertools
from types import SimpleNamespace

import optuna
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.builds import find_build
from core.errors import BadParameter
from core.evaluation.search.space import Range
from core.evaluation.search.space_texts import PROMPT_PARTS, load_text_space
from core.methods.catalogue import catalogue
from core.operators.base import order_fault
from core.operators.text import parse_line
from core.parameters import make_operator


class EncoderModels:
    def info(self, name):
        return SimpleNamespace(present=True, kind="encoder")


def drawn(chosen, seed):
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return chosen.line(optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed)).ask())


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_every_line_can_be_run_on_its_graph(seed):
    line = drawn(load_text_space(EncoderModels()), seed)
    assert all(order_fault(line.operators[:i], operator) is None for i, operator in enumerate(line))
    assert repr(parse_line(repr(line))) == repr(line)
    assert line.operators[0].stage == "graph" and line.operators[-1].stage == "generate"
    asked = {name for one in line for name in (*one.reads, *one.writes) if name in PROMPT_PARTS}
    build = line.operators[0].build
    assert "chunks" in asked or build.startswith("tree")
    if build.startswith(("tree", "passage", "links")):
        return
    stages = (
        set()
        if build == "chunks"
        else {one.stage for one in find_build(f"{build}-noun-phrases").line}
    )
    assert asked == {"chunks"} or "merge" in stages
    assert "communities" not in asked or "group" in stages


def test_every_operator_of_the_space_is_drawn_and_ranges_lie_in_those_of_the_operators():
    chosen = load_text_space(EncoderModels(), ("published", "llm"))
    seen = {type(operator).__name__ for seed in range(300) for operator in drawn(chosen, seed)}
    every = [
        *itertools.chain(*chosen.stages.values()),
        *(one for line in chosen.complete_lines for one in line.operators),
    ]
    assert {one.cls.__name__ for one in every} <= seen
    for one in every:
        for key, free in one.allowed_values.items():
            for value in (free.low, free.high) if isinstance(free, Range) else free:
                make_operator(one.cls, {key: value})  # raises out of range


def test_what_an_operator_reads_is_put_before_it():
    trial = optuna.trial.FixedTrial(
        {
            "way": "parts put together",
            **{
                "nodes": "PageRankNodes",
                "PageRankNodes.damping": 0.5,
                "PageRankNodes.keep": 100,
                "relations": "none",
            },
            **{
                "chunks": "ChunksFromRelations",
                "ChunksFromRelations.keep": 4,
                "communities": "none",
                "graph 2": "kg",
            },
        }
    )
    line = [type(one).__name__ for one in load_text_space(EncoderModels()).line(trial)]
    assert line[:5] == [
        "BuiltGraph",
        "NamesInQuestion",
        "LinkNames",
        "PageRankNodes",
        "IncidentRelations",
    ]
    assert line[5:] == ["ChunksFromRelations", "ContextTables", "AnswerFromTables"]


def test_a_space_without_a_way_to_chunks_is_refused(tmp_path):
    (tmp_path / "space.toml").write_text(
        '[[graph]]\nholds = ["chunks"]\nbuild = ["chunks"]\n', "utf-8"
    )
    with pytest.raises(BadParameter, match="nothing to find chunks"):
        load_text_space(EncoderModels(), file=tmp_path / "space.toml")


def test_trees_passage_graphs_and_knowledge_graphs_are_drawn_from_and_language_models_only_where_wished():
    builds = lambda space: {drawn(space, seed).operators[0].build for seed in range(150)}
    asking = lambda space: [
        line
        for seed in range(150)
        if "'choose'" in repr(line := drawn(space, seed)) or "Points" in repr(line)
    ]
    quiet, loud = (
        load_text_space(EncoderModels()),
        load_text_space(EncoderModels(), ("published", "llm")),
    )
    assert {"tree", "tree-k", "passage", "kg", "kg-synonyms", "tkg", "links"} <= builds(quiet)
    assert "rkg" in builds(loud) and "rkg" not in builds(quiet)
    assert not asking(quiet) and not quiet.may_ask_model and "answer" not in quiet.models()
    seen = {type(operator).__name__ for line in asking(loud) for operator in line}
    assert (
        loud.may_ask_model
        and "answer" in loud.models()
        and {"ExtractKeywords", "NamesInQuestion", "Points", "AnswerFromPoints"} <= seen
    )


def test_the_operators_of_the_twelve_methods_and_of_corpus_graphs_are_all_in_the_space():
    space = load_text_space(EncoderModels(), ("published", "llm"))
    here = {one.cls.__name__ for line in space.complete_lines for one in line.operators} | {
        one.cls.__name__ for part in space.stages.values() for one in part
    }
    methods = (
        "raptor",
        "raptor-k",
        "kgp",
        "hipporag",
        "g-retriever",
        "dalk",
        "tog-documents",
        "lgraphrag",
        "ggraphrag",
        "fastgraphrag",
    )
    methods += (
        "l-lightrag",
        "g-lightrag",
        "h-lightrag",
        "vgraphrag",
        "cheaprag",
        "gar",
        "fastinsight",
    )
    asked = {type(one).__name__ for name in methods for one in catalogue()[name].line}
    # a line of these ends with the answer from its tables or passages, and Truncate and Answer stand for no search
    assert asked - here <= {"BuiltGraph", "SubgraphTables", "Answer", "Truncate"} | {
        type(one).__name__ for one in space.suppliers.values()
    }


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_every_line_that_asks_can_be_run_too(seed):
    line = drawn(load_text_space(EncoderModels(), ("published", "llm")), seed)
    assert all(order_fault(line.operators[:i], operator) is None for i, operator in enumerate(line))
    assert repr(parse_line(repr(line))) == repr(line)


def test_every_way_is_begun_with():
    chosen = load_text_space(EncoderModels(), ("published", "llm"))
    assert len(chosen.first_suggestions) == len(chosen.stages["chunks"]) + len(
        chosen.complete_lines
    )
    assert {start["way"] for start in chosen.first_suggestions} == {
        "parts put together",
        *(one.name for one in chosen.complete_lines),
    }
