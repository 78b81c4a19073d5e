"""What the documents tell works: links lead somewhere, and the example of CONTRIBUTING.md runs as it is written."""

from __future__ import annotations

import doctest
import re
import sys
import types

import pytest

from core.io.home import ROOT
from tests.films import films, kit
from tests.test_examples_in_docstrings import failures, names

__all__ = ["films", "kit", "names"]
ADDED = ("core/operators/degree.py", "core/graph/readers/dot.py")  # which CONTRIBUTING.md adds as examples
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks_of(page: str) -> list[str]:
    """The blocks of Python and TOML on a page, as they are printed."""
    return re.findall(r"```(?:python|toml)\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)


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
    """The two files and the row of CONTRIBUTING.md, and the example in the operator's docstring."""
    from core.operators import OPERATORS
    from core.operators.text import parse_line

    operator, test, row = blocks_of("CONTRIBUTING.md")[:3]
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
    import tomllib

    from core.instances.catalogue import _instance

    assert _instance("well-connected", tomllib.loads(row)["well-connected"], "CONTRIBUTING.md").line.operators[0].keep == 200
