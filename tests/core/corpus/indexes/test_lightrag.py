"""Indexes of LightRAG and nano-graphrag, made from two short texts by
tests/peers/indexes_peer.py.
"""

from __future__ import annotations

import json
import shutil

import pytest

from core.corpus.indexes.index_assembly import UNNAMED_RELATION_LABEL
from core.errors import BadInput
from tests.core.corpus.indexes.kit import (
    HARBOUR,
    RECORDED,
    SHIP,
    edges_of,
    index_in,
    nodes_of,
    opened_from,
)

LIGHTRAG, NANO = RECORDED / "lightrag", RECORDED / "nano-graphrag"


def test_a_folder_of_lightrag():
    opened = opened_from(LIGHTRAG)
    assert {one.id: one.text for one in opened.documents} == {
        "harbour.txt": HARBOUR,
        "ship.txt": SHIP,
    }
    chunks = opened.graph.columns.chunks
    assert chunks.texts("id") == [
        "harbour.txt#lightrag-0",
        "harbour.txt#lightrag-1",
        "ship.txt#lightrag-0",
        "ship.txt#lightrag-1",
    ]
    assert chunks.texts("text")[:2] == [
        "Ann Lee built the harbour of Varna in 1902. The harbour lies",
        "rbour lies on the Black Sea.",
    ]
    assert nodes_of(opened) == {
        # An end of a relation belongs to the chunk of the relation.
        "Ann Lee": ("person", "An engineer who built a harbour & owns a ship.", [0, 2]),
        "Varna": (
            "location",
            "A town with a harbour.",
            [0, 1, 3],
        ),
        "Black Sea": ("location", "The sea at Varna.", [1]),
        "Marie": ("ship", "A ship <of Ann Lee>.", [2, 3]),
        "Bo Holm": ("person", "The captain of the Marie.", [2, 3]),
    }
    relations = edges_of(opened)
    assert len(relations) == 5
    assert relations[frozenset(("Ann Lee", "Varna"))] == (
        UNNAMED_RELATION_LABEL,
        "Ann Lee built the harbour of Varna.",
        "building, harbour",
        1.0,
        [0],
    )
    assert not opened.left_out and not opened.notes and opened.graph.columns.communities is None


def test_chunks_that_the_graph_no_longer_names_come_from_their_own_files(tmp_path):
    """LightRAG's graph names only some chunks of an entity.

    All of them are in kv_store_entity_chunks.json.
    """
    folder = shutil.copytree(LIGHTRAG, tmp_path / "capped")
    graph = folder / "graph_chunk_entity_relation.graphml"
    keys = list(json.loads((folder / "kv_store_text_chunks.json").read_text()))
    assert keys
    for key in keys:
        graph.write_text(graph.read_text().replace(f"&lt;SEP&gt;{key}", ""))
    assert nodes_of(opened_from(folder)) == nodes_of(opened_from(LIGHTRAG))
    for name in ("entity", "relation"):
        (folder / f"kv_store_{name}_chunks.json").unlink()
    # Earlier versions of LightRAG have no such file.
    assert nodes_of(opened_from(folder))["Ann Lee"][2] == [0]


def test_a_folder_of_nano_graphrag():
    tool, index = index_in(NANO)
    opened = opened_from(NANO)
    assert tool == "nano-graphrag" and sorted(one.text for one in opened.documents) == [
        HARBOUR,
        SHIP,
    ]
    # Names have no quotation marks.
    assert nodes_of(opened)["ANN LEE"] == (
        "PERSON",
        "An engineer who built a harbour & owns a ship.",
        [0, 2],
    )
    assert edges_of(opened)[frozenset(("BO HOLM", "MARIE"))] == (
        UNNAMED_RELATION_LABEL,
        "Bo Holm is the captain of the Marie.",
        "",
        9.0,
        [3],
    )
    whole, inner = (
        {one.key: one for one in index.communities}["0"],
        {one.key: one for one in index.communities}["1"],
    )
    assert (whole.level, whole.parent, len(whole.members)) == (0, "", 5)
    assert (inner.level, inner.parent, sorted(inner.members)) == (
        1,
        "0",
        ["ANN LEE", "BO HOLM", "MARIE"],
    )
    assert (inner.title, inner.rating) == ("Harbour and ship", 6.5) and inner.report.startswith(
        "Who built and owns what.\n\n## A finding"
    )


def test_a_text_without_a_document_and_a_damaged_graph(tmp_path):
    folder = shutil.copytree(NANO, tmp_path / "cut")
    (folder / "kv_store_full_docs.json").unlink()
    opened = opened_from(folder)
    assert [one.text for one in opened.documents if one.text.startswith("Ann")] == [
        f"{HARBOUR[:60]}\n\nrbour lies on the Black Sea."
    ]
    assert "does not hold the text of 2 documents" in opened.notes[0]
    graph = folder / "graph_chunk_entity_relation.graphml"
    graph.write_text(graph.read_text()[:900])
    with pytest.raises(BadInput, match="graph_chunk_entity_relation.graphml, line .*: not XML"):
        opened_from(folder)
    graph.write_text('<!DOCTYPE g [<!ENTITY a "aaaa">]><graphml>&a;</graphml>')
    with pytest.raises(BadInput, match="declares XML entities"):
        opened_from(folder)


def test_files_without_a_name_are_named_by_their_keys(tmp_path):
    folder = shutil.copytree(LIGHTRAG, tmp_path / "unknown")
    file = folder / "kv_store_full_docs.json"
    file.write_text(file.read_text().replace('"ship.txt"', '"unknown_source"'))
    assert sorted(one.id for one in opened_from(folder).documents) == [
        "doc-cd69e9504ee51ef8bacb6f5cb9b53a1c",
        "harbour.txt",
    ]
