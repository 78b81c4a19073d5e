"""Maps of graphs are laid out once, saved, and read again."""

import pytest

from core.graph.building.build import build
from core.indexes import graph_maps
from core.indexes.graph_maps import load_map, saved_map
from core.indexes.index_storage import index_folder
from tests.libraries import no_igraph

TRIPLES = [("a", "r", "b"), ("b", "r", "c"), ("d", "r", "e")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path


def opened(folder, name="g", triples=TRIPLES):
    return build(triples, folder / name, name, "both")


def same(first, second):
    return all((vars(first)[name] == vars(second)[name]).all() for name in vars(first))


def test_a_map_is_saved_and_read_again(folder, monkeypatch):
    graph = opened(folder)
    assert saved_map(graph) is None
    made = load_map(graph)
    monkeypatch.setattr(graph_maps, "layout_map", lambda *_: pytest.fail("laid out again"))
    again = type(graph).open(graph.folder)
    assert same(saved_map(again), made) and same(load_map(again), made)


def test_a_damaged_map_is_laid_out_again(folder):
    graph = opened(folder)
    made = load_map(graph)
    file = index_folder(graph) / "map-1.npz"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    again = type(graph).open(graph.folder)
    assert saved_map(again) is None
    assert same(load_map(again), made) and saved_map(type(graph).open(graph.folder)) is not None


def test_a_map_without_igraph_is_another_one(folder):
    graph = opened(folder)
    load_map(graph)
    with no_igraph():
        again = type(graph).open(graph.folder)
        assert saved_map(again) is None
        load_map(again)
        assert saved_map(type(graph).open(graph.folder)) is not None
    names = sorted(file.name for file in index_folder(graph).iterdir())
    assert names == ["map-1-arrays.npz", "map-1.npz"]


def test_another_content_has_another_map(folder):
    first = opened(folder)
    load_map(first)
    other = opened(folder, "other", [*TRIPLES, ("e", "r", "f")])
    assert other.digest != first.digest and saved_map(other) is None
    assert len(load_map(other).nodes) == 6


def test_a_large_map_is_laid_out_in_a_subprocess_alike(folder, monkeypatch):
    here = load_map(opened(folder))
    monkeypatch.setattr(graph_maps, "MAX_LINKS_IN_PROCESS", 0)
    other = opened(folder, "copy")
    (index_folder(other) / "map-1.npz").unlink(missing_ok=True)
    assert same(load_map(other), here)
