"""Reading of candidates: previews, groups, and positions within combinators."""

import math
import threading
from dataclasses import replace

import numpy as np
import pytest

from core.errors import RunCancelled
from core.models import reading_order
from core.models.base import Task
from core.models.combine import PrefilterChooser, RoundsChooser
from core.models.reading_order import (
    READING_DEFAULTS,
    Expectation,
)
from core.models.scorers import EncoderScorer, LateInteractionScorer, NGramScorer
from core.watch import NO_WATCH, Watch
from tests.notes import NoteWith

QUESTION, TEXTS = "far", ["near", "far", "near", "mid"]
ANGLES = {"far": 0.0, "mid": 0.5, "near": 1.5}


class CircleEncoder:
    """An encoder with vectors on a circle.

    Where `received` is true, it hands out one text at a time, the last text first.
    """

    def __init__(self, received: bool):
        self.received = received

    def encode(self, texts, watch=NO_WATCH, received=None):
        found = np.array(
            [[np.cos(ANGLES[text]), np.sin(ANGLES[text])] for text in texts], np.float32
        ).reshape(-1, 2)
        for at in reversed(range(len(texts)) if received else ()):
            watch.check()
            received([texts[at]], found[[at]])
        return found

    def encode_tokens(self, texts, watch=NO_WATCH):
        places = {text: [at for at, other in enumerate(texts) if other == text] for text in texts}
        for text, positions in places.items():
            yield positions, self.encode([text])


def previews_of(scorer, texts=TEXTS, **settings):
    """Arguments of all previews as lists, and the final scores."""
    calls = []
    scores = scorer.score(
        Task(
            QUESTION,
            preview=lambda at, scores: calls.append((at.tolist(), scores.tolist())),
            **settings,
        ),
        texts,
    )
    return calls, scores.tolist()


def test_preview_gets_all_scores_so_far():
    calls, scores = previews_of(EncoderScorer(CircleEncoder(True)))
    assert [at for at, _ in calls] == [[3], [1, 3], [0, 1, 2, 3]]
    assert scores == pytest.approx([np.cos(1.5), 1, np.cos(1.5), np.cos(0.5)])
    assert all(some == [scores[i] for i in at] for at, some in calls)


def test_encoder_without_partial_results_gives_one_preview():
    assert previews_of(EncoderScorer(CircleEncoder(False)))[0] == [
        ([0, 1, 2, 3], previews_of(EncoderScorer(CircleEncoder(True)))[1])
    ]


def test_late_interaction_gives_previews():
    calls, scores = previews_of(LateInteractionScorer(CircleEncoder(False)))
    assert [at for at, _ in calls] == [[0, 2], [0, 1, 2], [0, 1, 2, 3]]
    assert calls[-1][1] == scores


def test_no_texts_give_no_preview():
    assert previews_of(EncoderScorer(CircleEncoder(True)), []) == ([], [])


def test_cancelled_reading_gives_no_more_previews():
    calls, checks = [], iter(range(9))

    def check():
        if next(checks) == 2:
            raise RunCancelled

    with pytest.raises(RunCancelled):
        EncoderScorer(CircleEncoder(True)).score(
            Task(QUESTION, watch=Watch(check), preview=lambda *call: calls.append(call)), TEXTS
        )
    assert len(calls) == 2


def test_partial_task_previews_use_positions_of_the_whole():
    calls = []
    task = Task(
        QUESTION,
        groups=np.array([5, 6, 7, 8]),
        preview=lambda at, scores: calls.append((at.tolist(), scores.tolist())),
    )
    part = task.select([3, 0])
    assert part.groups is not None and part.preview is not None
    assert part.groups.tolist() == [8, 5]
    part.preview(np.array([0, 1]), np.array([0.5, 0.25]))  # These are positions 3 and 0 among all.
    assert calls == [([0, 3], [0.25, 0.5])]
    assert Task(QUESTION).select([0]) == Task(QUESTION)


def test_combinator_previews_use_positions_of_the_whole():
    # The n-gram model gives no previews. It ranks "far" first, then the others in their order, so
    # two texts reach the encoder.
    seen = []
    task = Task(QUESTION, preview=lambda at, scores: seen.append(at.tolist()))
    PrefilterChooser(NGramScorer(), EncoderScorer(CircleEncoder(False)), 2).choose(
        task, ["near", "mid", "far"], 1
    )
    assert seen == [[0, 2]]
    seen.clear()
    RoundsChooser(EncoderScorer(CircleEncoder(False)), 2).choose(task, ["near", "mid", "far"], 1)
    assert seen == [[0, 1], [2], [1, 2]]  # Both windows, then the best of each.


