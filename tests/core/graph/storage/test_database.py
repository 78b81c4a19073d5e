"""A graph in the embedded Cypher database answers as the array store does, alone and in several processes."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import numpy as np
import pytest

from core.datasets import datasets, open_graph
from core.errors import BadInput, Cancelled, StoreError
from core.graph.algorithms.neighbourhood import induced, nearest
from core.graph.algorithms.walks import random_walks
from core.graph.building.build import in_memory
from core.graph.building.export import build_database
from core.graph.names.lookup import Names
from core.graph.pagerank import best as pagerank
from core.graph.pagerank.best import top_pagerank
from core.graph.storage.database import FILE, DatabaseGraph
from core.graph.storage.opening import open_store
from core.graph.storage.triple_cache import HELD, PARTS, Seen
from core.io import digests
from core.watch import Watch

pytest.importorskip("ladybug", reason="the graph database is not installed")

ODD = [
    ("Ann", "knows", "Ann"),
    ("É 🎬 <b>'x'", "r'\"", "two\nlines"),
    (" ", "\\", "''"),
    ("NULL", "tab\tbed", "null"),
    ("Ann", "a", "NULL"),
    ("Ann", "b", "NULL"),
]


def random_triples(seed, nodes=40, edges=160):
    rng = np.random.default_rng(seed)
    return [
        (f"n{h}", f"r{r}", f"n{t}")
        for h, r, t in rng.integers(0, (nodes, 4, nodes), (edges, 3)).tolist()
    ]


@pytest.fixture(scope="module", params=["odd", "random"])
def pair(request, tmp_path_factory):
    """The same triples as arrays and in a database."""
    triples = ODD if request.param == "odd" else random_triples(3)
    return in_memory(triples, "g", "both"), build_database(
        triples, tmp_path_factory.mktemp("db") / "g", "g", "both"
    )


def same(found, expected):
    assert [(part.dtype, part.tolist()) for part in found] == [
        (part.dtype, part.tolist()) for part in expected
    ]


def test_every_question_of_the_protocol_has_the_same_answer(pair):
    arrays, stored = pair
    every = np.arange(arrays.n_nodes)
    assert (stored.n_nodes, stored.n_edges, stored.relation_names) == (
        arrays.n_nodes,
        arrays.n_edges,
        arrays.relation_names,
    )
    assert (stored.digest, stored.direction, stored.name) == (arrays.digest, "both", "g")
    assert stored.names(every[::-1]) == arrays.names(every[::-1]) and stored.names([]) == []
    for name in (*arrays.names(every), "nobody", "", "\0", "\ud800", "' OR 1"):
        assert stored.nodes_named(name) == arrays.nodes_named(name)
    for nodes in (every, every[::-1], np.array([1, 1, 0]), np.array([], np.int64)):
        for way in ("out", "in", "both", "graph"):
            same(stored.steps_from(nodes, way), arrays.steps_from(nodes, way))
            same((stored.degrees(nodes, way),), (arrays.degrees(nodes, way),))
    same(stored.adjacency(), arrays.adjacency())
    same(stored.shape()[:3], arrays.shape()[:3])
    assert stored.shape()[3:] == arrays.shape()[3:]


def test_triples_are_found_whether_or_not_they_were_met(pair):
    arrays, stored = pair
    edges = np.arange(arrays.n_edges)[::-1]
    for order in (edges, edges[::2], np.array([0, 0]), edges[:0]):
        same(DatabaseGraph.open(stored.folder).triples(order), arrays.triples(order))
    fresh = DatabaseGraph.open(stored.folder)
    fresh.steps_from(np.array([0, 1]))
    same(fresh.triples(edges), arrays.triples(edges))
    assert stored.triple_texts(edges) == arrays.triple_texts(edges)


def test_searches_give_the_same(pair, monkeypatch):
    arrays, stored = pair
    for way in ("out", "in", "both"):
        same(nearest(stored, [1, 0], 3, way, 12), nearest(arrays, [1, 0], 3, way, 12))
        walks = [
            random_walks(graph, [0, 2], 8, 5, 0.2, way, np.random.default_rng(1))
            for graph in (stored, arrays)
        ]
        same(*walks)
        for method in ("auto", "exact"):
            ours, theirs = (
                top_pagerank(graph, [0, 2], 9, 0.8, way, method=method)
                for graph in (stored, arrays)
            )
            assert ours[0].tolist() == theirs[0].tolist() and ours[1] == pytest.approx(
                theirs[1], abs=1e-9
            )
    monkeypatch.setattr(
        pagerank, "WALKED", 0
    )  # as for a large graph: its steps are read as the push goes on
    ours = top_pagerank(DatabaseGraph.open(stored.folder), [0, 2], arrays.n_nodes + 1)
    assert ours[1] == pytest.approx(pagerank.pagerank_exact(arrays, [0, 2])[ours[0]], abs=1e-9)
    nodes = np.arange(0, arrays.n_nodes, 2)
    same((induced(stored, nodes),), (induced(arrays, nodes),))
    near = Names(stored).search("n1", 3), Names(arrays).search("n1", 3)
    assert near[0] == near[1]


def test_threads_share_a_graph_and_processes_read_it_at_once(pair):
    arrays, stored = pair
    got: list = []
    threads = [
        threading.Thread(target=lambda: got.append(stored.names(range(arrays.n_nodes))))
        for _ in range(4)
    ]
    [thread.start() for thread in threads]
    program = "import sys; from core.graph.storage.opening import open_store as o; print(len(o(sys.argv[1]).steps(0)[0]))"
    told = subprocess.run(
        [sys.executable, "-c", program, str(stored.folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    [thread.join() for thread in threads]
    assert (
        int(told.stdout) == len(arrays.steps(0)[0])
        and got == [arrays.names(range(arrays.n_nodes))] * 4
    )


def test_the_embedded_language_model_loads_after_the_database(pair):
    pytest.importorskip("xllamacpp")
    _, stored = pair
    program = """
