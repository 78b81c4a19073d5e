"""Additions to a neighbour index agree with exact search, and removed items are never found."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from core.graph.building.text_graph import assemble, store_graph
from core.indexes import vector_blocks, vectors
from core.indexes.index_extension import MAX_CHANGED_SHARE, PositionMap, match_keys
from core.watch import NO_WATCH


class RandomVectorEncoder:
    """An encoder with a random vector for each text."""

    def encode(self, texts, watch=NO_WATCH):
        drawn = [np.random.default_rng(list(text.encode())).standard_normal(24) for text in texts]
        return np.array([one / np.linalg.norm(one) for one in drawn], np.float32)


@pytest.fixture
def build_numbers(tmp_path, monkeypatch):
    """A function that builds the node vectors of a graph of numbers, always in one folder."""
    monkeypatch.setattr(
        vectors, "VECTOR_INDEX", replace(vectors.VECTOR_INDEX, max_exact_vectors=100)
    )
    monkeypatch.setattr(vector_blocks, "BLOCK_TEXTS", 64)

    def made(numbers):
        graph = store_graph(
            assemble("numbers", [f"{number:04}" for number in numbers], [], {}, {}),
            tmp_path / "numbers",
        )
        return graph, vectors.build_vectors(graph, RandomVectorEncoder(), "nodes")

    return made


def recall(graph, index):
    """Share of the ten exact nearest names that the index finds.

    The mean is over every tenth name.
    """
    names = graph.names(range(graph.n_nodes))
    all_of = RandomVectorEncoder().encode(names)
    hits = [
        len(
            np.intersect1d(
                index.nearest(all_of[row], 10)[0],
                np.argsort(-(all_of @ all_of[row]), kind="stable")[:10],
            )
        )
        for row in range(0, len(names), 10)
    ]
    return np.mean(hits) / 10


def test_new_items_are_added_and_removed_ones_masked(build_numbers):
    graph, before = build_numbers(range(1000, 2000))
    assert before.order is None
    graph, index = build_numbers(
        [*range(980, 1000), *(n for n in range(1000, 2000) if n not in (1003, 1500))]
    )
    assert (index.order.n_added, index.order.n_masked, len(index), index.facts["places"]) == (
        20,
        2,
        1018,
        1020,
    )
    assert recall(graph, index) > 0.97 and index.facts["recall"] > 0.97
    # Each item is found by its own vector, under its new number.
    for row in (0, 19, 20, 23, 1017):
        vector = RandomVectorEncoder().encode(graph.names([row]))[0]
        items, cosines = index.nearest(vector, 3)
        assert items[0] == row and cosines[0] == pytest.approx(1, abs=0.02)
        assert index.cosines(vector, np.array([row]))[0] == pytest.approx(1, abs=0.02)
        assert row not in index.nearest(vector, 3, excluded=np.array([row]))[0]
    removed = RandomVectorEncoder().encode(["1003"])[0]
    assert index.nearest(removed, 5)[1][0] < 0.98
    assert "20 were added to it and 2 masked" in index.approximation_note


def test_the_index_is_rebuilt_after_changes_of_a_tenth(build_numbers):
    build_numbers(range(1000, 2000))
    _, once = build_numbers(range(1000, 2060))
    _, twice = build_numbers(range(1050, 2060))
    assert (twice.order.n_added, twice.order.n_masked) == (60, 50) and once.order.n_masked == 0
    _, anew = build_numbers(range(1050, 2200))
    assert anew.order is None and len(anew) == 1150 and 200 > MAX_CHANGED_SHARE * 1150
    _, fewer = build_numbers(range(1200, 2200))
    assert fewer.order is None  # Otherwise 150 of 1,150 items would be masked.


def test_an_index_of_another_kind_or_a_damaged_one_is_not_added_to(build_numbers, monkeypatch):
    graph, _ = build_numbers(range(1000, 2000))
    folder = vectors.vector_folder(graph, RandomVectorEncoder(), "nodes")
    (folder / "index.faiss").write_bytes(b"no index")
    assert build_numbers(range(1000, 2001))[1].order is None
    monkeypatch.setattr(
        vectors, "VECTOR_INDEX", replace(vectors.VECTOR_INDEX, max_exact_vectors=10_000)
    )
    assert build_numbers(range(1000, 2002))[1].facts["kind"] == "SQfp16"


def test_a_damaged_order_counts_as_no_index(build_numbers):
    build_numbers(range(1000, 2000))
    graph, index = build_numbers(range(1000, 2010))
    folder = vectors.vector_folder(graph, RandomVectorEncoder(), "nodes")
    assert json.loads((folder / vector_blocks.DONE_FILE).read_text())["places"] == 1010
    assert np.array_equal(vectors.open_vectors(folder).order.items, index.order.items)
    (folder / "order.npy").unlink()
    assert vectors.open_vectors(folder) is None


def test_equal_keys_are_matched_one_to_one():
    keys = lambda *numbers: np.array([(one, one) for one in numbers], np.uint64).reshape(-1, 2)
    assert match_keys(keys(1, 1, 2), keys(1, 3, 1, 1)).tolist() == [0, 2, -1]
    assert match_keys(keys(1, 1, 1), keys(1)).tolist() == [0, -1, -1]
    assert match_keys(keys(), keys(1)).tolist() == []


def test_the_first_places_with_an_item_are_taken():
    order = PositionMap(np.array([4, -1, 0, 2, -1, 1, 3]))
    assert order.first_items(np.array([[1, 0, 6, 5], [4, 1, -1, 2]]), 2).tolist() == [
        [4, 3],
        [0, -1],
    ]


def test_very_many_items_are_searched_in_parts(build_numbers, monkeypatch):
    graph, whole = build_numbers(range(1000, 2000))
    monkeypatch.setattr(
        vectors, "VECTOR_INDEX", replace(vectors.VECTOR_INDEX, max_whole_index_vectors=500)
    )
    monkeypatch.setattr(vectors, "VECTOR_INDEX", replace(vectors.VECTOR_INDEX, part_vectors=300))
    vectors.delete_vectors(vectors.vector_folder(graph, RandomVectorEncoder(), "nodes"))
    graph, index = build_numbers(range(1000, 2000))
    folder = vectors.vector_folder(graph, RandomVectorEncoder(), "nodes")
    assert (
        index.facts["parts"] == 4 == len([*folder.glob("index-*.faiss")])
        and not (folder / "index.faiss").exists()
    )
    assert (len(index), index.order, "in 4 parts" in index.approximation_note) == (1000, None, True)
    assert recall(graph, index) > 0.97 and index.facts["recall"] > 0.97
    # Rows on both sides of a border between parts, in any order.
    rows = np.array([999, 0, 255, 256, 512, 3])
    assert index.vectors_of(rows) == pytest.approx(whole.vectors_of(rows), abs=0.01)
    vector = RandomVectorEncoder().encode(graph.names([256]))[0]
    assert (
        index.nearest(vector, 1)[0].tolist() == [256]
        and 256 not in index.nearest(vector, 5, excluded=np.array([256, 3]))[0]
    )
    # The number exceeds that of a part and that of all items. A few items may be unreachable.
    assert 950 < len(index.nearest(vector, 5000)[0]) <= 1000
    files = {file.name: file.read_bytes() for file in folder.glob("index-*.faiss")}
    vectors.delete_vectors(folder)
    build_numbers(range(1000, 2000))
    assert {file.name: file.read_bytes() for file in folder.glob("index-*.faiss")} == files


def test_additions_change_only_the_last_part(build_numbers, monkeypatch):
    monkeypatch.setattr(
        vectors, "VECTOR_INDEX", replace(vectors.VECTOR_INDEX, max_whole_index_vectors=500)
    )
    monkeypatch.setattr(vectors, "VECTOR_INDEX", replace(vectors.VECTOR_INDEX, part_vectors=300))
    first, _ = build_numbers(range(1000, 2000))
    before = vectors.vector_folder(first, RandomVectorEncoder(), "nodes")
    graph, index = build_numbers(
        [*range(980, 1000), *(n for n in range(1000, 2000) if n not in (1003, 1500))]
    )
    folder = vectors.vector_folder(graph, RandomVectorEncoder(), "nodes")
    assert (index.order.n_added, index.order.n_masked, len(index), index.facts["parts"]) == (
        20,
        2,
        1018,
        4,
    )
    assert [
        (folder / name).samefile(before / name)
        for name in ("index-000.faiss", "index-002.faiss", "index-003.faiss")
    ] == [
        True,
        True,
        False,
    ]
    assert recall(graph, index) > 0.97
    for row in (0, 19, 20, 23, 1017):
        assert index.nearest(RandomVectorEncoder().encode(graph.names([row]))[0], 3)[0][0] == row
    assert index.nearest(RandomVectorEncoder().encode(["1003"])[0], 5)[1][0] < 0.98
    vectors.delete_vectors(before)  # Files that are in use stay.
    assert recall(graph, vectors.open_vectors(folder)) > 0.97
    (folder / "index-001.faiss").write_bytes(b"no index")
    assert vectors.open_vectors(folder) is None
    assert (
        build_numbers(
            [*range(980, 1000), *(n for n in range(1000, 2000) if n not in (1003, 1500))]
        )[1].order
        is None
    )
