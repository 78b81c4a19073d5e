"""Weights that the user may not read count as missing, and the message names the file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.errors import ModelUnavailable
from core.models.chat.llama import open_engine
from core.models.registry import Registry
from core.models.weights import unreadable_file


@pytest.fixture
def other_user(monkeypatch):
    """Check permissions as for other users, even where root runs the tests."""

    def access(path, how):
        if str(path) == os.environ["HOPSCOPE_HOME"]:
            return True
        try:
            return os.stat(path).st_mode & how == how
        except OSError:
            return False

    monkeypatch.setattr("core.models.weights.os.access", access)


def test_unreadable_file_is_found(tmp_path: Path, other_user):
    folder, file = tmp_path / "weights", tmp_path / "weights" / "model.bin"
    folder.mkdir()
    file.write_bytes(b"1")
    tmp_path.chmod(0o755)
    folder.chmod(0o755)
    file.chmod(0o644)
    assert (
        unreadable_file(folder)
        is unreadable_file(file)
        is unreadable_file(tmp_path / "none")
        is None
    )
    file.chmod(0o600)
    assert unreadable_file(folder) == unreadable_file(file) == file
    file.chmod(0o644)
    folder.chmod(0o700)
    assert unreadable_file(folder) == folder


@pytest.mark.parametrize(
    ("kind", "backend", "key"),
    [("chat", "llama", "file"), ("encoder", "sentence-transformers", "weights")],
)
def test_model_with_unreadable_weights_is_missing(
    own_home, other_user, monkeypatch, kind, backend, key
):
    monkeypatch.setattr("core.models.backends.base.missing_library", lambda *_: "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    place = own_home / "others"
    if kind == "chat":
        place.write_bytes(b"GGUF")
        file = place
    else:
        place.mkdir()
        place.chmod(0o755)  # The umask of earlier tests must not matter.
        file = place / "model.safetensors"
        file.write_bytes(b"1")
    registry = Registry()
    registry.add("theirs", kind, backend, **{key: str(place)})
    file.chmod(0o644)
    assert registry.info("theirs").present
    file.chmod(0o600)
    info = registry.info("theirs")
    assert not info.present and str(file) in info.how_to_get


def test_loading_unreadable_file_names_it(tmp_path: Path, other_user):
    pytest.importorskip("xllamacpp")
    file = tmp_path / "theirs.gguf"
    file.write_bytes(b"GGUF")
    file.chmod(0o600)
    with pytest.raises(ModelUnavailable, match="theirs.gguf"):
        open_engine(file, "theirs", 512, 64)
