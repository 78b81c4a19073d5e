"""Relation names in words, by rule and by the table of a data set."""

import pytest

from core.datasets.relations import chain_words, read_relation_words, relation_words
from core.datasets.wording import relation_table
from core.errors import BadInput


@pytest.mark.parametrize(
    "relation, along, against",
    [
        ("directed_by", "directed by", "directed"),
        ("has_genre", "has genre", "genre of"),
        ("release_year", "release year", "release year of"),
        ("in_language", "in language", "language of"),
        ("bornIn", "born in", "born in, backwards"),
        ("people.person.profession", "profession", "profession of"),
        ("__", "__", "__"),
    ],
)
def test_relation_words_by_rule(relation, along, against):
    assert (relation_words(relation), relation_words(relation, False)) == (along, against)


def test_relation_words_by_the_table_of_the_data_set():
    table = relation_table("metaqa")
    assert (
        chain_words([("starred_actors", False), ("has_genre", True)], table)
        == "starred in, then has genre"
    )
    assert (
        chain_words([("written_by", False), ("starred_actors", True)], table)
        == "wrote, then starred"
    )
    assert relation_table("a graph of nobody") == {}


def test_every_relation_of_the_movies_has_words(movies):
    assert set(relation_table("metaqa")) == set(movies.relation_names)


@pytest.mark.parametrize(
    "told", [["directed by"], "directed by", ["a", ""], ["a", 1], ["a", "b", "c"]]
)
def test_a_malformed_table_is_refused(told):
    with pytest.raises(BadInput, match="“r” must be two texts"):
        read_relation_words({"r": told})


def test_an_own_graph_has_its_words_in_a_description_file(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr("core.datasets.wording.graphs_folder", lambda: tmp_path)
    films = '[relations]\nstars = ["stars", "stars in"]\n'
    for name, text in (
        ("films", films),
        ("broken", "[relations"),
        ("half", "[relations]\nstars = 1\n"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "dataset.toml").write_text(text, "utf-8")
    assert relation_table("films") == {"stars": ("stars", "stars in")}
    assert relation_table("bare") == relation_table("broken") == relation_table("half") == {}
    assert len(caplog.records) == 2
