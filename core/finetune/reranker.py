"""A cross-encoder, trained from the sentence encoder so that a text that answers a question scores above texts that share its words."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import BadInput
from core.finetune.encoder import WEIGHTS
from core.finetune.loop import Schedule, Training, TrainingState, drawn
from core.finetune.reranker_data import Group, candidates
from core.models.base import Task
from core.models.change import change, changed
from core.models.cross import encoder_weights
from core.models.device import computes_in_bfloat16, device
from core.models.threads import threads
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from torch import Tensor

Score = Callable[[Task, Sequence[str]], np.ndarray]
SHOWN = 10  # places that the figure looks at
WORDS = "word_embeddings"  # half of the weights, which hardly change


@dataclass(frozen=True)
class RerankerSettings:
    """How to train: `batch` groups a step, each of one right text and `negatives` others of at most `tokens` tokens with the question."""

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
    """A classifier of one output over the encoder of a folder; its pooler and classifier begin anew where the folder has none."""

    def __init__(self, folder: Path, tokens: int, seed: int):
        import torch
        import transformers

        torch.set_num_threads(threads())
        torch.manual_seed(seed)
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        kind = transformers.AutoModelForSequenceClassification
        self.net = (
            kind.from_pretrained(str(folder), num_labels=1, local_files_only=True)
            .float()
            .to(device())
        )
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(
            str(folder), local_files_only=True
        )
        self.tokens, self.half = tokens, self.net.device.type == "cpu" and computes_in_bfloat16()

    def scores(self, query: str, texts: Sequence[str]) -> Tensor:
        """float32 [n] with gradients where these are on, and then in bfloat16 where the processor computes in it, which halves the time."""
        import torch

        given = self.tokenizer(
            [query] * len(texts),
            list(texts),
            truncation=True,
            max_length=self.tokens,
            padding=True,
            return_tensors="pt",
        )
        with torch.autocast(
            "cpu", dtype=torch.bfloat16, enabled=self.half and torch.is_grad_enabled()
        ):
            return self.net(**given.to(self.net.device)).logits[:, 0].float()

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        """float64 [n], without gradients."""
        import torch

        self.net.eval()
        with torch.inference_mode():
            return self.scores(task.query, texts).double().cpu().numpy()

    def change(self, folder: Path, rank: int) -> dict[str, np.ndarray]:
        """What makes the weights that were saved in a folder of the encoder's, by matrices of a rank; this has those weights afterwards."""
        import torch
        from safetensors.numpy import load_file

        before = encoder_weights(self.net)
        difference = change(before, load_file(folder / WEIGHTS), rank, WORDS)
        self.net.load_state_dict(
            {name: torch.from_numpy(value) for name, value in changed(before, difference).items()}
        )
        return difference

    def save(self, folder: Path, base: Path) -> None:
        """Write it into a folder that cross-encoders are read from."""
        self.net.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        for name in ("vocab.txt",):
            if (base / name).is_file():
                shutil.copy(base / name, folder / name)


def train(
    base: Path,
    rows: Sequence[Group],
    held: Sequence[Group],
    settings: RerankerSettings,
    work: Path,
    key: str,
    watch: Watch = NO_WATCH,
) -> tuple[TrainableReranker, TrainingState]:
    """The trained model, its best weights in place, and how the training went. The loss is the cross-entropy of finding the right text in
    its group. Raises BadInput, Cancelled, StoreError."""
    if not rows or not held:
        raise BadInput(
            "There are no questions with known documents to train on, or none is held out."
        )
    watch.report("Loading the encoder")
    model = TrainableReranker(base, settings.tokens, settings.seed)
    steps = math.ceil(len(rows) / settings.batch)

    def step(number: int) -> float:
        rng = np.random.default_rng([settings.seed, number // steps])
        order = rng.permutation(len(rows))
        part = order[(number % steps) * settings.batch : (number % steps + 1) * settings.batch]
        return _step(
            model,
            [rows[int(place)] for place in part],
            settings.negatives,
            drawn(settings.seed, number),
        )

    schedule = Schedule(
        steps * settings.epochs,
        settings.rate,
        settings.warmup,
        "linear",
        settings.measure,
        settings.patience,
    )
    weights = {
        name: weight for name, weight in model.net.named_parameters() if weight.requires_grad
    }
    training = Training(
        weights, schedule, step, lambda: figure(model.score, held, watch), work, key, watch
    )
    return model, training.run(settings.seed)


def _step(model: TrainableReranker, part: Sequence[Group], negatives: int, seed: int) -> float:
    """One backward pass over some groups; the mean loss."""
    import torch

    model.net.train()
    rng, total = np.random.default_rng(seed), 0.0
    for group in part:
        others = [
            group.negatives[int(place)]
            for place in rng.permutation(len(group.negatives))[:negatives]
        ]
        right = group.positives[int(rng.integers(len(group.positives)))]
        scores = model.scores(group.question, [right, *others])
        loss = torch.nn.functional.cross_entropy(
            scores[None], torch.zeros(1, dtype=torch.long, device=scores.device)
        ) / len(part)
        loss.backward()
        total += float(loss.detach())
    return total


def figure(score: Score, groups: Sequence[Group], watch: Watch = NO_WATCH) -> float:
    """The mean nDCG@10 of the right texts among the candidates of each group; in a tie a right one comes last.

    >>> from core.finetune.reranker import figure
    >>> from core.finetune.reranker_data import Group
    >>> figure(lambda task, texts: np.array([len(text) for text in texts]), [Group("?", ("bb",), ("a", "ccc"))])  # second of three
    0.630...
    """
    found = []
    for group in groups:
        watch.check()
        texts, right = candidates(group)
        scores = score(Task(group.question), texts)
        order = sorted(
            range(len(texts)), key=lambda place: (-scores[place], place in right, place)
        )[:SHOWN]
        gain = sum(1 / math.log2(2 + place) for place, one in enumerate(order) if one in right)
        found.append(
            gain / sum(1 / math.log2(2 + place) for place in range(min(SHOWN, len(right))))
        )
    return float(np.mean(found))


def described(settings: RerankerSettings) -> dict[str, Any]:
    """The settings as JSON can hold them."""
    return asdict(settings)
