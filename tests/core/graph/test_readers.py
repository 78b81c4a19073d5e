import gzip

import pytest

from core.errors import BadInput
from core.graph.readers import read_triples

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
@pytest.mark.parametrize("packed", [False, True])
def test_every_format_plain_and_gzipped(tmp_path, name, text, packed):
    path = tmp_path / (name + ".gz" * packed)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert list(read_triples(path)) == ROWS


def test_names_pass_unchanged(tmp_path):
    hostile = ['say "hi"', "<script>alert(1)</script>", "🎬 a,b", "' OR 1=1 --", " spaced ", "../../etc", "\u202eabc"]
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
        ("t.tsv", b"A\tr\tB\nA\t\xff\tB\n", ("line 2", "UTF-8")),
        ("t.txt", b"hello world\n", ("line 1", "separated by tabs")),
        ("t.txt", b"\n\n", ("is empty",)),
        ("t.csv", b"head,relation,tail\n", ("no triples",)),
        ("t.tsv.gz", b"not gzip", ("gzip",)),
        ("t.tsv.gz", gzip.compress(b"A\tr\tB\n" * 999)[:-9], ("gzip",)),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line(tmp_path, name, data, told):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(BadInput) as error:
        list(read_triples(tmp_path / name))
    assert all(part in str(error.value) for part in told), str(error.value)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(BadInput, match="no file"):
        list(read_triples(tmp_path / "absent.tsv"))
