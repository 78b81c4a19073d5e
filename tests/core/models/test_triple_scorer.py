"""The triple scorer: hand-computed scores, its file, and training on a graph with one signal.

Only the relation of a triple shows whether it is right.
"""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import BadInput, RunCancelled, StoreError
from core.finetune.triples import (
    ScoredQuestion,
    TripleSettings,
    save_weights,
    shortest_path_mask,
    train_scorer,
    triple_logits,
)
from core.graph.algorithms.directional import directional_distances, distance_width
from core.models import triple_scorer as module
from core.models.triple_scorer import TripleScorer, load_triple_scorer
from core.watch import NO_WATCH, Watch


def hand_made_scorer(**weights):
    """A scorer with one hidden unit over vectors of two numbers.

    Weights that are not given are 0, except those of the last layer.
    """
    shapes = {
        "question": (2, 1),
        "head": (2, 1),
        "relation": (2, 1),
        "tail": (2, 1),
        "head_place": (distance_width(), 1),
        "tail_place": (distance_width(), 1),
    }
    made = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    made |= {
        "bias": np.zeros(1, np.float32),
        "out": np.ones(1, np.float32),
        "out_bias": np.zeros(1, np.float32),
    }
    return TripleScorer(
        made | {name: np.asarray(value, np.float32) for name, value in weights.items()}
    )


def test_scores_by_hand():
    # The hidden value is the relation's first number plus the tail's second. sigmoid(0) = .5,
    # sigmoid(1) = .731059, sigmoid(3) = .952574.
    scorer = hand_made_scorer(relation=[[1], [0]], tail=[[0], [1]])
    nodes, relations = (
        np.array([[9, 0], [9, 2]], np.float32),
        np.array([[1, 9], [-5, 9]], np.float32),
    )
    triples = (np.array([0, 0, 1]), np.array([1, 0, 0]), np.array([1, 0, 1]))
    found = scorer.scores(
        np.zeros(2, np.float32),
        nodes,
        relations,
        np.zeros((2, distance_width()), np.float32),
        triples,
    )
    assert found == pytest.approx([0.5, 0.731059, 0.952574], abs=1e-6)  # -5 + 2 is cut to 0.


def test_distance_of_a_triple_counts():
    places = directional_distances(np.array([0]), np.array([1]), np.array([True, False]))
    # The weight applies to heads that are question entities.
    scorer = hand_made_scorer(head_place=[[0], [2]] + [[0]] * 8)
    zeros = np.zeros((2, 2), np.float32)
    found = scorer.scores(
        zeros[0], zeros, zeros[:1], places, (np.array([0, 1]), np.array([0, 0]), np.array([1, 0]))
    )
    assert found == pytest.approx([1 / (1 + np.exp(-2)), 0.5])


def test_wrong_encoder_is_reported(tmp_path):
    with pytest.raises(BadInput, match="2 numbers; .* 3"):
        hand_made_scorer().scores(
            np.zeros(3),
            np.zeros((1, 3)),
            np.zeros((1, 3)),
            np.zeros((1, distance_width())),
            (np.array([0]),) * 3,
        )


def test_own_scorer_precedes_the_shipped_one(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_MODELS", str(tmp_path))
    assert load_triple_scorer().dimension == 384
    from safetensors.numpy import save_file

    (tmp_path / module.TRIPLE_SCORER_NAME).mkdir()
    save_file(
        hand_made_scorer().weights, tmp_path / module.TRIPLE_SCORER_NAME / module.TRIPLE_SCORER_FILE
    )
    assert load_triple_scorer().dimension == 2
    save_file(
        {"other": np.zeros(1, np.float32)},
        tmp_path / module.TRIPLE_SCORER_NAME / module.TRIPLE_SCORER_FILE,
    )
    with pytest.raises(StoreError, match=r"is no triple scorer\.\n.*finetune triples"):
        load_triple_scorer()
    (tmp_path / module.TRIPLE_SCORER_NAME / module.TRIPLE_SCORER_FILE).write_bytes(
        b"nothing of the sort"
    )
    with pytest.raises(StoreError, match="cannot be read"):
        load_triple_scorer()


def test_right_triples_lie_on_shortest_paths():
    # 0-1-3 and 0-2-3 are shortest paths, 0-4-5-3 is not. The direction of a triple does not matter.
    heads, tails = np.array([0, 3, 0, 2, 0, 4, 5]), np.array([1, 1, 2, 3, 4, 5, 3])
    assert shortest_path_mask(heads, tails, [0], [3], 6).tolist() == [
        True,
        True,
        True,
        True,
        False,
        False,
        False,
    ]
    assert (
        not shortest_path_mask(heads, tails, [0], [], 6).any()
        and not shortest_path_mask(heads, tails, [0], [0], 6).any()
    )
    assert not shortest_path_mask(
        heads[:1], tails[:1], [0], [5], 6
    ).any()  # No path leads to node 5.


def questions(seed, many=12):
    """Yield questions that name one of two relations.

    The triple of that relation at the question entity is right.
    """
    rng = np.random.default_rng(seed)
    for _ in range(many):
        which = int(rng.integers(2))
        heads, kinds, tails = np.zeros(6, np.int64), np.array([0, 1, 0, 1, 0, 1]), np.arange(1, 7)
        places = directional_distances(heads, tails, np.eye(7, dtype=bool)[0])
        names = np.eye(2, dtype=np.float32)
        yield ScoredQuestion(
            (names[which], rng.random((7, 2), np.float32), names, places, (heads, kinds, tails)),
            kinds == which,
        )


def test_training_learns_the_named_relation(tmp_path):
    settings = TripleSettings(hidden=16, epochs=30, rate=1e-2)
    weights, state = train_scorer(
        list(questions(1)),
        list(questions(2, 4)),
        settings,
        tmp_path,
        "key",
        NO_WATCH,
    )
    save_weights(weights, tmp_path)
    from safetensors.numpy import load_file

    scorer = TripleScorer(
        {
            name: values.astype(np.float32)
            for name, values in load_file(tmp_path / module.TRIPLE_SCORER_FILE).items()
        }
    )
    for one in questions(3):
        found = scorer.scores(*one.features)
        assert found[one.right].min() > found[~one.right].max()
        # The saved weights have half precision.
        assert 1 / (1 + np.exp(-triple_logits(weights, one).numpy())) == pytest.approx(
            found, abs=5e-3
        )


def test_stopped_training_is_resumed(tmp_path):
    settings, asked = (
        TripleSettings(hidden=4, epochs=4),
        (list(questions(1)), list(questions(2, 2))),
    )
    steps = iter(range(20))

    def stop():
        if next(steps) == 17:
            raise RunCancelled()

    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    with pytest.raises(RunCancelled):
        train_scorer(*asked, settings, tmp_path / "a", "key", Watch(stop))
    resumed, _ = train_scorer(*asked, settings, tmp_path / "a", "key", NO_WATCH)
    whole, _ = train_scorer(*asked, settings, tmp_path / "b", "key", NO_WATCH)
    assert all((resumed[name] == whole[name]).all() for name in whole)


def test_missing_examples_are_reported(tmp_path):
    with pytest.raises(BadInput, match="nothing to train on"):
        train_scorer([], [], TripleSettings(), tmp_path, "key", NO_WATCH)
