"""Choice of the sentence encoder's program and precision, by a measurement on each computer."""

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
    """Bounds by which an encoder's program and precision are chosen, and the timed sample."""

    max_cosine_loss: float = 1e-3  # largest difference of a cosine to that in single precision
    min_other_speedup: float = 1.1  # over OpenVINO, since other programs take seconds to load
    measured_rounds: int = 3
    measured_texts: int = 64
    measured_tokens: int = 32  # per text; paths of a movie graph have about 31
    max_saved_machines: int = 8  # as several computers may use the same folder


COMPUTE_MODES = ComputeModeDefaults()
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
    def words(self) -> str:
        """Name for the user, such as “OpenVINO bf16”."""
        return f"{PROGRAM_TITLES[self.program]} {self.precision}"

    @property
    def is_installed(self) -> bool:
        """True if its program is installed."""
        return all(importlib.util.find_spec(package) for package in PROGRAM_PACKAGES[self.program])

    @property
    def identity(self) -> str:
        """A text that changes with everything that the last digits of its vectors depend on.

        It contains versions, precision, processor and, for torch, the device and the number of
        threads, among which torch divides sums.
        """
        parts = f" {thread_count()} threads {device()}" if self.program == "torch" else ""
        return f"{package_versions(self.program)} {self.precision}{parts} {processor()}"

    def forward(self, folder: Path) -> ForwardPass:
        """Return the forward pass of a folder's model. Raises ModelUnavailable."""
        if not self.is_installed:
            raise ModelUnavailable(library_message("The encoder", self.program))
        program_class = OpenVINOForward if self.program == "openvino" else TorchForward
        return program_class(folder, thread_count(), self.precision)


@dataclass(frozen=True)
class ModeSpeed:
    """Measurement of a compute mode.

    `rate` is in texts per second and core. `cosine` is the least cosine of its vectors with those
    of single precision.
    """

    way: ComputeMode
    rate: float
    cosine: float

    @property
    def is_exact(self) -> bool:
        return self.cosine >= 1 - COMPUTE_MODES.max_cosine_loss


@dataclass(frozen=True)
class ModeSpeeds:
    """Measurements of all compute modes on this computer, the fastest first, with their date."""

    measured: str
    speeds: tuple[ModeSpeed, ...]

    @property
    def best_mode(self) -> ComputeMode:
        """The fastest mode whose cosines differ by at most `COMPUTE_MODES.max_cosine_loss`.

        Another program than OpenVINO must be `COMPUTE_MODES.min_other_speedup` times as fast.
        """

        def weighted_rate(speed: ModeSpeed) -> float:
            if speed.way.program == "openvino":
                return speed.rate * COMPUTE_MODES.min_other_speedup
            return speed.rate

        return max(self.exact_speeds, key=weighted_rate).way

    @property
    def exact_speeds(self) -> list[ModeSpeed]:
        """The modes within `COMPUTE_MODES.max_cosine_loss` of single precision."""
        return [speed for speed in self.speeds if speed.is_exact]

    @property
    def sentence(self) -> str:
        """The chosen mode, and the texts per second and core of each mode."""
        rates = ", ".join(
            f"{speed.way.words} {speed.rate:,.0f}{'' if speed.is_exact else ' (not exact)'}"
            for speed in self.speeds
        )
        return (
            f"{self.best_mode.words} is used; texts a second and core, measured {self.measured}: "
            f"{rates}"
        )


