"""Folders whose content is replaced as a whole."""

import json

import pytest

from core.io import digests
from core.io.folders import TEMPORARY, clean_folder, install_files, remove_folder

DIGEST = "0123456789abcdef" * 4


def put_text(folder, text, digest=DIGEST):
    temporary = folder / TEMPORARY
    temporary.mkdir(parents=True)
    (temporary / "a.txt").write_text(text)
    install_files(folder, temporary, "about.json", {"digest": digest, "title": text})


def current_content(folder):
    about = digests.check_own_digest(json.loads((folder / "about.json").read_text()))
    return about["title"], (folder / about["data"] / "a.txt").read_text()


def test_new_data_take_the_place_of_old_ones_which_are_removed(tmp_path):
    put_text(tmp_path, "one")
    assert (
        current_content(tmp_path) == ("one", "one")
        and (tmp_path / f"data-{DIGEST[:16]}" / digests.DIGESTS_FILE).exists()
    )
    # Data of the same digest get a name of their own, as the old ones may still be read.
    put_text(tmp_path, "two")
    assert current_content(tmp_path) == ("two", "two")
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "about.json",
        f"data-{DIGEST[:16]}-2",
    ]


def test_leftovers_of_a_killed_writer_are_removed(tmp_path):
    put_text(tmp_path, "one")
    for left in (TEMPORARY, "data-of-before"):
        (tmp_path / left).mkdir()
    (tmp_path / ".about.json-7-8").write_text("half")
    (tmp_path / "indexes").mkdir()  # This folder belongs to other code.
    clean_folder(tmp_path, "about.json")
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "about.json",
        f"data-{DIGEST[:16]}",
        "indexes",
    ]
    assert current_content(tmp_path) == ("one", "one")


def test_a_failed_description_keeps_the_old_data(tmp_path, monkeypatch):
    put_text(tmp_path, "one")

    def full(path, write):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("core.io.folders.write_whole", full)
    with pytest.raises(OSError, match="No space"):
        put_text(tmp_path, "two", "f" * 64)
    assert current_content(tmp_path) == ("one", "one")


def test_a_folder_is_removed_before_its_owner_record(tmp_path):
    folder, seen = tmp_path / "mine", []
    put_text(folder, "one")
    remove_folder(folder, lambda: seen.append(folder.exists()))
    assert seen == [False] and list(tmp_path.iterdir()) == []
