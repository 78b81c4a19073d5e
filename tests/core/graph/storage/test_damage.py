"""A changed byte in a store is found on opening, or reported after a large file was read.

No other graph is affected.
"""

from __future__ import annotations

import json
import threading
import time

import pytest

from core.datasets import datasets, open_graph
from core.datasets.catalogue import unreadable_graphs
from core.errors import StoreError
from core.graph.building.build import build
from core.graph.building.text_graph import store_graph, with_tables
from core.graph.columns import Table
from core.graph.store import Graph
from core.io import digests

TRIPLES = [(f"node {n}", f"r{n % 3}", f"node {(n * 7 + 1) % 40}") for n in range(120)]


def flip(file, place: float) -> None:
    """Change the lowest bit of one byte at a relative position in a file."""
    data = bytearray(file.read_bytes())
    data[int(place * (len(data) - 1))] ^= 1
    file.write_bytes(data)


@pytest.fixture
def stored_graph(tmp_path):
    graph = build(TRIPLES, tmp_path / "triples", "triples")
    return store_graph(
        with_tables(graph, nodes=Table.from_columns(type=["thing"] * graph.n_nodes)),
        tmp_path / "graphs" / "told",
    )


FILES = [
    "offsets",
    "heads",
    "tails",
    "relations",
    "in_edges",
    "in_heads",
    "name_offsets",
    "name_order",
    "degree_bytes",
]


@pytest.mark.parametrize("place", [0.0, 0.4, 1.0])
@pytest.mark.parametrize(
    "name",
    [*(f"{name}.npy" for name in FILES), "names.bin", "columns/nodes.arrow", digests.DIGESTS_FILE],
)
def test_a_changed_byte_is_found_when_it_is_opened(stored_graph, name, place):
    flip(stored_graph.data_folder / name, place)
    with pytest.raises(StoreError, match="The graph in .* is damaged .*build it again"):
        Graph.open(stored_graph.folder)


def test_every_byte_of_the_description_counts(stored_graph):
    file = stored_graph.folder / "graph.json"
    sound, meta = (
        file.read_bytes(),
        (
            stored_graph.relation_names,
            stored_graph.name,
            stored_graph.digest,
            stored_graph.direction,
            stored_graph.names(range(5)),
        ),
    )
    for at in range(len(sound)):
        file.write_bytes(sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :])
        try:
            graph = Graph.open(stored_graph.folder)
        except StoreError:
            continue
        assert (
            graph.relation_names,
            graph.name,
            graph.digest,
            graph.direction,
            graph.names(range(5)),
        ) == meta


def test_a_damaged_graph_affects_no_other_graph(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    for name in ("good", "bad"):
        build(TRIPLES, tmp_path / "graphs" / name, name)
    flip(next((tmp_path / "graphs" / "bad").glob("data-*/tails.npy")), 0.5)
    assert (
        "good" in datasets()
        and "bad" not in datasets()
        and unreadable_graphs(datasets()) == ["bad"]
    )
    assert open_graph("good").n_edges == 120
    with pytest.raises(StoreError, match="tails.npy is not as it was written.*build it again"):
        open_graph("bad")


def test_damage_found_later_is_reported_at_every_use(stored_graph, monkeypatch):
    monkeypatch.setattr(digests, "MAX_BYTES_CHECKED_ON_OPENING", 0)
    flip(stored_graph.data_folder / "tails.npy", 0.9)
    graph = Graph.open(stored_graph.folder)  # Opens without reading the large files.
    graph.digest_check.start()
    for thread in threading.enumerate():
        if thread.name.startswith("digests of"):
            thread.join()
    for used in (
        lambda: graph.names([0]),
        graph.adjacency,
        lambda: graph.nodes_named("node 1"),
        graph.shape,
        lambda: graph.triples([0]),
    ):
        with pytest.raises(StoreError, match="damaged .tails.npy is not as it was written"):
            used()


def test_a_large_graph_is_read_once_a_process(stored_graph, monkeypatch):
    monkeypatch.setattr(digests, "MAX_BYTES_CHECKED_ON_OPENING", 0)
    time.sleep(1.1 * digests.TICK_NANOSECONDS / 1e9)
    digests.check_digests(stored_graph.data_folder)
    assert Graph.open(stored_graph.folder).digest_check.is_done
    flip(stored_graph.data_folder / "heads.npy", 0.9)
    assert not Graph.open(stored_graph.folder).digest_check.is_done


@pytest.mark.parametrize(
    "name", ["offsets", "tails", "in_heads", "relations", "name_offsets", "name_order", "in_edges"]
)
def test_offsets_outside_an_earlier_store_are_found(stored_graph, name):
    """Stores of earlier versions have no digests.

    An offset outside its array is found all the same.
    """
    (stored_graph.data_folder / digests.DIGESTS_FILE).unlink()
    assert Graph.open(stored_graph.folder).names([0]) == ["node 0"]
    file = stored_graph.data_folder / f"{name}.npy"
    data = bytearray(file.read_bytes())
    data[-20] ^= 0x70
    data[len(data) // 2 | 3] ^= 0x70
    file.write_bytes(data)
    with pytest.raises(StoreError, match="build it again"):
        Graph.open(stored_graph.folder)


def test_a_description_of_an_earlier_version_opens(stored_graph):
    file = stored_graph.folder / "graph.json"
    meta = json.loads(file.read_text())
    meta.pop(digests.DIGEST_KEY)
    file.write_text(json.dumps(meta))
    assert Graph.open(stored_graph.folder).digest == stored_graph.digest
