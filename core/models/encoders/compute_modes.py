"""Choice of the program and precision that compute the default sentence encoder.

The speed of OpenVINO and torch in float32 and bfloat16 depends on the processor. It can therefore
be measured on each computer (`measure_modes`); the result is saved in the user's folder and decides
from then on (`choose_mode`).
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import HopscopeError, ModelUnavailable, library_message
from core.io.durable_files import write_whole
from core.io.home import home_folder
from core.models.device import computes_in_bfloat16, device, has_graphics_card, processor
from core.models.encoders.bert import ForwardPass, OpenVINOForward, TorchForward
from core.models.threads import thread_count
from core.runtime.subprocess_worker import in_subprocess
from core.watch import NO_WATCH, Watch

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ComputeModeDefaults:
    """Bounds for choosing an encoder's program and precision, and the sample that is timed."""

    max_cosine_loss: float = 1e-3  # largest difference of a cosine to that in single precision
    min_other_speedup: float = 1.1  # of torch over OpenVINO, as torch takes seconds to load
    measured_rounds: int = 3
    measured_texts: int = 64
    measured_tokens: int = 32  # per text, about as many as verbalised paths have
    max_saved_machines: int = 8  # several computers may use the same folder


COMPUTE_MODES = ComputeModeDefaults()
# Packages that each program needs.
PROGRAM_PACKAGES = {"openvino": ("openvino",), "torch": ("torch", "transformers")}
PROGRAM_TITLES = {"openvino": "OpenVINO", "torch": "torch"}


@dataclass(frozen=True)
class ComputeMode:
    """A program and the precision of its matrix products.

    The program is “openvino” or “torch”. The precision is “f32”, “bf16” or, on a graphics card,
    “f16”.
    """

    program: str
    precision: str

    @property
    def title(self) -> str:
        """Name for the user, such as “OpenVINO bf16”."""
        return f"{PROGRAM_TITLES[self.program]} {self.precision}"

    @property
    def is_installed(self) -> bool:
        """True if its program is installed."""
        return all(importlib.util.find_spec(package) for package in PROGRAM_PACKAGES[self.program])

    @property
    def identity(self) -> str:
        """A text for cache keys that changes if vectors may change.

        It changes even if only the last digits of computed vectors may. It contains versions,
        precision, processor and, for torch, the device and the number of threads, among which torch
        divides sums.
        """
        torch_settings = f" {thread_count()} threads {device()}" if self.program == "torch" else ""
        return f"{package_versions(self.program)} {self.precision}{torch_settings} {processor()}"

    def forward(self, folder: Path) -> ForwardPass:
        """Load the model of a folder. Raises ModelUnavailable if the program is not installed."""
        if not self.is_installed:
            raise ModelUnavailable(library_message("The encoder", self.program))
        program_class = OpenVINOForward if self.program == "openvino" else TorchForward
        return program_class(folder, thread_count(), self.precision)


@dataclass(frozen=True)
class ModeSpeed:
    """Measurement of a compute mode.

    Parameters
    ----------
    way : the mode.
    rate : texts per second and core.
    cosine : smallest cosine between a text's vector and that in single precision.
    """

    way: ComputeMode
    rate: float
    cosine: float

    @property
    def is_exact(self) -> bool:
        """True if its cosines differ by at most `COMPUTE_MODES.max_cosine_loss`."""
        return self.cosine >= 1 - COMPUTE_MODES.max_cosine_loss


@dataclass(frozen=True)
class ModeSpeeds:
    """Measurements of all compute modes on this computer, the fastest first.

    `measured` is their date in ISO format.
    """

    measured: str
    speeds: tuple[ModeSpeed, ...]

    @property
    def best_mode(self) -> ComputeMode:
        """The fastest exact mode.

        Torch is chosen only if it is `COMPUTE_MODES.min_other_speedup` times as fast as OpenVINO.
        """

        def weighted_rate(speed: ModeSpeed) -> float:
            if speed.way.program == "openvino":
                return speed.rate * COMPUTE_MODES.min_other_speedup
            return speed.rate

        return max(self.exact_speeds, key=weighted_rate).way

    @property
    def exact_speeds(self) -> list[ModeSpeed]:
        """Measurements of the exact modes, the fastest first."""
        return [speed for speed in self.speeds if speed.is_exact]

    @property
    def sentence(self) -> str:
        """The chosen mode, and the texts per second and core of each mode."""
        rates = ", ".join(
            f"{speed.way.title} {speed.rate:,.0f}{'' if speed.is_exact else ' (not exact)'}"
            for speed in self.speeds
        )
        return (
            f"{self.best_mode.title} is used; texts a second and core, measured {self.measured}: "
            f"{rates}"
        )


