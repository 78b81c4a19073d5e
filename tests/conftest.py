"""Graphs that many tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from core.io.home import models_folder

if "PYTEST_XDIST_WORKER" in os.environ:  # workers side by side have a thread each, as threads that wait for each other spin
    for name in ("HOPSCOPE_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")

os.environ["CUDA_VISIBLE_DEVICES"] = ""  # the same on a computer with a graphics card; tests.benchmarks graphics_card runs on that

settings.register_profile("tests", deadline=None)  # an example takes what a busy computer needs for it
settings.load_profile("tests")

TOY = ("A>B", "A>C", "B>C", "C>A", "C>D", "E>A", "D>D")  # ids 0..4 are A B C D E


@pytest.fixture(scope="session")
def movies(tmp_path_factory):
    """The WikiMovies graph, built once under a home of the tests' own; models stay where they are."""
    from core.datasets import open_graph

    kept = {key: os.environ.get(key) for key in ("HOPSCOPE_HOME", "HOPSCOPE_MODELS")}
    os.environ["HOPSCOPE_MODELS"] = str(models_folder())
    os.environ["HOPSCOPE_HOME"] = str(tmp_path_factory.mktemp("home"))
    try:
        yield open_graph("metaqa")
    finally:
        for key, value in kept.items():
            os.environ.pop(key, None) if value is None else os.environ.__setitem__(key, value)


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """A>B A>C B>C C>A C>D E>A D>D with the relations r0 .. r6 in that order."""
    from core.graph.building.build import build

    triples = [(pair[0], f"r{i}", pair[2]) for i, pair in enumerate(TOY)]
    return build(triples, tmp_path_factory.mktemp("toy") / "toy", "toy", "both")
