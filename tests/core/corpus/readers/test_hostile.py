"""Small files that unpack to large ones or take very long.

They are read within bounds, and cancelling stops them at once.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import json
import re
import resource
import subprocess
import sys
import zipfile

import pytest

from core.corpus.readers import read_files
from core.corpus.readers.html import read_html
from core.corpus.readers.markdown import read_markdown
from core.corpus.readers.reader_process import seconds_for
from core.corpus.readers.word import read_word
from core.errors import BadInput, RunCancelled
from core.io.home import ROOT
from core.runtime.subprocess_worker import Worker
from core.watch import Watch
from tests.core.corpus.readers.test_marked import made_docx, saved
from tests.notes import NoteWith
from tests.timing import PARTS, is_linear

MEGABYTES = 1 << 20


@pytest.fixture(scope="module")
def one_reading_process():
    """Each file has a process of its own here, whose limits are tested."""


def write_packed(tmp_path, name, beginning, again, times, end):
    """Write a packed file that is small and unpacks to a large one."""
    with gzip.open(tmp_path / name, "wb", 1) as file:
        file.write(beginning)
        for _ in range(times // 1000):
            file.write(again * 1000)
        file.write(end)
    return tmp_path / name


@pytest.mark.parametrize(
    "beginning, again, end, sentence",
    [
        (b"[", b"[],", b"[]]", "line 1: expected a JSON object, found “\\[\\]”"),
        (b'[{"text": [', b"[],", b"[]]}]", "line 1: what begins here is longer than 2 MB"),
        (
            b'{"text": "a", "more": [',
            b'"%s",' % (b"a" * 100),
            b"[]]}",
            "line 1: a line of more than 2 MB is too long",
        ),
        (b'{"text": "', b"a, ", b'"}', "longer than 2 MB"),
    ],
    ids=["an array", "a row", "a line", "a text"],
)
def test_rows_of_json_take_little_memory_however_large_they_unpack(
    tmp_path, beginning, again, end, sentence
):
    file = write_packed(tmp_path, "x.json.gz", beginning, again, 40_000_000 // len(again), end)
    code = (
        "import resource, sys\nresource.setrlimit(resource.RLIMIT_AS, (500 << 20, 500 << 20))\n"
        "import core.io.files\ncore.io.files.MAX_LINE_BYTES = 1 << 21\n"  # others import it from there
        "from core.corpus.readers import read_files\n"
        "from core.errors import BadInput\n"
        "try:\n    read_files([sys.argv[1]])\nexcept BadInput as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, file], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert re.search(sentence, done.stdout)


@pytest.mark.parametrize("name, row", [("x.jsonl", b'{"text": "a"}\n'), ("x.csv", b"b,c\n")])
def test_documents_of_one_file_take_so_much_memory_and_no_more(tmp_path, monkeypatch, name, row):
    monkeypatch.setattr("core.corpus.readers.table.MAX_DOCUMENT_BYTES", MEGABYTES)
    (tmp_path / name).write_bytes((b"text,id\n" if name == "x.csv" else b"") + row * 5_000)
    with pytest.raises(
        BadInput,
        match=r"more than 1 MB of memory.* 2,\d\d\d of its rows fit",
    ):
        read_files([tmp_path / name])


def test_a_table_of_too_many_columns_is_refused(tmp_path):
    (tmp_path / "x.csv").write_text(",".join(f"c{number}" for number in range(20_000)) + "\n")
    (tmp_path / "x.jsonl").write_text(
        "".join(json.dumps({f"c{number}": 1}) + "\n" for number in range(20_000))
    )
    for name in ("x.csv", "x.jsonl"):
        with pytest.raises(BadInput, match=f"{name} has more than 10,000 columns"):
            read_files([tmp_path / name])


LONG = 100_000
MARKDOWN = {
    "a heading of blanks": lambda length: "# a" + " " * length + "b",
    "brackets": lambda length: "[" * length,
    "links that never end": lambda length: "# " + "[a](" * length,
    "lines of brackets": lambda length: (
        "# " + "[[](" * 200 + "\n" + ("# " + "[" * 900 + "\n") * (length // 1_000)
    ),
    "an underline of blanks": lambda length: "a\n-" + " \t" * length + "b",
    "fences": lambda length: "```\n" * length,
    "fences that are not closed": lambda length: "~~~" + "~" * length + "\n" + "~~~\n" * length,
    "dashes": lambda length: "---\n" + "--- a\n" * length,
    "headings in code": lambda length: "```\n# a\n```\n# b\n" * (length // 4),
}


@pytest.mark.parametrize("text", MARKDOWN.values(), ids=MARKDOWN)
def test_markdown_takes_time_in_proportion_to_its_length(text):
    pages = {length: text(length).encode() for length in (LONG // PARTS, LONG)}
    assert is_linear(lambda length: read_markdown("a.md", pages[length]), LONG)


def change_word_text(data: bytes, change) -> bytes:
    """Return a Word file with its text changed."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            held = source.read(name)
            target.writestr(
                name, change(held.decode()).encode() if name == "word/document.xml" else held
            )
    return out.getvalue()


