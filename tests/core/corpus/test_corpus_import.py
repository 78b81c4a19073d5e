"""Repeated imports of files: rows that are gone, and notes on parts left out."""

from __future__ import annotations

import zipfile

import pytest

from core.corpus import import_documents, open_corpus, remove_corpus
from core.corpus.document import DocumentOrigin
from tests.notes import NoteWith


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


@pytest.fixture
def table(tmp_path):
    def write(*rows: str):
        (tmp_path / "t.csv").write_text("\n".join(["id,text", *rows]))
        return tmp_path / "t.csv"

    return write


def test_rows_that_a_table_no_longer_has_are_named_and_stay(table):
    import_documents("rows", [table("1,One.", "2,Two.", "3,Three.")])
    brought = import_documents("rows", [table("1,Other.", "3,Three.")])
    assert (brought.n_added, brought.n_changed, brought.n_unchanged, brought.missing) == (
        0,
        1,
        1,
        ("t.csv:2",),
    )
    assert brought.missing_sentence() == NoteWith(1, "no longer", "t.csv:2")
    assert "t.csv:2" in brought.corpus


def test_rows_that_a_table_no_longer_has_are_removed_on_demand(table):
    import_documents("rows", [table("1,One.", "2,Two.", "3,Three.")])
    brought = import_documents("rows", [table("1,Other.", "3,Three.")], replace_files=True)
    assert brought.corpus.ids == ("t.csv:1", "t.csv:3") and brought.missing == ()
    assert brought.notes == (NoteWith(1, "removed"),)


def test_rows_without_ids_move_up_and_the_last_is_missing(tmp_path):
    (tmp_path / "n.csv").write_text("text\nOne.\nTwo.\nThree.\n")
    import_documents("rows", [tmp_path / "n.csv"])
    (tmp_path / "n.csv").write_text("text\nTwo.\nThree.\n")
    assert import_documents("rows", [tmp_path / "n.csv"]).missing == ("n.csv:3",)


def test_files_that_a_folder_no_longer_has_are_missing_but_not_those_of_others(tmp_path):
    for name in ("in/a.txt", "in/b.txt", "in/bad.md", "c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"Text of {name}.")
    import_documents("mine", [tmp_path / "in", tmp_path / "c.txt"])
    (tmp_path / "in/a.txt").unlink()
    # This file cannot be read now, but is still in the folder.
    (tmp_path / "in/bad.md").write_bytes(b"\0\0")
    assert import_documents("mine", [tmp_path / "c.txt"]).missing == ()
    brought = import_documents("mine", [tmp_path / "in"])
    assert brought.missing == ("a.txt",) and brought.n_unchanged == 1
    assert import_documents("mine", [tmp_path / "in"], replace_files=True).corpus.ids == (
        "b.txt",
        "bad.md",
        "c.txt",
    )


def test_a_zip_is_a_folder(tmp_path):
    for files in ("ab", "b"):
        with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
            for name in files:
                archive.writestr(f"{name}.txt", name)
        brought = import_documents("mine", [tmp_path / "in.zip"])
    assert brought.missing == ("a.txt",)


def test_notes_on_a_file_are_saved_until_it_is_imported_again(tmp_path):
    (tmp_path / "old.txt").write_bytes("Zoé dîne à Genève.".encode("cp1252"))
    (tmp_path / "new.txt").write_text("Plain.")
    note = import_documents("mine", [tmp_path / "old.txt", tmp_path / "new.txt"]).notes[0]
    corpus = open_corpus("mine")
    assert corpus.origins == {"old.txt": DocumentOrigin("", (note,))} and note.startswith(
        "old.txt is not UTF-8"
    )
    digest = corpus.digest
    (tmp_path / "old.txt").write_text("Zoé dîne à Genève.", "utf-8")
    brought = import_documents("mine", [tmp_path / "old.txt"])
    assert (
        brought.corpus.origins == {}
        and brought.corpus.digest == digest
        and open_corpus("mine").origins == {}
    )


def test_records_of_files_are_removed_with_their_documents(tmp_path):
    (tmp_path / "in").mkdir()
    for name in "ab":
        (tmp_path / "in" / f"{name}.txt").write_text(name)
    corpus = import_documents("mine", [tmp_path / "in"]).corpus
    assert corpus.remove(["a.txt"]).origins == {"b.txt": DocumentOrigin("in")}
    remove_corpus("mine")


def test_tables_of_one_name_in_two_folders_are_two(tmp_path):
    for year in ("2023", "2024"):
        (tmp_path / "in" / year).mkdir(parents=True)
        (tmp_path / "in" / year / "t.csv").write_text(f"text\nOf {year}.\n")
    assert import_documents("mine", [tmp_path / "in"]).corpus.ids == (
        "2023/t.csv:1",
        "2024/t.csv:1",
    )
