"""Table cells that hold lists as text, as other programs write them."""

from __future__ import annotations

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import BadInput
from core.graph.building.build import build, build_in_memory
from core.graph.readers.list_cells import cell_names
from core.graph.readers.triple_file import TripleFile
from tests.core.graph.test_large import same
from tests.triples import read_triples

LISTED_NAMES = ["Ann's", "Bo, the baker"]
AS_TEXT = [repr(LISTED_NAMES), json.dumps(LISTED_NAMES), '["Ann\'s","Bo, the baker"]']


def write_table(path, rows, separator=","):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, delimiter=separator)
        out.writerow(["head", "relation", "tail"])
        out.writerows(rows)
    return path


@pytest.mark.parametrize("cell", AS_TEXT)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_each_name_of_a_list_is_a_triple(tmp_path, cell, separator):
    form = "tab-quoted" if separator == "\t" else "auto"
    path = write_table(tmp_path / "g.csv", [["x", "knows", cell], [cell, "likes", "y"]], separator)
    file = TripleFile(path, form)
    assert list(file.read()) == [
        *(("x", "knows", name) for name in LISTED_NAMES),
        *((name, "likes", "y") for name in LISTED_NAMES),
    ]
    assert any("lists" in note for note in file.tally.notes)


@pytest.mark.parametrize("cell", AS_TEXT)
def test_lists_in_unquoted_parquet_and_json_files_are_split(tmp_path, cell):
    wanted = [("x", "knows", name) for name in LISTED_NAMES]
    plain, rows, columns = (tmp_path / f"g.{end}" for end in ("tsv", "jsonl", "parquet"))
    plain.write_text(f"x\tknows\t{cell}\n")
    rows.write_text(json.dumps({"head": "x", "relation": "knows", "tail": cell}) + "\n")
    pq.write_table(pa.table({"head": ["x"], "relation": ["knows"], "tail": [cell]}), columns)
    for path in (plain, rows, columns):
        assert list(read_triples(path)) == wanted


def test_links_without_relations(tmp_path):
    path = tmp_path / "g.edgelist"
    path.write_text("a\t['b', 'c']\t2\n")
    assert [(head, tail) for head, _, tail in read_triples(path)] == [("a", "b"), ("a", "c")]


@pytest.mark.parametrize("name", ["[REC]", "[]x", "a [b]", "[a, b]", "[['a']]", "[None]", "[true]"])
def test_other_names_in_brackets_stay(tmp_path, name):
    assert cell_names(name) == [name]
    path = write_table(tmp_path / "g.csv", [["x", "knows", name]])
    assert list(read_triples(path)) == [("x", "knows", name)]


def test_numbers_are_names():
    assert cell_names("[12, 3.5]") == ["12", "3.5"]


def test_cells_that_only_look_like_lists_are_noted(tmp_path):
    """NumPy writes an array like this, and Python reads the two strings as one."""
    file = TripleFile(write_table(tmp_path / "g.csv", [["x", "knows", "['a' 'b']"]]))
    assert list(file.read()) == [("x", "knows", "['a' 'b']")]
    assert any("look like lists" in note for note in file.tally.notes)


def test_an_empty_list_is_an_empty_name(tmp_path):
    path = write_table(tmp_path / "g.csv", [["x", "knows", "[]"], ["x", "knows", "y"]])
    with pytest.raises(BadInput, match="line 2"):
        list(read_triples(path))
    assert list(TripleFile(path, skips=True).read()) == [("x", "knows", "y")]


def test_lists_in_a_large_file_are_split_or_noted(tmp_path):
    rows = [[f"n{n}", "knows", repr([f"n{n + 1}", f"n{n + 2}"])] for n in range(200)]
    path = write_table(tmp_path / "g.csv", rows)
    large = build(TripleFile(path, memory=30_000), tmp_path / "large", "g")
    assert same(large, build_in_memory(list(read_triples(path)), "g"))
    plain = tmp_path / "g.tsv"
    plain.write_text("".join("\t".join(row) + "\n" for row in rows))
    file = TripleFile(plain, memory=30_000)
    build(file, tmp_path / "plain", "g")
    assert any("too large" in warning for warning in file.tally.warnings)
