"""Variants of one parameter: changed wherever the operator occurs, or refused."""

import dataclasses
import json

import pytest

from core.errors import BadParameter
from core.evaluation.reports.sensitivity import curves, varied_parameters, vary_parameter
from core.evaluation.reports.summary import RunSummary
from core.methods.catalogue import catalogue, find_method
from tests.core.evaluation.reports.test_summary import RUN, summary

__all__ = ["summary"]
TWO = "EmbedQuery() >> VectorNodes(keep=10) >> GraphRerank() >> Loop(body=ExpandNodes() >> GraphRerank(), budget={n})"


def found(id, wish, operator, parameter):
    """The values of the parameter in all places of each variant, and the variants' names."""
    made = vary_parameter((find_method(id, catalogue()),), wish)
    lists = [
        [
            getattr(one, parameter)
            for one in made_one.line.iter_operators()
            if type(one).__name__ == operator
        ]
        for made_one in made
    ]
    return lists, [one.name for one in made]


@pytest.mark.parametrize(
    "id, operator, parameter, places",
    [
        ("fastinsight", "GraphRerank", "alpha", 2),
        ("fastinsight", "ExpandNodes", "beta", 1),
        ("lego-14-by-hops", "BeamSearch", "width", 2),
    ],
)
def test_a_parameter_is_changed_wherever_the_operator_occurs(id, operator, parameter, places):
    lists, names = found(
        id,
        f"{operator}.{parameter}=3" if parameter == "width" else f"{operator}.{parameter}=0.75",
        operator,
        parameter,
    )
    assert (
        len(lists) == 1
        and len(set(lists[0])) == 1
        and len(lists[0]) == places
        and lists[0][0] in (3, 0.75)
    )
    assert names[0].endswith(f" in {places} places") is (places > 1)


def test_both_sides_of_a_union_are_changed_and_a_loop_keeps_its_body():
    lists, _ = found(
        "EmbedQuery() >> (VectorNodes(keep=3) | VectorNodes(keep=4))",
        "VectorNodes.keep=7",
        "VectorNodes",
        "keep",
    )
    assert lists == [[7, 7]]
    (one,) = vary_parameter((find_method(TWO.format(n=20)),), "Loop.budget=30")
    assert repr(one.line) == repr(find_method(TWO.format(n=30)).line)


def test_values_are_split_between_brackets_only_and_a_build_must_be_one():
    line = "TokenChunks(size=600, overlap=100) >> Vectors(of='chunks')"
    made = vary_parameter((catalogue()["vanilla-rag"],), f"BuiltGraph.build={line},chunks")
    assert [one.line.operators[0].build for one in made] == [line, "chunks"]
    with pytest.raises(BadParameter, match="Did you mean"):
        vary_parameter((catalogue()["vanilla-rag"],), "BuiltGraph.build=chunk")


def test_an_operator_of_a_build_is_changed_in_the_build_that_the_line_names():
    one, same = vary_parameter((catalogue()["vanilla-rag"],), "TokenChunks.size=600,240")
    assert (
        one.line.operators[0].build == "TokenChunks(size=600, overlap=24) >> Vectors()"
        and same.id == "vanilla-rag"
    )
    assert one.name.endswith(" 600")
    with pytest.raises(BadParameter, match="“rkg”.*BuiltGraph.build=rkg-llm"):
        vary_parameter((catalogue()["l-lightrag"],), "TokenChunks.size=600,240")
    with pytest.raises(BadParameter, match="has no parameter “sise”.*“size”"):
        vary_parameter((catalogue()["vanilla-rag"],), "TokenChunks.sise=600")
    with pytest.raises(BadParameter, match="None of the methods has the operator Tree"):
        vary_parameter((catalogue()["vanilla-rag"],), "Tree.width=6")


def test_a_curve_and_its_parameter_are_found_inside_a_loop(summary):
    spec = json.loads(json.dumps(RUN.spec))
    for method, alpha in zip(spec["instances"], (0.1, 0.4)):
        one = vary_parameter((find_method(TWO.format(n=20)),), f"GraphRerank.alpha={alpha}")[0]
        method["line"] = repr(one.line)
    told = RunSummary(dataclasses.replace(RUN, spec=spec), summary.rows)
    assert varied_parameters(told) == [("GraphRerank", "alpha")]
    (points,) = curves(told, "GraphRerank", "alpha", told.table(), "recall").values()
    assert [value for value, _ in points] == [0.1, 0.4]
