"""The order in which typed words find things (assets/match.js)."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from core.io.home import ROOT

pytestmark = pytest.mark.usefixtures("browser")
MODULE = "data:text/javascript," + quote((ROOT / "assets" / "match.js").read_text("utf-8"))
RANK = ["Rank", "Orders the paths that were found."]
CHAIN_RANKING = [
    "Chain ranking",
    "Follows the best chains of relations to an answer.",
    "Graph reader",
]
PAGERANK = ["PageRank", "The nodes closest to the entities."]
SHORTEST = ["Shortest paths", "Paths between entities.", "They are handed to Rank and Answer."]
ANSWER = ["Answer", "A language model answers from the paths that rank first."]
READER = ["Graph reader", "Names the ends of the paths."]
STEPS = [PAGERANK, SHORTEST, CHAIN_RANKING, RANK, READER, ANSWER]


@pytest.fixture(scope="module")
def matches(browser):
    """Return a function that returns the names that typed words find, best first."""
    page = browser.new_page()

    def names(typed: str, things: list[list[str]]) -> list[str]:
        found = page.evaluate(
            "([module, typed, things]) => import(module).then("
            "({ bestMatches }) => bestMatches(typed, things, (texts) => texts))",
            [MODULE, typed, things],
        )
        return [texts[0] for texts in found]

    yield names
    page.close()


@pytest.mark.parametrize(
    "typed, names",
    [
        # the name, a word of a name, a part of a name, a description, a hidden text
        ("rank", ["Rank", "Chain ranking", "PageRank", "Answer", "Shortest paths"]),
        ("answer", ["Answer", "Chain ranking", "Shortest paths"]),
        ("ANSWER ", ["Answer", "Chain ranking", "Shortest paths"]),
        ("graph reader", ["Graph reader", "Chain ranking"]),
        # the words together come before the words in another order, or in several texts
        ("the paths", ["Rank", "Graph reader", "Answer", "Shortest paths"]),
        ("ranking chain", ["Chain ranking"]),
        ("nothing of it", []),
    ],
)
def test_names_come_before_descriptions_and_these_before_hidden_texts(matches, typed, names):
    assert matches(typed, STEPS) == names


def test_equal_matches_stay_in_their_order_as_all_do_where_nothing_is_typed(matches):
    assert matches("p", STEPS)[:1] == ["PageRank"]
    assert matches("  ", STEPS) == [texts[0] for texts in STEPS]
    assert matches("path", [["b path"], ["a path"], ["path c"]]) == ["path c", "b path", "a path"]


@pytest.mark.parametrize(
    "typed, name",
    [
        ("malmo", "Malmö"),
        ("Malmö", "Malmo"),
        ("one shot", "One-shot"),
        ("no. 12", "LEGO-GraphRAG, No. 12"),
        ("グラフ", "グラフ検索"),
        ("(a+", "A+ (first)"),
    ],
)
def test_case_accents_and_signs_do_not_matter(matches, typed, name):
    assert matches(typed, [["Other"], [name]]) == [name]
