"""The design space: whatever is drawn from it can be run, with the models that are here."""

import itertools
from types import SimpleNamespace

import optuna
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import BadParameter
from core.evaluation.search.space import OPERATOR_KINDS, SPACE_FILE, Range, load_space
from core.models.combine import model_names
from core.operators.base import order_fault
from core.operators.text import parse_line
from core.parameters import make_operator, parameters

CHAT = ("choose", "answer")


class ListedModels:
    """A registry in which only these models are here."""

    def __init__(self, *present):
        self.present = present

    def info(self, name):
        return SimpleNamespace(
            present=name in self.present, kind="chat" if name in CHAT else "scorer"
        )


ALL = ListedModels("encoder", "bm25", "tfidf", "reranker", "choose")


def drawn(chosen, seed):
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return chosen.line(optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed)).ask())


def asked(line):
    """The models that a line asks before the answer."""
    model_facts = [
        (p, getattr(o, p.name))
        for o in line
        if o.stage != "generate"
        for p in parameters(type(o))
        if p.model
    ]
    return {name for p, value in model_facts if value not in p.also for name in model_names(value)}


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sets(st.sampled_from(sorted(OPERATOR_KINDS))), st.booleans())
def test_every_line_can_be_run_and_asks_only_models_that_are_here(seed, kinds, few):
    models = ListedModels("bm25") if few else ALL
    try:
        chosen = load_space(models, kinds)
    except BadParameter:
        assert "published" not in kinds  # with that there is always a way to retrieve
        return
    line = drawn(chosen, seed)
    assert all(order_fault(line.operators[:i], operator) is None for i, operator in enumerate(line))
    assert repr(parse_line(repr(line))) == repr(line)
    assert (
        any("paths" in operator.writes for operator in line)
        and line.operators[-1].stage == "generate"
    )
    assert asked(line) <= set(models.present) - (set() if "llm" in kinds else set(CHAT))
    of = {type(operator).__name__ for operator in line}
    assert ("beyond" in kinds or "ChainRanking" not in of) and (
        "solved" in kinds or "CaseMemory" not in of
    )


def test_every_operator_of_the_space_is_drawn_and_ranges_lie_in_those_of_the_operators():
    chosen = load_space(ALL, OPERATOR_KINDS)
    seen = {type(operator).__name__ for seed in range(120) for operator in drawn(chosen, seed)}
    assert seen == {one.cls.__name__ for here in chosen.stages.values() for one in here}
    for one in itertools.chain(*chosen.stages.values()):
        for key, free in one.allowed_values.items():
            for value in (free.low, free.high) if isinstance(free, Range) else free:
                make_operator(one.cls, {key: value})  # raises out of range


def test_shortest_paths_are_tried_with_one_relation_a_pair_and_with_each():
    lines = [drawn(load_space(ALL), seed) for seed in range(60)]
    tried = {
        operator.parallel
        for line in lines
        for operator in line
        if type(operator).__name__ == "ShortestPaths"
    }
    assert tried == {False, True}


def test_chain_ranking_needs_no_subgraph_and_gets_none():
    lines = [drawn(load_space(ALL, ["beyond"]), seed) for seed in range(20)]
    assert all(type(line.operators[0]).__name__ == "ChainRanking" for line in lines)
    assert {len(line) for line in lines} == {2, 3}  # with a refinement and without


@pytest.mark.parametrize(
    "text, sentence",
    [
        ('[[retrieve]]\noperator = "ShortestPath"\n', "ShortestPaths"),
        ('[[retrieve]]\noperator = "ShortestPaths"\nhop = [1]\n', "Did you mean “hops”"),
        ('[[retrieve]]\noperator = "EgoNetwork"\n', "stands under retrieve"),
        (
            '[[retrieve]]\noperator = "ShortestPaths"\n',
            "nothing to retrieve with",
        ),  # and no extraction before it
    ],
)
def test_a_space_that_cannot_be_used_is_refused(text, sentence, tmp_path):
    (tmp_path / "space.toml").write_text(text, "utf-8")
    with pytest.raises(BadParameter, match=sentence):
        load_space(ALL, file=tmp_path / "space.toml")


def test_an_unknown_kind_is_refused():
    with pytest.raises(BadParameter, match="Did you mean “beyond”"):
        load_space(ALL, ["beyon"])
    assert SPACE_FILE.exists()
