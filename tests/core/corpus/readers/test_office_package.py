"""Office files as other programs write them: strict names, broken relations, merged cells."""

from __future__ import annotations

import datetime
import io
import zipfile

import docx
import openpyxl
import pptx
import pytest

from core.corpus.readers.office import read_slides, read_workbook
from core.corpus.readers.office_package import readable_package
from core.corpus.readers.word import read_word
from core.errors import BadInput


def saved(made) -> bytes:
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def change_package(data: bytes, change) -> bytes:
    """Return a package with each part passed through `change(name, content)`.

    Parts for which it returns None are left out.
    """
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(out, "w") as after:
        for name in before.namelist():
            content = change(name, before.read(name))
            if content is not None:
                after.writestr(name, content)
    return out.getvalue()


def as_strict_part(name: str, content: bytes) -> bytes:
    for kind in (
        "officeDocument",
        "wordprocessingml",
        "spreadsheetml",
        "presentationml",
        "drawingml",
    ):
        usual = f"http://schemas.openxmlformats.org/{kind}/2006/".encode()
        content = content.replace(usual, f"http://purl.oclc.org/ooxml/{kind}/".encode())
    return content.replace(b"extended-properties", b"extendedProperties")


def document(text: str = "Mira Lund pilots.") -> docx.Document:
    made = docx.Document()
    made.add_heading("Pilot book", 1)
    made.add_paragraph(text)
    return made


def test_a_strict_document_is_read():
    data = change_package(saved(document()), as_strict_part)
    (read,) = read_word("a.docx", data)
    assert read.text == "Pilot book\nMira Lund pilots." and read.places == ((0, "Pilot book"),)


def test_a_strict_workbook_is_read():
    book = openpyxl.Workbook()
    book.active.append(["title", "text"])
    book.active.append(["Heron", "Carries salt."])
    read = read_workbook("a.xlsx", change_package(saved(book), as_strict_part))
    assert [(one.title, one.text) for one in read] == [("Heron", "Carries salt.")]


def test_strict_slides_are_read():
    shown = pptx.Presentation()
    shown.slides.add_slide(shown.slide_layouts[5]).shapes.title.text = "The tide"
    assert read_slides("a.pptx", change_package(saved(shown), as_strict_part))[0].text == "The tide"


@pytest.mark.parametrize("target", ["NULL", "../NULL", "#_top", "media/gone.png"])
def test_a_relation_that_leads_nowhere_is_passed_over(target):
    relation = f'<Relationship Id="rId99" Type="http://x/image" Target="{target}"/></Relationships>'

    def change(name, content):
        if name == "word/_rels/document.xml.rels":
            return content.replace(b"</Relationships>", relation.encode())
        return content

    assert (
        "Mira Lund pilots."
        in read_word("a.docx", change_package(saved(document()), change))[0].text
    )


def test_a_package_that_needs_nothing_stays_as_it_is():
    data = saved(document())
    assert readable_package(data) is data


def test_a_document_without_its_text_is_damaged():
    gone = lambda name, content: None if name == "word/document.xml" else content
    with pytest.raises(BadInput, match="damaged"):
        read_word("a.docx", change_package(saved(document()), gone))


def merged_book(*ranges: str, header: tuple[str, ...] = ("Harbour", "Boat", "Skipper")) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (
        header,
        ("Skerry", "Heron", "Mira"),
        ("", "Tern", "Ida"),
        ("", "Gull", "Ida"),
        (None, None, "Jon"),
    ):
        sheet.append(row)
    for cells in ranges:
        sheet.merge_cells(cells)
    return saved(book)


def test_merged_cells_of_a_workbook_are_in_each_row():
    text = read_workbook("a.xlsx", merged_book("A2:A4", "C3:C4"))[0].text
    assert text.split("\n") == [
        *("Harbour | Boat | Skipper", "Skerry | Heron | Mira", "Skerry | Tern | Ida"),
        *("Skerry | Gull | Ida", " |  | Jon"),
    ]


def test_merged_cells_are_in_each_document_of_a_row():
    data = merged_book("A2:A4", header=("text", "Boat", "id"))
    assert [one.text for one in read_workbook("a.xlsx", data)] == ["Skerry", "Skerry", "Skerry"]


def test_a_merged_cell_fills_no_row_without_cells():
    book = openpyxl.Workbook()
    book.active.append(["Skerry", datetime.date(2026, 5, 1)])
    book.active.merge_cells("A1:A900")
    assert read_workbook("a.xlsx", saved(book))[0].text == "Skerry | 2026-05-01"
