"""The design space of lines on documents: whatever is drawn can be run on the graph that it names, and every operator is drawn."""

import itertools
from types import SimpleNamespace

import optuna
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.builds import find
from core.errors import BadParameter
from core.evaluation.search.space import Range
from core.evaluation.search.space_texts import PARTS, text_space
from core.operators.base import unfit
from core.operators.text import parse_line
from core.parameters import make


class Here:
    def info(self, name):
        return SimpleNamespace(present=True, kind="encoder")


def drawn(chosen, seed):
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return chosen.line(optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed)).ask())


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_every_line_can_be_run_on_its_graph(seed):
    line = drawn(text_space(Here()), seed)
    assert all(unfit(line.operators[:i], operator) is None for i, operator in enumerate(line))
    assert repr(parse_line(repr(line))) == repr(line)
    assert line.operators[0].stage == "graph" and line.operators[-1].stage == "generate"
    asked = {name for one in line for name in (*one.reads, *one.writes) if name in PARTS}
    assert "chunks" in asked
    build = line.operators[0].build
    stages = set() if build == "chunks" else {one.stage for one in find(f"{build}-noun-phrases").line}
    assert asked == {"chunks"} or "merge" in stages
    assert "communities" not in asked or "group" in stages


def test_every_operator_of_the_space_is_drawn_and_ranges_lie_in_those_of_the_operators():
    chosen = text_space(Here())
    seen = {type(operator).__name__ for seed in range(150) for operator in drawn(chosen, seed)}
    assert {one.cls.__name__ for here in chosen.stages.values() for one in here} <= seen
    for one in itertools.chain(*chosen.stages.values()):
        for key, free in one.free.items():
            for value in (free.low, free.high) if isinstance(free, Range) else free:
                make(one.cls, {key: value})  # raises out of range


def test_what_an_operator_reads_is_put_before_it():
    trial = optuna.trial.FixedTrial(
        {
            **{"nodes": "PageRankNodes", "PageRankNodes.damping": 0.5, "PageRankNodes.keep": 100, "relations": "none"},
            **{"chunks": "ChunksFromRelations", "ChunksFromRelations.keep": 4, "communities": "none", "graph 2": "kg"},
        }
    )
    line = [type(one).__name__ for one in text_space(Here()).line(trial)]
    assert line[:5] == ["BuiltGraph", "NamesInQuestion", "LinkNames", "PageRankNodes", "IncidentRelations"]
    assert line[5:] == ["ChunksFromRelations", "ContextTables", "AnswerFromTables"]


def test_a_space_without_a_way_to_chunks_is_refused(tmp_path):
    (tmp_path / "space.toml").write_text('[[graph]]\nholds = ["chunks"]\nbuild = ["chunks"]\n', "utf-8")
    with pytest.raises(BadParameter, match="nothing to find chunks"):
        text_space(Here(), file=tmp_path / "space.toml")
