"""Chains through mediators in words, and texts that are encoded on first use."""

import numpy as np
import pytest

from core.graph.names.phrases import Phrase
from core.indexes.chain_cache import index_chain_texts
from core.indexes.mediator_texts import mediated_text, plain_phrase
from core.watch import NO_WATCH
from tests.films import Bag

SIBLING, PROFESSION, OTHER = (
    "people.person.sibling_s",
    "people.person.profession",
    "people.sibling_relationship.sibling",
)


@pytest.mark.parametrize(
    "name, said",
    [
        (SIBLING, Phrase("sibling", "with sibling", "person")),
        ("location.location.adjoin_s", Phrase("adjoin", "with adjoin", "location")),
        ("directed_by", Phrase("director", "directed by")),
        ("s", Phrase("s", "with s")),
    ],
)
def test_a_separate_plural_s_is_dropped(name, said):
    assert plain_phrase(name) == said


def test_a_pass_through_a_mediator_is_one_step_in_words():
    names = (
        SIBLING,
        OTHER,
        PROFESSION,
        "film.performance.film",
        "film.performance.actor",
        "film.actor.film",
    )
    phrases, into = [plain_phrase(name) for name in names], np.zeros(12, bool)
    into[[0, 3, 7, 9, 10]] = True
    say = lambda *chain: mediated_text(chain, phrases, into)
    assert say(0, 2) == "the sibling of the person X"  # “Sibling” is said once.
    assert say(0, 2, 4) == "the profession of the sibling of the person X"
    # Back by the same relation.
    assert say(3, 2) == "the other sibling in the sibling relationship of X"
    assert say(7, 8) == "the actor in the performance of X"
    assert say(10, 8) == "the actor of the film of the actor X"
    assert say(3, 1) == "the people with sibling for sibling X"
    assert say(10, 11) == "the actors with film in the film of the actor X"
    assert say(5) == "the people with profession X" and say(4) == "the profession of the person X"


def test_texts_are_encoded_once(monkeypatch):
    encoder, seen = Bag(), []
    whole = Bag.encode_tokens
    monkeypatch.setattr(
        Bag,
        "encode_tokens",
        lambda self, texts, watch=NO_WATCH: (seen.extend(texts), whole(self, texts, watch))[1],
    )
    first = index_chain_texts(encoder, [(0,), (2,)], ["the genre", "the year"])
    again = index_chain_texts(encoder, [(2,), (4,)], ["the year", "the end"])
    assert (
        seen == ["the genre", "the year", "the end"]
        and first.texts == ("the genre", "the year")
        and len(again) == 2
    )
    assert np.array_equal(first.tokens[first.starts[1] :], again.tokens[: again.starts[1]])
    assert len(index_chain_texts(encoder, [], [])) == 0
