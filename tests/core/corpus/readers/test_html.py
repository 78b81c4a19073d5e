"""HTML: parts that a browser hides, and cells over several rows."""

from __future__ import annotations

import pytest

from core.corpus.readers.html import read_html


def read(body: str, head: str = "") -> tuple[str, list[str]]:
    notes: list[str] = []
    page = f"<html><head>{head}</head><body>{body}</body></html>"
    (document,) = read_html("a.html", page.encode(), note=notes.append)
    return document.text, notes


@pytest.mark.parametrize(
    "hidden",
    [
        "<div hidden>Old.</div>",
        "<p style='color:red; display : none'>Old.</p>",
        "<span style='visibility:hidden'>Old<b>er</b>.</span>",
        "<dialog>Old.</dialog>",
        "<div class='a key b'>Old.</div>",
        "<div id='gone'><p>Old.</p><p>Older.</p></div>",
    ],
)
def test_hidden_parts_are_left_out_and_counted(hidden):
    style = "<style>/* x */ p.key, .key {display:none} #gone{visibility:hidden}</style>"
    text, notes = read(f"<p>New.</p>{hidden}<p>Last.</p>", style)
    assert text == "New.\nLast."
    assert [note for note in notes if "1 passage" in note and "hides" in note] == notes != []


def test_visible_parts_are_read():
    style = (
        "<style>@media print {.a {display:none}} .tab{display:none} "
        ".tab.open{display:block}</style>"
    )
    body = (
        "<p class=a>One.</p><p class='tab open'>Two.</p><details><summary>More</summary>"
        "Three.</details>"
    )
    assert read(f"{body}<dialog open>Four.</dialog><p hidden></p>", style) == (
        "One.\nTwo.\nMore\nThree.\nFour.",
        [],
    )


def test_form_fields_are_left_out():
    body = "<p>Port <select><option>Oslo<option>Bergen</select>.</p><textarea>draft</textarea>"
    assert read(body)[0] == "Port ."


def test_a_page_that_shows_nothing_before_a_script_is_read():
    assert read("<div style='display:none'><p>All of it.</p></div>") == ("All of it.", [])


def table(*rows: str) -> str:
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


@pytest.mark.parametrize(
    "rows, text",
    [
        (
            (
                "<td rowspan=2>Skerry</td><td>Heron</td>",
                "<td>Tern</td>",
                "<td>Fenby</td><td>Auk</td>",
            ),
            "Skerry | Heron\nSkerry | Tern\nFenby | Auk",
        ),
        (("<td>A</td><td rowspan=3>x</td>", "<td>B</td>", "<td>C</td>"), "A | x\nB | x\nC | x"),
        (
            (
                "<td colspan=2 rowspan=2>P</td><td>1</td>",
                "<td>2</td>",
                "<td>a</td><td>b</td><td>c</td>",
            ),
            "P | 1\nP | 2\na | b | c",
        ),
        (
            ("<th rowspan='2'>Port</th><th>Boats</th>", "<th>Old</th>"),
            "Port | Boats\nPort | Old",
        ),
        (("<td rowspan=0>Z</td><td>1</td>", "<td>2</td>"), "Z | 1\nZ | 2"),
        (("<td rowspan=x>Z</td><td>1</td>", "<td>2</td>"), "Z | 1\n2"),
        (("<td>\n<p>Boat</p>\n</td>\n<td>Skipper </td>",), "Boat\n| Skipper"),
    ],
)
def test_cells_over_several_rows_are_in_each(rows, text):
    assert read(table(*rows))[0].replace("Boat\nSkipper", "Boat\n| Skipper") == text


def test_a_table_in_a_cell_keeps_its_own_rows():
    inner = table("<td rowspan=2>i</td><td>1</td>", "<td>2</td>")
    assert read(table(f"<td rowspan=2>{inner}</td><td>o</td>", "<td>p</td>"))[0].split("\n")[
        :2
    ] == [
        "i | 1",
        "i | 2",
    ]


def test_no_cell_reaches_beyond_its_part_of_the_table():
    body = (
        "<table><thead><tr><th rowspan=9>H</th><th>a</th></tr></thead><tbody><tr><td>1</td>"
        "<td>2</td></tr></tbody></table>"
    )
    assert read(body)[0] == "H | a\n1 | 2"


def test_rows_without_cells_repeat_none():
    assert read(table("<td rowspan=9>Z</td><td>1</td>", "", "", "<td>2</td>"))[0] == "Z | 1\nZ | 2"


def test_a_long_cell_is_not_repeated():
    long = "word " * 100
    text, _ = read(table(f"<td rowspan=2>{long}</td><td>1</td>", "<td>2</td>"))
    assert text.count("word") == 100
