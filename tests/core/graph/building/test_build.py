import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

from core.errors import BadInput, RunCancelled, StoreError
from core.graph.building.build import build, open_or_build
from core.graph.storage.store_files import lock_store
from core.graph.store import STORE_ARRAYS, Graph
from core.io import digests
from core.watch import Watch
from tests.core.graph.verifying import verify

TRIPLES = [("b", "s", "a"), ("a", "r", "b"), ("a", "s", "b"), ("a", "r", "b"), ("b", "s", "b")]


def names_of(folder):
    return sorted(entry.name for entry in folder.iterdir())


def start_python(code, *arguments, **settings):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **settings},
    )


def test_ids_order_and_arrays_by_hand(tmp_path):
    # Ids by name: a 0, b 1; r 0, s 1. Sorted by (head, relation, tail): a r b, a s b, b s a, b s b,
    # which is (0,0,1), (0,1,1), (1,1,0), (1,1,1).
    graph = build(iter(TRIPLES), tmp_path / "g", "two")
    assert (graph.n_nodes, graph.n_edges, graph.relation_names) == (2, 4, ("r", "s"))
    assert [graph.triple_text(e) for e in range(4)] == [
        "a -> r -> b",
        "a -> s -> b",
        "b -> s -> a",
        "b -> s -> b",
    ]
    assert graph.out_indptr.tolist() == [0, 2, 4] and graph.in_indptr.tolist() == [0, 1, 4]
    assert graph.in_edges.tolist() == [2, 0, 1, 3] and graph.in_heads.tolist() == [1, 0, 0, 1]
    assert graph.name_order.tolist() == [0, 1]
    assert [part.tolist() for part in graph.steps(1, "both")] == [
        [0, 1, 0, 0, 1],
        [2, 3, 0, 1, 3],
        [True, True, False, False, False],
    ]
    assert [graph.degree(1, way) for way in ("out", "in", "both")] == [2, 3, 5]


def test_the_same_triples_in_any_order_give_the_same_store(tmp_path):
    lines = [
        *TRIPLES,
        ("é", "r", "z"),
        ("z", "\uffff", "🎬"),
        ("🎬", "r", "\uffff"),
        ("B", "r", "a"),
        ("z", "é", "z"),
    ]
    graphs = [
        build(
            map(tuple, np.random.default_rng(seed).permutation(lines).tolist()),
            tmp_path / str(seed),
            "g",
        )
        for seed in range(6)
    ]
    assert len({graph.digest for graph in graphs}) == 1
    assert graphs[0].names(range(7)) == ["B", "a", "b", "z", "é", "\uffff", "🎬"] and graphs[
        0
    ].relation_names == ("r", "s", "é", "\uffff")


def test_degrees_in_a_byte(tmp_path):
    # Node b: out to b and a, in from a twice and from itself. Node a: one in, two out. The centre
    # of a star has 300 edges, more than a byte holds.
    graph = build(iter(TRIPLES), tmp_path / "g", "two")
    assert graph.degree_bytes.tolist() == [3, 5] and graph.degree_bytes.dtype == np.uint8
    star = build([("centre", "r", f"leaf {at}") for at in range(300)], tmp_path / "s", "star")
    # A store from before these files existed.
    assert star.degree_bytes.tolist() == [255] + [1] * 300
    for file in ("degree_bytes.npy", digests.DIGESTS_FILE):
        (star.data_folder / file).unlink()
    assert Graph.open(tmp_path / "s").degree_bytes.tolist() == [255] + [1] * 300


def test_movies_has_its_known_size(movies):
    assert (movies.n_edges, movies.n_nodes, movies.n_relations) == (133_582, 43_234, 9)
    assert movies.direction == "both"
    verify(movies)


def test_hostile_names_survive(tmp_path):
    names = ['"', "<script>", "🎬", "a\tb", "line\nbreak", "\x00", "é", "e\u0301", " "]
    graph = build([(name, "r<", "x") for name in names], tmp_path / "g", "</title>")
    assert Graph.open(tmp_path / "g").names(range(len(names) + 1)) == sorted(
        [*names, "x"], key=str.encode
    )
    with pytest.raises(BadInput):
        build([("\ud800", "r", "x")], tmp_path / "h", "h")
    assert graph.name == "</title>" and not (tmp_path / "h").exists()


