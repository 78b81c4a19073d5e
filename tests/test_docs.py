"""What the documents tell works: links lead somewhere, and the example of CONTRIBUTING.md runs as it is written."""

from __future__ import annotations

import doctest
import re
import sys
import tomllib
import types

import pytest

from core.corpus import Document, new_folder, write
from core.engine import Engine
from core.instances.catalogue import Instance, _instance
from core.io.home import ROOT
from core.models.registry import Registry
from core.operators import OPERATORS
from core.operators.text import parse_line
from core.sources import CorpusSource
from core.types import Question
from tests.films import films, kit
from tests.test_examples_in_docstrings import failures, names

__all__ = ["films", "kit", "names"]
ADDED = ("core/operators/degree.py", "core/graph/readers/dot.py")  # which CONTRIBUTING.md adds as examples
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks_of(page: str, section: str) -> list[str]:
    """The blocks of Python and TOML of a section of a page, as they are printed."""
    (text,) = re.findall(rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return re.findall(r"```(?:python|toml)\n(.*?)```", text, re.DOTALL)


def instance_of(section: str) -> Instance:
    """The instance whose row is printed in a section of CONTRIBUTING.md."""
    (row,) = blocks_of("CONTRIBUTING.md", section)
    ((name, fields),) = tomllib.loads(row).items()
    return _instance(name, fields, "CONTRIBUTING.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?://)([^)#\s]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 200


def test_rooms_that_documents_name_are_there():
    for page in PAGES:
        for path in re.findall(r"(?<![\w/])core/[\w/]+\.py\b", page.read_text("utf-8")):
            assert (ROOT / path).exists() or path in ADDED, f"{page.name}: {path}"


def test_the_example_of_an_operator_runs_as_written(kit, monkeypatch, names):
    """The two files of CONTRIBUTING.md, the example in the operator's docstring, and a row that names it."""
    operator, test = blocks_of("CONTRIBUTING.md", "Add an operator")
    module = types.ModuleType("core.operators.degree")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(operator, "core/operators/degree.py", "exec"), module.__dict__)
    monkeypatch.setitem(OPERATORS, "DegreeNeighbourhood", module.DegreeNeighbourhood)
    (example,) = doctest.DocTestFinder().find(module.DegreeNeighbourhood, globs=names)
    assert example.examples and not failures(example)
    space: dict = {}
    exec(compile(test, "tests/core/operators/test_degree.py", "exec"), space)
    space["test_the_best_connected_nodes_near_the_seed_are_kept"](kit)
    assert repr(parse_line("DegreeNeighbourhood(keep=200) >> ShortestPaths() >> Answer()")).startswith("DegreeNeighbourhood(keep=200)")
    assert instance_of("Add an instance on triples").line.operators[0].keep == 200


def test_the_example_of_a_method_on_documents_answers(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    texts = {"wool": "The wool of the sheep was sold in Leeds.", "fair": "The fair in Leeds sold sheep.", "sea": "A calm sea."}
    corpus = write(new_folder("towns"), [Document(name, text) for name, text in texts.items()])
    method = instance_of("Add a method on documents")
    engine = Engine(Registry())
    job = engine.compare(engine.ask(CorpusSource.of(corpus), Question("What was sold in Leeds?"), model=False), [method])
    assert job.wait(60)
    (lane,) = job.comparison.lanes
    assert lane.error is None
    assert lane.graph.columns.chunks.texts("document", lane.state.chunks.items) == ["wool", "fair"]
