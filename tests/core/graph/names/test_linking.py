"""Question entities found on a small graph with names that are easily confused."""

import pytest

from core.graph.building.build import build
from core.graph.names.linking import link_names, stem
from core.graph.names.lookup import name_lookup
from core.graph.names.sorted_names import SortedNames
from core.graph.names.word_index import WordIndex, words_of

TRIPLES = [
    ("Pulp Fiction", "directed_by", "Quentin Tarantino"),
    ("Jackie Brown", "directed_by", "Quentin Tarantino"),
    ("Pulp Fiction", "has_tags", "quentin tarantino"),
    ("Pulp Fiction", "has_tags", "pulp"),
    ("Pulp Fiction", "release_year", "1994"),
    ("Amélie", "in_language", "French"),
    ("Amélie", "has_tags", "film"),
    ("Amélie", "has_tags", "language"),
    ("Amelia", "in_language", "English"),
    ("Spider-Man", "has_genre", "Action"),
    ("Some Mother's Son", "has_genre", "Drama"),
    ("Pulp", "written_by", "Mike Hodges"),
]


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return build(TRIPLES, tmp_path_factory.mktemp("linking") / "g", "g")


def linked_names(graph, question):
    return [graph.node_name(link.mention.node) for link in name_lookup(graph).find_links(question)]


@pytest.mark.parametrize(
    "question, expected",
    [
        # “direct” matches directed_by, a relation that the tag does not have.
        ("what did quentin tarantino direct", ["Quentin Tarantino"]),
        # “tag” matches has_tags.
        ("which films have the tag quentin tarantino", ["quentin tarantino"]),
        # No relation word: the spelling decides.
        ("films about quentin tarantino", ["quentin tarantino"]),
        ("quentin tarantino", ["Quentin Tarantino"]),  # The name alone: two edges before one.
        ("what did Quentin Tarantino direct", ["Quentin Tarantino"]),
        # An accent is a smaller difference than another letter, and a film fits the word “film”
        # better.
        ("film Amelie", ["Amélie"]),
        ("what is the language of the film amelie", ["Amélie"]),
        # Two words with one typing error come before one exact word.
        ("who acted in pulp fictoin", ["Pulp Fiction"]),
        ("who acted in Pulp Fictoin", ["Pulp Fiction"]),
        ("who wrote pulp", ["Pulp"]),  # written_by favours the film.
        ("spiderman", ["Spider-Man"]),  # The words are divided differently.
        ("pulpfiction cast", ["Pulp Fiction"]),
        ("some mothers son", ["Some Mother's Son"]),
        # In their own spelling all names count.
        ("is Pulp Fiction of 1994", ["Pulp Fiction", "1994"]),
        ("is it of 1995", []),  # Numbers are never corrected.
        (
            "films that quentin tarantino directed and mike hodges wrote",
            ["Quentin Tarantino", "Mike Hodges"],
        ),
        ("what film", ["film"]),  # Nothing else is named.
        ("who directed it", []),
    ],
)
def test_questions_link_to_the_intended_entities(graph, question, expected):
    assert linked_names(graph, question) == expected


def test_links_list_alternative_entities(graph):
    (link,) = name_lookup(graph).find_links("what did quentin tarantino direct")
    assert graph.names(link.alternatives) == ["quentin tarantino"] and not link.mention.fuzzy
    (link,) = name_lookup(graph).find_links("who acted in Pulp Fictoin")
    assert (
        graph.names(link.alternatives) == ["Pulp"]
        and link.mention.fuzzy
        and link.mention.text == "Pulp Fictoin"
    )
    (link,) = name_lookup(graph).find_links("film Amelie")
    assert graph.names(link.alternatives) == ["Amelia"]
    (link,) = name_lookup(graph).find_links("who made [pulp]")
    assert (graph.node_name(link.mention.node), graph.names(link.alternatives)) == (
        "pulp",
        ["Pulp"],
    )


