"""Names in questions and look-ups are found in the spelling of keyboards and of books."""

from __future__ import annotations

import unicodedata

import pytest

from core.graph.building.build import build, build_in_memory
from core.graph.names.linking import link_names
from core.graph.names.lookup import name_lookup
from core.graph.names.sorted_names import SortedNames
from core.graph.names.word_index import words_of

NAMES = ("Jo’Ann O’Neil", "Åse Krüger", "Stone-Hill", "ＨＡＬＥ", "10⁶ Stars")


@pytest.fixture
def graph():
    return build_in_memory([(name, "is", "thing") for name in NAMES], "five")


@pytest.fixture
def on_disk(tmp_path):
    return build([(name, "is", "thing") for name in NAMES], tmp_path / "g", "five")


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Jo'Ann O`Neil", "Jo’Ann O’Neil"),
        (unicodedata.normalize("NFD", "Åse Krüger"), "Åse Krüger"),
        ("åse\u00a0krü\u00adger", "Åse Krüger"),
        ("stone\u2011hill", "Stone-Hill"),
        ("Hale", "ＨＡＬＥ"),
        ("10⁶ stars", "10⁶ Stars"),
    ],
)
def test_a_name_is_found_as_people_write_it(graph, on_disk, typed, name):
    question = f"What is {typed} of, and where?"
    for vocabulary in (name_lookup(graph).vocabulary, SortedNames(on_disk)):
        assert [graph.node_name(node) for node in vocabulary.find_nodes(typed)] == [name]
        (link,) = link_names(graph, vocabulary, question)
        assert graph.node_name(link.mention.node) == name and not link.mention.fuzzy
        assert question[link.mention.start : link.mention.end] == link.mention.text == typed


def test_raised_digits_are_no_other_number(graph):
    assert not name_lookup(graph).find_exact("106 stars") and not name_lookup(graph).find_alike(
        "106 stars"
    )


def test_words_keep_what_is_written_on_their_letters():
    assert [word.text for word in words_of("Kru\u0308ger's ho\u00adme, 10⁶")] == [
        "krugers",
        "home",
        "10⁶",
    ]


def test_an_older_file_of_names_is_rewritten(on_disk):
    older = on_disk.data_folder / "folded.bin"
    older.write_bytes(b"older")
    assert SortedNames(on_disk).find_nodes("hale") and older.read_bytes() == b"older"
