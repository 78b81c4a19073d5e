import gzip

import pytest

from core.errors import BadInput
from core.graph.building.build import build_in_memory
from core.graph.readers.triple_file import parse_column_numbers
from tests.triples import read_triples

ROWS = [("A", "r", "B"), ("B", "s", "C")]


@pytest.mark.parametrize(
    "name, text",
    [
        ("t.tsv", "A\tr\tB\n\nB\ts\tC\n"),
        ("t.csv", "A,r,B\nB,s,C\n"),
        ("t.csv", "Head,Relation,Tail\nA,r,B\nB,s,C"),
        ("kb.txt", "A|r|B\r\nB|s|C\r\n"),
        ("t.txt", "A\tr\tB\nB\ts\tC\n"),
        ("t.data", "A,r,B\nB,s,C\n"),
        ("t", "\ufeffA|r|B\nB|s|C"),
    ],
)
def test_lines_of_every_form(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text.encode())
    assert list(read_triples(path)) == ROWS


def test_names_pass_unchanged(tmp_path):
    hostile = [
        'say "hi"',
        "<script>alert(1)</script>",
        "🎬 a,b",
        "' OR 1=1 --",
        " spaced ",
        "../../etc",
        "\u202eabc",
    ]
    path = tmp_path / "t.tsv"
    path.write_text("".join(f"{name}\tr\tx|y\n" for name in hostile), "utf-8")
    assert [head for head, _, _ in read_triples(path)] == hostile


def test_comma_files_know_quotes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"Smith, ""Al""",r,"two\nlines"\n')
    assert list(read_triples(path)) == [('Smith, "Al"', "r", "two\nlines")]


@pytest.mark.parametrize(
    "name, data, told",
    [
        ("t.tsv", b"A\tr\tB\n\nA\tB\n", ("t.tsv", "line 3", "2 columns", "expected 3")),
        ("t.csv", b"A,r,B\nA,r,B,C\n", ("line 2", "4 columns")),
        ("t.csv", b'A,r,"B" x\n', ("line 1", "comma-separated")),
        ("t.txt", b"A|r|B\nA|r|\n", ("line 2", "tail is empty")),
        ("t.tsv", "A\tr\tÄÖÜß\n".encode() + b"A\t\xff\tB\n", ("line 2", "UTF-8")),
        ("t.txt", b"hello world\n", ("line 1", "separated by tabs")),
        ("t.txt", b"\n\n", ("is empty",)),
        ("t.csv", b"head,relation,tail\n", ("no triples",)),
        ("t.tsv.gz", b"not gzip", ("gzip",)),
        ("t.tsv.gz", gzip.compress(b"A\tr\tB\n" * 999, mtime=0)[:-9], ("gzip",)),
    ],
)
def test_errors_name_file_and_line(tmp_path, name, data, told):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(BadInput) as error:
        list(read_triples(tmp_path / name))
    assert all(part in str(error.value) for part in told), str(error.value)


FIVE = "Ann\tparent\tBo\t/m/1\t/m/2\nBo\tspouse\tCy\t/m/2\t/m/3\n"


@pytest.mark.parametrize("name", ["t.tsv", "t.txt"])
def test_more_columns_are_read_where_they_are_chosen(tmp_path, name):
    (tmp_path / name).write_text(FIVE)
    assert list(read_triples(tmp_path / name, columns=(1, 2, 3))) == [
        ("Ann", "parent", "Bo"),
        ("Bo", "spouse", "Cy"),
    ]
    assert list(read_triples(tmp_path / name, columns=(4, 2, 5))) == [
        ("/m/1", "parent", "/m/2"),
        ("/m/2", "spouse", "/m/3"),
    ]
    with pytest.raises(BadInput, match="line 1: found 5 columns, expected 3.*Choose the columns"):
        list(read_triples(tmp_path / name))
    with pytest.raises(BadInput, match="expected at least 6"):
        list(read_triples(tmp_path / name, columns=(1, 2, 6)))


