"""Examples in docstrings and docs/python.md run as printed and cover every public name."""

from __future__ import annotations

import doctest
import importlib
import os
import re

import pytest

import hopscope as hs
from core.io.home import ROOT, graphs_folder
from tests.test_examples_in_docstrings import failures

MODULES = sorted(path.stem for path in (ROOT / "hopscope").glob("*.py") if path.stem != "__init__")
FOUND = [
    test
    for name in MODULES
    for test in doctest.DocTestFinder(exclude_empty=True).find(
        importlib.import_module(f"hopscope.{name}")
    )
]
EXAMPLES = [test for test in FOUND if test.examples]
PAGE = (ROOT / "docs" / "python.md").read_text("utf-8")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A user folder that contains the prepared graph."""
    prepared = graphs_folder() / "metaqa"
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    graphs_folder().mkdir()
    if prepared.exists():
        os.symlink(prepared.resolve(), graphs_folder() / "metaqa")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_example_gives_its_printed_output(example, home):
    assert not failures(example)


def test_page_runs_as_printed(home):
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, names)
    assert names["found"]["lego-12"].answers == ["Christopher Nolan"]


def test_each_public_name_has_an_example():
    shown = PAGE + "".join(step.source for test in EXAMPLES for step in test.examples)
    assert [name for name in hs.__all__ if not re.search(rf"\b(?:hs\.|`){name}\b", shown)] == []