CHAINS, EACH = 12, 30  # 360 texts, six to a group of names.
NAMES = ["ann", "bob", "cid", "dot", "eve"]


class ChainNameEncoder:
    """An encoder whose scores depend on a text's chain and name, and that records its texts.

    Chain 7 and the name cid score highest.
    """

    received = True

    def __init__(self):
        self.read: list[list[str]] = []

    def encode(self, texts, watch=NO_WATCH, received=None):
        watch.check()
        found = np.array([self.vector(text) for text in texts], np.float32).reshape(-1, 2)
        if received:
            self.read.append(list(texts))
            received(list(texts), found)
        return found

    def vector(self, text):
        if text == QUESTION:
            worth = 1.0
        else:
            worth = 0.5 * (f"r{7} " in text) + 0.3 * ("cid" in text) + 0.001 * len(text)
        return np.cos(1 - worth), np.sin(1 - worth)


def many_texts():
    texts = [
        f"start -> r{chain} -> {NAMES[i % 5]} {i}" for chain in range(CHAINS) for i in range(EACH)
    ]
    return texts, np.repeat(np.arange(CHAINS), EACH)


def test_most_promising_texts_are_read_first():
    texts, groups = many_texts()
    encoder = ChainNameEncoder()
    choice = EncoderScorer(encoder).choose(Task(QUESTION, max_read=120, groups=groups), texts, 6)
    assert sum(map(len, encoder.read)) == 120 == len(set(sum(encoder.read, [])))
    # The first round has one text of each chain.
    assert {text.split(" -> ")[1] for text in encoder.read[0]} == {
        f"r{chain}" for chain in range(CHAINS)
    }
    assert len(encoder.read[0]) == CHAINS
    whole = EncoderScorer(ChainNameEncoder()).choose(Task(QUESTION), texts, 6)
    assert choice.positions == whole.positions and choice.scores == whole.scores
    assert len(choice.order) == 120 and choice.usage.texts == 120
    assert choice.notes == (NoteWith(120, "360 paths", "likeliest first"),) and whole.notes == ()


def test_expected_scores_follow_the_conditional_normal_distribution():
    """Expected scores equal generalised least squares with a word-overlap covariance.

    Words one and two share "a", three shares "b" with two. Each text has two words, so lengths
    carry no information. By definition the covariance of two texts is the fraction of words they
    share, and the mean is that of generalised least squares.
    """
    texts, read, scores = (
        ["a x", "a b", "b y", "z w", "a y"],
        np.array([0, 1, 3]),
        np.array([0.9, 0.6, 0.1]),
    )
    bags = [set(text.split()) for text in texts]
    alike = READING_DEFAULTS.word_variance_alone * np.array(
        [[len(one & other) / 2 for other in bags] for one in bags]
    )
    inverse = np.linalg.inv(alike[np.ix_(read, read)] + READING_DEFAULTS.noise_variance * np.eye(3))
    mean = inverse.sum(axis=0) @ scores / inverse.sum()
    scale = (scores - mean) @ inverse @ (scores - mean) / 3
    others = [2, 4]
    across = alike[np.ix_(others, read)]
    expected = mean + across @ inverse @ (scores - mean)
    spread = np.sqrt(
        scale
        * (
            np.diag(alike[np.ix_(others, others)] - across @ inverse @ across.T)
            + READING_DEFAULTS.noise_variance
        )
    )
    # The chance of a score above the second best.
    chances = [
        0.5 * (1 + math.erf((at - 0.6) / sigma / math.sqrt(2)))
        for at, sigma in zip(expected, spread)
    ]
    order, missing = Expectation(texts, None).rank_rest(read, scores, 2)
    assert (
        order.tolist() == [4, 2]
        and chances[1] > chances[0]
        and missing == pytest.approx(sum(chances), abs=1e-6)
        and READING_DEFAULTS.length_variance > 0
    )


