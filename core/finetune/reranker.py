"""Training of a cross-encoder reranker, which begins from the sentence encoder.

A text that answers a question learns to score above texts that only share its words.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.errors import BadInput
from core.finetune.encoder import ENCODER_WEIGHTS
from core.finetune.loop import (
    Schedule,
    Training,
    TrainingState,
    prepare_libraries,
    step_seed,
    trainable_weights,
)
from core.finetune.reranker_data import Group, ranking_candidates
from core.models.base import Task
from core.models.cross import encoder_weights
from core.models.device import computes_in_bfloat16, device
from core.models.weight_differences import apply_difference, low_rank_difference
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from torch import Tensor

Score = Callable[[Task, Sequence[str]], np.ndarray]
NDCG_RANKS = 10  # ranks that nDCG counts
WORD_EMBEDDINGS = "word_embeddings"  # name of half of the weights, hardly changed by training


@dataclass(frozen=True)
class RerankerSettings:
    """Settings of the reranker's training.

    Parameters
    ----------
    batch : groups in a step.
    epochs : passes over the groups.
    rate : the largest learning rate.
    warmup : the share of the steps over which the rate rises.
    negatives : wrong texts in a group, besides one right text.
    tokens : the maximum number of tokens of question and text together.
    measure : steps between two measurements on validation groups.
    patience : measurements in a row without a gain that end the training.
    """

    batch: int = 8
    epochs: int = 3
    rate: float = 1e-4
    warmup: float = 0.1
    negatives: int = 5
    tokens: int = 192
    seed: int = 0
    measure: int = 100
    patience: int = 3


class TrainableReranker:
    """A classifier with one output over the encoder of a folder.

    Its pooler and classifier are initialised at random if the folder has none.
    """

    def __init__(self, folder: Path, tokens: int, seed: int):
        import torch
        import transformers

        prepare_libraries()
        torch.manual_seed(seed)
        net = transformers.AutoModelForSequenceClassification.from_pretrained(
            str(folder), num_labels=1, local_files_only=True
        )
        self.net = net.float().to(device())
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(
            str(folder), local_files_only=True
        )
        self.tokens = tokens
        self.uses_bfloat16 = self.net.device.type == "cpu" and computes_in_bfloat16()

    def scores(self, query: str, texts: Sequence[str]) -> Tensor:
        """Return the scores of texts for a query, float32 [n].

        With gradients enabled, the scores have gradients. They are then computed in bfloat16 if the
        processor supports it, which halves the time.
        """
        import torch

        inputs = self.tokenizer(
            [query] * len(texts),
            list(texts),
            truncation=True,
            max_length=self.tokens,
            padding=True,
            return_tensors="pt",
        )
        with torch.autocast(
            "cpu", dtype=torch.bfloat16, enabled=self.uses_bfloat16 and torch.is_grad_enabled()
        ):
            return self.net(**inputs.to(self.net.device)).logits[:, 0].float()

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        """Return the scores of texts for a task, float64 [n], without gradients."""
        import torch

        self.net.eval()
        with torch.inference_mode():
            return self.scores(task.query, texts).double().cpu().numpy()

    def load_low_rank_difference(self, folder: Path, rank: int) -> dict[str, np.ndarray]:
        """Load a folder's weights as a low-rank change of the encoder's.

        The change, whose matrices have the given rank, approximates them. It is returned by name.
        Word embeddings are not changed.
        """
        import torch
        from safetensors.numpy import load_file

        before = encoder_weights(self.net)
        difference = low_rank_difference(
            before, load_file(folder / ENCODER_WEIGHTS), rank, WORD_EMBEDDINGS
        )
        after = apply_difference(before, difference)
        self.net.load_state_dict({name: torch.from_numpy(value) for name, value in after.items()})
        return difference

    def save(self, folder: Path, base: Path) -> None:
        """Write the model into a folder, in the form that cross-encoders are loaded from."""
        self.net.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        if (base / "vocab.txt").is_file():
            shutil.copy(base / "vocab.txt", folder / "vocab.txt")


def train_reranker(
    base: Path,
    groups: Sequence[Group],
    validation: Sequence[Group],
    settings: RerankerSettings,
    work: Path,
    key: str,
    watch: Watch = NO_WATCH,
) -> tuple[TrainableReranker, TrainingState]:
    """Train a reranker, and return it with its best weights and its training state.

    The loss is the cross-entropy of finding the right text in its group. Raises BadInput,
    RunCancelled, StoreError.

    Parameters
    ----------
    base : the folder of the encoder.
    groups : training groups.
    validation : groups for early stopping.
    settings : the settings of the training.
    work : the folder of the intermediate state.
    key : a digest of everything that the result depends on.
    watch : receives the progress, and can cancel the work.
    """
    if not groups or not validation:
        raise BadInput(
            "There are no questions with known documents to train on, or none is held out."
        )
    watch.report("Loading the encoder")
    model = TrainableReranker(base, settings.tokens, settings.seed)
    steps_per_epoch = math.ceil(len(groups) / settings.batch)

    def step(number: int) -> float:
        epoch, index = divmod(number, steps_per_epoch)
        order = np.random.default_rng([settings.seed, epoch]).permutation(len(groups))
        start = index * settings.batch
        batch = [groups[int(i)] for i in order[start : start + settings.batch]]
        return _step(model, batch, settings.negatives, step_seed(settings.seed, number))

    schedule = Schedule(
        steps_per_epoch * settings.epochs,
        settings.rate,
        settings.warmup,
        "linear",
        settings.measure,
        settings.patience,
    )
    training = Training(
        trainable_weights(model.net),
        schedule,
        step,
        lambda: mean_ndcg(model.score, validation, watch),
        work,
        key,
        watch,
    )
    return model, training.run(settings.seed)


def _step(model: TrainableReranker, groups: Sequence[Group], negatives: int, seed: int) -> float:
    """Add the gradients of the mean loss of some groups; return that loss."""
    import torch

    model.net.train()
    rng = np.random.default_rng(seed)
    total = 0.0
    for group in groups:
        drawn_indices = rng.permutation(len(group.negatives))[:negatives]
        wrong = [group.negatives[int(index)] for index in drawn_indices]
        right = group.positives[int(rng.integers(len(group.positives)))]
        scores = model.scores(group.question, [right, *wrong])
        # The right text is the class 0 among the texts of the group.
        loss = torch.nn.functional.cross_entropy(
            scores[None], torch.zeros(1, dtype=torch.long, device=scores.device)
        ) / len(groups)
        loss.backward()
        total += float(loss.detach())
    return total


def mean_ndcg(score: Score, groups: Sequence[Group], watch: Watch = NO_WATCH) -> float:
    """Return the mean nDCG@10 of the right texts among all texts of each group.

    In a tie a right text comes last.

    >>> from core.finetune.reranker import mean_ndcg
    >>> from core.finetune.reranker_data import Group
    >>> mean_ndcg(lambda task, texts: np.array([len(text) for text in texts]),
    ...     [Group("?", ("bb",), ("a", "ccc"))])  # rank 2: 1 / log2(3)
    0.630...
    """
    figures = []
    for group in groups:
        watch.check()
        texts, right = ranking_candidates(group)
        scores = score(Task(group.question), texts)
        order = sorted(
            range(len(texts)), key=lambda index: (-scores[index], index in right, index)
        )[:NDCG_RANKS]
        right_ranks = [rank for rank, index in enumerate(order, 1) if index in right]
        best_ranks = range(1, min(NDCG_RANKS, len(right)) + 1)
        figures.append(_discounted_gain(right_ranks) / _discounted_gain(best_ranks))
    return float(np.mean(figures))


def _discounted_gain(ranks: Iterable[int]) -> float:
    return sum(1 / math.log2(1 + rank) for rank in ranks)
