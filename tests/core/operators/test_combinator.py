"""What loops, branches and unions have in common."""

import pytest

from core.errors import BadParameter
from core.operators.text import parse_line

ARM = "SparseNodes(keep=1)"


@pytest.mark.parametrize(
    ("whole", "where"),
    [
        ("SparseNodes() >> Loop(body={})", "a loop"),
        ("Union(first={} >> SparseNodes(), second=SparseNodes())", "a union"),
        ("PredictHops() >> Branch(on='hops', arms={{1: {}}}, otherwise=SparseNodes())", "an arm of a branch"),
    ],
)
@pytest.mark.parametrize(
    "inner", ["Answer()", "BuiltGraph(build='tkg')", "Branch(on='hops', arms={1: SparseNodes()}, otherwise=SparseNodes())"]
)
def test_none_holds_an_answer_a_graph_or_a_branch(whole, where, inner):
    with pytest.raises(BadParameter, match=f"cannot stand in {where}"):
        parse_line(whole.format(inner))


def test_each_is_read_back_from_its_text():
    whole = f"Loop(body=Union(first={ARM}, second=SparseChunks(keep=1), order='score') >> ExpandNodes(keep=1), budget=5)"
    line = parse_line(f"{ARM} >> EmbedQuery() >> {whole}")
    assert parse_line(repr(line)) == line and repr(line).endswith(whole)
