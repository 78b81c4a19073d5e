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

from core.errors import HopscopeError, ModelUnavailable
from core.io.durable import write_whole
from core.io.home import home
from core.models.device import computes_in_bfloat16, device, graphics_card, processor
from core.models.encoders.bert import Forward, OpenVINO, Torch
from core.models.threads import threads
from core.runtime.subprocess_worker import in_subprocess
from core.watch import NO_WATCH, Watch

log = logging.getLogger(__name__)
# Largest difference of a cosine to that in single precision. Ways beyond it are not used.
FAR = 1e-3
# A program must be so many times as fast as OpenVINO to be chosen, since others take seconds to
# load.
FASTER = 1.1
# Of the measurement. Paths of a movie graph have about 31 tokens.
ROUNDS, TEXTS, TOKENS = 3, 64, 32
# Measurements that are kept, as several computers may use the same folder.
MACHINES = 8
PACKAGES = {"openvino": ("openvino",), "torch": ("torch", "transformers")}
NAMES = {"openvino": "OpenVINO", "torch": "torch"}


@dataclass(frozen=True)
class Way:
    """A program and the precision of its matrix products.

    The program is “openvino” or “torch”. The precision is “f32”, “bf16” or, on a graphics card,
    “f16”.
    """

    program: str
    precision: str

    @property
    def words(self) -> str:
        """Name for the user, such as “OpenVINO bf16”."""
        return f"{NAMES[self.program]} {self.precision}"

    @property
    def here(self) -> bool:
        """True if its program is installed."""
        return all(importlib.util.find_spec(package) for package in PACKAGES[self.program])

    @property
    def identity(self) -> str:
        """A text that changes with everything that the last digits of its vectors depend on.

        It contains versions, precision, processor and, for torch, the number of threads, which
        share a sum.
        """
        parts = f" {threads()} threads {device()}" if self.program == "torch" else ""
        return f"{versions(self.program)} {self.precision}{parts} {processor()}"

    def forward(self, folder: Path) -> Forward:
        """Return the forward pass of a folder's model. Raises ModelUnavailable."""
        if not self.here:
            raise ModelUnavailable(
                f"The encoder cannot run with “{self.program}”; get it with: pip install "
                f"{self.program}"
            )
        return (OpenVINO if self.program == "openvino" else Torch)(
            folder, threads(), self.precision
        )


@dataclass(frozen=True)
class Speed:
    """Measurement of a way.

    `rate` is in texts per second and core. `cosine` is the least cosine of its vectors with those
    of single precision.
    """

    way: Way
    rate: float
    cosine: float


@dataclass(frozen=True)
class Speeds:
    """Measurements of all ways on this computer, the fastest first, with their date."""

    measured: str
    speeds: tuple[Speed, ...]

    @property
    def chosen(self) -> Way:
        """The fastest way within `FAR` of single precision, OpenVINO unless another is `FASTER`."""
        return max(
            self.near, key=lambda one: one.rate * (FASTER if one.way.program == "openvino" else 1)
        ).way

    @property
    def near(self) -> list[Speed]:
        """The ways within `FAR` of single precision."""
        return [one for one in self.speeds if one.cosine >= 1 - FAR]

    @property
    def sentence(self) -> str:
        """The chosen way, and the texts per second and core of each."""
        rates = ", ".join(
            f"{one.way.words} {one.rate:,.0f}" + ("" if one.cosine >= 1 - FAR else " (not exact)")
            for one in self.speeds
        )
        return (
            f"{self.chosen.words} is used; texts a second and core, measured {self.measured}: "
            f"{rates}"
        )


def way(backend: str = "auto", precision: str | None = None) -> Way:
    """Return the way to use. Raises ModelUnavailable.

    With `backend` "auto", it is that of HOPSCOPE_ENCODER (such as “torch” or “openvino-f32”), else
    torch on a graphics card, else the fastest one measured here, else OpenVINO if it is installed.
    Without a `precision`, OpenVINO uses bfloat16 if it can compute in it.
    """
    name, _, named = (
        os.environ.get("HOPSCOPE_ENCODER", "") or "auto" if backend == "auto" else backend
    ).partition("-")
    precision = precision or named or None
    if name not in ("auto", *PACKAGES) or precision not in (None, "f32", "bf16", "f16"):
        raise ModelUnavailable(
            f"The encoder cannot run with “{name}{'-' * bool(named)}{named}”; it runs with "
            "openvino or torch."
        )
    if name == "auto":
        card = graphics_card() and Way("torch", "").here and device() != "cpu"
        found = None if card or precision else remembered()
        if found is not None and found.chosen.here:
            return found.chosen
        name = "openvino" if Way("openvino", "").here and not card else "torch"
    if precision is None and name == "openvino":
        precision = "bf16" if computes_in_bfloat16() else "f32"
    if precision == "f16" and device() == "cpu":
        raise ModelUnavailable(
            "The encoder computes in f16 on a graphics card alone, and none is used here; take "
            "f32 or bf16."
        )
    return Way(name, precision or ("f32" if device() == "cpu" else "f16"))


