"""Indexes of fast-graphrag: their pickled files are read as data, and no code in them runs."""

from __future__ import annotations

import gzip
import os
import pickle
import shutil
from collections import OrderedDict
from datetime import date

import numpy as np
import pytest

from core.corpus.indexes import files, opened_indexes
from core.corpus.indexes.index_assembly import UNNAMED_RELATION_LABEL
from core.corpus.indexes.pickled_data import InertObject, read_pickle
from core.errors import BadInput
from tests.core.corpus.indexes.kit import RECORDED, edges_of, nodes_of, opened_from

FAST = RECORDED / "fast-graphrag"


class CommandPickle:
    """An object that runs a command when it is unpickled."""

    def __init__(self, command: str):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


def test_a_folder_of_fast_graphrag():
    opened = opened_from(FAST)
    # The names come from the metadata of the texts.
    assert [one.id for one in opened.documents] == ["harbour.txt", "ship.txt"]
    # Each text is one chunk.
    assert opened.graph.columns.chunks.texts("id") == ["harbour.txt", "ship.txt"]
    assert nodes_of(opened) == {
        "ANN LEE": ("PERSON", "An engineer who built a harbour & owns a ship.", [0, 1]),
        "VARNA": ("LOCATION", "A town with a harbour.", [0, 1]),
        "BLACK SEA": ("LOCATION", "The sea at Varna.", [0]),
        "MARIE": ("SHIP", "A ship <of Ann Lee>.", [1]),
        "BO HOLM": ("PERSON", "The captain of the Marie.", [1]),
    }
    assert len(edges_of(opened)) == 5
    assert edges_of(opened)[frozenset(("BO HOLM", "VARNA"))] == (
        UNNAMED_RELATION_LABEL,
        "Bo Holm was born in Varna.",
        "",
        1.0,
        [1],
    )


@pytest.mark.parametrize("protocol", range(6))
def test_plain_values_are_what_unpickling_gives(protocol):
    value = {
        "a": [1, -2, 1 << 70, 1.5, None, True, False],
        "b": ("x", ()),
        (1, 2): {"c": []},
        "ü": "ß" * 300,
        "l": list(range(2000)),
    }
    # In protocols below 3, bytes are the result of a function call on a text.
    value |= {"bytes": b"y\xff"} if protocol > 2 else {}
    assert read_pickle(pickle.dumps(value, protocol), "x.pkl") == value


@pytest.mark.parametrize("protocol", range(3, 6))
def test_objects_are_described_and_not_made(protocol):
    found = read_pickle(pickle.dumps([date(2020, 1, 2), OrderedDict(a=1)], protocol), "x.pkl")
    assert [one.name for one in found] == ["datetime.date", "collections.OrderedDict"]
    assert all(isinstance(one, InertObject) for one in found)
    scalar = read_pickle(pickle.dumps(np.int64(-5), protocol), "x.pkl")
    assert (
        scalar.name.endswith(".multiarray.scalar") and scalar.arguments[-1] == b"\xfb" + b"\xff" * 7
    )


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    "asked", [CommandPickle("touch x"), eval, os.system, CommandPickle, pickle.loads]
)
def test_non_data_objects_are_refused_by_name(protocol, asked):
    name = getattr(asked, "__name__", "system")
    with pytest.raises(BadInput, match=f"x.pkl asks for .*{name}"):
        read_pickle(pickle.dumps([asked], protocol), "x.pkl")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80",
        b"(",
        b"e.",
        b"K\x01K\x02b.",
        b"P1\n.",
        b"\x82\x01.",
        b"\x80\x04]\x94h\x07.",
        b"}(]K\x01u.",
        b"no pickle",
        b"N0.",
    ],
)
def test_damaged_files_are_refused(data):
    with pytest.raises(BadInput, match="x.pkl"):
        read_pickle(data, "x.pkl")


# Nested pairs, each of which contains the one before twice. Hashing the key takes 2^120 steps.
HASH = (
    b"\x80\x04)\x94"
    + b"".join(b"h%ch%c\x86\x94" % (at - 1, at - 1) for at in range(1, 120))
    + b"N}(h\x77K\x01u0."
)


@pytest.mark.parametrize(
    "data, said",
    [
        (HASH, "takes longer"),
        (b"\x80\x04" + b"N0" * 3_000_000 + b"N.", "does not hold chunks"),
        (b"\x80\x04Nr\xff\xff\xff\x7f.", "memory"),
        (b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x0fN.", "memory|damaged"),
    ],
    ids=["hash", "steps", "memo", "length"],
)
def test_files_that_take_time_and_memory_without_end(tmp_path, monkeypatch, data, said):
    monkeypatch.setattr(opened_indexes, "MIN_INDEX_SECONDS", 3.0)
    folder = shutil.copytree(FAST, tmp_path / "endless")
    (folder / "chunks_kv_data.pkl").write_bytes(data)
    with pytest.raises(BadInput, match=said):
        opened_indexes.preview_index(folder)


def test_a_text_that_all_share_is_counted_for_each(monkeypatch):
    monkeypatch.setattr(files, "MAX_INDEX_FILE_BYTES", 1_000_000)
    shared = "x" * 10_000
    with pytest.raises(BadInput, match="holds more than 1 MB of text"):
        files.check_weight("g.pkl", [[shared] * 101])
    files.check_weight("g.pkl", [[shared] * 100])


def test_a_pickled_command_is_refused_and_not_run(tmp_path):
    folder, trace = shutil.copytree(FAST, tmp_path / "evil"), tmp_path / "trace"
    (folder / "chunks_kv_data.pkl").write_bytes(pickle.dumps(CommandPickle(f"touch {trace}")))
    with pytest.raises(BadInput, match="chunks_kv_data.pkl asks for .*system"):
        opened_from(folder)
    shutil.copy(FAST / "chunks_kv_data.pkl", folder)
    (folder / "graph_igraph_data.pklz").write_bytes(
        gzip.compress(pickle.dumps(CommandPickle(f"touch {trace}")))
    )
    with pytest.raises(BadInput, match="graph_igraph_data.pklz asks for .*system"):
        opened_from(folder)
    (folder / "graph_igraph_data.pklz").write_bytes(gzip.compress(pickle.dumps({})))
    with pytest.raises(BadInput, match="graph_igraph_data.pklz does not hold a graph"):
        opened_from(folder)
    (folder / "graph_igraph_data.pklz").write_bytes(b"no gzip")
    with pytest.raises(BadInput, match="graph_igraph_data.pklz.*gzip file is damaged"):
        opened_from(folder)
    assert not trace.exists()
