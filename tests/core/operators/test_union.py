"""Unions of two searches from one state, in every notation of a line."""

import pytest
import tomli_w

from core.errors import BadParameter
from core.methods.catalogue import Method, catalogue, read_methods, toml_row
from core.operators.text import parse_line
from core.operators.texts.merge import merge_rankings
from core.operators.union import Union
from core.types import Ranking
from tests.core.operators.nodes.kit import corpus_graph, run


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))


WORDS, MEANING = "SparseNodes(by='bm25', keep=2)", "VectorNodes(keep=2)"


def test_hits_of_both_alternate_without_repeats():
    graph = corpus_graph()
    by_words = run(f"EmbedQuery() >> {WORDS}", "figs brandy", graph).nodes.items
    by_meaning = run(f"EmbedQuery() >> {MEANING}", "figs brandy", graph).nodes.items
    both = run(f"EmbedQuery() >> ({WORDS} | {MEANING})", "figs brandy", graph).nodes.items
    assert (
        set(both) == {*by_words, *by_meaning}
        and both[0] == by_words[0]
        and len(both) == len(set(both))
    )


@pytest.mark.parametrize("question", ["figs brandy", "apples", "zebra"])
def test_order_by_score_is_symmetric(question):
    graph = corpus_graph()
    one, other = (
        f"Union(first={a}, second={b}, order='score')"
        for a, b in ((WORDS, MEANING), (MEANING, WORDS))
    )
    first, second = (run(f"EmbedQuery() >> {line}", question, graph).nodes for line in (one, other))
    assert (first.items, first.scores) == (second.items, second.scores)


def test_reciprocal_ranks_are_added():
    """Reciprocal ranks of the lists (7, 8) and (8, 9).

    8 has ranks 2 and 1 (1/62 + 1/61), 7 has rank 1 (1/61), and 9 has rank 2 (1/62).
    """
    one, other = Ranking("chunk", (7, 8), (0.9, 0.8)), Ranking("chunk", (8, 9), (5.0, 4.0))
    fused = merge_rankings(one, other, "reciprocal rank")
    assert fused.items == (8, 7, 9) and fused.scores == pytest.approx(
        (1 / 62 + 1 / 61, 1 / 61, 1 / 62)
    )
    assert merge_rankings(one, None, "reciprocal rank") == one
    nothing = Ranking("chunk", (), ())
    assert merge_rankings(nothing, None, "reciprocal rank") == nothing


def test_hybrid_row_finds_hits_of_either_search():
    graph = corpus_graph()
    line = f"EmbedQuery() >> Union(first={WORDS}, second={MEANING}, order='reciprocal rank')"
    by_words = run(f"EmbedQuery() >> {WORDS}", "figs brandy", graph).nodes.items
    by_meaning = run(f"EmbedQuery() >> {MEANING}", "figs brandy", graph).nodes.items
    assert {*run(line, "figs brandy", graph).nodes.items} == {*by_words, *by_meaning}
    operators = [type(operator).__name__ for operator in catalogue()["hybrid"].line]
    assert operators == ["BuiltGraph", "EmbedQuery", "Union", "RankHits", "AnswerFromTables"]


def test_other_fields_of_a_branch_are_dropped():
    state = run(f"EmbedQuery() >> (Hypothesise() >> {MEANING} | {WORDS})", "figs", corpus_graph())
    assert state.vector == pytest.approx(run("EmbedQuery()", "figs").vector)


def test_union_is_parsed_again_from_text_and_file(tmp_path):
    line = parse_line(
        f"EmbedQuery() >> ({WORDS} >> GraphRerank() | {MEANING}) >> DocumentsOfNodes()"
    )
    assert parse_line(repr(line)) == line and "Union(first=SparseNodes(" in repr(line)
    file = tmp_path / "own.toml"
    file.write_text(tomli_w.dumps({"mine": toml_row(Method("mine", "Mine", line))}), "utf-8")
    assert read_methods(file)["mine"].line == line


def test_union_needs_its_inputs_and_must_find_hits():
    with pytest.raises(BadParameter, match="reads the question's vector"):
        parse_line(f"{MEANING} | {WORDS}")
    with pytest.raises(BadParameter, match="A line of a union finds no hits"):
        parse_line(f"{WORDS} | EmbedQuery()")
    with pytest.raises(BadParameter, match="A union has no parameter “orders”"):
        parse_line("EmbedQuery() >> Union(orders='score')")
    assert Union().reads == ("vector",) and Union().writes == ("nodes",)
