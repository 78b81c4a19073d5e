"""Vectors of indexes, by item, with the text that the tool's encoder read."""

from __future__ import annotations

import base64
import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.corpus.indexes.microsoft import LANCEDB_ADVICE, read_index
from core.corpus.indexes.vectors import (
    IndexVectors,
    hnsw_vectors,
    item_vectors,
    nano_vectors,
    parquet_vectors,
)
from core.corpus.readers.file_sources import MemoryFile
from core.errors import BadInput
from tests.core.corpus.indexes.kit import ENCODER, RECORDED, index_in, nodes_of, opened_from

VARNA_TEXTS = {  # The text about Varna that each tool's encoder reads.
    "lightrag": "Varna\nA town with a harbour.",
    "nano-graphrag": '"VARNA""A town with a harbour."',
    # Once per chunk.
    "fast-graphrag": (
        "[LOCATION] VARNA\n[DESCRIPTION] A town with a harbour.\nA town with a harbour."
    ),
    "hipporag": "varna",
}


@pytest.mark.parametrize("tool", sorted(VARNA_TEXTS))
def test_vectors_of_entities_are_those_of_the_texts_that_the_tool_encoded(tool):
    opened = opened_from(RECORDED / tool)
    found, names = opened.vectors["nodes"], list(nodes_of(opened))
    assert found.count == len(names) == 5
    assert found.texts[[name.lower() for name in names].index("varna")] == VARNA_TEXTS[tool]
    assert (ENCODER.encode(found.texts) * found.matrix).sum(axis=1).min() > 0.999
    assert not any("ectors" in note for note in opened.notes)


def test_lightrag_has_vectors_of_chunks_and_relations():
    opened = opened_from(RECORDED / "lightrag")
    assert list(opened.vectors["chunks"].texts) == opened.graph.columns.chunks.texts("text")
    texts = opened.vectors["relations"].texts
    descriptions = opened.graph.columns.edges.texts("description")
    assert len(texts) == 5 and all(
        description in text for description, text in zip(descriptions, texts)
    )


def test_vectors_of_microsoft_graphrag_are_read_from_parquet(tmp_path):
    files = {
        file.name: MemoryFile(file.name, file.read_bytes())
        for file in (RECORDED / "graphrag").iterdir()
    }
    ids = pq.read_table(RECORDED / "graphrag" / "entities.parquet")
    first = ids.slice(0, 1).to_pylist()[0]
    pq.write_table(
        pa.table({"id": [first["id"], "unknown"], "embedding": [[3.0, 4.0], [1.0, 0.0]]}),
        tmp_path / "some.parquet",
    )
    # The names in versions 1 and 2, and in version 3.
    for name in ("embeddings.entity.description.parquet", "embeddings.entity_description.parquet"):
        (found,) = read_index(
            files | {name: MemoryFile(name, (tmp_path / "some.parquet").read_bytes())}
        ).vectors
        assert (found.kind, found.keys[0]) == ("nodes", first["title"])
        assert found.texts[0] == f"{first['title']}:{first['description']}" and found.matrix[
            0
        ].tolist() == [3.0, 4.0]
    assert not read_index(files).vectors and LANCEDB_ADVICE not in read_index(files).notes
    assert (
        LANCEDB_ADVICE
        in read_index(files | {"lancedb/x.lance/data/1.lance": MemoryFile("1.lance", b"")}).notes
    )


def test_an_item_with_several_vectors_has_none():
    found = IndexVectors(
        "nodes",
        ("A", "B", "B", "C", "D", "E"),
        ("a", "b", "b2", "", "d", "e"),
        np.eye(6, dtype=np.float32) * 2,
    )
    found.matrix[4] = np.nan
    taken = item_vectors(found, {"A": 2, "B": 0, "C": 1, "D": 3}, 5)
    # C has no text, D has no numbers, E is no item.
    assert taken.texts == ("", "", "a", "", "") and taken.count == 1
    assert taken.matrix[2].tolist() == [1, 0, 0, 0, 0, 0]
    assert item_vectors(found, {}, 5) is None


def nano_file(**changes) -> MemoryFile:
    content = {
        "embedding_dim": 2,
        "data": [{"__id__": "a"}],
        "matrix": base64.b64encode(np.array([1, 2], np.float32).tobytes()).decode(),
    }
    return MemoryFile("vdb.json", json.dumps(content | changes).encode())


def test_damaged_files_are_refused():
    assert nano_vectors(
        nano_file(), "nodes", lambda row: row["__id__"], lambda row: ""
    ).matrix.tolist() == [[1, 2]]
    for changes in (
        {"matrix": "AA=="},
        {"matrix": "?"},
        {"matrix": None},
        {"data": []},
        {"data": [3]},
        {"embedding_dim": 0},
    ):
        with pytest.raises(
            BadInput, match="vdb.json does not hold vectors as nano-vectordb writes them"
        ):
            nano_vectors(nano_file(**changes), "nodes", lambda row: "", lambda row: "")
    whole = (RECORDED / "fast-graphrag" / "entities_hnsw_index_384.bin").read_bytes()
    for data in (b"", whole[:200], whole[:8] + b"\xff" * 40 + whole[48:]):
        with pytest.raises(BadInput, match="damaged or no file of hnswlib"):
            hnsw_vectors(MemoryFile("x.bin", data))


def test_vectors_of_unequal_lengths_are_refused(tmp_path):
    pq.write_table(
        pa.table({"id": ["a", "b"], "embedding": [[1.0], [1.0, 2.0]]}), tmp_path / "e.parquet"
    )
    with pytest.raises(BadInput, match="does not hold vectors of one length under “embedding”"):
        parquet_vectors(
            MemoryFile("e.parquet", (tmp_path / "e.parquet").read_bytes()),
            "nodes",
            ("id", "embedding"),
            lambda id: (id, id),
        )


def test_a_damaged_file_of_vectors_affects_only_the_vectors(tmp_path):
    folder = shutil.copytree(RECORDED / "lightrag", tmp_path / "index")
    (folder / "vdb_entities.json").write_text("{")
    index = index_in(folder)[1]
    assert [one.kind for one in index.vectors] == ["relations", "chunks"] and len(
        index.entities
    ) == 5
    assert any(
        note.startswith("Vectors of entities are computed again. vdb_entities.json is not JSON")
        for note in index.notes
    )
