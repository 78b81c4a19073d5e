"""Graphs that many tests share."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from contextlib import nullcontext
from typing import ClassVar

import psutil
import pytest
from hypothesis import settings

from core.corpus.readers import reader_process
from core.corpus.readers.reader_process import MAX_READING_MEMORY_BYTES
from core.io.home import graphs_folder, models_folder
from core.retrievers import declarations
from core.runtime import separate_columns
from core.runtime.memory import release_unused_memory
from core.runtime.subprocess_worker import Worker
from tests.libraries import no_igraph

# workers side by side have a thread each, as threads that wait for each other spin
if "PYTEST_XDIST_WORKER" in os.environ:
    for name in ("HOPSCOPE_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")

# Where Python may not keep what it compiled, as in many containers, each worker and each program that a test starts
# compiles all modules anew, and takes twice as long to begin.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

os.environ["CUDA_VISIBLE_DEVICES"] = (
    ""  # the same on a computer with a graphics card; tests.benchmarks graphics_card runs on that
)

_HOME = tempfile.TemporaryDirectory(prefix="hopscope-home-", ignore_cleanup_errors=True)


def pytest_configure():
    """Give the tests a folder of their own in place of a person's.

    No model, key, graph or reply that a person has then says how tests end. Only what `prepare` got
    is taken from the person's folder.
    """
    prepared, models = graphs_folder() / "metaqa", models_folder()
    os.environ |= {"HOPSCOPE_HOME": _HOME.name, "HOPSCOPE_MODELS": str(models)}
    graphs_folder().mkdir()
    if prepared.exists():
        (graphs_folder() / "metaqa").symlink_to(prepared)


def pytest_unconfigure():
    _HOME.cleanup()


# bytes by which a process may grow before what is no longer used in it is given back
GROWTH = 100 << 20
_process = psutil.Process()
_size = 0


def pytest_collection_finish():
    """Take all objects there are by now out of the garbage collector's walk.

    These are the modules and the tests themselves, most of a million objects.
    """
    _give_back()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """Give memory back after a module that made the process grow.

    What the process no longer uses goes back: garbage to Python, and free memory to the system.
    """
    yield
    if (
        nextitem is None or nextitem.path != item.path
    ) and _process.memory_info().rss > _size + GROWTH:
        _give_back()


def _give_back() -> None:
    global _size
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    release_unused_memory()
    _size = _process.memory_info().rss


# an example takes what a busy computer needs for it
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


@pytest.fixture
def without_igraph():
    """Leave out igraph, as if it was not installed. Work in other processes still has it."""
    with no_igraph():
        yield


@pytest.fixture(params=["igraph", "without igraph"])
def either_library(request):
    """Run a test twice, with igraph and without it."""
    with no_igraph() if request.param == "without igraph" else nullcontext():
        yield request.param


class KeptWorker(Worker):
    """A process that is idle after its `with` block, for who needs one next."""

    idle: ClassVar[list[KeptWorker]] = []

    def __exit__(self, *raised: object) -> None:
        self.idle.append(self)


@pytest.fixture(scope="module")
def one_reading_process():
    """Read all files of a module in lasting processes, as each start takes half a second.

    What is open at the same time has a process each.
    """
    from core.corpus.indexes import opened_indexes

    def lend(memory: int) -> KeptWorker:
        return KeptWorker.idle.pop() if KeptWorker.idle else KeptWorker(MAX_READING_MEMORY_BYTES)

    with pytest.MonkeyPatch.context() as patch:
        for module in (reader_process, separate_columns, opened_indexes):
            patch.setattr(module, "Worker", lend)
        yield
    while KeptWorker.idle:
        Worker.__exit__(KeptWorker.idle.pop())


TOY = ("A>B", "A>C", "B>C", "C>A", "C>D", "E>A", "D>D")  # ids 0..4 are A B C D E


@pytest.fixture(scope="session")
def movies():
    """The WikiMovies graph."""
    from core.datasets import open_graph

    return open_graph("metaqa")


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """A>B A>C B>C C>A C>D E>A D>D with the relations r0 .. r6 in that order."""
    from core.graph.building.build import build

    triples = [(pair[0], f"r{i}", pair[2]) for i, pair in enumerate(TOY)]
    return build(triples, tmp_path_factory.mktemp("toy") / "toy", "toy", "both")


@pytest.fixture(autouse=True)
def declared_functions():
    """Forget the functions that a test declared as retrievers, as they hide others of that name."""
    yield
    declarations._functions.clear()
