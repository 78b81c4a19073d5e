"""A training loop that can be killed at any moment and resumed.

It serves all models of this package. Its state is saved as safetensors and JSON. Nothing is
pickled.
"""

from __future__ import annotations

import ctypes
import json
import logging
import math
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import RunCancelled, StoreError
from core.indexes.index_storage import write_atomically
from core.io.durable_files import write_whole
from core.io.durations import duration_text
from core.models.threads import thread_count
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

log = logging.getLogger(__name__)
# Parameters of mallopt, from glibc's malloc.h.
MMAP_THRESHOLD = -3
TRIM_THRESHOLD = -1
STATE_FILE = "state.json"
OPTIMIZER_MOMENTS = ("exp_avg", "exp_avg_sq")
MAX_GRADIENT_NORM = 1.0  # norm to which gradients are clipped


@dataclass(frozen=True)
class Schedule:
    """The learning rate over the steps, and the intervals of measuring and saving.

    The rate rises linearly, then falls to 0 at the last step.

    Parameters
    ----------
    steps : number of all steps.
    rate : the largest learning rate.
    warmup : the share of the steps over which the rate rises, 0 to 1.
    shape : the form of the fall, "linear" or "cosine".
    measure_steps : steps between two measurements on validation data.
    patience : measurements in a row without a gain that end the training.
    save_seconds : seconds between two saves of the state.
    """

    steps: int
    rate: float
    warmup: float = 0.1
    shape: str = "linear"
    measure_steps: int = 50
    patience: int = 3
    save_seconds: float = 60.0

    def rate_at(self, step: int) -> float:
        """Return the learning rate of a step, counted from 0."""
        warmup_steps = math.ceil(self.warmup * self.steps)
        if step < warmup_steps:
            return self.rate * (step + 1) / warmup_steps
        elapsed = (step - warmup_steps) / max(1, self.steps - warmup_steps)
        if self.shape == "linear":
            return self.rate * (1 - elapsed)
        return self.rate * (0.5 * (1 + math.cos(math.pi * elapsed)))


def step_seed(seed: int, number: int) -> int:
    """Return the seed of a step.

    It has 48 bits, so that callers can add small numbers without exceeding torch's 64 bits.
    """
    import numpy as np

    return int(np.random.SeedSequence((seed, number)).generate_state(1, np.uint64)[0] >> 16)


def prepare_libraries() -> None:
    """Set torch's number of threads, and switch off messages and progress bars of transformers."""
    import torch
    import transformers

    torch.set_num_threads(thread_count())
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()


def trainable_weights(net: Module) -> dict[str, Tensor]:
    """Return the weights of a network that are trained, by name."""
    return {name: weight for name, weight in net.named_parameters() if weight.requires_grad}


