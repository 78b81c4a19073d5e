"""Workbooks, slides, books, mails and notebooks: their text and places, and notes on parts left
out.
"""

from __future__ import annotations

import builtins
import datetime
import io
import json
import zipfile
from email.message import EmailMessage

import openpyxl
import pptx
import pytest
from pptx.util import Inches

from core.corpus.readers import read_files
from core.corpus.readers.epub import read_epub
from core.corpus.readers.mail import read_mail
from core.corpus.readers.notebook import read_notebook
from core.corpus.readers.office import read_slides, read_workbook
from core.corpus.readers.options import ReadingOptions
from core.errors import BadInput
from tests.notes import NoteWith


def read(of, name, data, columns=None):
    notes: list[str] = []
    return of(name, data, note=notes.append, options=ReadingOptions(columns or {})), notes


def sheets(**of: list[list]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in of.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    return book


def saved(made) -> bytes:
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def test_a_workbook_with_a_column_of_texts_is_a_document_a_row():
    book = sheets(
        Mails=[
            ["No", "Subject", "Text"],
            [7, "One", "The first."],
            [None, "Two", "The second."],
            [9, "Three", None],
        ]
    )
    documents, notes = read(read_workbook, "a.xlsx", saved(book))
    assert [(one.id, one.title, one.text) for one in documents] == [
        ("a.xlsx:1", "One", "The first."),
        ("a.xlsx:2", "Two", "The second."),
    ]
    assert notes == [NoteWith("a.xlsx", 1, "row", "“Text”", "left out")]
    documents, _ = read(read_workbook, "a.xlsx", saved(book), {"text": "Subject", "id": "No"})
    assert [(one.id, one.text) for one in documents] == [
        ("a.xlsx:7", "One"),
        ("a.xlsx:2", "Two"),
        ("a.xlsx:9", "Three"),
    ]


def test_rows_of_several_sheets_have_them_in_their_ids():
    book = sheets(
        May=[["id", "text"], [1, "One."]],
        June=[["id", "text"], [1, "Two."]],
        Sums=[["month", "sum"], ["May", 3]],
    )
    documents, notes = read(read_workbook, "a.xlsx", saved(book))
    assert [(one.id, one.text, one.source) for one in documents] == [
        ("a.xlsx:May:1", "One.", "a.xlsx"),
        ("a.xlsx:June:1", "Two.", "a.xlsx"),
    ]
    assert notes == [NoteWith("a.xlsx", 1, "sheet", "left out", "Sums")]


def test_a_workbook_of_figures_is_one_document_with_its_sheets_as_places():
    book = sheets(
        Ships=[
            ["Ship", "Tons", "Built"],
            ["Heron", 198.0, datetime.datetime(1871, 5, 3)],
            [],
            ["Gull", 1.5, None],
        ],
        Ports=[["Oslo"]],
    )
    (document,), notes = read(read_workbook, "a.xlsx", saved(book))
    assert document.text == "Ship | Tons | Built\nHeron | 198 | 1871-05-03\nGull | 1.5\nOslo"
    assert [(document.text[at:][:4], label) for at, label in document.places] == [
        ("Ship", "Ships"),
        ("Oslo", "Ports"),
    ]
    assert notes == [NoteWith("a.xlsx", "no column of texts", "one document")]


def test_hidden_sheets_and_formulas_without_results_are_noted():
    book = sheets(Open=[["a"], ["=1+1"]], Secret=[["b"]])
    book["Secret"].sheet_state = "hidden"
    (document,), notes = read(read_workbook, "a.xlsx", saved(book))
    assert document.text == "a\nb" and notes[:2] == [
        NoteWith("a.xlsx", 1, "hidden sheet", "Secret"),
        NoteWith("a.xlsx", 1, "formula", "left out"),
    ]


def test_a_sheet_that_states_less_than_it_holds_is_read_whole():
    out, data = io.BytesIO(), saved(sheets(A=[["text"], ["One."], ["Two."]]))
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
        for part in source.namelist():
            held = source.read(part)
            target.writestr(
                part,
                held.replace(b'ref="A1:A3"', b'ref="A1"') if part.endswith("sheet1.xml") else held,
            )
    assert [one.text for one in read(read_workbook, "a.xlsx", out.getvalue())[0]] == [
        "One.",
        "Two.",
    ]


def test_slides_are_places_with_their_notes_tables_and_groups():
    shown = pptx.Presentation()
    first = shown.slides.add_slide(shown.slide_layouts[5])
    first.shapes.title.text = "The harbour"
    first.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "Built in 1871."
    group = first.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "In a group."
    cells = first.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(2)).table
    for at, text in enumerate(("Ship", "Tons", "Heron", "198")):
        cells.cell(at // 2, at % 2).text = text
    first.notes_slide.notes_text_frame.text = "Say who built it."
    shown.slides.add_slide(shown.slide_layouts[6])
    (document,), notes = read(read_slides, "a.pptx", saved(shown))
    assert (
        document.text
        == "The harbour\nBuilt in 1871.\nIn a group.\nShip | Tons\nHeron | 198\nSay who built it."
    )
    assert document.places[0] == (0, "slide 1 The harbour") and document.title == "a"
    assert notes == [NoteWith("a.pptx", "slide 2", 2, "no text")]


ROOT = '<rootfiles><rootfile full-path="OEBPS/b.opf"/></rootfiles>'
CONTAINER = f'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">{ROOT}</container>'


def book(pages: dict[str, str], order: list[str], **more: str) -> bytes:
    items = "".join(
        f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>'
        for name in pages
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in order)
    about = (
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The  '
        "harbour</dc:title></metadata>"
    )
    package = (
        f'<package xmlns="http://www.idpf.org/2007/opf">{about}<manifest>{items}</manifest>'
        f"<spine>{spine}</spine></package>"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("OEBPS/b.opf", package)
        for name, text in pages.items():
            archive.writestr(f"OEBPS/{name}.xhtml", f"<html><body>{text}</body></html>")
        for name, text in more.items():
            archive.writestr(f"META-INF/{name}.xml", text)
    return out.getvalue()


def test_a_book_is_read_in_the_order_of_reading():
    pages = {
        "two": "<h1>Second</h1><p>Gull.</p>",
        "one": "<h1>First</h1><p>Heron &lt;b&gt;.</p>",
        "cover": "<img src='x'/>",
        "lost": "<p>Not in it.</p>",
    }
    (document,), notes = read(read_epub, "a.epub", book(pages, ["cover", "one", "two", "gone"]))
    assert document.text == "First\nHeron <b>.\nSecond\nGull." and document.title == "The harbour"
    assert [(document.text[at:][:6].strip(), label) for at, label in document.places] == [
        ("First", "First"),
        ("Second", "Second"),
    ]
    assert notes == [NoteWith("a.epub", 1, 3, "no text")]


def test_a_page_of_a_book_that_cannot_be_read_is_no_page_without_text():
    pages = {"one": "<p>Heron.</p>", "deep": "<div>" * 10_000 + "Gull."}
    (document,), notes = read(read_epub, "a.epub", book(pages, ["one", "deep"]))
    assert "Heron" in document.text and "Gull" not in document.text
    assert notes == [NoteWith("a.epub", "1 page is left out", "deep.xhtml", 2048)]


def test_a_locked_book_is_refused():
    locked = (
        '<encryption xmlns:enc="x"><enc:EncryptionMethod '
        'Algorithm="http://www.w3.org/2001/04/xmlenc#aes256-cbc"/></encryption>'
    )
    with pytest.raises(BadInput, match="locked by its publisher"):
        read_epub("a.epub", book({"one": "<p>x</p>"}, ["one"], encryption=locked))


def letter(text: str = "", page: str = "", **attached: bytes) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"], message["Date"] = (
        "Zoé <zoe@x.org>",
        "bo@x.org",
        "Ships in May",
        "Fri, 03 May 2024 10:00:00 +0000",
    )
    if text:
        message.set_content(text)
    if page:
        (message.add_alternative if text else message.set_content)(page, subtype="html")
    for name, data in attached.items():
        message.add_attachment(
            data, maintype="application", subtype="octet-stream", filename=f"{name}.pdf"
        )
    return message.as_bytes()


def test_a_mail_is_its_head_and_its_text_with_attachments_named():
    (document,), notes = read(
        read_mail, "a.eml", letter("The Heron, à Genève.\n", "<p>no</p>", list=b"x", map=b"y")
    )
    assert document.title == "Ships in May" and document.text.startswith(
        "From: Zoé <zoe@x.org>\nTo: bo@x.org\n"
    )
    assert document.text.endswith("Subject: Ships in May\n\nThe Heron, à Genève.")
    assert notes == [NoteWith("a.eml", 2, "attachments", "list.pdf", "map.pdf")]


def test_a_mail_that_is_a_page_is_read_as_one():
    (document,), notes = read(
        read_mail, "a.eml", letter(page="<style>p{}</style><p>One &amp; two</p>")
    )
    assert document.text.endswith("\n\nOne & two") and notes == []


def test_a_mail_in_an_unknown_encoding_is_noted():
    raw = (
        b"From: a@x\nSubject: =?utf-8?q?Caf=C3=A9?=\nContent-Type: text/plain; "
        b"charset=x-odd\nContent-Transfer-Encoding: 8bit\n\nOne\xe9.\n"
    )
    (document,), notes = read(read_mail, "a.eml", raw)
    assert (
        document.title == "Café"
        and document.text.endswith("One\ufffd.")
        and "“x-odd”, which is not known" in notes[0]
    )


def cell(kind: str, *lines: str, **more) -> dict:
    return {"cell_type": kind, "source": list(lines), **more}


def test_a_notebook_is_markdown_with_its_code():
    cells = [
        cell("markdown", "# Harbour\n", "Text."),
        cell("code", "x = 1\n", "x", outputs=[{"output_type": "stream"}]),
        cell("code", " "),
    ]
    held = {"cells": cells, "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4}
    (document,), notes = read(read_notebook, "a.ipynb", json.dumps(held).encode())
    assert (
        document.text == "# Harbour\nText.\n\n```python\nx = 1\nx\n```"
        and document.title == "Harbour"
    )
    assert document.places == ((0, "Harbour"),) and notes == [
        NoteWith("a.ipynb", "outputs", 1, "left out")
    ]
    old = {
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 2, "source": "Old"},
                    {"cell_type": "code", "input": "y"},
                ]
            }
        ]
    }
    assert (
        read(read_notebook, "a.ipynb", json.dumps(old).encode())[0][0].text
        == "## Old\n\n```\ny\n```"
    )


