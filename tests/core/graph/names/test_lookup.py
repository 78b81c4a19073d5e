from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from core.errors import UnknownEntity
from core.graph.building.build import build
from core.graph.names import mentions
from core.graph.names.lookup import name_lookup
from core.graph.names.mentions import Vocabulary

NAMES = [
    "Inception",
    "The Dark Knight",
    "Dark",
    "dark",
    "What",
    "movie",
    "1999",
    "İstanbul Tales",
    "It",
    "Some Mother's Son",
    "C++",
]


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    triples = [(name, "r", "end") for name in NAMES] + [("Dark", "s", "end")]
    return build(triples, tmp_path_factory.mktemp("names") / "g", "g")


def found_mentions(graph, question):
    return [
        (m.text, graph.node_name(m.node), m.fuzzy)
        for m in name_lookup(graph).find_mentions(question)
    ]


def test_exact_then_without_case(films):
    known = name_lookup(films)
    assert [films.node_name(known.find(name)) for name in NAMES] == NAMES
    assert (
        films.names(known.find_exact("INCEPTION")) == ["Inception"]
        and known.find_exact("Incep") == ()
    )
    assert films.names(known.find_exact("dark")) == ["dark"] and films.names(
        known.find_exact("DARK")
    ) == ["Dark", "dark"]
    assert films.node_name(known.find(" DARK ")) == "Dark"  # Of two nodes, the one with more edges.
    assert known.find_exact("") == () and known.find_exact("\ud800") == ()


@pytest.mark.parametrize("keyed", [0, 4])
def test_names_are_found_without_their_punctuation(monkeypatch, keyed):
    monkeypatch.setattr(mentions, "MAX_KEYED_NAMES", keyed)
    names = Vocabulary(["C++", "Spider–Rock", "1,984", "spider rock"], np.zeros(4))
    found = [names.find_by_key(name) for name in ("c++", "spiderrock", "1984.0", "C#", "++")]
    assert found == [(0,), (1,), (2,), (), ()]


def test_unknown_names_suggest_the_nearest_ones(films):
    with pytest.raises(UnknownEntity) as error:
        name_lookup(films).find("Incption")
    assert error.value.alternatives[0] == "Inception" and "Did you mean Inception" in str(
        error.value
    )


def test_search_orders_beginnings_first(films):
    texts = [films.node_name(node) for node, _ in name_lookup(films).search("dark", 3)]
    assert texts == ["Dark", "dark", "The Dark Knight"]
    assert (
        name_lookup(films).search("  ") == []
        and name_lookup(films).search("x", 0) == []
        and len(name_lookup(films).search("a", 99)) == films.n_nodes
    )


@pytest.mark.parametrize(
    "question, expected",
    [
        ("who directed [Inception] in 1999", [("Inception", "Inception", False)]),
        ("who directed Inception", [("Inception", "Inception", False)]),
        ("who directed inception", [("inception", "Inception", False)]),
        # Dark is not found a second time.
        ("who directed THE DARK KNIGHT?", [("THE DARK KNIGHT", "The Dark Knight", False)]),
        ("Dark or Inception", [("Dark", "Dark", False), ("Inception", "Inception", False)]),
        ("a dark one", [("dark", "dark", False)]),
        ("what movie came in 1999", [("1999", "1999", False)]),
        ("darkness of inceptions", []),
        # Nothing else is named, and “what” is a question word.
        ("what movie", [("movie", "movie", False)]),
        ("who directd Incption", [("Incption", "Inception", True)]),
        ("films like Some Mother's Son?", [("Some Mother's Son", "Some Mother's Son", False)]),
        ("who wrote C++ first", [("C++", "C++", False)]),
        ("İSTANBUL TALES", [("İSTANBUL TALES", "İstanbul Tales", False)]),
        ("", []),
        ("[]", []),
        ("🎬 <b>", []),
    ],
)
def test_mentions(films, question, expected):
    if question == "darkness of inceptions":
        # At word boundaries only a corrected spelling finds it.
        expected = [("inceptions", "Inception", True)]
    assert found_mentions(films, question) == expected


def test_mentions_have_their_positions_in_the_question(films):
    question = "ßß İ: who made inception now"
    (mention,) = name_lookup(films).find_mentions(question)
    assert question[mention.start : mention.end] == mention.text == "inception"


def test_threads_share_one_vocabulary_per_graph(films):
    assert name_lookup(films).vocabulary is name_lookup(films).vocabulary
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda i: found_mentions(films, f"who directed Inception {i}"), range(64))
        )
    assert all(answer[0][1] == "Inception" for answer in answers)


def test_topics_of_movie_questions(movies):
    from core.datasets import questions

    known = name_lookup(movies)
    for hops in (1, 2, 3):
        sample = questions(f"metaqa-{hops}hop-dev")[::60]
        mentioned = [
            {movies.node_name(m.node) for m in known.find_mentions(q.text)} for q in sample
        ]
        among = [q.entities[0] in ms for q, ms in zip(sample, mentioned)]
        alone = [{q.entities[0]} == ms for q, ms in zip(sample, mentioned)]
        assert sum(among) / len(sample) > 0.99 and sum(alone) / len(sample) > 0.98
