"""Common properties of loops, branches and unions."""

from functools import partialmethod

import pytest

from core.errors import BadParameter
from core.operators.nodes.expansion import ExpandNodes
from core.operators.text import parse_line
from core.operators.texts.sparse import SparseNodes
from tests.core.operators.nodes.kit import corpus_graph, run

ARM = "SparseNodes(keep=1)"


@pytest.mark.parametrize(
    ("whole", "where"),
    [
        ("SparseNodes() >> Loop(body={})", "a loop"),
        ("Union(first={} >> SparseNodes(), second=SparseNodes())", "a union"),
        (
            "PredictHops() >> Branch(on='hops', arms={{1: {}}}, otherwise=SparseNodes())",
            "an arm of a branch",
        ),
    ],
)
@pytest.mark.parametrize(
    "inner",
    [
        "Answer()",
        "BuiltGraph(build='tkg')",
        "Branch(on='hops', arms={1: SparseNodes()}, otherwise=SparseNodes())",
    ],
)
def test_combinators_refuse_answers_graphs_and_branches(whole, where, inner):
    with pytest.raises(BadParameter, match=f"cannot stand in {where}"):
        parse_line(whole.format(inner))


def test_combinators_are_parsed_again():
    whole = (
        f"Loop(body=Union(first={ARM}, second=SparseChunks(keep=1), order='score') >> "
        f"ExpandNodes(keep=1), budget=5)"
    )
    line = parse_line(f"{ARM} >> EmbedQuery() >> {whole}")
    assert parse_line(repr(line)) == line and repr(line).endswith(whole)


@pytest.mark.parametrize(
    "line",
    [
        "EmbedQuery() >> (VectorNodes(keep=2) | SparseNodes(keep=2))",
        "EmbedQuery() >> VectorNodes(keep=1) >> Loop(body=ExpandNodes(keep=1), budget=2)",
    ],
)
def test_cut_reply_within_a_combinator_is_its_fault(line, monkeypatch, tmp_path):
    """A truncated reply inside a combinator is reported like one outside."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))

    def cut(operator, state, ctx, recorder, apply):
        recorder.fault = "The reply was cut."
        return apply(operator, state, ctx, recorder)

    for cls in (SparseNodes, ExpandNodes):
        monkeypatch.setattr(cls, "apply", partialmethod(cut, apply=cls.apply))
    assert run(line, "figs brandy", corpus_graph()).trace[-1].fault == "The reply was cut."
