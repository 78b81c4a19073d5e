"""The panel of a node is given the node's type and description."""

from core.graph.building.text_graph import assemble
from pages.parts.board.node_panel import MAX_PANEL_CHARACTERS, node_descriptions, node_relations


def test_a_node_has_its_type_and_description_where_the_graph_says_them(toy):
    names, types, texts = ["a", "b", "c"], ["ship", "", ""], ["<b>Old</b>", "", "x" * 1000]
    graph = assemble(
        "g", names, [("a", "r", "b"), ("b", "r", "c")], {"type": types, "description": texts}, {}
    )
    found = node_descriptions(graph, [0, 1, 2])
    assert found[0] == {"type": "ship", "text": "<b>Old</b>"} and found[1] == {}
    assert len(found[2]["text"]) <= MAX_PANEL_CHARACTERS + 1
    assert node_relations(graph, [0], {})[0] == {
        "degree": 1,
        "relations": [["r", 1]],
        "others": 0,
        "counted": 1,
        "type": "ship",
        "text": "<b>Old</b>",
    }
    assert node_descriptions(toy, [0]) == {0: {}} and "type" not in node_relations(toy, [0], {})[0]
