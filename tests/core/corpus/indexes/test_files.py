"""Recognition of the index in a folder or a zip, and files that are ignored."""

from __future__ import annotations

import zipfile

import pytest

from core.corpus.indexes.files import files_at_path, read_index_json, read_keyed_json
from core.corpus.indexes.tools import TOOLS, recognise_tool
from core.errors import BadInput
from core.io.files import DiskFile
from tests.core.corpus.indexes.kit import RECORDED
from tests.notes import NoteWith

NAMES = ("entities.parquet", "relationships.parquet", "text_units.parquet")


def write_index_files(folder):
    folder.mkdir(parents=True)
    for name in NAMES:
        (folder / name).write_bytes(b"")
    return folder


def tool_in(path):
    return recognise_tool(files_at_path(path)[0], path.name)


def test_an_index_is_found_in_an_inner_folder_and_in_a_zip(tmp_path):
    write_index_files(tmp_path / "project" / "output")
    tool, files = tool_in(tmp_path / "project")
    assert tool == "graphrag" and sorted(files) == list(NAMES)
    with zipfile.ZipFile(tmp_path / "project.zip", "w") as packed:
        for name in NAMES:
            packed.writestr(f"project/output/{name}", b"")
        packed.writestr("../outside.parquet", b"")
    files, notes = files_at_path(tmp_path / "project.zip")
    assert recognise_tool(files, "project.zip")[0] == "graphrag" and "outside" not in str(
        sorted(files)
    )
    assert notes == [NoteWith("project.zip", "../outside.parquet")]


def test_a_folder_without_index_is_refused_with_the_known_tools(tmp_path):
    (tmp_path / "notes.txt").write_text("Ann.")
    with pytest.raises(
        BadInput,
        match=(
            r"holds no index that can be read. Looked for: Microsoft GraphRAG "
            r"\(entities.parquet, relat"
        ),
    ) as said:
        tool_in(tmp_path)
    assert all(tool.title in str(said.value) for tool in TOOLS.values())
    with pytest.raises(BadInput, match="There is no folder or file"):
        files_at_path(tmp_path / "missing")


def test_two_indexes_in_one_folder_are_named(tmp_path):
    write_index_files(tmp_path / "both" / "output"), write_index_files(tmp_path / "both" / "older")
    with pytest.raises(
        BadInput,
        match="both .*: Microsoft GraphRAG in older, Microsoft GraphRAG in output. Give the fol",
    ):
        tool_in(tmp_path / "both")


def test_links_are_not_followed(tmp_path):
    outside = write_index_files(tmp_path / "outside")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "inner").symlink_to(outside)
    for name in NAMES:
        (folder / name).symlink_to(outside / name)
    files, notes = files_at_path(folder)
    assert files == {} and notes == [NoteWith("links", 4, "entities.parquet")]


def test_a_folder_of_too_many_files_is_not_searched(tmp_path, monkeypatch):
    monkeypatch.setattr("core.corpus.indexes.files.MAX_INDEX_FILES", 3)
    with pytest.raises(BadInput, match="more than 3 files"):
        files_at_path(write_index_files(tmp_path / "a" / "b").parent)


@pytest.mark.parametrize(
    "content, said",
    [
        (b"{", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"\xff\xfe\x00", "is not"),
        (b"[1]", "holds a list; expected an object with an entry for each key"),
        (b'{"a": 1}', "the entry “a” is a number; expected an object"),
    ],
)
def test_json_that_is_something_else_is_refused(content, said, tmp_path):
    (tmp_path / "kv.json").write_bytes(content)
    with pytest.raises(BadInput, match=f"kv.json.*{said}"):
        read_keyed_json(DiskFile(tmp_path / "kv.json"))


def test_json_of_a_byte_order_mark_is_read(tmp_path):
    (tmp_path / "a.json").write_bytes(b'\xef\xbb\xbf{"a": {"b": 1}}')
    assert read_index_json(DiskFile(tmp_path / "a.json")) == {"a": {"b": 1}}


def test_the_recorded_folders_are_each_of_one_tool():
    assert {
        folder.name: tool_in(folder)[0] for folder in sorted(RECORDED.iterdir()) if folder.is_dir()
    } == {tool: tool for tool in TOOLS if tool != "youtu-graphrag"}