def choose_mode(backend: str = "auto", precision: str | None = None) -> ComputeMode:
    """Return the program and the precision to compute the encoder with.

    With `backend` “auto”, it is that of HOPSCOPE_ENCODER (such as “torch” or “openvino-f32”), else
    torch on a graphics card, else the fastest one measured here, else OpenVINO if it is installed.

    Parameters
    ----------
    backend : auto, openvino or torch, the latter two also with a precision after a hyphen.
    precision : f32, bf16 or f16. None takes bf16 for OpenVINO if the processor computes in it, f16
        for torch on a graphics card, else f32.

    Returns
    -------
    The mode; its program may be missing.

    Raises
    ------
    ModelUnavailable : there is no such program or precision, or f16 is given without a graphics
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
    """Return torch on a graphics card, else the fastest measured mode, else an installed program.

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
    """Return the measurements on this processor with these versions, or None."""
    try:
        entry = _read_entries()[_machine()]
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
    The speed of each mode, with its cosine to full precision.

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
    entries.pop(_machine(), None)  # to add this computer at the end, as the latest
    entries[_machine()] = asdict(mode_speeds)
    latest_entries = dict(list(entries.items())[-COMPUTE_MODES.max_saved_machines :])
    text = json.dumps(latest_entries, indent=1)
    with suppress(OSError):  # the folder may be read-only; measured again another time
        write_whole(_file(), lambda temporary: temporary.write_text(text, "utf-8"))
    return mode_speeds


def _measure_in_subprocess(folder: str, watch: Watch = NO_WATCH) -> list[tuple]:
    """Measure each available mode with one thread, in a subprocess.

    Returns for each its program and precision, texts per second and core, and the least cosine.
    """
    os.environ |= {"HOPSCOPE_THREADS": "1", "TRANSFORMERS_VERBOSITY": "error", "TQDM_DISABLE": "1"}
    batch = _draw_texts(Path(folder))
    passes: dict[ComputeMode, Callable[[], tuple[np.ndarray, float]]] = {}
    vectors: dict[ComputeMode, np.ndarray] = {}
    for mode in _available_modes():
        watch.report(f"Measuring {mode.words}", len(passes) / 4)
        try:
            passes[mode] = partial(_time_vectors, mode.forward(Path(folder)), batch)
            vectors[mode], _ = passes[mode]()  # the first call compiles
        # An installed program may fail to run; the others are measured all the same.
        except Exception as error:
            log.warning("%s is not measured: %s", mode.words, error)
            passes.pop(mode, None)
    exact = next((vectors[mode] for mode in passes if mode.precision == "f32"), None)
    rows = []
    for mode, time_vectors in passes.items():
        seconds = min(time_vectors()[1] for _ in range(COMPUTE_MODES.measured_rounds))
        cosine = 0.0 if exact is None else float((vectors[mode] * exact).sum(axis=1).min())
        rate = COMPUTE_MODES.measured_texts / seconds
        rows.append(((mode.program, mode.precision), rate, cosine))
    return rows


def _available_modes() -> list[ComputeMode]:
    precisions = ("f32", "bf16") if computes_in_bfloat16() else ("f32",)
    modes = [ComputeMode(*pair) for pair in product(PROGRAM_PACKAGES, precisions)]
    return [mode for mode in modes if mode.is_installed]


def _draw_texts(folder: Path) -> np.ndarray:
    """Return random tokens of the encoder's vocabulary, int64 [texts, tokens].

    They are the same at each measurement.
    """
    words = json.loads((folder / "config.json").read_text("utf-8"))["vocab_size"]
    ids = np.random.default_rng(0).integers(
        min(1000, words // 2), words, (COMPUTE_MODES.measured_texts, COMPUTE_MODES.measured_tokens)
    )
    ids[:, 0] = min(101, words - 1)  # the special token at the beginning
    ids[:, -1] = min(102, words - 1)  # the special token at the end
    return ids


def _time_vectors(forward: ForwardPass, ids: np.ndarray) -> tuple[np.ndarray, float]:
    """Return unit vectors of tokenized texts, and the processor time that they took."""
    means_by_start: dict[int, np.ndarray] = {}
    batches: list[tuple[int, Any]] = [
        (start, ids[start : start + forward.max_batch_texts])
        for start in range(0, len(ids), forward.max_batch_texts)
    ]

    def done(start: int, means: np.ndarray, tokens: np.ndarray | None) -> None:
        means_by_start[start] = means.copy()

    start_time = time.process_time()
    forward.run(batches, done, NO_WATCH, False)
    seconds = time.process_time() - start_time
    vectors = np.concatenate([means_by_start[start] for start, _ in batches])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), seconds


def _machine() -> str:
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
