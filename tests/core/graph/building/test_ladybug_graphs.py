"""Graphs that earlier versions kept in a Ladybug database.

`ladybug_graphs.tar.xz` holds two graphs that an earlier version wrote with `build --store cypher`:
one with tables of nodes and triples, and one with `--integers`.
"""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.cli import main
from core.commands.terminal import EXIT_OK, EXIT_WRONG_INPUT
from core.datasets import datasets, open_graph
from core.errors import StoreError
from core.graph.building.build import build
from core.graph.building.ladybug_graphs import DATABASE_FILE, convert_ladybug_graph
from core.graph.readers.triple_file import TripleFile
from core.graph.store import LADYBUG_PACKAGE, Graph
from core.io.home import ROOT
from core.sources import GraphSource, available_sources
from tests.core.graph.verifying import verify

TABLES, NUMBERS = "tables-in-ladybug", "numbers-in-ladybug"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    with tarfile.open(Path(__file__).with_name("ladybug_graphs.tar.xz")) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


def bytes_of_files(folder: Path) -> dict:
    return {file: file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_opening_a_ladybug_graph_names_the_command_that_migrates_it(home, capsys):
    for attempt in (open_graph, lambda name: Graph.open(home / "graphs" / name)):
        with pytest.raises(StoreError) as told:
            attempt(TABLES)
        assert "Ladybug" in str(told.value) and f"pip install {LADYBUG_PACKAGE}" in str(told.value)
        assert f"hopscope build --carry-over {TABLES}" in str(told.value)
    assert main(["ask", "One", "--graph", TABLES, "--no-llm"]) == EXIT_WRONG_INPUT
    assert "--carry-over" in capsys.readouterr().err


def test_a_graph_outside_of_the_home_is_named_by_its_folder(home):
    moved = (home / "graphs" / TABLES).rename(home / "elsewhere")
    with pytest.raises(StoreError, match=f"--carry-over {moved}"):
        Graph.open(moved)


def test_the_app_lists_a_ladybug_graph_with_advice(home):
    build([("a", "r", "b")], home / "graphs" / "good", "good")
    assert TABLES not in datasets() and GraphSource(TABLES) in available_sources()
    at = AppTest.from_file(str(ROOT / "pages" / "graphs.py"), default_timeout=120)
    at.session_state.source = GraphSource(TABLES)
    at.run()
    assert not at.exception and any("Ladybug" in one.value for one in at.error)
    assert any("build --carry-over" in one.value for one in at.code)


def test_without_the_library_the_error_names_its_package(home, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ladybug", None)
    before = bytes_of_files(home / "graphs" / TABLES)
    assert main(["build", "--carry-over", TABLES]) == EXIT_WRONG_INPUT
    assert f"pip install {LADYBUG_PACKAGE}" in capsys.readouterr().err
    assert bytes_of_files(home / "graphs" / TABLES) == before


@pytest.mark.parametrize("name", [TABLES, NUMBERS])
def test_a_migrated_graph_equals_the_one_that_its_file_builds(home, name, capsys):
    pytest.importorskip("ladybug", reason="the library of the former store is not installed")
    if name == TABLES:
        source, direction = TripleFile(home / "graph.json"), "both"
    else:
        source, direction = TripleFile(home / "graph.tsv", numbered=True), "out"
    source.path.write_text(WRITTEN[name], "utf-8")
    expected = build(source, home / "expected", name, direction)
    assert main(["build", "--carry-over", name]) == EXIT_OK
    assert f"{expected.n_nodes} entities, {expected.n_edges} triples" in capsys.readouterr().out
    found = open_graph(name)
    verify(found)
    assert (found.digest, found.name, found.direction) == (expected.digest, name, direction)
    edges, nodes = range(expected.n_edges), range(expected.n_nodes)
    assert found.triple_texts(edges) == expected.triple_texts(edges)
    assert found.names(nodes) == expected.names(nodes)
    assert found.columns.digest == expected.columns.digest
    assert not list((home / "graphs" / name).rglob(DATABASE_FILE)) and name in datasets()


def test_other_graphs_are_not_migrated(home):
    built = build([("a", "r", "b")], home / "arrays", "arrays")
    with pytest.raises(StoreError, match="not in a Ladybug database"):
        convert_ladybug_graph(built.folder)
    with pytest.raises(StoreError, match="There is no graph"):
        convert_ladybug_graph(home / "nowhere")
    assert Graph.open(built.folder).digest == built.digest


def test_a_damaged_database_is_not_migrated(home):
    (file,) = (home / "graphs" / TABLES).rglob(DATABASE_FILE)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(StoreError, match="damaged"):
        convert_ladybug_graph(home / "graphs" / TABLES)
    assert file.is_file()


WRITTEN = {
    TABLES: r"""{"directed": true, "multigraph": true, "graph": {}, "nodes": [{"id": "Ann", "type": "person", "description": "Plays."},
{"id": "One", "type": "film", "description": "A film of \"quotes\"\nand lines."},
{"id": "É 🎬 'x'"},
{"id": "Drama", "type": "genre"}], 
"links": [{"source": "One", "target": "Ann", "relation": "directed_by", "weight": 2.0},
{"source": "One", "target": "Drama", "relation": "has_genre", "weight": 1.0},
{"source": "É 🎬 'x'", "target": "Ann", "relation": "r'\\\"", "weight": 0.5},
{"source": "Ann", "target": "Ann", "relation": "knows"}]}""",
    NUMBERS: "\n".join(f"{n}\t{n % 3}\t{n * 5 % 13}" for n in range(12)),
}