import sys
from core.graph.storage.opening import open_store
print(len(open_store(sys.argv[1]).steps(0)[0]))
import xllamacpp
"""
    told = subprocess.run(
        [sys.executable, "-c", program, str(stored.folder)], capture_output=True, text=True
    )
    assert told.returncode == 0 and int(told.stdout) > 0, told.stderr[-500:]


def test_a_build_is_whole_or_not_at_all(tmp_path):
    old = build_database([("a", "r", "b")], tmp_path / "g", "g")
    with pytest.raises(BadInput):
        build_database([], tmp_path / "g", "g")

    def stop():
        raise Cancelled()

    with pytest.raises(Cancelled):
        build_database([("c", "r", "d")], tmp_path / "g", "g", watch=Watch(stop))
    again = open_store(tmp_path / "g")
    assert again.digest == old.digest and again.names([0, 1]) == ["a", "b"]
    meta = json.loads((tmp_path / "g/graph.json").read_text())
    assert sorted(file.name for file in (tmp_path / "g").iterdir()) == [meta["data"], "graph.json"]
    shares: list[float] = []
    newer = build_database(
        [("c", "r", "d")],
        tmp_path / "g",
        "g",
        "out",
        Watch(report=lambda text, share: shares.append(share)),
    )
    assert open_store(tmp_path / "g").names([0]) == ["c"] and newer.digest != old.digest
    assert shares == sorted(shares) and shares[-1] == 1.0


def test_a_damaged_database_is_told(tmp_path):
    graph = build_database([("a", "r", "b")], tmp_path / "g", "g")
    data = tmp_path / "g" / json.loads((tmp_path / "g/graph.json").read_text())["data"]
    (data / FILE).write_bytes(b"no database")
    with pytest.raises(StoreError, match=f"damaged .{FILE} has 11 bytes.*build it again"):
        DatabaseGraph.open(graph.folder)
    (data / digests.FILE).unlink()  # as of an earlier version
    with pytest.raises(StoreError, match="graph database"):
        DatabaseGraph.open(graph.folder).names([0])
    (data / FILE).unlink()
    with pytest.raises(StoreError, match="is missing.*build it again"):
        open_store(tmp_path / "g")
    with pytest.raises(StoreError, match="There is no graph"):
        open_store(tmp_path / "nowhere")


def test_the_app_lists_it_like_others(tmp_path, monkeypatch, capsys):
    from core.cli import main

    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    (tmp_path / "t.tsv").write_text("a\tr\tb\nb\ts\tc\n")
    assert (
        main(
            [
                "build",
                str(tmp_path / "t.tsv"),
                "--out",
                str(tmp_path / "graphs" / "few"),
                "--store",
                "cypher",
            ]
        )
        == 0
    )
    assert "3 entities, 2 triples, 2 relations" in capsys.readouterr().out
    assert datasets()["few"].open() is open_graph("few") and isinstance(
        open_graph("few"), DatabaseGraph
    )
    assert open_graph("few").triple_texts([0, 1]) == ["a -> r -> b", "b -> s -> c"]


def test_edges_are_remembered_up_to_a_bound():
    seen, rng = Seen(), np.random.default_rng(0)
    for _ in range(3 * PARTS):
        edges = rng.permutation(1000)[:50]
        seen.add(edges, edges * 2, edges % 7, edges * 3)
    asked = rng.integers(0, 1000, 400)
    known, (heads, relations, tails) = seen.find(asked)
    assert (
        known.any()
        and (heads[known] == asked[known] * 2).all()
        and (relations[known] == asked[known] % 7).all()
    )
    assert (tails[known] == asked[known] * 3).all() and len(seen._parts) <= PARTS
    many = np.arange(HELD + 1)
    seen.add(many, many, many, many)
    assert not seen.find(asked)[0].any()
    seen.add(many[:5], many[:5], many[:5], many[:5])
    assert seen.find(np.array([3, 9]))[0].tolist() == [True, False]
