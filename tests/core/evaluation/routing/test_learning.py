"""Learning of routing rules: folds, leakage, the price of cost, missing features."""

import numpy as np
import pytest

from core.errors import BadInput
from core.evaluation.routing import learning
from core.evaluation.routing.learning import (
    ROUTING,
    RoutingRows,
    choose_arms,
    fit_arms,
    folds,
    learn,
    taken,
    unseen_arms,
)

COSTS = (1.0, 10.0)


def rows(quality, features=None, groups=None, costs=COSTS):
    quality = np.asarray(quality, float)
    features = [{} for _ in quality] if features is None else features
    groups = np.arange(len(quality)) if groups is None else np.asarray(groups)
    return RoutingRows(features, quality, np.tile(costs, (len(quality), 1)), groups)


def two_kinds(n=120, seed=0):
    """Questions with the word “far”, which only the dear arm answers, and others, which both do."""
    is_far = np.random.default_rng(seed).random(n) < 0.5
    features = [{"words": 5.0, "word:far": 1.0} if far else {"words": 5.0} for far in is_far]
    return is_far, rows([[0.0 if far else 1.0, 1.0] for far in is_far], features)


def test_folds_never_divide_a_group():
    groups = np.repeat(np.arange(20), 3)
    splits = folds(groups, 5, 0)
    assert sorted(np.concatenate([test for _, test in splits]).tolist()) == list(range(60))
    for train, test in splits:
        assert not set(groups[train].tolist()) & set(groups[test].tolist())


def test_no_inner_fold_sees_a_question_of_its_outer_test(monkeypatch):
    _, data = two_kinds()
    data.groups[:] = np.arange(len(data)) // 2
    seen, tests, real = [], [], learning.folds

    def watched(groups, count, seed):
        splits = real(groups, count, seed)
        if count == ROUTING.outer_folds:
            tests.extend(set(groups[test].tolist()) for _, test in splits)
        else:
            seen.append(set(groups.tolist()))
            assert all(
                not set(groups[train].tolist()) & set(groups[test].tolist())
                for train, test in splits
            )
        return splits

    monkeypatch.setattr(learning, "folds", watched)
    unseen_arms(data, 0)
    assert len(seen) == len(tests) == ROUTING.outer_folds
    assert all(not inner & outer for inner, outer in zip(seen, tests))


def test_a_word_that_decides_is_learned():
    is_far, data = two_kinds()
    arms = unseen_arms(data, 0)
    assert arms.tolist() == is_far.astype(int).tolist()
    fit, price = learn(data, 0)
    assert price > 0  # else equal predictions, off by a rounding, would take the dear arm
    chosen = choose_arms(
        fit.predict([{"words": 5.0}, {"word:far": 1.0}]), data.relative_costs, price
    )
    assert chosen.tolist() == [0, 1]


def test_random_labels_give_no_gain():
    gains = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        _, data = two_kinds(200, seed)
        quality = (rng.random((200, 2)) < 0.6).astype(float)
        noisy = rows(quality, data.features, costs=(1.0, 1.0))
        arms = unseen_arms(noisy, 0)
        gains.append(taken(quality, arms).mean() - quality.mean(0).max())
    assert np.max(quality.max(1)) == 1 and np.mean(quality.max(1)) - quality.mean(0).max() > 0.15
    assert np.mean(gains) < 0.01


def test_labels_of_the_test_fold_change_nothing_in_its_arms():
    _, data = two_kinds()
    train, test = folds(data.groups, ROUTING.outer_folds, 3)[0]
    before = unseen_arms(data, 3)
    changed = data.quality.copy()
    changed[test] = 1 - changed[test]
    after = unseen_arms(RoutingRows(data.features, changed, data.costs, data.groups), 3)
    assert after[test].tolist() == before[test].tolist()


def test_a_missing_feature_counts_as_the_mean():
    features = [{"best": float(n)} if n % 2 else {} for n in range(100)]
    fit = fit_arms(rows([[n / 100, 0.5] for n in range(100)], features), 1.0)
    assert fit.features == ("best",) and fit.means.tolist() == [50.0]
    assert fit.predict([{}]).tolist() == fit.predict([{"best": 50.0}]).tolist()
    assert fit.predict([{"best": 90.0}])[0, 0] > fit.predict([{}])[0, 0]


def test_a_constant_feature_is_no_division_by_zero():
    fit = fit_arms(rows(np.ones((60, 2)), [{"seeds": 1.0}] * 60), 1.0)
    assert fit.scales.tolist() == [1.0] and np.isfinite(fit.predict([{"seeds": 9.0}])).all()


def test_rare_words_and_words_of_every_question_are_no_features():
    features = [
        {"word:the": 1.0, "word:rare": 1.0} if n < 2 else {"word:the": 1.0} for n in range(60)
    ]
    features[5] |= {"word:half": 1.0}
    for row in features[:30]:
        row["word:half"] = 1.0
    assert fit_arms(rows(np.ones((60, 2)), features), 1.0).features == ("word:half",)


def test_too_few_questions_are_refused_and_repeated_ones_count_once():
    with pytest.raises(BadInput, match="50 different questions"):
        unseen_arms(rows(np.ones((120, 2)), groups=np.arange(120) // 3), 0)
