"""What the panel of a node is given."""

from core.graph.building.text_graph import assemble
from pages.parts.board.node_panel import DESCRIBED, described, joined


def test_a_node_has_its_type_and_description_where_the_graph_says_them(toy):
    names, types, texts = ["a", "b", "c"], ["ship", "", ""], ["<b>Old</b>", "", "x" * 1000]
    graph = assemble(
        "g", names, [("a", "r", "b"), ("b", "r", "c")], {"type": types, "description": texts}, {}
    )
    found = described(graph, [0, 1, 2])
    assert found[0] == {"type": "ship", "text": "<b>Old</b>"} and found[1] == {}
    assert len(found[2]["text"]) <= DESCRIBED + 1
    assert joined(graph, [0], {})[0] == {
        "degree": 1,
        "relations": [["r", 1]],
        "others": 0,
        "counted": 1,
        "type": "ship",
        "text": "<b>Old</b>",
    }
    assert described(toy, [0]) == {0: {}} and "type" not in joined(toy, [0], {})[0]