def test_a_failed_or_cancelled_build_keeps_the_old_store(tmp_path):
    old = build(TRIPLES, tmp_path / "g", "old")

    def broken():
        yield from TRIPLES
        raise BadInput("line 9")

    def stop():
        raise RunCancelled()

    for attempt in (
        lambda: build(broken(), tmp_path / "g", "new"),
        lambda: build(TRIPLES, tmp_path / "g", "new", watch=Watch(stop)),
        lambda: build([], tmp_path / "g", "new"),
    ):
        with pytest.raises((BadInput, RunCancelled)):
            attempt()
        assert Graph.open(tmp_path / "g").digest == old.digest
    with pytest.raises(BadInput):
        build(broken(), tmp_path / "fresh", "new")
    assert names_of(tmp_path) == ["g"] and len(names_of(tmp_path / "g")) == 2


def test_only_one_thread_holds_a_lock_although_failures_remove_its_file(tmp_path):
    inside, most, rounds = [], [], 40

    def work(number):
        for turn in range(rounds):
            with suppress(BadInput), lock_store(tmp_path / "g", True):
                inside.append(number)
                most.append(len(inside))
                time.sleep(0.0005)
                inside.remove(number)
                if (turn + number) % 2:
                    raise BadInput("no triple")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1 and len(most) == 4 * rounds


def test_a_replaced_store_stays_readable_while_open(tmp_path):
    old = build(TRIPLES, tmp_path / "g", "old")
    new = build([("x", "r", "y")], tmp_path / "g", "new")
    assert old.names([0, 1]) == ["a", "b"] and new.names([0, 1]) == ["x", "y"]
    assert len(names_of(tmp_path / "g")) == 2


def test_readers_never_see_a_half_store(tmp_path):
    stores = [
        [(f"{letter}{i}", "r", f"{letter}{i + 1}") for i in range(size)]
        for letter, size in (("a", 5), ("b", 900))
    ]
    known = {build(triples, tmp_path / "g", "g").digest for triples in stores}
    done, seen = threading.Event(), []

    def read():
        while not done.is_set():
            graph = Graph.open(tmp_path / "g")
            verify(graph)
            seen.append(graph.digest)

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(30):
        build(stores[turn % 2], tmp_path / "g", "g")
    done.set()
    reader.join()
    assert seen and set(seen) <= known


@pytest.mark.parametrize("existing", [False, True])
def test_a_killed_build_leaves_nothing_that_opens_and_is_cleaned_up(tmp_path, existing):
    if existing:
        old = build(TRIPLES, tmp_path / "g", "old")
    code = (
        "import sys, os, time, core.graph.building.build as b\n"
        "def slow(*a):\n    os.mkdir(a[1]); open(a[1] / 'heads.npy', 'w').write('half'); "
        "print('now', flush=True); time.sleep(60)\n"
        "b.install_store = slow\nb.build([('p', 'r', 'q')], sys.argv[1], 'killed')"
    )
    code = code.replace("os.mkdir(a[1]); ", "")
    child = start_python(code, tmp_path / "g")
    assert child.stdout.readline() == "now\n"
    with pytest.raises(StoreError, match="being built by another process"):
        build(TRIPLES, tmp_path / "g", "mine")
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert "building" in names_of(tmp_path / "g")
    if existing:
        assert Graph.open(tmp_path / "g").digest == old.digest
    else:
        with pytest.raises(StoreError, match="There is no graph"):
            Graph.open(tmp_path / "g")
    assert build(TRIPLES, tmp_path / "g", "mine").n_edges == 4
    assert "building" not in names_of(tmp_path / "g") and len(names_of(tmp_path / "g")) == 2


def test_a_build_reports_that_it_starts_over(tmp_path):
    (tmp_path / "t.tsv").write_text("a\tr\tb\n" * 60_000)
    (tmp_path / "g").mkdir()  # A killed build leaves an empty folder.
    told = []
    build(
        tmp_path / "t.tsv",
        tmp_path / "g",
        "g",
        watch=Watch(report=lambda text, share: told.append(text)),
    )
    assert told[0] == "Starting over after a break: reading triples"
    told.clear()
    build(
        tmp_path / "t.tsv",
        tmp_path / "g",
        "g",
        watch=Watch(report=lambda text, share: told.append(text)),
    )
    assert told[0] == "Reading triples"


