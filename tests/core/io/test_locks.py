"""Lock files: one holder at a time, waiting that can be cancelled, and deleted files."""

import os
import subprocess
import sys
import tomllib

import pytest

from core.errors import StoreError
from core.io.home import ROOT
from core.io.locks import hold_change_lock, hold_lock_file, is_locked
from core.watch import Watch


class LockHeld(Exception):
    pass


def raise_lock_held():
    raise LockHeld


def test_one_holder_at_a_time(tmp_path):
    file = tmp_path / "a.lock"
    assert not is_locked(file) and not file.exists()
    with hold_lock_file(file, Watch(raise_lock_held)):
        assert is_locked(file)
        with pytest.raises(LockHeld), hold_lock_file(file, Watch(raise_lock_held)):
            pass
    assert not is_locked(file)
    with hold_lock_file(file, Watch(raise_lock_held)):
        pass


def test_a_waiting_caller_gets_the_lock_when_it_is_free(tmp_path):
    file = tmp_path / "a.lock"
    first = hold_lock_file(file, Watch(raise_lock_held))
    first.__enter__()
    tries = []

    def busy():
        tries.append(1)
        if len(tries) == 2:
            file.unlink()  # A holder may delete the file.
            first.__exit__(None, None, None)

    with hold_lock_file(file, Watch(busy)):
        assert len(tries) == 2 and is_locked(file)


SAVER_SCRIPT = """
import sys
from core.methods.catalogue import save_method
from core.models.registry import Registry
from core.operators.text import parse_line
registry = Registry()
for i in range(8):
    save_method(f"{sys.argv[1]} {i}", parse_line(f"EgoNetwork(hops={i % 4 + 1}) >> ShortestPaths() >> Answer()"))
    registry.add(f"{sys.argv[1]}-{i}", "chat", "openai", url="http://127.0.0.1:9/v1", model="m")
"""


def test_two_processes_that_save_at_once_lose_nothing(tmp_path):
    environment = {**os.environ, "HOPSCOPE_HOME": str(tmp_path)}
    savers = [
        subprocess.Popen([sys.executable, "-c", SAVER_SCRIPT, name], cwd=ROOT, env=environment)
        for name in ("one", "two")
    ]
    assert [saver.wait(120) for saver in savers] == [0, 0]
    methods = tomllib.loads((tmp_path / "instances.toml").read_text())
    models = tomllib.loads((tmp_path / "models.toml").read_text())["model"]
    assert sorted(methods) == sorted(f"own-{name}-{i}" for name in ("one", "two") for i in range(8))
    assert sorted(models) == sorted(f"{name}-{i}" for name in ("one", "two") for i in range(8))


def test_a_lock_held_for_long_is_reported(tmp_path):
    file = tmp_path / "a.toml"
    with (
        hold_change_lock(file),
        pytest.raises(StoreError, match="a.toml for 0.1 seconds"),
        hold_change_lock(file, 0.1),
    ):
        pass
    (tmp_path / "a file").touch()
    with (
        pytest.raises(StoreError, match="cannot be written"),
        hold_change_lock(tmp_path / "a file" / "a.toml"),
    ):
        pass
