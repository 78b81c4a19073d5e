"""Choice of the program and the precision for the sentence encoder, by a short measurement.

The measurement is remembered for each computer.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import logging
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import HopscopeError, ModelUnavailable, library_message
from core.io.durable_files import write_whole
from core.io.home import home_folder
from core.models.device import computes_in_bfloat16, device, has_graphics_card, processor
from core.models.encoders.bert import ForwardPass, OpenVINO, Torch
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
    def here(self) -> bool:
        """True if its program is installed."""
        return all(importlib.util.find_spec(package) for package in PROGRAM_PACKAGES[self.program])

    @property
    def identity(self) -> str:
        """A text that changes with everything that the last digits of its vectors depend on.

        It contains versions, precision, processor and, for torch, the number of threads, which
        share a sum.
        """
        parts = f" {thread_count()} threads {device()}" if self.program == "torch" else ""
        return f"{package_versions(self.program)} {self.precision}{parts} {processor()}"

    def forward(self, folder: Path) -> ForwardPass:
        """Return the forward pass of a folder's model. Raises ModelUnavailable."""
        if not self.here:
            raise ModelUnavailable(library_message("The encoder", self.program))
        return (OpenVINO if self.program == "openvino" else Torch)(
            folder, thread_count(), self.precision
        )


@dataclass(frozen=True)
class ModeSpeed:
    """Measurement of a way.

    `rate` is in texts per second and core. `cosine` is the least cosine of its vectors with those
    of single precision.
    """

    way: ComputeMode
    rate: float
    cosine: float


@dataclass(frozen=True)
class ModeSpeeds:
    """Measurements of all ways on this computer, the fastest first, with their date."""

    measured: str
    speeds: tuple[ModeSpeed, ...]

    @property
    def chosen(self) -> ComputeMode:
        """The fastest way whose cosines differ by at most `COMPUTE_MODES.max_cosine_loss`.

        Another program than OpenVINO must be `COMPUTE_MODES.min_other_speedup` times as fast.
        """
        return max(
            self.near,
            key=lambda one: (
                one.rate * (COMPUTE_MODES.min_other_speedup if one.way.program == "openvino" else 1)
            ),
        ).way

    @property
    def near(self) -> list[ModeSpeed]:
        """The ways within `COMPUTE_MODES.max_cosine_loss` of single precision."""
        return [one for one in self.speeds if one.cosine >= 1 - COMPUTE_MODES.max_cosine_loss]

    @property
    def sentence(self) -> str:
        """The chosen way, and the texts per second and core of each."""
        rates = ", ".join(
            f"{one.way.words} {one.rate:,.0f}"
            + ("" if one.cosine >= 1 - COMPUTE_MODES.max_cosine_loss else " (not exact)")
            for one in self.speeds
        )
        return (
            f"{self.chosen.words} is used; texts a second and core, measured {self.measured}: "
            f"{rates}"
        )


def choose_mode(backend: str = "auto", precision: str | None = None) -> ComputeMode:
    """Return the program and the precision to compute the encoder with.

    With `backend` “auto”, it is that of HOPSCOPE_ENCODER (such as “torch” or “openvino-f32”), else
    torch on a graphics card, else the fastest one measured here, else OpenVINO if it is installed.

    Parameters
    ----------
    backend : auto, openvino or torch, the latter two also with a precision behind a hyphen.
    precision : f32, bf16 or f16. None takes bf16 for OpenVINO if the processor computes in it, f16
        on a graphics card, else f32.

    Returns
    -------
    The mode; its program may be missing.

    Raises
    ------
    ModelUnavailable : there is no such program or precision, or f16 is wanted without a graphics
        card.
    """
    if backend == "auto":
        backend = os.environ.get("HOPSCOPE_ENCODER", "") or "auto"
    name, _, named_precision = backend.partition("-")
    precision = precision or named_precision or None
    if name not in ("auto", *PROGRAM_PACKAGES) or precision not in (None, "f32", "bf16", "f16"):
        raise ModelUnavailable(
            f"The encoder cannot run with “{name}{'-' * bool(named_precision)}{named_precision}”; it runs with "
            "openvino or torch."
        )
    if name == "auto":
        return _automatic_mode(precision)
    return ComputeMode(name, _choose_precision(name, precision))


def _automatic_mode(precision: str | None) -> ComputeMode:
    """Return torch on a graphics card, else the fastest way measured here, else what is installed.

    A way is as measured only if no precision is wanted.
    """
    has_card = has_graphics_card() and ComputeMode("torch", "").here and device() != "cpu"
    mode_speeds = None if has_card or precision else saved_speeds()
    if mode_speeds is not None and mode_speeds.chosen.here:
        return mode_speeds.chosen
    program = "openvino" if ComputeMode("openvino", "").here and not has_card else "torch"
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
    for package in (package for program in programs for package in PROGRAM_PACKAGES[program]):
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return " ".join(versions)


