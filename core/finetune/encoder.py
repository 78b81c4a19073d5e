"""Training of the sentence encoder on questions and candidates.

The candidates lead to the answers of the questions.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.errors import BadInput
from core.finetune.loop import (
    Schedule,
    Training,
    TrainingState,
    prepare_libraries,
    step_seed,
    trainable_weights,
)
from core.finetune.training_examples import CANDIDATE_UNITS, TrainingExample
from core.models.device import device
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from torch import Tensor

COSINE_SCALE = 20.0  # factor of cosines, as in sentence-transformers' loss
MAX_TRAINING_TOKENS = 256  # tokens of a text, as many as the served encoder reads
PASS_TOKENS = 1_536  # tokens, with padding, of one pass through the model
UNDIVIDED_TOKENS = 4_096  # tokens, with padding, of the largest batch that is not divided
ENCODER_WEIGHTS = "model.safetensors"


@dataclass(frozen=True)
class EncoderSettings:
    """Settings of the encoder's training.

    Parameters
    ----------
    batch : questions in a step.
    epochs : passes over the questions.
    rate : the largest learning rate.
    warmup : the share of the steps over which the rate rises.
    negatives : wrong candidates of each question. The texts of the other questions in the batch are
        negatives as well.
    positives : "first" for the first right candidate, or "drawn" for a new draw in each epoch.
    units : the units of the candidates.
    measure : steps between two measurements on validation questions.
    patience : measurements in a row without a gain that end the training.
    margin : 0 for `ranking_loss`, as in LEGO-GraphRAG's code; else the margin of `margin_loss`, as
        in its v1.
    """

    batch: int = 32
    epochs: int = 2
    rate: float = 1e-4
    warmup: float = 0.1
    negatives: int = 3
    positives: str = "drawn"
    units: tuple[str, ...] = CANDIDATE_UNITS
    seed: int = 0
    measure: int = 30
    patience: int = 3
    margin: float = 0.0


ENCODER_PRESETS = {
    "cpu": EncoderSettings(),
    "paper": EncoderSettings(
        batch=1024, epochs=10, rate=2e-5, negatives=0, positives="first", measure=5
    ),
}
"""Settings by name.