def test_a_cell_over_any_number_of_columns_is_one_cell():
    span = lambda xml: xml.replace("<w:tcW", '<w:gridSpan w:val="1000000000"/><w:tcW', 1)
    (document,) = read_word("a.docx", change_word_text(saved(made_docx()), span))
    assert "a | b\nc | d" in document.text


def test_a_cell_over_several_rows_is_in_each_and_one_over_several_columns_once():
    made = made_docx()
    table = made.add_table(3, 3)
    for cell, text in zip((cell for row in table.rows for cell in row.cells), "abcdefghi"):
        cell.text = text
    table.cell(0, 0).merge(table.cell(0, 1)).text = "wide"
    table.cell(1, 2).merge(table.cell(2, 2)).text = "high"
    (document,) = read_word("a.docx", saved(made))
    assert document.text.endswith("wide | c\nd | e | high\ng | h | high")


HTML = {
    "one element of many attributes": "<p "
    + " ".join(f'a{place}="1"' for place in range(LONG))
    + ">text</p>",
    "many elements of one attribute each": "".join(
        f"<p a{place}=1>text</p>" for place in range(40_000)
    ),
    "many elements of many attributes": (
        "<p " + " ".join(f"a{place}=1" for place in range(1_000)) + ">text</p>"
    )
    * 80,
    "bodies, whose attributes become one's": "".join(
        f"<body a{place}=1>" for place in range(40_000)
    )
    + "text",
    "a title of references": "<title>" + "&amp;" * LONG + "</title>text",
}


@pytest.mark.parametrize("page", HTML.values(), ids=HTML)
def test_html_takes_time_in_proportion_to_its_length(page):
    (document,) = read_html("a.html", page.encode())
    assert document.text.startswith("text")

    def read(length):
        with contextlib.suppress(BadInput):  # a part may end before its text
            read_html("a.html", page[:length].encode())

    assert is_linear(read, len(page))


def test_text_behind_the_end_of_a_page_is_read():
    (document,) = read_html("a.html", b"<p>Before.</p></body></html><p>After.</p>")
    assert document.text == "Before.\nAfter."


# Parsing takes 15 seconds: each end tag is looked up among all open elements.
SLOW = "<div>" * 2_000 + "</b>" * 4_000_000 + "text"