@cache
def versions(*programs: str) -> str:
    """Return the versions of the packages of programs; those not installed are left out."""
    found = []
    for package in (package for program in programs for package in PACKAGES[program]):
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return " ".join(found)


def remembered() -> Speeds | None:
    """Return the measurements on this processor with these versions, or None."""
    try:
        known = _read(_file())[_machine()]
        found = Speeds(
            known["measured"],
            tuple(Speed(Way(**one["way"]), one["rate"], one["cosine"]) for one in known["speeds"]),
        )
        return found if found.near else None
    except (KeyError, TypeError):
        return None


def measured(folder: Path, watch: Watch = NO_WATCH) -> Speeds:
    """Measure all ways available here in a subprocess, and save the result if possible.

    Raises HopscopeError if none can be measured.
    """
    found = [
        Speed(Way(*one), rate, cosine)
        for one, rate, cosine in in_subprocess(_measure, str(folder), watch=watch)
    ]
    speeds = Speeds(time.strftime("%Y-%m-%d"), tuple(sorted(found, key=lambda one: -one.rate)))
    if not speeds.near:
        raise HopscopeError("No program that computes the encoder could be measured here.")
    known = _read(_file())
    known.pop(_machine(), None)
    entries = dict([*known.items(), (_machine(), asdict(speeds))][-MACHINES:])
    try:
        write_whole(
            _file(), lambda temporary: temporary.write_text(json.dumps(entries, indent=1), "utf-8")
        )
    except OSError:  # the folder is read-only; measured again another time
        pass
    return speeds


def _measure(folder: str, watch: Watch = NO_WATCH) -> list[tuple]:
    """In a subprocess: measure each way with one thread.

    Returns for each way program and precision, texts per second and core, and the least cosine.
    """
    os.environ |= {"HOPSCOPE_THREADS": "1", "TRANSFORMERS_VERBOSITY": "error", "TQDM_DISABLE": "1"}
    batch = _texts(Path(folder))
    passes: dict[Way, Callable[[], tuple[np.ndarray, float]]] = {}
    vectors: dict[Way, np.ndarray] = {}
    for one in _ways():
        watch.report(f"Measuring {one.words}", len(passes) / 4)
        try:
            passes[one] = partial(_timed, one.forward(Path(folder)), batch)
            vectors[one], _ = passes[one]()  # the first call compiles
        # An installed program may fail to run; the others are measured all the same.
        except Exception as error:
            log.warning("%s is not measured: %s", one.words, error)
            passes.pop(one, None)
    seconds = {one: min(passes[one]()[1] for _ in range(ROUNDS)) for one in passes}
    exact = next((vectors[one] for one in passes if one.precision == "f32"), None)
    cosines = {
        one: float((vectors[one] * exact).sum(axis=1).min()) if exact is not None else 0.0
        for one in passes
    }
    return [((one.program, one.precision), TEXTS / seconds[one], cosines[one]) for one in passes]


def _ways() -> list[Way]:
    halves = ["bf16"] if computes_in_bfloat16() else []
    return [
        one
        for program in PACKAGES
        for precision in ("f32", *halves)
        if (one := Way(program, precision)).here
    ]


def _texts(folder: Path) -> np.ndarray:
    """Return random tokens of the encoder's vocabulary, int64 [texts, tokens].

    They are the same at each measurement.
    """
    words = json.loads((folder / "config.json").read_text("utf-8"))["vocab_size"]
    ids = np.random.default_rng(0).integers(min(1000, words // 2), words, (TEXTS, TOKENS))
    ids[:, 0], ids[:, -1] = min(101, words - 1), min(102, words - 1)  # the marks at both ends
    return ids


def _timed(forward: Forward, ids: np.ndarray) -> tuple[np.ndarray, float]:
    """Return unit vectors of tokenized texts, and the processor time that they took."""
    found: dict[int, np.ndarray] = {}
    cut: list[tuple[int, Any]] = [
        (start, ids[start : start + forward.batch]) for start in range(0, len(ids), forward.batch)
    ]
    begun = time.process_time()
    forward.run(
        cut,
        lambda start, pooled, tokens: found.__setitem__(start, pooled.copy()),
        NO_WATCH,
        False,
    )
    seconds = time.process_time() - begun
    vectors = np.concatenate([found[start] for start, _ in cut])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), seconds


def _machine() -> str:
    return f"{processor()} {versions(*PACKAGES)}"


def _file() -> Path:
    return home() / "encoder-speeds.json"


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text("utf-8"))
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}