@pytest.mark.parametrize(
    "name, data, sentence",
    [
        ("a.xlsx", b"", "a.xlsx is empty"),
        ("a.xlsx", b"PK nothing", "damaged or no workbook"),
        ("a.xlsx", saved(sheets(A=[])), "a.xlsx holds no text"),
        (
            "a.xlsx",
            b"\xd0\xcf\x11\xe0" + b"\0" * 600,
            "locked with a password, or in Office's format of before 2007",
        ),
        ("a.docx", b"\xd0\xcf\x11\xe0" + b"\0" * 600, "locked with a password"),
        ("a.pptx", b"PK nothing", "damaged or no presentation"),
        ("a.pptx", saved(pptx.Presentation()), "holds no text in its 0 slides"),
        ("a.epub", b"PK nothing", "damaged or no book"),
        ("a.epub", book({}, []), "holds no text in its 0 pages"),
        ("a.eml", b"", "a.eml is empty"),
        ("a.eml", b"just words", "a.eml is empty, or no mail"),
        ("a.ipynb", b"{}", "damaged or no notebook"),
        ("a.ipynb", b'{"cells": []}', "holds no text in its 0 cells"),
        ("a.ipynb", b"[" * 100_000, "damaged or no notebook"),
    ],
)
def test_unreadable_files_are_refused_by_name(tmp_path, name, data, sentence):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(BadInput, match=sentence):
        read_files([tmp_path / name])


@pytest.mark.parametrize(
    "of, name, data",
    [
        (read_workbook, "a.xlsx", saved(sheets(A=[["x"]]))),
        (read_epub, "a.epub", book({"a": "<p>x</p>"}, ["a"])),
    ],
)
def test_files_that_unpack_to_too_much_are_refused(of, name, data, monkeypatch):
    monkeypatch.setattr("core.corpus.readers.word.MAX_UNPACKED_BYTES", 100)
    with pytest.raises(BadInput, match=f"{name} unpacks to more than"):
        of(name, data)


@pytest.mark.parametrize(
    "of, name, package",
    [(read_workbook, "a.xlsx", "openpyxl"), (read_slides, "a.pptx", "python-pptx")],
)
def test_a_library_that_is_not_installed_is_named(of, name, package, monkeypatch):
    real = builtins.__import__

    def absent(wanted, *more, **also):
        if wanted in ("openpyxl", "pptx"):
            raise ImportError(wanted)
        return real(wanted, *more, **also)

    data = saved(sheets(A=[["x"]]))
    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(BadInput, match=rf"is not installed here\.\n\$ pip install {package}"):
        of(name, data)