def choose_mode(backend: str = "auto", precision: str | None = None) -> ComputeMode:
    """Choose the program and the precision that compute the encoder.

    With `backend` “auto”, the first of these that applies is chosen: the mode in HOPSCOPE_ENCODER
    (such as “torch” or “openvino-f32”), torch on a graphics card, the best mode measured on this
    computer, OpenVINO if it is installed, torch.

    Parameters
    ----------
    backend : auto, openvino or torch. A precision may follow after a hyphen, as in openvino-f32.
    precision : f32, bf16 or f16. By default bf16 for OpenVINO if the processor has instructions for
        it, f16 for torch on a graphics card, else f32.

    Returns
    -------
    The mode, whose program may not be installed.

    Raises
    ------
    ModelUnavailable : the program or precision is unknown, or f16 is requested without a graphics
        card.
    """
    if backend == "auto":
        backend = os.environ.get("HOPSCOPE_ENCODER", "") or "auto"
    name, _, named_precision = backend.partition("-")
    precision = precision or named_precision or None
    if name not in ("auto", *PROGRAM_PACKAGES) or precision not in (None, "f32", "bf16", "f16"):
        mode_name = f"{name}-{named_precision}" if named_precision else name
        raise ModelUnavailable(
            f"The encoder cannot run with “{mode_name}”; it runs with openvino or torch."
        )
    if name == "auto":
        return _automatic_mode(precision)
    return ComputeMode(name, _choose_precision(name, precision))


def _automatic_mode(precision: str | None) -> ComputeMode:
    """Return the compute mode of this computer.

    It is torch on a graphics card, else the fastest measured mode, else an installed program.
    Measurements are used only if no precision is given.
    """
    has_card = has_graphics_card() and ComputeMode("torch", "").is_installed and device() != "cpu"
    mode_speeds = None if has_card or precision else saved_speeds()
    if mode_speeds is not None and mode_speeds.best_mode.is_installed:
        return mode_speeds.best_mode
    program = "openvino" if ComputeMode("openvino", "").is_installed and not has_card else "torch"
    return ComputeMode(program, _choose_precision(program, precision))


def _choose_precision(program: str, precision: str | None) -> str:
    """Return the precision of a program, by default the fastest that is exact enough.

    Raises ModelUnavailable for f16 without a graphics card.
    """
    if precision == "f16" and device() == "cpu":
        raise ModelUnavailable(
            "The encoder computes in f16 on a graphics card alone, and none is used here; take "
            "f32 or bf16."
        )
    if precision is not None:
        return precision
    if program == "openvino":
        return "bf16" if computes_in_bfloat16() else "f32"
    return "f32" if device() == "cpu" else "f16"


@cache
def package_versions(*programs: str) -> str:
    """Return the versions of the packages of programs; those not installed are left out."""
    versions = []
    for program in programs:
        for package in PROGRAM_PACKAGES[program]:
            with suppress(importlib.metadata.PackageNotFoundError):
                versions.append(f"{package} {importlib.metadata.version(package)}")
    return " ".join(versions)


def saved_speeds() -> ModeSpeeds | None:
    """Return the measurements with this processor and the installed versions, or None."""
    try:
        entry = _read_entries()[_machine_key()]
        speeds = [
            ModeSpeed(ComputeMode(**row["way"]), row["rate"], row["cosine"])
            for row in entry["speeds"]
        ]
        mode_speeds = ModeSpeeds(entry["measured"], tuple(speeds))
        return mode_speeds if mode_speeds.exact_speeds else None
    except (KeyError, TypeError):
        return None


def measure_modes(folder: Path, watch: Watch = NO_WATCH) -> ModeSpeeds:
    """Measure all available modes in a subprocess, and save the result if possible.

    Parameters
    ----------
    folder : folder of the encoder's weights.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    The measurements of all modes that run here.

    Raises
    ------
    HopscopeError : none can be measured.
    """
    speeds = [
        ModeSpeed(ComputeMode(program, precision), rate, cosine)
        for (program, precision), rate, cosine in in_subprocess(
            _measure_in_subprocess, str(folder), watch=watch
        )
    ]
    speeds.sort(key=lambda speed: -speed.rate)
    mode_speeds = ModeSpeeds(time.strftime("%Y-%m-%d"), tuple(speeds))
    if not mode_speeds.exact_speeds:
        raise HopscopeError("No program that computes the encoder could be measured here.")
    entries = _read_entries()
    entries.pop(_machine_key(), None)  # to add this computer at the end, as the latest
    entries[_machine_key()] = asdict(mode_speeds)
    latest_entries = dict(list(entries.items())[-COMPUTE_MODES.max_saved_machines :])
    text = json.dumps(latest_entries, indent=1)
    with suppress(OSError):  # the folder may be read-only; measured again another time
        write_whole(_file(), lambda temporary: temporary.write_text(text, "utf-8"))
    return mode_speeds