def test_a_second_process_can_wait_for_the_first(tmp_path):
    (tmp_path / "t.tsv").write_text("a\tr\tb\n")
    code = (
        "import sys, time\nfrom core.graph.building.build import build\n"
        "from pathlib import Path\n"
        "def slow():\n    yield 'a', 'r', 'b'\n    print('now', flush=True)\n"
        "    while not Path(sys.argv[2]).exists():\n        time.sleep(0.01)\n"
        "build(slow(), sys.argv[1], 'first')"
    )
    waited = tmp_path / "waited"
    child = start_python(code, tmp_path / "g", waited)
    assert child.stdout.readline() == "now\n"
    # The check is called while the other process holds the lock; it then lets that process
    # continue.
    graph = open_or_build(
        tmp_path / "t.tsv", tmp_path / "g", "second", watch=Watch(waited.touch), wait=True
    )
    assert graph.name == "second" and waited.exists()
    assert child.wait() == 0


def test_open_or_build_rebuilds_only_for_changed_content(tmp_path):
    source = tmp_path / "t.tsv"
    source.write_text("a\tr\tb\n")
    told = []
    first = open_or_build(
        source, tmp_path / "g", "g", watch=Watch(report=lambda text, share: told.append(share))
    )
    assert told == sorted(told) and told[-1] == 1.0
    os.utime(source, (1, 1))
    assert open_or_build(source, tmp_path / "g", "g").data == first.data
    source.write_text("a\tr\tc\n")
    assert open_or_build(source, tmp_path / "g", "g").names([1]) == ["c"]
    assert open_or_build(source, tmp_path / "g", "g", "out").direction == "out"


@pytest.mark.parametrize(
    "key",
    [
        *(key for key in STORE_ARRAYS if not key.endswith("indptr")),
        "offsets",
        "names",
        "degree_bytes",
    ],
)
def test_damage_raises_a_store_error_and_is_repaired(tmp_path, key):
    (tmp_path / "t.tsv").write_text("a\tr\tb\nb\tr\tc\n")
    graph = open_or_build(tmp_path / "t.tsv", tmp_path / "g", "g")
    path = graph.data_folder / (f"{key}.npy" if key != "names" else "names.bin")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StoreError, match="build it again"):
        Graph.open(tmp_path / "g")
    assert open_or_build(tmp_path / "t.tsv", tmp_path / "g", "g").digest == graph.digest


def test_an_earlier_store_with_offsets_in_two_files_still_opens(tmp_path):
    graph = build(TRIPLES, tmp_path / "g", "g")
    for key in ("out_indptr", "in_indptr"):
        np.save(graph.data_folder / f"{key}.npy", getattr(graph, key))
    for file in ("offsets.npy", digests.DIGESTS_FILE):
        (graph.data_folder / file).unlink()
    again = Graph.open(tmp_path / "g")
    verify(again)
    assert (
        again.out_indptr.tolist() == graph.out_indptr.tolist()
        and again.in_indptr.tolist() == graph.in_indptr.tolist()
    )


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"version": 1}', '{"version": 1, "data": "../x"}', '{"version": 99}', "\xff"],
)
def test_a_bad_description_is_a_store_error(tmp_path, text):
    (tmp_path / "graph.json").write_text(text, "latin-1")
    with pytest.raises(StoreError):
        Graph.open(tmp_path)


@pytest.mark.parametrize("file", ["names.bin", "degree_bytes.npy"])
def test_changed_bytes_are_found_by_verify(tmp_path, file):
    graph = build(TRIPLES, tmp_path / "g", "g")
    path = graph.data_folder / file
    path.write_bytes(path.read_bytes()[:-2] + b"zz")
    with pytest.raises(StoreError, match="damaged"):
        Graph.open(tmp_path / "g")
    (graph.data_folder / digests.DIGESTS_FILE).unlink()
    with pytest.raises(StoreError, match="damaged"):
        verify(Graph.open(tmp_path / "g"))


def test_a_folder_that_cannot_be_written_is_a_store_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError):
        build(TRIPLES, tmp_path / "file" / "g", "g")


def test_relations_beyond_int16(tmp_path):
    graph = build([("a", f"r{i}", "b") for i in range(40_000)], tmp_path / "g", "g")
    assert graph.relations.dtype == np.int32 and graph.relation_name(39_999) == "r9999"