def test_reading_ends_once_the_best_are_read():
    texts, groups = many_texts()
    whole, read = (
        EncoderScorer(ChainNameEncoder()).choose(Task(QUESTION, groups=groups), texts, 6),
        {},
    )
    for recall in (0.5, 0.99, 1.0):
        encoder = ChainNameEncoder()
        choice = EncoderScorer(encoder).choose(
            Task(QUESTION, groups=groups, recall=recall, n_best=6), texts, 6
        )
        read[recall] = len(choice.order)
        assert read[recall] == sum(map(len, encoder.read)) and choice.positions == whole.positions
    assert read[0.5] <= read[0.99] < 150 and read[1.0] == 360
    assert (
        EncoderScorer(ChainNameEncoder())
        .choose(Task(QUESTION, groups=groups, recall=0.5, max_read=20, n_best=6), texts, 6)
        .usage.texts
        == 20
    )


def test_few_texts_are_all_read():
    texts = [f"t{i}" for i in range(64)]
    choice = EncoderScorer(ChainNameEncoder()).choose(
        Task(QUESTION, recall=0.5, n_best=1), texts, 1
    )
    assert len(choice.order) == 64 and choice.notes == ()


@pytest.mark.parametrize("best", [1, 32, 5000])
def test_indistinguishable_texts_are_all_read(best):
    class EqualVectorEncoder(ChainNameEncoder):
        def vector(self, text):
            return (1.0, 0.0)

    texts, groups = many_texts()
    choice = EncoderScorer(EqualVectorEncoder()).choose(
        Task(QUESTION, recall=0.99, n_best=best, groups=groups), texts, best
    )
    assert choice.order == tuple(range(360))


def test_earlier_hops_decide_the_first_texts():
    texts, groups = many_texts()
    encoder, earlier = ChainNameEncoder(), {}
    task = Task(QUESTION, recall=0.9, n_best=6, earlier_scores=earlier)
    EncoderScorer(encoder).score(
        task,
        ["start -> r7 -> bob", "start -> r7 -> cid", "start -> r3 -> cid", "start -> r1 -> ann"],
    )
    assert len(earlier) == 4 and encoder.read[0][0] == "start -> r7 -> bob"
    encoder.read.clear()
    later = EncoderScorer(encoder).score(replace(task, groups=groups), texts)
    # Three times the number of wanted texts are read.
    assert sum("r7 " in text for text in encoder.read[0]) == len(encoder.read[0]) == 18
    assert len(earlier) == 4 + np.isfinite(later).sum() and set(
        np.argsort(-np.nan_to_num(later))[:6]
    ) == set(range(212, 240, 5))


def test_reading_order_does_not_change_the_scores(monkeypatch):
    monkeypatch.setattr(
        reading_order,
        "READING_DEFAULTS",
        replace(reading_order.READING_DEFAULTS, cached_read_seconds=0),
    )  # All readings count as slow.
    texts, groups = many_texts()
    texts, groups = texts * 2, np.tile(groups, 2)  # Each text occurs twice.
    whole, seen = EncoderScorer(ChainNameEncoder()).choose(Task(QUESTION), texts, 0), []
    encoder = ChainNameEncoder()
    again = EncoderScorer(encoder).choose(
        Task(QUESTION, groups=groups, preview=lambda at, scores: seen.append((at, scores))),
        texts,
        0,
    )
    assert (again.order, again.order_scores, again.notes) == (whole.order, whole.order_scores, ())
    assert len(encoder.read) > 2 and sum(map(len, encoder.read)) == 360
    best = set(whole.order[:24])
    share = [len(best & set(at.tolist())) / 24 for at, _ in seen]
    assert share[-1] == 1 and share[1] > 0.9  # 12 + 64 of 360 texts have been read by then.
    assert all(
        np.array_equal(scores, np.array(whole.order_scores)[np.argsort(whole.order)][at])
        for at, scores in seen
    )


def test_known_texts_are_read_at_once(monkeypatch):
    monkeypatch.setattr(
        reading_order,
        "READING_DEFAULTS",
        replace(reading_order.READING_DEFAULTS, cached_read_seconds=60),
    )
    texts, groups = many_texts()
    whole, encoder, seen = (
        EncoderScorer(ChainNameEncoder()).choose(Task(QUESTION), texts, 0),
        ChainNameEncoder(),
        [],
    )
    again = EncoderScorer(encoder).choose(
        Task(QUESTION, groups=groups, preview=lambda at, scores: seen.append(len(at))), texts, 0
    )
    assert (again.order, again.order_scores) == (whole.order, whole.order_scores)
    assert len(encoder.read) == 2 and seen[-1] == len(texts)