`paper` follows LEGO-GraphRAG's code, as far as it tells: batch 1024, 10 epochs, the first positive
only. The rate is the default of sentence-transformers. `cpu` takes minutes instead of hours. Its
batches are smaller, and hard negatives make up for that.
"""


@dataclass(frozen=True)
class ContrastiveRow:
    """A question of a batch with a right text and wrong texts.

    `all_positives` are all right texts of the question. None of them may serve as a negative.
    """

    question: str
    positive: str
    negatives: tuple[str, ...]
    all_positives: frozenset[str]


def batches(
    examples: Sequence[TrainingExample], settings: EncoderSettings, epoch: int
) -> list[list[ContrastiveRow]]:
    """Return the batches of an epoch, each with candidates of a single unit.

    Order and draws depend on the seed and the epoch alone. Every example gives a row of each unit.
    A batch of one row without negatives is left out, because it has nothing to contrast with.
    """
    rng = np.random.default_rng([settings.seed, epoch])
    all_batches: list[list[ContrastiveRow]] = []
    for unit in settings.units:
        rows = [
            _draw_row(examples[int(i)], unit, settings, rng) for i in rng.permutation(len(examples))
        ]
        for start in range(0, len(rows), settings.batch):
            all_batches.append(rows[start : start + settings.batch])
    usable_batches = [rows for rows in all_batches if len(rows) > 1 or rows[0].negatives]
    return [usable_batches[int(i)] for i in rng.permutation(len(usable_batches))]


def _draw_row(
    example: TrainingExample, unit: str, settings: EncoderSettings, rng: np.random.Generator
) -> ContrastiveRow:
    candidates = example.candidates(unit)
    index = 0 if settings.positives == "first" else int(rng.integers(len(candidates.positives)))
    negatives = rng.permutation(len(candidates.negatives))[: settings.negatives]
    return ContrastiveRow(
        example.question,
        candidates.positives[index],
        tuple(candidates.negatives[int(i)] for i in negatives),
        frozenset(candidates.positives),
    )


def ranking_loss(questions: Tensor, texts: Tensor, wrong: Tensor) -> Tensor:
    """Return the multiple-negatives ranking loss (Henderson et al. 2017).

    It is the mean cross-entropy of finding text i for question i.

    Parameters
    ----------
    questions : unit rows [b, d].
    texts : unit rows [n, d]; the first b are the questions' own texts.
    wrong : bool [b, n], the texts that a question is contrasted with: its own negatives and the
        texts of the other questions in the batch, without its known positives.
    """
    import torch

    scores = COSINE_SCALE * questions @ texts.T
    positives = torch.eye(len(questions), len(texts), dtype=torch.bool)
    scores = scores.masked_fill(~(wrong | positives).to(scores.device), float("-inf"))
    return torch.nn.functional.cross_entropy(
        scores, torch.arange(len(questions), device=scores.device)
    )


def margin_loss(questions: Tensor, texts: Tensor, wrong: Tensor, margin: float) -> Tensor:
    """Return the mean margin loss over pairs of texts.

    A pair is a question's own text and a wrong text. The loss of a pair is max(0, margin - S(own) +
    S(wrong)), with S the cosine. LEGO-GraphRAG v1, section 4.1, sums over the pairs and gives no
    margin. The arguments are as in `ranking_loss`.
    """
    scores = questions @ texts.T
    # Column i of the diagonal is the cosine of question i with its own text.
    losses = (margin - scores.diagonal()[:, None] + scores).clamp(min=0)
    if wrong.any():
        return losses[wrong.to(scores.device)].mean()
    return losses.sum() * 0  # 0 that can still be differentiated


class TrainableEncoder:
    """The encoder of a folder, which turns texts into unit vectors with gradients.

    It computes in float32, on a graphics card if there is one.
    """

    def __init__(self, folder: Path):
        import torch
        import transformers
        from tokenizers import Tokenizer

        prepare_libraries()
        self._torch = torch
        self.device = device()
        self.net = transformers.AutoModel.from_pretrained(
            str(folder), local_files_only=True, add_pooling_layer=False
        ).float()
        self.net.to(self.device)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TRAINING_TOKENS)

    def encode(self, texts: Sequence[str]) -> Tensor:
        """Return unit vectors [n, d] without gradients, equal to those of the served encoder."""
        self.net.eval()
        with self._torch.inference_mode():
            return self._encode_parts(self._parts(texts), len(texts), None)

    def backward(self, texts: Sequence[str], loss: Callable[[Tensor], Tensor], seed: int) -> float:
        """Add the gradients of a loss of the texts' unit vectors; return the loss.

        `loss` takes the vectors [n, d]. A batch of over `UNDIVIDED_TOKENS` tokens is divided. Its
        parts are encoded without gradients, the gradients at the vectors are computed, and each
        part is encoded again with gradients (Gao et al. 2021). The result is the same, because
        `seed` fixes the dropout of each part.
        """
        self.net.train()
        parts = self._parts(texts)
        if sum(ids.size for _, ids in parts) <= UNDIVIDED_TOKENS:
            value = loss(self._encode_parts(parts, len(texts), seed))
            value.backward()
            return float(value.detach())
        with self._torch.no_grad():
            vectors = self._encode_parts(parts, len(texts), seed)
        vectors.requires_grad_()
        value = loss(vectors)
        value.backward()
        gradients = vectors.grad
        assert gradients is not None  # set by value.backward()
        for index, (rows, ids) in enumerate(parts):
            part_gradients = gradients[self._torch.from_numpy(rows).to(self.device)]
            # The gradient of this sum is the loss's gradient, by the chain rule.
            (self._encode_part(ids, seed + index) * part_gradients).sum().backward()
        return float(value.detach())

    def save(self, folder: Path, base: Path) -> None:
        """Write the weights into `folder`, with the other files of the base folder."""
        from safetensors.torch import save_file

        ignored_files = shutil.ignore_patterns(
            "*.safetensors", "*.bin", "*.onnx", "README.md", ".*", "training.json"
        )
        shutil.copytree(base, folder, ignore=ignored_files, dirs_exist_ok=True)
        weights = {
            name: value.detach().cpu().contiguous() for name, value in self.net.state_dict().items()
        }
        save_file(weights, folder / ENCODER_WEIGHTS)

    def _parts(self, texts: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the texts, shortest first, in parts of at most `PASS_TOKENS` tokens.

        A part has the indices of its texts, int [m], and their token ids, padded with -1, int
        [m, tokens].
        """
        codes = [code.ids for code in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(codes)), key=lambda i: (len(codes[i]), i))
        rows_by_pass: list[list[int]] = []
        for index in order:
            if not rows_by_pass or (len(rows_by_pass[-1]) + 1) * len(codes[index]) > PASS_TOKENS:
                rows_by_pass.append([])
            rows_by_pass[-1].append(index)
        parts = []
        for rows in rows_by_pass:
            width = len(codes[rows[-1]])  # the longest, since the order is by length
            padded_ids = [codes[row] + [-1] * (width - len(codes[row])) for row in rows]
            parts.append((np.array(rows), np.array(padded_ids, np.int64)))
        return parts

    def _encode_parts(
        self, parts: list[tuple[np.ndarray, np.ndarray]], n: int, seed: int | None
    ) -> Tensor:
        """Return the vectors of all n texts in their original order.

        With a seed, dropout is drawn from it, and differently in each part.
        """
        vectors = [
            self._encode_part(ids, None if seed is None else seed + index)
            for index, (_, ids) in enumerate(parts)
        ]
        inverse = np.empty(n, np.int64)
        inverse[np.concatenate([rows for rows, _ in parts])] = np.arange(n)
        return self._torch.cat(vectors)[self._torch.from_numpy(inverse).to(self.device)]

    def _encode_part(self, ids: np.ndarray, seed: int | None) -> Tensor:
        if seed is not None:
            self._torch.manual_seed(seed)
        codes = self._torch.from_numpy(ids).to(self.device)
        mask = (codes >= 0).long()
        tokens = self.net(input_ids=codes.clamp(min=0), attention_mask=mask).last_hidden_state
        # The mean over the tokens, without padding, is the vector of a text.
        mean = (tokens * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return self._torch.nn.functional.normalize(mean, dim=1)


def train_encoder(
    base: Path,
    examples: Sequence[TrainingExample],
    validation: Sequence[TrainingExample],
    settings: EncoderSettings,
    work: Path,
    key: str,
    watch: Watch = NO_WATCH,
) -> tuple[TrainableEncoder, TrainingState]:
    """Train an encoder, and return it with its best weights and its training state.

    Raises BadInput, RunCancelled, StoreError.

    Parameters
    ----------
    base : the folder of the encoder to begin from.
    examples : training examples.
    validation : examples for early stopping.
    settings : the settings of the training.
    work : the folder of the intermediate state.
    key : a digest of everything that the result depends on.
    watch : receives the progress, and can cancel the work.
    """
    if not examples or not validation:
        raise BadInput(
            "No training question, or none of those held out, has a path to a correct answer within "
            "four hops."
        )
    watch.report("Loading the encoder")
    model = TrainableEncoder(base)
    steps_per_epoch = len(batches(examples, settings, 0))
    epoch_batches = lru_cache(maxsize=1)(partial(batches, examples, settings))

    def step(number: int) -> float:
        epoch, index = divmod(number, steps_per_epoch)
        rows = epoch_batches(epoch)[index]
        return _step(model, rows, step_seed(settings.seed, number), settings.margin)

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
        lambda: reciprocal_rank(model, validation, watch),
        work,
        key,
        watch,
    )
    return model, training.run(settings.seed)


