"""A file that the system refuses to read is not told as damage."""

from __future__ import annotations

import errno
import os
import sys
import threading

import pytest

from core.corpus.corpus import Corpus, write_corpus
from core.corpus.document import Document
from core.errors import StoreError, UnreadableData, damage_error, is_access_error
from core.graph.building.build import build
from core.graph.columns import Table
from core.graph.store import Graph, read_meta
from core.io.digests import DeferredCheck


@pytest.mark.parametrize(
    "number", [errno.EMFILE, errno.ENFILE, errno.EACCES, errno.EIO, errno.ENOMEM]
)
def test_a_refusal_is_told_as_such(number):
    error = damage_error(
        "The graph in x is", OSError(number, os.strerror(number)), "build it again"
    )
    assert isinstance(error, UnreadableData) and os.strerror(number) in str(error)
    assert "damaged" not in str(error) and "again" not in str(error)


@pytest.mark.parametrize(
    "error",
    [ValueError("short"), OSError(errno.ENOENT, "No such file"), OSError("cut"), EOFError()],
)
def test_other_faults_are_damage(error):
    assert not is_access_error(error)
    assert "damaged" in str(damage_error("The graph in x is", error, "build it again"))


def test_a_refusal_stays_one_on_its_way_up():
    inner = damage_error("The table in x is", OSError(errno.EMFILE, "Too many open files"), "go")
    assert damage_error("The corpus in x is", inner, "add it again") is inner


@pytest.fixture
def stored(tmp_path):
    """A graph, a table and a corpus, each with what opens it, which was done once."""
    build([("a", "r", "b")], tmp_path / "graph", "g")
    Table.from_columns(type=["thing"]).save(tmp_path / "t.arrow")
    write_corpus(tmp_path / "corpus", [Document("d", "A text.", "D")], "", source="a test")
    openers = {
        "graph": lambda: Graph.open(tmp_path / "graph"),
        "meta": lambda: read_meta(tmp_path / "graph"),
        "table": lambda: Table.open(tmp_path / "t.arrow"),
        "corpus": lambda: Corpus.open(tmp_path / "corpus"),
    }
    for one in openers.values():
        one()
    return openers


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
@pytest.mark.parametrize("what", ["graph", "meta", "table", "corpus"])
def test_too_many_open_files_are_said(stored, what):
    with TooMany(), pytest.raises(StoreError) as refused:
        stored[what]()
    assert isinstance(refused.value, UnreadableData)
    assert "Too many open files" in str(refused.value) and "damaged" not in str(refused.value)


def test_a_refusal_while_a_folder_is_read_in_the_background_is_no_damage(tmp_path, monkeypatch):
    from core.io import digests

    def refuse(folder):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(digests, "check_digests", refuse)
    later = DeferredCheck(tmp_path, True)
    later.start()
    for thread in threading.enumerate():
        if thread.name.startswith("digests of"):
            thread.join()
    assert not later.damage and not later.is_done


class TooMany:
    """As many files open as may be, from when it is entered."""

    def __enter__(self):
        import resource

        self._before = resource.getrlimit(resource.RLIMIT_NOFILE)
        used = max(map(int, os.listdir("/proc/self/fd")))
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + 1, self._before[1]))
        self._held = []
        try:
            while True:
                self._held.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            return self

    def __exit__(self, *_):
        import resource

        for one in self._held:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, self._before)
