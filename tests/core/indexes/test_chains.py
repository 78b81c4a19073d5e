"""Chains in words, the chains of a graph, their scores by hand, and their saved index."""

import numpy as np
import pytest

from core.errors import RunCancelled
from core.graph.building.build import build
from core.graph.edits import Edit, edit_graph
from core.graph.names.head_types import head_types
from core.graph.names.phrases import Phrase, agent_noun, chain_text, plural, relation_phrase
from core.indexes import chains as module
from core.indexes.chains import (
    ChainIndex,
    chain_index,
    fingerprint,
    possible_chains,
    possible_steps,
    quantise_rows,
    token_vectors,
)
from core.indexes.index_storage import index_folder
from core.indexes.question_masks import mask_entities
from core.watch import Watch
from tests.films import TRIPLES, Bag

# Possible pairs of steps in the films graph, by hand.
PAIRS = [(0, 1), (0, 7), (1, 2), (1, 4), (1, 6), (3, 0), (5, 0), (5, 6), (6, 1), (7, 0), (7, 4)]


@pytest.fixture
def films(tmp_path):
    return build(TRIPLES, tmp_path / "films", "films", "both")


@pytest.mark.parametrize(
    "name, said",
    [
        ("directed_by", Phrase("director", "directed by")),
        ("written_by", Phrase("writer", "written by")),
        ("has_genre", Phrase("genre", "with genre")),
        ("in_language", Phrase("language", "in language")),
        ("release_year", Phrase("release year", "with release year")),
        ("bornIn", Phrase("place or thing born in", "born in")),
        ("people.person.place_of_birth", Phrase("place of birth", "with place of birth", "person")),
        ("film.film.produced_by", Phrase("producer", "produced by", "film")),
        ("http://example.org/spouse", Phrase("spouse", "with spouse")),
        ("??", Phrase("thing", "with thing")),
    ],
)
def test_relation_names_in_words(name, said):
    assert relation_phrase(name) == said


def test_english_by_rule():
    assert [agent_noun(w) for w in ("directed", "written", "edited", "created", "founded")] == [
        "director",
        "writer",
        "editor",
        "creator",
        "founder",
    ]
    assert [plural(w) for w in ("film", "country", "person", "match", "series", "play")] == [
        "films",
        "countries",
        "people",
        "matches",
        "series",
        "plays",
    ]


def test_a_chain_in_words_runs_from_its_last_step_to_its_first():
    phrases = [
        relation_phrase(name) for name in ("directed_by", "written_by", "has_genre", "release_year")
    ]
    said = lambda *chain, kind="film": chain_text(chain, phrases, [kind] * 4)
    assert said(0) == "the director of the film X" and said(1) == "the films directed by X"
    assert said(1, 4) == "the genre of the films directed by X"
    assert said(0, 3, 6) == "the release year of the films written by the director of the film X"
    assert said(0, 5, kind="thing") == "the things with genre the director of X"


def test_head_types_follow_from_names_or_relations(films):
    phrases = [relation_phrase(name) for name in films.relation_names]
    has = possible_steps(films)

    # Every description contains “director”, and only the noun “film” is near it.
    def encode(
        texts,
    ):
        return np.array(
            [
                [1.0, 0.0] if "director" in text or "film" in text.split() else [0.0, 1.0]
                for text in texts
            ],
            np.float32,
        )

    assert head_types(phrases, has, encode) == ["film", "film", "film", "film"]
    told = [Phrase("director", "directed by", "opera"), *phrases[1:]]
    # A kind in the name of a relation is not guessed.
    assert head_types(told, has, encode) == ["opera", "film", "film", "film"]
    unlike = lambda texts: np.array(
        [[1.0, 0.0] if "director" in text else [0.0, 1.0] for text in texts], np.float32
    )
    assert head_types(phrases, has, unlike) == ["thing"] * 4  # No noun is near enough.
    assert (
        "film"
        not in head_types([*phrases[:2], Phrase("film", "with film"), phrases[3]], has, encode)[:1]
    )


def test_the_steps_of_each_node(films):
    names = films.names(range(films.n_nodes))
    table = {
        name: dict(zip(row.indices.tolist(), row.data.tolist()))
        for name, row in zip(names, possible_steps(films))
    }
    assert table == {
        "One": {0: 1, 2: 1},
        "Ann": {1: 2, 7: 1},
        "Two": {0: 1, 4: 1, 6: 1},
        "Drama": {3: 1},
        "1999": {5: 1},
    }


def test_chains_that_the_graph_has(films):
    chains, found = possible_chains(possible_steps(films), 2, "both", 100)
    assert chains == [(code,) for code in range(8)] + PAIRS and found == 19
    assert possible_chains(possible_steps(films), 3, "out", 100) == (
        [(0,), (2,), (4,), (6,)],
        4,
    )
    capped, found = possible_chains(possible_steps(films), 2, "both", 10)
    # Two films lead to Ann.
    assert capped == [(code,) for code in range(8)] + [(0, 1), (0, 7)] and found == 19