def _step(
    model: TrainableEncoder, rows: Sequence[ContrastiveRow], seed: int, margin: float
) -> float:
    """Add the gradients of a batch; return its loss."""
    import torch

    questions = [row.question for row in rows]
    texts = [row.positive for row in rows]
    texts += chain.from_iterable(row.negatives for row in rows)
    # The texts of all rows are wrong for a question, except those that are right for it too.
    wrong = torch.tensor([[text not in row.all_positives for text in texts] for row in rows])
    n = len(questions)

    def loss(vectors: Tensor) -> Tensor:
        if margin:
            return margin_loss(vectors[:n], vectors[n:], wrong, margin)
        return ranking_loss(vectors[:n], vectors[n:], wrong)

    return model.backward(questions + texts, loss, seed)


def reciprocal_rank(
    model: TrainableEncoder, examples: Sequence[TrainingExample], watch: Watch = NO_WATCH
) -> float:
    """Return the mean reciprocal rank of each question's first right path.

    It is ranked among the wrong paths of the question. In a tie the right path comes last.
    """
    reciprocal_ranks = []
    for example in examples:
        watch.check()
        paths = example.candidates("path")
        vectors = model.encode([example.question, paths.positives[0], *paths.negatives])
        scores = (vectors[1:] @ vectors[0]).cpu().numpy()
        reciprocal_ranks.append(1 / (1 + int((scores[1:] >= scores[0]).sum())))
    return float(np.mean(reciprocal_ranks))