@pytest.mark.parametrize("number", [0, 1, 2, 63, 64, 65, 600])
@pytest.mark.parametrize("grouped", [True, False])
def test_every_text_is_read_once(number, grouped):
    texts = [f"t{i}" for i in range(number)]
    groups = np.arange(number) % 3 if grouped else None
    encoder = ChainNameEncoder()
    scores = EncoderScorer(encoder).score(
        Task(QUESTION, groups=groups, preview=lambda *call: None), texts
    )
    assert not np.isnan(scores).any() and sorted(sum(encoder.read, [])) == sorted(texts)
    few = EncoderScorer(ChainNameEncoder()).choose(
        Task(QUESTION, groups=groups, max_read=40), texts, 0
    )
    assert len(few.positions) == min(40, number)


def test_equal_scores_keep_the_order_of_the_texts():
    class EqualVectorEncoder(ChainNameEncoder):
        def vector(self, text):
            return (1.0, 0.0)

    texts, groups = many_texts()
    choice = EncoderScorer(EqualVectorEncoder()).choose(
        Task(QUESTION, groups=groups, preview=lambda *call: None), texts, 0
    )
    assert choice.order == tuple(range(360))
    few = EncoderScorer(EqualVectorEncoder()).choose(
        Task(QUESTION, groups=groups, max_read=100), texts, 0
    )
    assert list(few.order) == sorted(few.order) and len(few.order) == 100


def test_reading_order_depends_on_the_texts_alone():
    texts, groups = many_texts()
    rounds = []
    for named in (groups, groups * 7 + 3):  # The same groups under other numbers.
        encoder = ChainNameEncoder()
        EncoderScorer(encoder).score(Task(QUESTION, max_read=200, groups=named), texts)
        rounds.append(encoder.read)
    assert rounds[0] == rounds[1]


def test_batch_dependent_encoder_reads_all_at_once():
    calls = previews_of(
        EncoderScorer(CircleEncoder(False)),
        ["far"] + ["near", "mid"] * 100,
        groups=np.zeros(201, int),
    )[0]
    assert len(calls) == 1


def test_shipped_encoders_input_vectors_are_token_means(encoder):
    # Each text has two special tokens around it.
    none, one, other, both = encoder.input_vectors(["", "film", "actor", "film actor"])
    assert np.allclose(3 * one + 3 * other - 2 * none, 4 * both, atol=1e-4) and not np.allclose(
        one, other
    )
    assert encoder.input_vectors([]).shape == (0, len(none))


def test_parallel_readers_do_not_change_the_scores(encoder):
    texts, groups = many_texts()
    task = Task("who is cid", groups=groups[::2], recall=0.9, n_best=4)

    def chosen():
        encoder.forget()
        choice = EncoderScorer(encoder).choose(task, texts[::2], 4)
        return choice.order, np.array(choice.order_scores).tobytes()

    alone = chosen()
    assert chosen() == alone and 4 <= len(alone[0]) < 180
    others = threading.Thread(
        target=lambda: encoder.encode([f"{text} and more" for text in texts[1::4]])
    )
    others.start()
    assert chosen() == alone
    others.join()
    # All vectors are known by now.
    assert EncoderScorer(encoder).choose(task, texts[::2], 4).order == alone[0]


def test_shipped_encoder_gives_equal_scores_in_any_order(encoder):
    texts, groups = many_texts()
    encoder.forget()
    whole = EncoderScorer(encoder).score(Task("who is cid"), texts[::2])
    encoder.forget()
    seen = []
    task = Task("who is cid", groups=groups[::2], preview=lambda at, scores: seen.append(len(at)))
    assert EncoderScorer(encoder).score(task, texts[::2]).tobytes() == whole.tobytes()
    encoder.forget()
    late = LateInteractionScorer(encoder)
    assert (
        late.score(task, texts[::4][:70]).tobytes()
        == late.score(Task("who is cid"), texts[::4][:70]).tobytes()
    )
    assert seen[0] == CHAINS and len(seen) > 3
