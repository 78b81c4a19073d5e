"""The encoder's loss by hand, its batches, and training of a small BERT with a resume."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from core.errors import BadInput, RunCancelled
from core.finetune import encoder
from core.finetune.encoder import (
    ENCODER_PRESETS,
    EncoderSettings,
    TrainableEncoder,
    batches,
    margin_loss,
    ranking_loss,
    reciprocal_rank,
    train_encoder,
)
from core.finetune.training_folders import publish
from core.watch import NO_WATCH, Watch

FAST = EncoderSettings(batch=16, epochs=4, rate=5e-3, negatives=2, measure=8, patience=99)


def test_loss_matches_a_hand_computed_value():
    questions = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    texts = torch.tensor([[0.8, 0.6], [0.6, 0.8], [0.7, 0.0]])
    every = torch.tensor([[False, True, True], [True, False, True]])
    # Question 1 has the cosines .8 (positive), .6 and .7; question 2 has .8 (positive), .6 and 0.
    # All are multiplied by 20.
    first = math.log(1 + math.exp(-4) + math.exp(-2))
    second = math.log(1 + math.exp(-4) + math.exp(-16))
    assert float(ranking_loss(questions, texts, every)) == pytest.approx(
        (first + second) / 2, rel=1e-5
    )
    # The third text also leads to an answer of question 1.
    spared = torch.tensor([[False, True, False], [True, False, True]])
    assert float(ranking_loss(questions, texts, spared)) == pytest.approx(
        (math.log(1 + math.exp(-4)) + second) / 2, rel=1e-5
    )


def test_margin_loss_matches_a_hand_computed_value():
    questions = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    texts = torch.tensor([[0.8, 0.6], [0.6, 0.8], [0.7, 0.0]])
    wrong = torch.tensor([[False, True, False], [True, False, True]])
    # Margin .5: .5 - .8 + .6 = .3, again .3, and .5 - .8 + 0 < 0, so 0: (.3 + .3 + 0) / 3.
    assert float(margin_loss(questions, texts, wrong, 0.5)) == pytest.approx(0.2)
    assert float(margin_loss(questions, texts, wrong, 0.1)) == 0
    assert float(margin_loss(questions, texts, torch.zeros((2, 3), dtype=torch.bool), 0.5)) == 0


def test_margin_training_helps(bert, lesson, tmp_path):
    before = reciprocal_rank(TrainableEncoder(bert), lesson[1])
    model, _ = train_encoder(bert, *lesson, replace(FAST, margin=0.3), tmp_path, "m", NO_WATCH)
    assert reciprocal_rank(model, lesson[1]) > before


def test_epoch_has_every_question_at_every_unit(lesson):
    found = batches(lesson[0], FAST, 0)
    assert sum(map(len, found)) == 3 * 32 and len(found) == 3 * 2
    for rows in found:
        # Each batch has paths or triples of one unit.
        assert (
            len({row.positive.count(" -> ") + 10 * row.positive.count(", ") for row in rows}) == 1
        )
        assert all(
            len(row.negatives) == 2
            and not set(row.negatives) & row.all_positives
            and row.positive in row.all_positives
            for row in rows
        )
    assert batches(lesson[0], FAST, 0) == found != batches(lesson[0], FAST, 1)
    plain = batches(lesson[0], replace(ENCODER_PRESETS["paper"], seed=1), 3)
    assert [len(rows) for rows in plain] == [32] * 3 and all(
        row.negatives == () for rows in plain for row in rows
    )


def test_split_batch_has_equal_gradients(bert, monkeypatch):
    texts = [f"ant -> maker -> bee {i}" for i in range(6)]
    loss = lambda vectors: ranking_loss(
        vectors[:2], vectors[2:], torch.ones((2, 4), dtype=torch.bool)
    )
    found = []
    for part, direct in ((64, 10**6), (64, 0)):
        monkeypatch.setattr(encoder, "PASS_TOKENS", part)
        monkeypatch.setattr(encoder, "UNDIVIDED_TOKENS", direct)
        model = TrainableEncoder(bert)
        value = model.backward(texts, loss, seed=5)
        found.append((value, torch.cat([weight.grad.ravel() for weight in model.net.parameters()])))
    assert len(model._parts(texts)) == 2
    assert (
        found[0][0] == found[1][0]
        and torch.allclose(found[0][1], found[1][1], atol=1e-6)
        and float(found[0][1].abs().max()) > 1e-3
    )


def test_training_helps_and_is_resumed_exactly_and_served(bert, lesson, tmp_path):
    (tmp_path / "whole").mkdir(), (tmp_path / "cut").mkdir()
    before = reciprocal_rank(TrainableEncoder(bert), lesson[1])
    whole, state = train_encoder(bert, *lesson, FAST, tmp_path / "whole", "k", NO_WATCH)
    losses = [loss for _, loss, _ in state.looks[1:]]
    assert state.step == 24 and losses[-1] < losses[0] / 2
    assert reciprocal_rank(whole, lesson[1]) == state.figure > before == state.looks[0][2]

    with pytest.raises(RunCancelled):
        train_encoder(bert, *lesson, FAST, tmp_path / "cut", "k", Watch(_cancel_after(30)))
    resumed, _ = train_encoder(bert, *lesson, FAST, tmp_path / "cut", "k", NO_WATCH)
    for name, weight in whole.net.state_dict().items():
        assert torch.equal(weight, resumed.net.state_dict()[name]), name
    publish(tmp_path / "made", {}, lambda folder: whole.save(folder, bert))
    texts = [lesson[1][0].question, *lesson[1][0].candidates("path").negatives]
    for backend in ("torch", "openvino"):
        served = _served(tmp_path / "made", backend).encode(texts)
        assert np.allclose((served * whole.encode(texts).numpy()).sum(1), 1, atol=1e-3)


def _cancel_after(calls: int):
    """A check that cancels at its `calls`-th call."""
    count = iter(range(1, 10**6))

    def check() -> None:
        if next(count) >= calls:
            raise RunCancelled()

    return check


def _served(folder, backend):
    from core.models.encoders.minilm import MiniLMEncoder

    return MiniLMEncoder(folder, backend, "f32")


def test_missing_examples_are_reported(bert, tmp_path):
    with pytest.raises(BadInput, match="has a path to a correct answer"):
        train_encoder(bert, [], [], FAST, tmp_path, "k", NO_WATCH)