def test_a_header_determines_the_columns(tmp_path):
    (tmp_path / "t.csv").write_text("weight,Target,Relation,Source\n0.5,B,r,A\n")
    (tmp_path / "t.txt").write_text("subject\tpredicate\tobject\tsince\nA\tr\tB\t1999\n")
    assert (
        list(read_triples(tmp_path / "t.csv"))
        == list(read_triples(tmp_path / "t.txt"))
        == [("A", "r", "B")]
    )


@pytest.mark.parametrize("columns", [(1, 1, 2), (0, 1, 2)])
def test_impossible_columns_are_refused(tmp_path, columns):
    (tmp_path / "t.tsv").write_text(FIVE)
    with pytest.raises(BadInput, match="three different numbers"):
        list(read_triples(tmp_path / "t.tsv", columns=columns))


def test_column_numbers_are_parsed_from_text():
    assert parse_column_numbers(" 4, 2,5") == (4, 2, 5)
    for text in ("1,2", "a,b,c", "1,2,3,4", "-1,2,3", "1,2,9999999"):
        with pytest.raises(BadInput, match="1,2,3"):
            parse_column_numbers(text)


def test_the_union_of_the_graphs_of_question_rows(tmp_path):
    rows = '{"question": "q", "graph": [["A", "r", "B"], ["B", "s", "C"]]}\n\n{"question": "p"}\n'
    rows += '{"graph": [["B", "s", "C"], ["C", "r", "A"]]}\n'
    (tmp_path / "q.jsonl").write_text(rows)
    assert list(read_triples(tmp_path / "q.jsonl")) == [*ROWS, ROWS[1], ("C", "r", "A")]
    # A triple of two questions is kept once.
    assert build_in_memory(read_triples(tmp_path / "q.jsonl"), "g").n_edges == 3
    (tmp_path / "bad.jsonl").write_text(rows + '{"graph": [["A", "r"]]}\n')
    with pytest.raises(BadInput, match="bad.jsonl, line 5: “graph” should be a list"):
        list(read_triples(tmp_path / "bad.jsonl"))


def test_the_format_can_be_given(tmp_path):
    (tmp_path / "t.csv").write_text("A|r|B\n")
    assert list(read_triples(tmp_path / "t.csv", format="bar")) == [("A", "r", "B")]
    with pytest.raises(BadInput, match="Did you mean “ntriples”"):
        list(read_triples(tmp_path / "t.csv", format="ntriple"))


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("core.io.files.MAX_LINE_BYTES", 1000)
    (tmp_path / "t.tsv").write_bytes(b"A\tr\tB\nA\tr\t" + b"B" * 5000)
    with pytest.raises(BadInput, match="line 2: a line of more than"):
        list(read_triples(tmp_path / "t.tsv"))


def test_the_command_line_builds_every_format(tmp_path, capsys):
    from core.cli import main

    (tmp_path / "five.txt").write_text(FIVE)
    assert (
        main(
            [
                "build",
                str(tmp_path / "five.txt"),
                "--out",
                str(tmp_path / "one"),
                "--columns",
                "1,2,3",
            ]
        )
        == 0
    )
    assert "3 entities, 2 triples, 2 relations" in capsys.readouterr().out
    (tmp_path / "t.data").write_text("<http://a.org/A> <http://a.org/r> <http://a.org/B> .\n")
    assert (
        main(
            [
                "build",
                str(tmp_path / "t.data"),
                "--out",
                str(tmp_path / "two"),
                "--format",
                "ntriples",
            ]
        )
        == 0
    )
    assert (
        main(
            [
                "build",
                str(tmp_path / "t.data"),
                "--out",
                str(tmp_path / "three"),
                "--columns",
                "1,2",
            ]
        )
        == 2
    )
    assert "as in 1,2,3" in capsys.readouterr().err
