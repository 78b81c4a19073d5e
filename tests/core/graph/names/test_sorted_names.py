import random

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

from core.graph.building.build import build
from core.graph.bytes.spelling import names_within_edits
from core.graph.large.sources import NumberSource
from core.graph.names.linking import link_names
from core.graph.names.lookup import NameLookup, name_lookup
from core.graph.names.sorted_names import SortedNames, folded_files

QUESTIONS = [
    "who directed Inception and the dark knight",
    "WHO ACTED IN CASABLANCA?",
    "films by [Woody Allen]",
    "what about 1999 and 2000",
    "what movie",
    "is there nothing of the kind",
    "Amélie or AMÉLIE, or “Léon”",
    "the lord of the rings: the two towers (2002)",
    "",
]


@pytest.fixture(scope="module")
def both_lookups(movies):
    return name_lookup(movies).vocabulary, SortedNames(movies)


def test_both_lookups_find_the_same_nodes_by_name(movies, both_lookups):
    held, stored = both_lookups
    for node in range(0, movies.n_nodes, 97):
        name = movies.node_name(node).casefold()
        assert stored.find_nodes(name) == held.find_nodes(name) and node in stored.find_nodes(name)
    assert (
        stored.find_nodes("no such film")
        == stored.find_nodes("")
        == stored.find_nodes("\ud800")
        == ()
    )


def test_both_lookups_find_the_same_prefixes(movies, both_lookups):
    held, stored = both_lookups
    rng = random.Random(0)
    for letters in (1, 2, 3, 5, 8):
        for _ in range(3):
            text = movies.node_name(rng.randrange(movies.n_nodes))[:letters]
            begun = [one for one in held.search(text, 8) if one[1] >= 90]
            assert stored.search(text.upper(), 8)[: len(begun)] == begun, text
    assert stored.search(" ", 8) == [] == stored.search("a", 0)


@pytest.mark.parametrize(
    "text, expected",
    [("Casablnca", "Casablanca"), ("woody alen", "Woody Allen"), ("Incpetion", "Inception")],
)
def test_near_names_come_first_in_both(movies, both_lookups, text, expected):
    held, stored = both_lookups
    assert [movies.node_name(one.search(text, 8)[0][0]) for one in both_lookups] == [
        expected,
        expected,
    ]
    assert stored.search(text, 8)[0] == held.search(text, 8)[0]


def test_both_lookups_find_the_same_mentions(movies, both_lookups):
    from core.datasets import questions

    held, stored = both_lookups
    asked = QUESTIONS + [
        q.text for hops in (1, 2, 3) for q in questions(f"metaqa-{hops}hop-dev")[::400]
    ]
    compared = 0
    for question in asked:
        known = [link.mention for link in link_names(movies, held, question)]
        if known and all(
            mention.text.casefold() == movies.node_name(mention.node).casefold()
            for mention in known
        ):
            assert [link.mention for link in link_names(movies, stored, question)] == known, (
                question
            )
            compared += 1
    assert compared > len(asked) / 2  # The other questions misspell a name.


@pytest.mark.parametrize(
    "question, name",
    [
        ("who acted in Casablnca", "Casablanca"),
        # The tag is not meant: the question uses “direct”.
        ("what films did quentin tarantino direct", "Quentin Tarantino"),
        ("who is in pulp fictoin", "Pulp Fiction"),  # The node “pulp” is not meant.
    ],
)
def test_a_misspelt_mention_is_found(movies, both_lookups, question, name):
    for vocabulary in both_lookups:
        (link,) = link_names(movies, vocabulary, question)
        assert movies.node_name(link.mention.node) == name and link.mention.fuzzy == (
            question[-3:] != "ect"
        )


@pytest.mark.parametrize("edits", [0, 1, 2])
def test_spelling_against_brute_force(movies, edits):
    data, ends, order = folded_files(movies)
    folded = [bytes(data[ends[i] : ends[i + 1]]).decode() for i in range(len(order))]
    assert folded == sorted(folded, key=str.encode)
    rng, found = random.Random(edits), np.empty(50_000, np.int64)
    for _ in range(12):
        text = list(rng.choice(folded)[:24])
        for _ in range(rng.randrange(3)):
            text[rng.randrange(len(text))] = rng.choice("aeé日 ")
        text = "".join(text)[: rng.choice([3, 24])]
        letters = np.array([ord(letter) for letter in text], np.int64)
        count = names_within_edits(data, ends, 0, len(order), letters, edits, 1 << 40, found)
        expected = [
            i
            for i, name in enumerate(folded)
            if Levenshtein.distance(text, name, score_cutoff=edits) <= edits
        ]
        assert found[:count].tolist() == expected, text


def test_a_search_by_spelling_keeps_to_its_budget(movies):
    data, ends, order = folded_files(movies)
    letters, found = (
        np.array([ord(letter) for letter in "casablanka"], np.int64),
        np.empty(9, np.int64),
    )
    assert names_within_edits(data, ends, 0, len(order), letters, 2, 50, found) == 0
    assert names_within_edits(data, ends, 0, len(order), letters, 9, 1 << 40, found) == 9


def test_names_that_are_numbers(tmp_path):
    columns = (np.array([5, 12, 120]), np.array([0, 1, 0]), np.array([1, 1299, 7]))
    graph = build(
        NumberSource(
            ("numbers",),
            3,
            lambda first: iter([tuple(c.astype(np.int32) for c in columns)][first:]),
        ),
        tmp_path / "g",
        "g",
    )
    known = NameLookup(graph)
    assert (
        known.find_exact("120") == (120,)
        and known.find(" 12 ") == 12
        and known.find_exact("012") == known.find_exact("1300") == ()
    )
    assert [node for node, _ in known.search("12", 8)] == [12, *range(120, 127)]
    assert [node for node, _ in known.search("129", 4)] == [129, 1290, 1291, 1292]
    assert [(m.text, m.node) for m in known.find_mentions("from 12 to 1299, not x7 or 1300")] == [
        ("12", 12),
        ("1299", 1299),
    ]
    assert known.search("x", 3) == [] and [node for node, _ in known.search("0", 3)] == [0]