def _measure_in_subprocess(folder: str, watch: Watch = NO_WATCH) -> list[tuple]:
    """Measure each available mode with one thread.

    Returns for each mode its program and precision, texts per second and core, and the smallest
    cosine with single precision (0 if that could not be measured).
    """
    os.environ |= {"HOPSCOPE_THREADS": "1", "TRANSFORMERS_VERBOSITY": "error", "TQDM_DISABLE": "1"}
    batch = _draw_texts(Path(folder))
    passes: dict[ComputeMode, Callable[[], tuple[np.ndarray, float]]] = {}
    vectors: dict[ComputeMode, np.ndarray] = {}
    for mode in _available_modes():
        watch.report(f"Measuring {mode.title}", len(passes) / 4)  # at most four modes
        try:
            passes[mode] = partial(_time_vectors, mode.forward(Path(folder)), batch)
            vectors[mode], _ = passes[mode]()  # not timed, as the first call compiles
        # An installed program may fail to run; the others are measured all the same.
        except Exception as error:
            log.warning("%s is not measured: %s", mode.title, error)
            passes.pop(mode, None)
    reference = next((vectors[mode] for mode in passes if mode.precision == "f32"), None)
    rows = []
    for mode, time_vectors in passes.items():
        seconds = min(time_vectors()[1] for _ in range(COMPUTE_MODES.measured_rounds))
        cosine = 0.0 if reference is None else float((vectors[mode] * reference).sum(axis=1).min())
        rate = COMPUTE_MODES.measured_texts / seconds
        rows.append(((mode.program, mode.precision), rate, cosine))
    return rows


def _available_modes() -> list[ComputeMode]:
    precisions = ("f32", "bf16") if computes_in_bfloat16() else ("f32",)
    modes = [ComputeMode(*pair) for pair in product(PROGRAM_PACKAGES, precisions)]
    return [mode for mode in modes if mode.is_installed]


def _draw_texts(folder: Path) -> np.ndarray:
    """Return random texts as token ids of the encoder, int64 [texts, tokens].

    They are the same at each measurement.
    """
    n_words = json.loads((folder / "config.json").read_text("utf-8"))["vocab_size"]
    first_word = min(1000, n_words // 2)  # lower ids are special or unused in BERT's vocabulary
    shape = (COMPUTE_MODES.measured_texts, COMPUTE_MODES.measured_tokens)
    ids = np.random.default_rng(0).integers(first_word, n_words, shape)
    ids[:, 0] = min(101, n_words - 1)  # [CLS]
    ids[:, -1] = min(102, n_words - 1)  # [SEP]
    return ids


def _time_vectors(forward: ForwardPass, ids: np.ndarray) -> tuple[np.ndarray, float]:
    """Return unit vectors [texts, d] of tokenized texts, and the processor seconds they took."""
    means_by_start: dict[int, np.ndarray] = {}
    batches: list[tuple[int, Any]] = [
        (start, ids[start : start + forward.max_batch_texts])
        for start in range(0, len(ids), forward.max_batch_texts)
    ]

    def on_batch(start: int, means: np.ndarray, tokens: np.ndarray | None) -> None:
        means_by_start[start] = means.copy()

    start_time = time.process_time()
    forward.run(batches, on_batch, NO_WATCH, False)
    seconds = time.process_time() - start_time
    vectors = np.concatenate([means_by_start[start] for start, _ in batches])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), seconds


def _machine_key() -> str:
    """Return a text that identifies this computer's processor and program versions."""
    return f"{processor()} {package_versions(*PROGRAM_PACKAGES)}"


def _file() -> Path:
    return home_folder() / "encoder-speeds.json"


def _read_entries() -> dict[str, Any]:
    """Return the saved measurements by computer, the latest last."""
    try:
        data = json.loads(_file().read_text("utf-8"))
        return data if isinstance(data, dict) else {}
    except (OSError, ValueError):
        return {}