def saved_speeds() -> ModeSpeeds | None:
    """Return the measurements on this processor with these versions, or None."""
    try:
        entry = _read(_file())[_machine()]
        mode_speeds = ModeSpeeds(
            entry["measured"],
            tuple(
                ModeSpeed(ComputeMode(**one["way"]), one["rate"], one["cosine"])
                for one in entry["speeds"]
            ),
        )
        return mode_speeds if mode_speeds.near else None
    except (KeyError, TypeError):
        return None


def measure_modes(folder: Path, watch: Watch = NO_WATCH) -> ModeSpeeds:
    """Measure all ways available here in a subprocess, and save the result if possible.

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
    mode_speeds = [
        ModeSpeed(ComputeMode(*one), rate, cosine)
        for one, rate, cosine in in_subprocess(_measure_in_subprocess, str(folder), watch=watch)
    ]
    speeds = ModeSpeeds(
        time.strftime("%Y-%m-%d"), tuple(sorted(mode_speeds, key=lambda one: -one.rate))
    )
    if not speeds.near:
        raise HopscopeError("No program that computes the encoder could be measured here.")
    saved_entries = _read(_file())
    saved_entries.pop(_machine(), None)
    entries = dict(
        [*saved_entries.items(), (_machine(), asdict(speeds))][-COMPUTE_MODES.max_saved_machines :]
    )
    try:
        write_whole(
            _file(), lambda temporary: temporary.write_text(json.dumps(entries, indent=1), "utf-8")
        )
    except OSError:  # the folder is read-only; measured again another time
        pass
    return speeds


def _measure_in_subprocess(folder: str, watch: Watch = NO_WATCH) -> list[tuple]:
    """In a subprocess: measure each way with one thread.

    Returns for each way program and precision, texts per second and core, and the least cosine.
    """
    os.environ |= {"HOPSCOPE_THREADS": "1", "TRANSFORMERS_VERBOSITY": "error", "TQDM_DISABLE": "1"}
    batch = _texts(Path(folder))
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
    seconds = {
        one: min(passes[one]()[1] for _ in range(COMPUTE_MODES.measured_rounds)) for one in passes
    }
    exact = next((vectors[one] for one in passes if one.precision == "f32"), None)
    cosines = {
        one: float((vectors[one] * exact).sum(axis=1).min()) if exact is not None else 0.0
        for one in passes
    }
    return [
        ((one.program, one.precision), COMPUTE_MODES.measured_texts / seconds[one], cosines[one])
        for one in passes
    ]


def _available_modes() -> list[ComputeMode]:
    halves = ["bf16"] if computes_in_bfloat16() else []
    return [
        one
        for program in PROGRAM_PACKAGES
        for precision in ("f32", *halves)
        if (one := ComputeMode(program, precision)).here
    ]


def _texts(folder: Path) -> np.ndarray:
    """Return random tokens of the encoder's vocabulary, int64 [texts, tokens].

    They are the same at each measurement.
    """
    words = json.loads((folder / "config.json").read_text("utf-8"))["vocab_size"]
    ids = np.random.default_rng(0).integers(
        min(1000, words // 2), words, (COMPUTE_MODES.measured_texts, COMPUTE_MODES.measured_tokens)
    )
    ids[:, 0], ids[:, -1] = min(101, words - 1), min(102, words - 1)  # the marks at both ends
    return ids


def _time_vectors(forward: ForwardPass, ids: np.ndarray) -> tuple[np.ndarray, float]:
    """Return unit vectors of tokenized texts, and the processor time that they took."""
    pooled_by_start: dict[int, np.ndarray] = {}
    batches: list[tuple[int, Any]] = [
        (start, ids[start : start + forward.batch]) for start in range(0, len(ids), forward.batch)
    ]
    start_time = time.process_time()
    forward.run(
        batches,
        lambda start, means, tokens: pooled_by_start.__setitem__(start, means.copy()),
        NO_WATCH,
        False,
    )
    seconds = time.process_time() - start_time
    vectors = np.concatenate([pooled_by_start[start] for start, _ in batches])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), seconds


def _machine() -> str:
    return f"{processor()} {package_versions(*PROGRAM_PACKAGES)}"


def _file() -> Path:
    return home_folder() / "encoder-speeds.json"


def _read(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(file.read_text("utf-8"))
        return data if isinstance(data, dict) else {}
    except (OSError, ValueError):
        return {}
