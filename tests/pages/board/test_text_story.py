"""Lanes that read documents batch by batch are replayed.

They stand on a corpus graph of seven (a-b, a-c, b-d, c-d, d-e).
"""

from dataclasses import replace
from types import SimpleNamespace

from core.diagnosis.funnel import FunnelStage
from core.diagnosis.lost_passages import loss_reason, lost_passages
from core.diagnosis.passages import fates
from core.graph.columns import Table
from core.operators.text import parse_line
from core.types import Ranking
from pages.parts.board.text_fates import gold_titles, hit_fates
from pages.parts.board.text_hits import tables_of_hits
from pages.parts.board.text_picture import nodes_to_draw
from pages.parts.board.text_story import batch_replay
from tests.core.operators.nodes.kit import TEXTS, Reranker, RerankerModels, corpus_graph, named, run

LOOP = "EmbedQuery() >> Loop(body=ExpandNodes(keep=1) >> GraphRerank(alpha=0.0), budget=3)"


def lane(line, question, *start, states=None):
    graph = corpus_graph()
    nodes = Ranking(
        "node", named(graph, *start), tuple(1.0 - place / 10 for place in range(len(start)))
    )
    # what it would have found is given
    operators = parse_line(f"SparseNodes() >> {line}").operators[1:]
    state = run(operators, question, graph, RerankerModels(Reranker(states or {})), nodes=nodes)
    return SimpleNamespace(graph=graph, state=state, retrieved=True, preview=None)


def test_each_round_tells_beside_which_document_its_own_lies():
    (told,), paths, fates = batch_replay("lane-0", lane(LOOP, "brandy", "e"), ["b"])
    assert [(frame["title"], frame["paths"]) for frame in told["frames"]] == [
        ("Start", ["lane-0 reads chunk e"]),
        ("Round 1", ["lane-0 reads chunk d"]),  # all that lies beside e
        (
            "Round 2",
            ["lane-0 reads chunk b"],
        ),  # b and c lie beside d and hold no word of the question
    ]
    assert [fates[f"lane-0 reads chunk {one}"]["lane-0"]["text"] for one in "edb"] == [
        "found by the first search",
        "next to “e”",
        "next to “d”",
    ]
    assert (paths["lane-0 reads chunk d"]["nodes"], paths["lane-0 reads chunk d"]["edges"]) == (
        ["chunk e", "chunk d"],
        ["chunk d | chunk e"],
    )
    assert [paths[f"lane-0 reads chunk {one}"]["steps"] for one in "db"] == [["d"], ["★ b"]]
    assert told["frames"][2]["scores"] == [0.0] and told["frames"][2]["considered"] == 2


def test_batches_come_in_turn_from_the_first_search_and_from_neighbours():
    states = {TEXTS["a"]: (1.0, 0.0), TEXTS["f"]: (0.5, 0.0)}
    (told,), _, fates = batch_replay(
        "lane-1", lane("AdaptiveRerank(budget=3, batch=1)", "apples", "a", "f", states=states)
    )
    (first,), (second,), (third,) = (frame["paths"] for frame in told["frames"])
    assert (first, third) == ("lane-1 reads chunk a", "lane-1 reads chunk f") and second in (
        "lane-1 reads chunk b",
        "lane-1 reads chunk c",
    )
    assert [fates[key]["lane-1"]["text"] for key in (first, second, third)] == [
        "found by the first search",
        "next to “a”",
        "found by the first search",
    ]
    assert [frame["scores"] for frame in told["frames"]] == [[1.0], [0.0], [0.5]]


def test_a_search_alone_has_no_story():
    assert batch_replay("lane-0", lane("EmbedQuery() >> VectorNodes(keep=3)", "apples")) == (
        [],
        {},
        {},
    )


def test_a_document_is_one_hit_and_its_place_tells_whether_it_was_handed_on():
    one = lane(f"{LOOP} >> DocumentsOfNodes(keep=2)", "brandy", "e")
    (table,) = tables_of_hits(one, ["b"], {})
    assert [(row["id"], row["gold"]) for row in table["rows"]] == [("e", False), ("d", False)]
    told = {key: fate["lane-0"]["text"] for key, fate in hit_fates([one], ["b", "a"]).items()}
    assert told == {
        "chunk b": "rank 3; only the top 2 are kept",
        "chunk a": "never reached",
        "chunk e": "found: rank 1",
        "chunk d": "found: rank 2",
    }


def test_links_between_documents_are_drawn():
    drawing = nodes_to_draw(
        [lane(f"{LOOP} >> DocumentsOfNodes(keep=2)", "brandy", "e")], {"b": "Plums"}
    )
    assert {key: told["role"] for key, told in drawing.nodes.items()} == {
        "chunk b": "gold",
        "chunk e": "passage",
        "chunk d": "passage",
    }
    assert drawing.edges == {("chunk d", "chunk e"): "links to", ("chunk b", "chunk d"): "links to"}
    assert drawing.shares[0]["edges"] == ["chunk b | chunk d", "chunk d | chunk e"]


def test_a_document_that_no_batch_came_upon_is_told_so():
    line = "EmbedQuery() >> VectorNodes(keep=2) >> Loop(body=ExpandNodes(keep=1) >> GraphRerank(alpha=0.0), budget=3)"
    # finds d and e, which hold the word; then b, one of the two beside d
    one = lane(line, "brandy")
    one.states = (one.state,)
    (lost,) = lost_passages(one, (FunnelStage("retrieved", (), ("g",), 1),))
    # behind a, b, c and f, which are as far
    assert loss_reason(lost) == "the first search had it at rank 7, and no batch reached it"


def test_a_document_behind_those_that_are_handed_on_is_told_so():
    one = lane(f"{LOOP} >> DocumentsOfNodes(keep=2)", "brandy", "e")
    one.states = (one.state,)
    (lost,) = lost_passages(one, (FunnelStage("prompt", (), ("b",), 1),))
    assert loss_reason(lost) == "it was found at rank 3, and only the first 2 are handed on"


def test_a_gold_document_is_one_thing_where_the_corpus_cuts_it_and_the_lane_has_it_whole():
    one = lane(f"{LOOP} >> DocumentsOfNodes(keep=3)", "brandy", "e")
    cut = corpus_graph()
    ids = ["b#0", "b#1", "g"]
    chunks = Table.from_columns(
        id=ids, document=["b", "b", "g"], title=["Plums", "Plums", ""], text=ids
    )
    cut = replace(cut, columns=cut.columns.replace(chunks=chunks))
    gold = gold_titles(cut, ["b", "g"], fates(one.graph, (one.state,), ["b", "g"]))
    assert gold == {"b": "Plums", "g": "g"} and gold_titles(cut, ["b"], ()) == {"b#0": "Plums"}
    assert nodes_to_draw([one], gold).nodes["chunk b"] == {"name": "Plums", "role": "gold"}
