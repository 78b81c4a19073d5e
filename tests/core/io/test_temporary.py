"""Folders for files on their way in."""

import os
import time

from core.io.home import home
from core.io.temporary import OLD, temporary_folder


def test_what_a_killed_process_left_is_removed_after_a_day_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    first = temporary_folder()
    (first / "book.txt").write_text("left")
    (home() / "graphs").mkdir()
    os.utime(home() / "graphs", (0, 0))
    second = temporary_folder(time.time() + OLD - 60)
    assert first.exists() and second.exists() and first != second
    temporary_folder(time.time() + OLD + 60)
    assert not first.exists() and (home() / "graphs").exists()


def test_a_link_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept.txt").write_text("kept")
    (home() / ".upload-x").symlink_to(tmp_path / "mine")
    temporary_folder(time.time() + 2 * OLD)
    assert (tmp_path / "mine" / "kept.txt").exists()
