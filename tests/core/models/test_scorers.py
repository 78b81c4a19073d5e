"""Scorers compared with hand-computed numbers and with other libraries."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import BadParameter, RunCancelled
from core.io.home import ROOT
from core.languages.terms import search_terms
from core.models.base import Task
from core.models.scorers import (
    BM25Scorer,
    EncoderScorer,
    LateInteractionScorer,
    NGramScorer,
    RandomScorer,
    TfIdfScorer,
    TopicScorer,
    top_k,
)
from core.watch import Watch

DOCS = ["red fox", "red red dog runs", "cat"]


def test_top_k_breaks_ties_by_first_appearance():
    assert top_k(np.array([1.0, 3.0, 3.0, 2.0, 3.0]), 4).tolist() == [1, 2, 4, 3]
    assert top_k(np.array([1.0, 3.0]), 0).tolist() == [1, 0]
    assert top_k(np.array([1.0, 3.0]), 9).tolist() == [1, 0]
    assert top_k(np.array([np.nan, -1.0, 2.0]), 0).tolist() == [2, 1, 0]
    assert top_k(np.array([]), 3).tolist() == []


@given(st.lists(st.integers(-3, 3), max_size=30), st.integers(-1, 35))
def test_top_k_is_sorted_and_stable(scores, k):
    order = top_k(np.array(scores, float), k).tolist()
    assert (
        order == sorted(range(len(scores)), key=lambda i: (-scores[i], i))[: k if k > 0 else None]
    )


def test_words_are_split_at_dots_arrows_and_underscores():
    assert search_terms("People.person.NATIONALITY -> directed_by->Ünal") == [
        "people",
        "person",
        "nationality",
        "directed",
        "by",
        "ünal",
    ]
    assert search_terms(" -> ._ ") == []


def test_bm25_matches_hand_computed_scores():
    # N = 3; lengths 2, 4, 1; mean 7/3. "red" is in 2 documents, so idf = ln(1 + 1.5/2.5) =
    # 0.470004. red fox: 1 * 2.5 / (1 + 1.5 (0.25 + 0.75 * 6/7)) = 1.068702, times idf 0.502294. red
    # red ...: 2 * 2.5 / (2 + 1.5 (0.25 + 0.75 * 12/7)) = 1.161826, times idf 0.546063.
    scores = BM25Scorer().score(Task("Red"), DOCS)
    assert scores == pytest.approx([0.502294, 0.546063, 0.0], abs=2e-6)
    # "fox": idf = ln(1 + 2.5/1.5) = 0.980829, times 1.068702 = 1.048214.
    assert BM25Scorer().score(Task("red fox"), DOCS)[0] == pytest.approx(
        0.502294 + 1.048214, abs=2e-6
    )
    assert BM25Scorer().score(Task("red red"), DOCS)[0] == pytest.approx(2 * 0.502294, abs=2e-6)


def test_bm25_splits_dotted_relation_names():
    texts = ["film.actor.film", "people.person.nationality", "people.person.gender"]
    assert BM25Scorer().choose(
        Task("what is the nationality of this person"), texts, 0
    ).positions == (1, 2, 0)


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), min_size=1, max_size=6),
    st.lists(st.sampled_from("abcg"), max_size=4),
)
@settings(max_examples=30, deadline=None)
def test_bm25_equals_its_formula(bags, query):
    mean = sum(map(len, bags)) / len(bags)

    def score(bag):
        total = 0.0
        for word in query:
            holders, count = sum(word in other for other in bags), bag.count(word)
            if count:
                idf = math.log(1 + (len(bags) - holders + 0.5) / (holders + 0.5))
                total += idf * count * 2.5 / (count + 1.5 * (0.25 + 0.75 * len(bag) / mean))
        return total

    scores = BM25Scorer().score(Task(" ".join(query)), [" ".join(bag) for bag in bags])
    assert scores == pytest.approx([score(bag) for bag in bags], abs=1e-5)


def test_bm25_without_any_known_word_gives_zeros():
    assert BM25Scorer().score(Task("zzz"), DOCS).tolist() == [0, 0, 0]
    assert BM25Scorer().score(Task("red"), ["", "->"]).tolist() == [0, 0]
    with pytest.raises(BadParameter):
        BM25Scorer(b=2)


def test_tfidf_matches_hand_computed_scores():
    # idf: red ln(4/3) + 1 = 1.287682, fox ln(4/2) + 1 = 1.693147; |red fox| = 2.127175. The query
    # is the unit vector of "red".
    scores = TfIdfScorer().score(Task("red"), DOCS)
    assert scores[0] == pytest.approx(1.287682 / math.hypot(1.287682, 1.693147), abs=1e-6)
    assert scores[1] == pytest.approx(
        2 * 1.287682 / math.sqrt((2 * 1.287682) ** 2 + 2 * 1.693147**2), abs=1e-6
    )
    assert scores[2] == 0
    assert TfIdfScorer().score(Task("red"), ["", "->"]).tolist() == [0, 0]


def test_n_gram_model_matches_hand_computed_scores():
    # In all texts "a" and "b" each make up two of four words: .4 * 2/4 = .2. Within a text: .5 *
    # 1/2 = .25. Only "a b" contains the bigram: .1 * 1/1. "z" is unknown and left out.
    scores = NGramScorer(bigram_weight=0.1, unigram_weight=0.5).score(Task("a b z"), ["a b", "b a"])
    assert scores == pytest.approx([(math.log(0.45) + math.log(0.55)) / 2, math.log(0.45)])
    assert NGramScorer().score(Task("z"), ["a b", ""]).tolist() == [0, 0]
    # An empty text has only the probabilities of all texts.
    assert NGramScorer().score(Task("a"), ["a", ""])[1] == pytest.approx(math.log(0.4))
    with pytest.raises(BadParameter, match="leave some"):
        NGramScorer(bigram_weight=0.6, unigram_weight=0.4)


def test_lsa_with_all_topics_equals_tf_idf():
    texts = ["car engine", "automobile engine", "pear tree"]
    assert TopicScorer().score(Task("car engine"), texts) == pytest.approx(
        TfIdfScorer().score(Task("car engine"), texts), abs=1e-6
    )
    assert TfIdfScorer().score(Task("car"), texts)[1] == 0
    assert TopicScorer(topics=1).score(Task("car"), texts) == pytest.approx([1, 1, 0], abs=1e-6)
    assert TopicScorer().score(Task("z"), texts).tolist() == [0, 0, 0] and TopicScorer().score(
        Task("z"), ["", "->"]
    ).tolist() == [0, 0]
    with pytest.raises(BadParameter):
        TopicScorer(topics=0)


def test_lda_finds_two_topics():
    fruit = ["apple pear juice", "pear juice", "apple juice juice", "apple apple"] * 3
    motor = ["car wheel engine", "engine wheel", "car engine engine", "wheel wheel"] * 3
    scores = TopicScorer(lda=True, topics=2).score(Task("pear"), fruit + motor)
    assert (
        scores[: len(fruit)].min() > scores[len(fruit) :].max()
        and 0 <= scores.min()
        and scores.max() <= 1 + 1e-9
    )


def test_random_depends_on_seed_and_query_only():
    texts = [str(i) for i in range(50)]
    first = RandomScorer().choose(Task("q", seed=1), texts, 5)
    assert first.positions == RandomScorer().choose(Task("q", seed=1), texts[::-1], 5).positions
    assert first.positions != RandomScorer().choose(Task("q", seed=2), texts, 5).positions
    assert first.positions != RandomScorer().choose(Task("r", seed=1), texts, 5).positions
    assert sorted(first.order) == list(range(50)) and all(0 <= s < 1 for s in first.order_scores)


def test_choice_holds_every_candidate_in_order():
    choice = BM25Scorer().choose(Task("red"), DOCS, 1)
    assert (
        choice.positions == (1,)
        and choice.order == (1, 0, 2)
        and choice.scores == choice.order_scores[:1]
    )
    assert choice.usage.texts == 3


@pytest.mark.parametrize(
    "scorer",
    [
        BM25Scorer(),
        TfIdfScorer(),
        NGramScorer(),
        TopicScorer(),
        TopicScorer(lda=True),
        RandomScorer(),
    ],
)
def test_no_texts_give_an_empty_choice(scorer):
    assert scorer.choose(Task("q"), [], 3).positions == ()


def test_encoder_scorer_equals_the_cosine(encoder):
    texts = [
        "Alien -> in_language -> English",
        "Alien -> directed_by -> Ridley Scott",
        "Alien -> directed_by -> Ridley Scott",
    ]
    choice = EncoderScorer(encoder).choose(Task("who directed Alien?"), texts, 2)
    assert choice.positions == (1, 2)
    a, b = encoder.encode(["who directed Alien?", texts[1]]).astype(np.float64)
    assert choice.scores[0] == pytest.approx(a @ b, abs=1e-12)
    assert EncoderScorer(encoder).choose(Task("q"), [], 2).positions == ()


def test_late_interaction_is_the_mean_of_the_best_cosines(encoder):
    texts = [
        "Alien -> directed_by -> Ridley Scott",
        "",
        "Paris",
        "Alien -> directed_by -> Ridley Scott",
    ]
    scores = LateInteractionScorer(encoder).score(Task("who directed Alien?"), texts)
    vectors = {
        p: v.astype(np.float64)
        for ps, v in encoder.encode_tokens(["who directed Alien?", *texts[:3]])
        for p in ps
    }
    for number in range(3):
        by_hand = np.mean([max(q @ d for d in vectors[number + 1]) for q in vectors[0]])
        assert scores[number] == pytest.approx(by_hand, abs=1e-6)
    assert scores[0] == scores[3] and scores.argmax() == 0


def test_cancelled_task_stops_the_encoder(encoder):
    def cancel():
        raise RunCancelled

    with pytest.raises(RunCancelled):
        EncoderScorer(encoder).score(
            Task("never seen before 1", watch=Watch(cancel)), ["never seen before 2"]
        )
    assert EncoderScorer(encoder).score(
        Task("never seen before 1"), ["never seen before 2"]
    ).shape == (1,)


SCRIPT = """
import hashlib
from core.languages.terms import search_terms
from core.models.base import Task
from core.models.registry import Registry
texts = ["Alien -> directed_by -> Ridley Scott", "Alien -> in_language -> English", "b c d", "b c d", ""] * 3
models, task = Registry(), Task("who directed Alien?", seed=3)
for name in ("encoder", "reranker", "bm25", "tfidf", "n-gram", "lsa", "lda", "random", "prefilter(bm25, encoder, 4)"):
    choice = models.chooser(name).choose(task, texts, 3)
    print(name, choice.positions, choice.order, [float(s).hex() for s in choice.scores])
"""


def test_two_processes_give_the_same_bytes():
    def run(seed: str) -> str:
        import os

        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    assert run("1") == run("2") != ""