def test_names_of_long_texts_and_odd_signs(graph):
    assert linked_names(graph, "pulp " * 400)[:1] == ["pulp"]
    assert linked_names(graph, "\ud800 <script> ’ ' 🎬") == []


@pytest.mark.parametrize(
    "typed, errors",
    [
        ("pulp fiction", (0, 0)),
        ("pulp fictoin", (0, 1)),  # Two letters swapped.
        ("pulp ficton", (0, 1)),  # One letter left out.
        ("ppulp fiction", (1, 0)),
        ("bulp fiction", (1, 0)),
        ("pulpfiction", (1,)),
        ("pul pfiction", (1, 0)),  # The gap is elsewhere.
        ("pullp fictoin", (1, 1)),  # Two errors from twelve letters on.
    ],
)
def test_typing_errors(typed, errors):
    (found,) = WordIndex(["Pulp Fiction", "1994"]).find(words_of(typed))
    assert (found.nodes, found.errors) == ((0,), errors)


def test_short_names_allow_one_typing_error_and_numbers_none():
    index = WordIndex(["Jaws 2", "War Zoo"])
    assert index.find(words_of("Jaws 3")) == index.find(words_of("wra zooo")) == []
    assert [found.errors for found in index.find(words_of("jwas 2"))] == [(1, 0)]


@pytest.mark.parametrize(
    "word, told",
    [
        ("director", "direct"),
        ("directed", "direct"),
        ("written", "writ"),
        ("wrote", "writ"),
        ("writers", "writ"),
        ("starred", "star"),
        ("actors", "act"),
    ],
)
def test_stems(word, told):
    assert stem(word) == told


UNSPACED = [
    ("北京大学", "位于", "北京"),
    ("東京タワー", "所在地", "東京"),
    ("東京スカイツリー", "所在地", "東京"),
    ("大", "意思", "big"),
    ("서울", "수도", "한국"),
    ("กรุงเทพ", "เมืองหลวง", "ประเทศไทย"),
    ("Ann Lee", "studied at", "北京大学"),
    ("Who", "played by", "A Band"),
    ("It", "directed_by", "Greta Sool"),
]


@pytest.fixture(scope="module")
def unspaced(tmp_path_factory):
    return build(UNSPACED, tmp_path_factory.mktemp("unspaced") / "g", "g")


WITHOUT_BLANKS = [
    ("北京大学位于哪里", ["北京大学"]),  # The longest of 北京大学, 北京 and 大.
    ("東京タワーはどこにありますか", ["東京タワー"]),
    ("東京スカイツリーと北京大学", ["東京スカイツリー", "北京大学"]),
    ("在北京大学, who is Ann Lee", ["Ann Lee"]),  # Written with its own capitals.
    ("where is 北京大学?", ["北京大学"]),
    ("大学", ["大"]),  # A single letter counts only where nothing else is named.
    ("서울은 어디에 있나요", ["서울"]),  # With its particle.
    ("남서울", []),  # A Korean name begins at the start of a word.
    ("กรุงเทพอยู่ที่ไหน", ["กรุงเทพ"]),
]


@pytest.mark.parametrize("question, expected", WITHOUT_BLANKS)
def test_names_in_scripts_without_blanks(unspaced, question, expected):
    assert linked_names(unspaced, question) == expected


@pytest.mark.parametrize("question, expected", WITHOUT_BLANKS)
def test_names_in_scripts_without_blanks_of_a_large_graph(unspaced, question, expected):
    found = link_names(unspaced, SortedNames(unspaced), question)
    assert [unspaced.node_name(link.mention.node) for link in found] == expected


@pytest.mark.parametrize(
    "question, expected",
    [
        ("who directed It?", ["It"]),  # A question word is no name.
        ("Who directed It?", ["It"]),
        ("Who was played by?", ["Who"]),  # Nothing else is named, and the capitals fit.
        ("by whom was Who played?", ["Who"]),
        ("who is she", []),
    ],
)
def test_question_words_are_names_only_where_nothing_else_is(unspaced, question, expected):
    assert linked_names(unspaced, question) == expected
