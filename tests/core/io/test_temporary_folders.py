"""Folders for files that are being imported."""

import os
import time

from core.io.home import home_folder
from core.io.temporary_folders import ABANDONED_SECONDS, temporary_folder


def test_leftovers_of_a_killed_process_are_removed_after_a_day(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    first = temporary_folder()
    (first / "book.txt").write_text("left")
    (home_folder() / "graphs").mkdir()
    os.utime(home_folder() / "graphs", (0, 0))
    second = temporary_folder(time.time() + ABANDONED_SECONDS - 60)
    assert first.exists() and second.exists() and first != second
    temporary_folder(time.time() + ABANDONED_SECONDS + 60)
    assert not first.exists() and (home_folder() / "graphs").exists()


def test_a_link_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept.txt").write_text("kept")
    (home_folder() / ".upload-x").symlink_to(tmp_path / "mine")
    temporary_folder(time.time() + 2 * ABANDONED_SECONDS)
    assert (tmp_path / "mine" / "kept.txt").exists()