@pytest.fixture
def folder(tmp_path):
    """A folder with a page that takes long and a good page."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.html").write_text(SLOW)
    (tmp_path / "in" / "b.html").write_text("<p>Good.</p>")
    return tmp_path / "in"


def test_a_cancel_ends_the_reading_in_the_middle_of_a_file(folder, monkeypatch):
    """The other process is asked for the page, and is cancelled before it replies."""
    checks, ends = itertools.count(1), []
    do = Worker.run

    def check():
        if next(checks) == 10:
            raise RunCancelled()

    def noted(worker, *arguments, **keywords):
        try:
            result = do(worker, *arguments, **keywords)
        except RunCancelled:
            ends.append("cancelled")
            raise
        ends.append("read")
        return result

    monkeypatch.setattr(Worker, "run", noted)
    with pytest.raises(RunCancelled):
        read_files([folder / "a.html"], watch=Watch(check))
    assert ends == ["cancelled"]


def test_a_file_that_takes_too_long_affects_no_other_file(folder, monkeypatch):
    monkeypatch.setattr("core.corpus.readers.reader_process.MIN_READER_SECONDS", 1)
    monkeypatch.setattr("core.corpus.readers.reader_process.READER_BYTES_PER_SECOND", 1 << 40)
    read = read_files([folder])
    assert [document.text for document in read.documents] == ["Good."]
    assert read.notes == [NoteWith("a.html", "longer than 1 second")]


@pytest.mark.parametrize("megabytes, minutes", [(0, 2), (1, 2), (16, 2), (64, 8)])
def test_a_file_of_up_to_16_mb_may_take_two_minutes(megabytes, minutes):
    assert seconds_for(megabytes * MEGABYTES) == pytest.approx(60 * minutes, rel=0.01)


def test_a_file_that_takes_too_much_memory_affects_no_other_file(folder, monkeypatch):
    monkeypatch.setattr("core.corpus.readers.reader_process.MAX_READING_MEMORY_BYTES", 500 << 20)
    (folder / "a.html").write_text("<p>" + "x" * 150_000_000)
    paragraphs = "<w:p><w:r><w:t>x</w:t></w:r></w:p>" * 1_200_000
    (folder / "c.docx").write_bytes(
        change_word_text(
            saved(made_docx()), lambda xml: xml.replace("<w:body>", "<w:body>" + paragraphs, 1)
        )
    )
    read = read_files([folder])
    assert [document.text for document in read.documents] == ["Good."]
    sentence = "takes more than 500 MB of memory to be read; split it, or save it as plain text and bring that."
    assert read.notes == [f"a.html {sentence}", f"c.docx {sentence}"]


def test_headings_within_headings_are_one_place():
    page = "<h1>" * 3 + "a" + "</h1>" * 3
    (document,) = read_html("a.html", f"<body>{page}<h2>b</h2></body>".encode())
    assert [label for _, label in document.places] == ["a", "b"]


@pytest.mark.parametrize("tag", ["div", "font"])
def test_a_page_whose_end_the_parser_leaves_out_is_refused(tag):
    deep = lambda times: (
        f"<p>Before.</p>{f'<{tag}>' * times}within{f'</{tag}>' * times}<p>After.</p>".encode()
    )
    (document,) = read_html("a.html", deep(2_000))
    assert document.text == "Before.\nwithin\nAfter."
    with pytest.raises(
        BadInput,
        match=r"a.html .* 2,048 deep",
    ):
        read_html("a.html", deep(2_100))


@pytest.mark.parametrize(
    "name, data", [("a.json", b"[" * 100_000), ("a.jsonl", b'{"a":' * 100_000)]
)
def test_json_nested_too_deep_gives_an_error_sentence(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(BadInput, match=f"{name}, line 1: .*nested too deep"):
        read_files([tmp_path / name])


def test_the_memory_limit_applies_to_the_reader_process_alone(tmp_path):
    """The memory limit applies to the reader process.

    This process keeps its own limit.
    """
    (tmp_path / "a.html").write_text("<p>Good.</p>")
    before = resource.getrlimit(resource.RLIMIT_AS)
    assert (
        read_files([tmp_path / "a.html"]).documents
        and resource.getrlimit(resource.RLIMIT_AS) == before
    )
