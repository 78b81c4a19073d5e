"""The catalogue: the fifteen published rows, checks that name file, row and key, and a person's own."""

import pytest

from core.errors import BadInput, BadParameter
from core.instances import catalogue as rows
from core.instances.catalogue import catalogue, find, named, read, save
from core.operators import Answer, BeamSearch, PersonalizedPageRank, Rank, ShortestPaths
from core.operators.base import Line
from core.operators.text import parse_line

# The report's Table 1: extraction and retrieval of No. 1 to 15. P: PageRank alone; E, L: relations by encoder, language model.
TABLE_1 = [
    "P shortest",
    "E one-shot E",
    "E one-shot L",
    "L one-shot E",
    "L one-shot L",
    "E beam E",
    "E beam L",
    "L beam E",
    "L beam L",
    "E shortest",
    "L shortest",
    "P one-shot E",
    "P one-shot L",
    "P beam E",
    "P beam L",
]


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))


def shape(line):
    by = lambda operator: "L" if "choose" in operator.model else "E"
    extract = next((by(o) for o in line if o.stage == "filter"), "P")
    last = line.operators[-2]
    kind = {"ShortestPaths": "shortest", "Rank": "one-shot", "BeamSearch": "beam"}[type(last).__name__]
    return f"{extract} {kind}" + ("" if kind == "shortest" else f" {by(last)}")


def test_the_fifteen_are_those_of_the_report():
    known = catalogue()
    assert [shape(known[f"lego-{n}"].line) for n in range(1, 16)] == TABLE_1


def test_parameters_of_table_1():
    for n in range(1, 16):
        line = catalogue()[f"lego-{n}"].line
        assert line.operators[0] == PersonalizedPageRank(keep=1000, damping=0.8)
        assert line.operators[-1] == Answer(paths=32)
        assert all(o.keep == 64 and o.unit == "relation" for o in line if o.stage == "filter")
        assert all(o.keep == 32 for o in line if isinstance(o, Rank))
        assert all((o.width, o.hops) == (8, 4) for o in line if isinstance(o, BeamSearch))


def test_a_lines_text_reads_back():
    for instance in catalogue().values():
        assert parse_line(repr(instance.line)) == instance.line


@pytest.mark.parametrize(
    "toml, told",
    [
        ('["x"]\ntitle = "X"\nlien = []', ["x.toml", "“x”", "lien", "line"]),
        (
            '["x"]\ntitle = "X"\nline = [{ extract = "PersonalizedPageRank", dampnig = 0.8 }]',
            ["x.toml", "operator 1", "dampnig", "damping"],
        ),
        ('["x"]\ntitle = "X"\nline = [{ extract = "PageRank" }]', ["no operator “PageRank”", "PersonalizedPageRank"]),
        ('["x"]\ntitle = "X"\nline = [{ refine = "PersonalizedPageRank" }]', ["belongs to the stage “extract”"]),
        ('["x"]\ntitle = "X"\nline = [{ refine = "Rank" }]', ["Rank reads paths, and nothing before it finds any"]),
        ('["x"]\ntitle = "X"\nline = [{ keep = 3 }]', ["name one stage"]),
        ('["x"]\ntitle = "X"', ["“line” is missing"]),
        ("title = ", ["not valid TOML"]),
        ('["x"]\ntitle = "X"\nline = [{ extract = "PersonalizedPageRank", keep = "all" }]', ["whole number"]),
    ],
)
def test_a_wrong_row_is_refused_with_its_place(tmp_path, toml, told):
    file = tmp_path / "x.toml"
    file.write_text(toml, "utf-8")
    with pytest.raises(BadParameter) as error:
        read(file)
    assert all(part in str(error.value) for part in told), str(error.value)


def test_save_and_delete_a_line_of_ones_own():
    line = PersonalizedPageRank(keep=50) >> ShortestPaths(every=True) >> Answer()
    saved = save("  Mine <script> & “quotes” ", line)
    assert catalogue()[saved.id].line == line and catalogue()[saved.id].title == "Mine <script> & “quotes”"
    with pytest.raises(BadInput, match="already"):
        save("mine script quotes", line)
    rows.delete(saved.id)
    assert saved.id not in catalogue()
    with pytest.raises(BadInput, match="not an instance of your own"):
        rows.delete("lego-1")


@pytest.mark.parametrize(
    "name, line", [("", Line((Answer(prompt="question-only"),))), ("x" * 81, Line((Answer(prompt="question-only"),))), ("empty", Line())]
)
def test_what_cannot_be_saved_says_why(name, line):
    with pytest.raises(BadInput):
        save(name, line)


def test_a_damaged_file_of_ones_own_is_named_and_kept():
    rows.own_file().write_text('["mine"]\ntitle = "M"\nlin = []', "utf-8")
    with pytest.raises(BadParameter, match="instances.toml"):
        catalogue()
    assert rows.own_file().read_text("utf-8").startswith('["mine"]')


def test_find_by_id_by_text_and_not_at_all():
    assert find("lego-12").short == "No. 12"
    changed = find("PersonalizedPageRank() >> ShortestPaths() >> Rank(model='bm25') >> Answer()")
    assert changed.name == "No. 12, changed" and "by BM25" in changed.notes
    assert find("PersonalizedPageRank() >> BeamSearch(width=2) >> Answer()").name == "No. 14, changed"
    assert find(repr(catalogue()["lego-1"].line)).id == "lego-1"
    assert named(Line((PersonalizedPageRank(keep=3),)), catalogue()).name == "Own line"
    with pytest.raises(BadParameter, match="lego-12"):
        find("lego12")


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')()",
        "Rank(model=open('x'))",
        "Rank(**{})",
        "Answer(1)",
        "(" * 300,
        "lambda: 0",
        "PersonalizedPageRank() >> 3",
    ],
)
def test_hostile_lines_are_refused_unrun(text):
    with pytest.raises(BadParameter):
        parse_line(text)
