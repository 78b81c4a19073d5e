"""The notebooks run cell by cell, and ship with their outputs."""

from __future__ import annotations

import ast
import json

import pytest

from core.io.home import ROOT
from tests.hopscope.test_examples import home

__all__ = ["home"]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def cells(file) -> list[dict]:
    return [
        cell for cell in json.loads(file.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"
    ]


def test_there_are_four_notebooks():
    assert [file.stem for file in NOTEBOOKS] == [
        "evaluate-and-choose",
        "first-comparison",
        "own-documents",
        "write-an-operator",
    ]


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebook_runs(file, home, monkeypatch):
    names: dict = {"__name__": "__main__"}
    drawn = 0
    for cell in cells(file):
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(file), "exec"), names)
        if last is not None:
            shown = eval(compile(ast.Expression(last.value), str(file), "eval"), names)
            assert getattr(shown, "_repr_html_", lambda: "drawn")()
            drawn += 1
            for lane in shown if type(shown).__name__ == "Comparison" else ():
                assert not lane.error
    assert drawn


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebook_ships_with_its_outputs(file):
    shown = [output for cell in cells(file) for output in cell["outputs"]]
    assert shown and not [output for output in shown if output["output_type"] == "error"]
    assert "/root" not in file.read_text("utf-8") and "/tmp" not in file.read_text("utf-8")