def test_a_very_rare_step_is_no_chain(tmp_path):
    # A thousand films by one person each. One person has a genre too, which is 1 of 1,000 and below
    # the bound.
    triples = [(f"f{i}", "directed_by", f"p{i}") for i in range(1000)] + [
        ("p0", "has_genre", "odd")
    ]
    graph = build(triples, tmp_path / "rare", "rare", "both")
    assert (0, 2) not in possible_chains(possible_steps(graph), 2, "both", 100)[0]


def test_scores_by_hand():
    a, b, c = np.eye(3)
    index = ChainIndex(
        ((0,), (1,), (2,)),
        ("", "", ""),
        *quantise_rows(np.array([a, a, c, a, b])),
        np.array([0, 1, 3, 5]),
        3,
    )
    question = np.array([a, b], np.float32)
    # Precision and recall: 1 and 1/2; 1/2 and 1/2; 1 and 1.
    assert index.scores(question, [0, 1, 2]).tolist() == pytest.approx([2 / 3, 1 / 2, 1.0])
    assert (
        index.scores(question, [2]).tolist() == pytest.approx([1.0])
        and len(index.scores(question, [])) == 0
    )
    assert index.scores(np.array([c], np.float32), [0]).tolist() == [0.0]  # No token is similar.


def test_rows_in_whole_steps():
    rows = np.array([[0.6, -0.8], [0.0, 0.0], [0.02, 1.0]])
    whole, scales = quantise_rows(rows)
    # 0.6 / 0.8 x 127 = 95.25.
    assert whole.tolist() == [[95, -127], [0, 0], [3, 127]] and scales[0] == pytest.approx(
        0.8 / 127
    )
    assert np.abs(whole * scales[:, None] - rows).max() <= 0.5 / 127


def test_vectors_of_tokens_or_of_the_whole_text():
    (tokens,) = token_vectors(Bag(), ["the genre of X"])
    assert tokens.shape == (4, Bag.size)  # The marks at both ends are left out.
    whole = type(
        "Whole",
        (),
        {"encode": lambda self, texts, watch=None: np.ones((len(texts), 2), np.float32)},
    )()
    assert [part.shape for part in token_vectors(whole, ["a", "b"])] == [(1, 2), (1, 2)]
    assert fingerprint(Bag()) == fingerprint(Bag()) != fingerprint(whole)


def test_chains_are_encoded_once_kept_and_read_again(films):
    encoder = Bag()
    first = chain_index(films, encoder, 2)
    assert (
        first.n_found == len(first) == 19
        and first.texts[first.position_of[(1, 2)]] == "the genre of the things directed by X"
    )
    (file,) = index_folder(films).glob("chains-*.npz")
    module.forget_chains(films)
    stamp = file.stat().st_mtime_ns
    again = chain_index(films, encoder, 2)
    assert (
        again.chains == first.chains
        and again.texts == first.texts
        and np.array_equal(again.tokens, first.tokens)
    )
    assert file.stat().st_mtime_ns == stamp
    file.write_bytes(file.read_bytes()[:100])  # A damaged file is built again.
    module.forget_chains(films)
    assert chain_index(films, encoder, 2).texts == first.texts and file.stat().st_size > 100
    assert (0, 1) in first.prefixes and (0, 0) not in first.prefixes


def test_a_cancelled_build_saves_nothing(films):
    def check():
        raise RunCancelled()

    with pytest.raises(RunCancelled):
        chain_index(films, Bag(), 3, watch=Watch(check))
    assert not list(index_folder(films).glob("chains-*"))


def test_masked_questions(films):
    from core.graph.names.lookup import name_lookup

    one, ann = name_lookup(films).find("One"), name_lookup(films).find("Ann")
    assert mask_entities(films, "who directed [One] and Two", (one,)) == "who directed X and Two"
    assert mask_entities(films, "what did ann direct", (ann,)) == "what did X direct"
    # Only whole words are masked.
    assert mask_entities(films, "Annie and Ann", (ann,)) == "Annie and X"
    # Only the first mention is masked.
    assert (
        mask_entities(films, "who made One and why was one made", (one,))
        == "who made X and why was one made"
    )
    assert mask_entities(films, "who directed it", (one,)) == "who directed it"


def test_chains_of_an_edited_graph_do_not_depend_on_saved_ones(
    films,
):
    rest, encoder = edit_graph(films, [Edit("node", ("Drama",))]), Bag()
    known, alone = (
        chain_index(rest, encoder, 2),
        module.build_chain_index(rest, encoder, 2, "both"),
    )
    assert (
        known.texts == alone.texts
        and known.chains == alone.chains
        and known.n_found == alone.n_found
    )
    assert all(
        np.array_equal(getattr(known, key), getattr(alone, key))
        for key in ("tokens", "scales", "starts")
    )
    assert len(known) < len(chain_index(films, encoder, 2))
