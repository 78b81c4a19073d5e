"""The training loop: learning rates, and results that a cancel or a kill does not change."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from core.errors import RunCancelled
from core.finetune.loop import Schedule
from core.finetune.training_folders import publish, trained_record, working_folder
from core.io.home import ROOT
from core.watch import Watch
from tests.core.finetune.lesson import lesson


def test_learning_rate_rises_then_falls():
    straight = Schedule(20, 1.0, 0.1)
    assert [straight.rate_at(step) for step in (0, 1, 2, 11, 19)] == pytest.approx(
        [0.5, 1.0, 1.0, 0.5, 1 / 18]
    )
    wave = Schedule(12, 2.0, 0.0, "cosine")
    assert [wave.rate_at(step) for step in (0, 4, 6, 12)] == pytest.approx([2.0, 1.5, 1.0, 0.0])


def test_resumed_training_equals_an_uninterrupted_one(tmp_path):
    (tmp_path / "whole").mkdir(), (tmp_path / "cut").mkdir()
    weights, state = lesson(tmp_path / "whole")
    calls = []

    def cancel():
        calls.append(1)
        if len(calls) == 6:
            raise RunCancelled()

    with pytest.raises(RunCancelled):
        lesson(tmp_path / "cut", watch=Watch(cancel))
    assert json.loads((tmp_path / "cut" / "state.json").read_text())["step"] == 5
    again, resumed = lesson(tmp_path / "cut")
    assert again["w"].tolist() == weights["w"].tolist() and resumed.looks == state.looks
    assert state.figure == max(figure for _, _, figure in state.looks) and weights[
        "w"
    ].tolist() != [0, 0, 0]
    # No pickle files are written.
    assert not [
        file
        for file in (tmp_path / "cut").iterdir()
        if file.suffix not in (".json", ".safetensors")
    ]


def test_other_key_starts_from_the_beginning(tmp_path):
    lesson(tmp_path)
    _, state = lesson(tmp_path, key="other", steps=2)
    assert state.step == 2


@pytest.mark.parametrize("hurt", ["state.json", "step-12.safetensors"])
def test_damaged_state_restarts_training_with_a_note(tmp_path, hurt, caplog):
    weights, _ = lesson(tmp_path)
    assert not caplog.records
    (tmp_path / hurt).write_bytes(b"{")
    again, _ = lesson(tmp_path)
    assert (
        again["w"].tolist() == weights["w"].tolist() and "the training begins anew" in caplog.text
    )


def test_kill_loses_only_the_running_step(tmp_path):
    (tmp_path / "whole").mkdir(), (tmp_path / "killed").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.core.finetune.lesson", str(tmp_path / "killed")], cwd=ROOT
    )
    state = tmp_path / "killed" / "state.json"
    while not state.exists() or json.loads(state.read_text())["step"] < 3:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert 3 <= json.loads(state.read_text())["step"] < 12
    weights, _ = lesson(tmp_path / "whole")
    again, _ = lesson(tmp_path / "killed")
    assert again["w"].tolist() == weights["w"].tolist()


def test_model_is_replaced_completely_or_not_at_all(tmp_path):
    target = tmp_path / "models" / "mine"
    fill = lambda word: lambda folder: (folder / "model.safetensors").write_text(word)
    publish(target, {"n": 1}, fill("one"))
    first = trained_record(target)
    with pytest.raises(ZeroDivisionError):
        publish(target, {"n": 2}, lambda folder: 1 / 0)
    assert trained_record(target) == first and (target / "model.safetensors").read_text() == "one"
    publish(target, {"n": 3}, fill("three"))
    assert trained_record(target)["n"] == 3 and trained_record(target)["sha256"] != first["sha256"]
    assert [file.name for file in target.parent.iterdir()] == ["mine"]


def test_half_replaced_model_is_restored(tmp_path):
    target = tmp_path / "mine"
    publish(target, {}, lambda folder: (folder / "model.safetensors").write_text("old"))
    # A kill between the two renames leaves the folder like this.
    target.rename(tmp_path / ".mine.old")
    with working_folder(target) as folder:
        assert (target / "model.safetensors").read_text() == "old" and folder.is_dir()