def reuse_freed_memory() -> None:
    """Make glibc keep freed memory for the next step.

    By default it returns large blocks to the system at once and requests them again, several times
    a step. On a virtual machine that took more than half of the time.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform != "win32" else None
    if mallopt:
        mallopt(MMAP_THRESHOLD, 1 << 30)
        mallopt(TRIM_THRESHOLD, (1 << 31) - 1)


@dataclass
class TrainingState:
    """The progress of a training, saved as JSON.

    Parameters
    ----------
    step : number of steps done.
    best : number of steps after which the figure was best.
    figure : the best figure on the validation data; larger is better.
    stale : number of measurements since the best one.
    looks : (step, mean loss since the last measurement, figure) of each measurement. The loss is
        None for the first one, before any step.
    losses : losses of the steps since the last measurement.
    """

    step: int = 0
    best: int = 0
    figure: float = -math.inf
    stale: int = 0
    looks: list[tuple[int, float | None, float]] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)


@dataclass
class Training:
    """A training that changes weights in place.

    A run with the same `key` continues where the last one stopped. On the same processor and number
    of threads the result is the same, bit by bit, as without a stop.

    Parameters
    ----------
    weights : the tensors to train, by name.
    schedule : the learning rate and the intervals.
    step : does the forward and backward pass of a step, counted from 0, and returns its loss.
    measure : returns the figure of the current weights on the validation data; larger is better.
    folder : the folder of the saved state.
    key : a digest of everything that the result depends on.
    watch : receives the progress, and can cancel the work.
    """

    weights: Mapping[str, Tensor]
    schedule: Schedule
    step: Callable[[int], float]
    measure: Callable[[], float]
    folder: Path
    key: str
    watch: Watch = NO_WATCH

    def run(self, seed: int) -> TrainingState:
        """Train to the end and leave the best weights in place.

        Raises RunCancelled, after the state is saved, and StoreError.
        """
        import torch

        reuse_freed_memory()
        self._optimizer = torch.optim.AdamW(
            list(self.weights.values()), lr=self.schedule.rate, weight_decay=0.01
        )
        state = self._load_state() or TrainingState()
        start = saved_at = time.monotonic()
        first_step = state.step
        if not state.looks:  # a new training: measure the weights that it begins from
            self._measure_weights(state)
        while state.step < self.schedule.steps and state.stale < self.schedule.patience:
            try:
                self.watch.check()
            except RunCancelled:
                self._save_state(state)
                raise
            new_steps = state.step - first_step
            self._report(state, (time.monotonic() - start) / new_steps if new_steps else None)
            for group in self._optimizer.param_groups:
                group["lr"] = self.schedule.rate_at(state.step)
            torch.manual_seed(step_seed(seed, state.step))
            state.losses.append(self.step(state.step))
            torch.nn.utils.clip_grad_norm_(list(self.weights.values()), MAX_GRADIENT_NORM)
            self._optimizer.step()
            self._optimizer.zero_grad()
            state.step += 1
            if state.step % self.schedule.measure_steps == 0 or state.step == self.schedule.steps:
                self._measure_weights(state)
            if time.monotonic() - saved_at > self.schedule.save_seconds:
                self._save_state(state)
                saved_at = time.monotonic()
        self._save_state(state)
        self._set_weights(self._read_tensors(f"best-{state.best}"))
        return state

    def _measure_weights(self, state: TrainingState) -> None:
        """Measure the weights, and save them if they are the best.

        Among equal figures the latest is the best.
        """
        self.watch.report(
            f"Step {state.step:,} of {self.schedule.steps:,}: looking at held-out questions",
            state.step / self.schedule.steps,
        )
        figure = self.measure()
        mean = sum(state.losses) / len(state.losses) if state.losses else None
        state.looks.append((state.step, mean, figure))
        state.losses = []
        state.stale += 1
        if figure >= state.figure:
            state.best = state.step
            state.figure = figure
            state.stale = 0
            tensors = {name: weight.detach() for name, weight in self.weights.items()}
            self._write_tensors(f"best-{state.step}", tensors)

    def _report(self, state: TrainingState, step_seconds: float | None) -> None:
        time_left = ""
        if step_seconds:
            seconds_left = step_seconds * (self.schedule.steps - state.step)
            time_left = f", about {duration_text(seconds_left)} left"
        loss = f", loss {state.losses[-1]:.3f}" if state.losses else ""
        self.watch.report(
            f"Step {state.step:,} of {self.schedule.steps:,}{loss}{time_left}",
            state.step / self.schedule.steps,
        )

    def _save_state(self, state: TrainingState) -> None:
        """Save the tensors under a new name, then the state that names them.

        The files of the earlier state are removed last, so a kill at any moment leaves a whole
        state.
        """
        tensors = {f"weight.{name}": weight.detach() for name, weight in self.weights.items()}
        for name, weight in self.weights.items():
            for moment in OPTIMIZER_MOMENTS:
                if weight in self._optimizer.state:
                    tensors[f"{moment}.{name}"] = self._optimizer.state[weight][moment]
        self._write_tensors(f"step-{state.step}", tensors)
        record = {"key": self.key, **vars(state)}
        write_atomically(
            self.folder / STATE_FILE,
            lambda stream: stream.write(json.dumps(record, indent=1).encode("utf-8")),
        )
        for file in self.folder.glob("*-*.safetensors"):
            if file.stem not in (f"step-{state.step}", f"best-{state.best}"):
                file.unlink(missing_ok=True)

    def _load_state(self) -> TrainingState | None:
        """Load the saved state of the same key.

        The weights and the optimizer are set to it. The result is None if there is no such state or
        it is damaged.
        """
        import torch

        if not (self.folder / STATE_FILE).exists():
            return None
        try:
            record: dict[str, Any] = json.loads((self.folder / STATE_FILE).read_text("utf-8"))
            if record.pop("key") != self.key:
                return None
            state = TrainingState(**{**record, "looks": [tuple(look) for look in record["looks"]]})
            tensors = self._read_tensors(f"step-{state.step}")
            self._read_tensors(f"best-{state.best}")  # only to check that they can be read
        except (OSError, ValueError, KeyError, TypeError, StoreError) as error:
            log.warning(
                "What was trained so far cannot be read (%s); the training begins anew.", error
            )
            return None
        self._set_weights({name: tensors[f"weight.{name}"] for name in self.weights})
        for name, weight in self.weights.items():
            if f"{OPTIMIZER_MOMENTS[0]}.{name}" in tensors:
                moments = {
                    moment: tensors[f"{moment}.{name}"].to(weight.device)
                    for moment in OPTIMIZER_MOMENTS
                }
                self._optimizer.state[weight] = {"step": torch.tensor(float(state.step)), **moments}
        return state

    def _set_weights(self, tensors: Mapping[str, Tensor]) -> None:
        import torch

        with torch.no_grad():
            for name, weight in self.weights.items():
                weight.copy_(tensors[name])

    def _write_tensors(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Write a file durably and move it into place in one step. Raises StoreError."""
        from safetensors.torch import save_file

        file = self.folder / f"{name}.safetensors"
        tensors = {key: value.cpu().contiguous() for key, value in tensors.items()}
        try:
            write_whole(file, lambda temporary: save_file(tensors, temporary))
        except OSError as error:
            raise StoreError(f"{file} cannot be written: {error.strerror or error}.") from None

    def _read_tensors(self, name: str) -> dict[str, Tensor]:
        """Return the tensors of a saved file. Raises StoreError if it is absent or damaged."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            return load_file(self.folder / f"{name}.safetensors")
        except (OSError, SafetensorError) as error:
            raise StoreError(
                f"{self.folder / name}.safetensors cannot be read ({error}); train again."
            ) from None
