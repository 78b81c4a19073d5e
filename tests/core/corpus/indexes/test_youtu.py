"""A hand-made index of Youtu-GraphRAG in the form that its code writes."""

from __future__ import annotations

import json

import pytest

from core.errors import BadInput
from tests.core.corpus.indexes.kit import edges_of, index_in, nodes_of, opened_from


def entity(name, chunk, type=""):
    return {
        "label": "entity",
        "properties": {"name": name, "chunk id": chunk} | ({"schema_type": type} if type else {}),
    }


def row(head, relation, tail):
    return {"start_node": head, "relation": relation, "end_node": tail}


ANN, ROME = entity("Ann", "c1", "person"), entity("Rome", "c2", "city")
CIRCLE = {
    "label": "community",
    "properties": {"name": "Romans", "description": "Who lives in Rome.", "members": ["Ann", "Bo"]},
}
ROWS = [
    row(
        ANN,
        "has_attribute",
        {"label": "attribute", "properties": {"name": "profession: cook", "chunk id": "c1"}},
    ),
    row(
        ANN,
        "has_attribute",
        {"label": "attribute", "properties": {"name": "age: 30", "chunk id": "c2"}},
    ),
    row(ANN, "lives_in", ROME),
    row(ROME, "member_of", CIRCLE),
    row(ANN, "represented_by", {"label": "keyword", "properties": {"name": "Ann"}}),
    row({"label": "entity"}, "lives_in", ROME),
]
CHUNKS = (
    "id: c0\tChunk: Ann is a cook.\nid: c1\tChunk: Ann is a cook.\nid: c2\tChunk: Ann, who "
    "is 30,\n\nlives in Rome.\n"
)


def write_index(folder, rows=ROWS, chunks=CHUNKS, name="demo"):
    for inner in ("graphs", "chunks"):
        (folder / "output" / inner).mkdir(parents=True, exist_ok=True)
    (folder / "output" / "graphs" / f"{name}_new.json").write_text(json.dumps(rows))
    (folder / "output" / "chunks" / f"{name}.txt").write_text(chunks)
    return folder


def test_a_folder_of_youtu_graphrag(tmp_path):
    opened = opened_from(write_index(tmp_path / "a"))
    assert index_in(tmp_path / "a")[0] == "youtu-graphrag"
    assert opened.graph.columns.chunks.texts("text") == [
        "Ann is a cook.",
        "Ann, who is 30,\n\nlives in Rome.",
    ]
    assert nodes_of(opened) == {
        "Ann": ("person", "profession: cook; age: 30", [0, 1]),
        "Rome": ("city", "", [1]),
    }
    assert edges_of(opened) == {frozenset(("Ann", "Rome")): ("lives_in", "", "", 1.0, [1])}
    table = opened.graph.columns.communities
    assert (table.texts("title"), table.texts("report"), table.id_lists("members").to_lists()) == (
        ["Romans"],
        ["Who lives in Rome."],
        [[0, 1]],
    )
    assert opened.left_out == {
        "Left out, rows that are no relation": 1,
        "Left out, relations of keywords": 1,
        "Left out, chunks of earlier runs with a text that is there again": 1,
        "Left out, members of communities that are no entities of the index": 1,
    }
    assert (
        "each chunk is a document" in opened.notes[0]
        and "the first that both its entities name" in opened.notes[1]
    )


def test_damaged_and_several(tmp_path):
    with pytest.raises(BadInput, match="demo.txt has no line “id: …, Chunk: …”"):
        opened_from(write_index(tmp_path / "a", chunks="Ann is a cook."))
    with pytest.raises(BadInput, match="demo_new.json holds no list of relations"):
        opened_from(write_index(tmp_path / "b", rows={}))
    write_index(tmp_path / "c"), write_index(tmp_path / "c", name="other")
    with pytest.raises(
        BadInput,
        match="demo, other",
    ):
        opened_from(tmp_path / "c")
