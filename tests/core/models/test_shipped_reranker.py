"""The shipped cross-encoder loads, and ranks evidence above texts that only share its words."""

from __future__ import annotations

import json

import numpy as np
import pytest

from core.corpus import open_corpus
from core.finetune.reranker import mean_ndcg
from core.finetune.reranker_data import question_groups
from core.io.data_folders import data_folder
from core.models.base import Task
from core.models.registry import Registry
from core.models.weights import TRAINING_FILE

NAME = "reranker-minilm"


@pytest.fixture(scope="module")
def registry():
    found = Registry()
    why = found.info(NAME).how_to_get
    if why:
        pytest.skip(why)
    return found


def test_shipped_reranker_ranks_unseen_questions_well(registry):
    unseen = question_groups(open_corpus("hotpotqa"), 1, 5, 0)
    lots = np.random.default_rng(0)
    by_lot = np.mean(
        [mean_ndcg(lambda task, texts: lots.random(len(texts)), unseen) for _ in range(200)]
    )
    assert mean_ndcg(registry.scorer(NAME).score, unseen) > 0.6 > 2 * by_lot


def test_scores_are_the_head_on_hidden_states(registry):
    scorer, task = registry.scorer(NAME), Task("who painted it")
    texts = ["It was painted by Ann in Rome.", "Bob cooks.", "It was painted by Ann in Rome."]
    hidden = scorer.hidden(task, texts)
    assert hidden.shape == (3, 384) and (hidden[0] == hidden[2]).all()
    assert (
        scorer.head(hidden) == pytest.approx(scorer.score(task, texts))
        and scorer.score(task, texts)[0] > scorer.score(task, texts)[1]
    )


def test_model_card_has_figures_and_reranker_can_be_chosen(registry):
    report = json.loads((data_folder("models/reranker") / TRAINING_FILE).read_text("utf-8"))[
        "report"
    ]
    mean = lambda model: np.average(
        [row[model] for row in report], weights=[row["questions"] for row in report]
    )
    assert mean("reranker-finetuned") > mean("late-interaction")
    assert all(
        f"{row['corpus']} {row['reranker-finetuned']:.3f}" in registry.info(NAME).figures
        for row in report
    )
    # That encoder is far better on CACM.
    assert registry.roles["cross-encoder"] == "late-interaction"
