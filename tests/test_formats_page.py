"""docs/formats.md, the command's help and the table in the code are one.

A tool's version there is the one that is installed.
"""

import re
from importlib.metadata import version

import pytest

from core.corpus.indexes.tools import TOOLS
from core.graph.readers.attributes import EDGE_COLUMN_KEYS, NODE_COLUMN_KEYS
from core.graph.readers.formats import FORMATS, format_list
from core.graph.writers.exports import EXPORT_FORMATS, export_formats_table
from core.importing import IMPORT_KINDS
from core.importing.page import formats_page
from core.io.home import ROOT

PAGE = (ROOT / "docs/formats.md").read_text("utf-8")


@pytest.mark.parametrize("kind", IMPORT_KINDS)
def test_the_page_has_the_table_of_each_kind(kind):
    assert f"-->\n{formats_page(kind)}\n<!-- end of {kind} -->" in PAGE


def test_the_page_has_the_table_of_what_is_written():
    assert f"-->\n{export_formats_table()}\n<!-- end of graphs out again -->" in PAGE


def test_versions_of_these_tools_are_those_that_make_the_recorded_indexes():
    programs = (ROOT / "tests/peers/programs.txt").read_text("utf-8")
    for name, package in {
        "lightrag": "lightrag-hku",
        "nano-graphrag": "",
        "fast-graphrag": "",
        "hipporag": "",
    }.items():
        assert f"{package or name}=={TOOLS[name].versions}" in programs


def test_every_format_says_who_writes_it_what_is_taken_and_what_is_not():
    for name, one in FORMATS.items():
        assert one.tools and one.contents and one.omissions, name
        assert f"{name} ({one.title}" in format_list()


def test_versions_on_the_page_are_those_that_tests_run_with():
    tools = [
        *(one.tools for one in FORMATS.values()),
        *(one.read_by for one in EXPORT_FORMATS.values()),
    ]
    named = {found for words in tools for found in re.findall(r"([a-z]+) (\d+\.[\d.]+\d)", words)}
    assert {tool for tool, _ in named} == {"networkx", "igraph", "pyoxigraph", "pyarrow", "pandas"}
    assert all(version(tool) == written for tool, written in named)


def test_keys_of_columns_are_those_of_the_code():
    for column, keys in EDGE_COLUMN_KEYS.items():
        assert f"| edges | {column} | {' '.join(f'`{key}`' for key in keys)} |" in PAGE
    assert all(f"`{key}`" in PAGE for key in NODE_COLUMN_KEYS["description"])
