"""Files are moved into place and written to the disk."""

import os

import pytest

from core.io import durable_files


@pytest.fixture
def busy_file(monkeypatch):
    """A file that another program holds open during the first two attempts to replace it."""
    tries, replace = [], os.replace

    def refused(path, target):
        tries.append(path)
        if len(tries) < 3:
            raise PermissionError(13, "held open")
        replace(path, target)

    monkeypatch.setattr(os, "replace", refused)
    monkeypatch.setattr(durable_files, "MOVE_RETRY_SECONDS", 0.001)
    return tries


def test_on_windows_moving_an_open_file_is_tried_again(tmp_path, busy_file, monkeypatch):
    monkeypatch.setattr(durable_files, "WINDOWS", True)
    durable_files.write_whole(tmp_path / "a", lambda part: part.write_text("whole", "utf-8"))
    assert len(busy_file) == 3 and (tmp_path / "a").read_text("utf-8") == "whole"


def test_on_windows_a_file_that_stays_open_is_an_error_and_the_old_one_stays(
    tmp_path, busy_file, monkeypatch
):
    monkeypatch.setattr(durable_files, "WINDOWS", True)
    monkeypatch.setattr(durable_files, "MOVE_PATIENCE_SECONDS", 0.0)
    (tmp_path / "a").write_text("old", "utf-8")
    monkeypatch.setattr(
        os, "replace", lambda path, target: (_ for _ in ()).throw(PermissionError(13, "held open"))
    )
    with pytest.raises(PermissionError, match="held open"):
        durable_files.write_whole(tmp_path / "a", lambda part: part.write_text("new", "utf-8"))
    assert [file.name for file in tmp_path.iterdir()] == ["a"] and (tmp_path / "a").read_text(
        "utf-8"
    ) == "old"


def test_on_other_systems_a_refusal_is_an_error_at_once(tmp_path, busy_file, monkeypatch):
    monkeypatch.setattr(durable_files, "WINDOWS", False)
    with pytest.raises(PermissionError):
        durable_files.write_whole(tmp_path / "a", lambda part: part.write_text("whole", "utf-8"))
    assert len(busy_file) == 1 and not list(tmp_path.iterdir())
