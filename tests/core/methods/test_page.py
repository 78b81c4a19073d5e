"""The page of operators and methods is of the code as it is."""

from __future__ import annotations

import inspect

import pytest

from core.cli import main
from core.io.home import ROOT
from core.methods.catalogue import published_methods
from core.methods.page import catalogue_page
from core.operators import OPERATORS
from core.parameters import parameters


def test_the_page_is_current():
    told = (ROOT / "docs" / "operators-and-methods.md").read_text("utf-8")
    assert told == catalogue_page(), (
        "make it anew: hopscope methods --page > docs/operators-and-methods.md"
    )


def test_every_operator_and_method_is_told():
    told = catalogue_page()
    for method in published_methods().values():
        assert f"\n| {', '.join(f'`{name}`' for name in method.typed_names)} |" in told
    for name, cls in OPERATORS.items():
        row = told.partition(f"| `{name}` |")[2].partition("\n")[0]
        assert all(f"{one.name}={one.default!r}" in row for one in parameters(cls)), name


def test_a_line_of_few_changes_is_given_by_these():
    told = catalogue_page()
    assert "| `pagerank-paths-ranked` with `Rank(recall=0.99)` |" in told
    assert f"`{published_methods()['lego-12'].line!r}`" in told


@pytest.mark.parametrize("name", OPERATORS)
def test_the_whole_docstring_of_an_operator_is_printed(name, capsys):
    assert main(["methods", "--operator", name]) == 0
    printed = capsys.readouterr().out
    assert inspect.getdoc(OPERATORS[name]) in printed
    assert all(one.help in printed for one in parameters(OPERATORS[name]))


def test_an_unknown_operator_is_refused_with_the_nearest(capsys):
    assert main(["methods", "--operator", "ShortestPath"]) != 0
    assert "ShortestPaths" in capsys.readouterr().err
