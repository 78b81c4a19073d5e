"""Values made from files are cached until a file changes."""

import os

import pytest

from core.io.stamps import StampedCache, stamp_files, stamp_subfolder_files, stamp_tree

LONG_AGO = 1_000_000_000


def set_old_time(file, seconds=LONG_AGO):
    os.utime(file, (seconds, seconds))
    return file


@pytest.fixture
def cached_text():
    """A callable that caches the text of a file, and counts how often it was read."""

    class CachedFileText:
        def __init__(self):
            self.times, self.known = 0, StampedCache[str]()

        def __call__(self, file):
            return self.known.get_or_make(file, stamp_files([file]), lambda: self._read(file))

        def _read(self, file):
            self.times += 1
            return file.read_text()

    return CachedFileText()


def test_a_value_is_made_once_for_an_unchanged_file(tmp_path, cached_text):
    file = tmp_path / "a"
    file.write_text("one")
    set_old_time(file)
    assert [cached_text(file), cached_text(file)] == ["one", "one"] and cached_text.times == 1


@pytest.mark.parametrize("what", ["bytes", "time", "file"])
def test_a_change_is_seen_at_once(tmp_path, cached_text, what):
    file = tmp_path / "a"
    file.write_text("one")
    cached_text(set_old_time(file))
    if what == "file":  # Another file with the same size and time, as a writer puts it in place.
        (tmp_path / "b").write_text("two")
        set_old_time(tmp_path / "b").replace(file)
    else:
        file.write_text("three" if what == "bytes" else "two")
        set_old_time(file, LONG_AGO + (what == "time"))
    assert cached_text(file) == file.read_text() != "one"


def test_a_file_that_changed_just_now_is_not_trusted(tmp_path, cached_text):
    file = tmp_path / "a"
    file.write_text("one")
    cached_text(file)
    cached_text(file)
    # The file might have changed within one tick of the file system's clock.
    assert cached_text.times == 2


def test_a_failure_is_not_cached(tmp_path, cached_text):
    file = tmp_path / "a"
    with pytest.raises(FileNotFoundError):
        cached_text(file)
    file.write_text("there")
    assert cached_text(file) == "there"


def test_the_stamp_of_a_folder_covers_all_files_and_follows_no_loop(tmp_path):
    (tmp_path / "x" / "y").mkdir(parents=True)
    (tmp_path / "x" / "y" / "deep").write_text("1")
    (tmp_path / "x" / "around").symlink_to(tmp_path)
    (tmp_path / "top").write_text("22")
    sizes = {
        os.path.relpath(name, tmp_path): size
        for name, _, size, _ in stamp_tree(tmp_path)
        if not name.endswith("around")
    }
    assert sizes == {"top": 2, os.path.join("x", "y", "deep"): 1}
    assert stamp_tree(tmp_path / "absent") == stamp_tree("no\0path") == ()


def test_the_files_of_a_name_are_found_in_the_order_of_their_folders(tmp_path):
    for name in ("b", "a", "c"):
        (tmp_path / name).mkdir()
    for name in ("b", "a"):
        (tmp_path / name / "set.toml").write_text(name)
    assert [
        (file.parent.name, files[0][2])
        for file, files in stamp_subfolder_files(tmp_path, "set.toml")
    ] == [
        ("a", 1),
        ("b", 1),
    ]
    assert stamp_subfolder_files(tmp_path / "absent", "set.toml") == []
