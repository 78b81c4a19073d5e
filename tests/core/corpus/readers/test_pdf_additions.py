"""PDF: raised numbers, form fields, notes, attached files, and titles written by programs."""

from __future__ import annotations

import io

import pypdf
import pytest
from pypdf.annotations import FreeText, Text
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NumberObject,
    TextStringObject,
)

from core.corpus.readers.pdf import read_pdf
from core.corpus.readers.text import clean_title
from tests.core.corpus.readers.test_pdf import drawn
from tests.server import browser


def field(name: str, rect: tuple[float, ...], **more) -> DictionaryObject:
    held = DictionaryObject(
        {NameObject("/Subtype"): NameObject("/Widget"), NameObject("/F"): NumberObject(4)}
    )
    held[NameObject("/T")] = TextStringObject(name)
    held[NameObject("/Rect")] = ArrayObject([FloatObject(one) for one in rect])
    held[NameObject("/FT")] = NameObject("/Tx")
    for key, value in more.items():
        held[NameObject(f"/{key}")] = value
    return held


def read_filled_pdf(lines, *annotations, files=()) -> tuple[list[str], list[str]]:
    """Lines and notes of a PDF with these annotations and attached files."""
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(drawn(lines)))
    page = writer.pages[0]
    for one in annotations:
        if one.get("/Subtype") == "/Widget":
            held = page.setdefault(NameObject("/Annots"), ArrayObject())
            held.append(writer._add_object(one))
        else:
            writer.add_annotation(0, one)
    for name in files:
        writer.add_attachment(name, b"x")
    out = io.BytesIO()
    writer.write(out)
    notes: list[str] = []
    (document,) = read_pdf("a.pdf", out.getvalue(), note=notes.append)
    return document.text.split("\n"), notes


FORM = [
    (50, 700, "Skipper:"),
    (50, 660, "Boat:"),
    (80, 620, "Winter berth"),
    (50, 580, "Sort"),
    (50, 540, "Port"),
]


def test_form_values_are_read_with_their_labels():
    text = TextStringObject
    lines, notes = read_filled_pdf(
        FORM,
        field("f1", (140, 695, 340, 712), V=text("Mira Lund")),
        field("f2", (140, 655, 340, 672), V=text("The Heron"), TU=text("Name of the boat")),
        field(
            "w",
            (50, 615, 70, 632),
            FT=NameObject("/Btn"),
            V=NameObject("/On"),
            AS=NameObject("/On"),
        ),
        field(
            *("s", (140, 575, 340, 592)),
            FT=NameObject("/Ch"),
            V=text("2"),
            Opt=ArrayObject([ArrayObject([text("2"), text("Fishing boat")])]),
        ),
        field("form1[0].page[0].remark[0]", (400, 300, 500, 320), V=text("at dawn")),
        field("empty", (140, 535, 340, 552), V=text("")),
        field("off", (140, 535, 340, 552), FT=NameObject("/Btn"), AS=NameObject("/Off")),
    )
    assert lines[5:] == [
        *("Skipper: Mira Lund", "Name of the boat: The Heron", "Winter berth: yes"),
        *("Sort: Fishing boat", "remark: at dawn"),
    ]
    assert len(notes) == 1 and "5 filled form fields" in notes[0]


def test_values_of_a_field_above_its_boxes():
    group = field(
        "Port", (0, 0, 0, 0), FT=NameObject("/Btn"), Ff=NumberObject(1 << 15), V=NameObject("/Oslo")
    )
    one = DictionaryObject(
        {
            NameObject("/Subtype"): NameObject("/Widget"),
            NameObject("/Parent"): group,
            NameObject("/AS"): NameObject("/Oslo"),
            NameObject("/Rect"): ArrayObject([FloatObject(v) for v in (140, 535, 150, 545)]),
        }
    )
    assert read_filled_pdf(FORM, one)[0][-1] == "Port: Oslo"


def test_page_notes_and_attached_files_are_noted():
    lines, notes = read_filled_pdf(
        [(50, 700, "Open.")],
        FreeText(text="The pier is closed.", rect=(50, 500, 200, 550)),
        Text(text="Ask Ida.", rect=(50, 400, 70, 420)),
        files=("plan.txt", "sums.csv"),
    )
    assert lines == ["Open.", "Note: The pier is closed.", "Note: Ask Ida."]
    assert any("2 notes" in note for note in notes)
    assert any("2 attached files" in note and "plan.txt and sums.csv" in note for note in notes)


def test_damaged_annotations_affect_nothing_else():
    lines, notes = read_filled_pdf(
        [(50, 700, "Open.")],
        field("x", (1, 2, 3, 4), V=NumberObject(7), Opt=NumberObject(3), FT=NameObject("/Ch")),
    )
    assert lines == ["Open."] and any(
        "page 1" in note and "cannot be read" in note for note in notes
    )


PAGE = """<p>The tank holds 10<sup>6</sup> litres; built in 1984<sup>3</sup>; H<sub>2</sub>O.</p>
<p>Share <math><mfrac><mn>3</mn><mn>4</mn></mfrac></math> of it, <math><msup><mn>12</mn><mn>2</mn></msup></math> m.</p>"""


def test_raised_numbers_of_a_page_that_a_browser_printed():
    with browser() as opened:
        page = opened.new_page()
        page.set_content(PAGE)
        data = page.pdf(format="A4")
        page.close()
    (document,) = read_pdf("may.pdf", data)
    assert [" ".join(line.split()) for line in document.text.split("\n")] == [
        "The tank holds 10^6 litres; built in 1984[3]; H2O.",
        "Share 3/4 of it, 12^2 m.",
    ]
    assert document.title == "may"  # The browser writes its address as the title.


@pytest.mark.parametrize(
    "title",
    [
        *(
            "about:blank",
            "localhost:8501/texts?x=1",
            "https://x.org/a",
            "file:///home/a.html",
            "x.org/a",
        ),
        *("127.0.0.1:8000", "data:text/html,hi", "www.x.org/", r"C:\Users\me\x", "/home/me/report"),
        *("Untitled - Notepad", "report.docx - Word", "*new 1 - Notepad++", "Unbenannt - Editor"),
    ],
)
def test_an_address_or_a_window_is_no_title(title):
    assert clean_title(title) == ""


@pytest.mark.parametrize(
    "title",
    [
        *(
            "Booking.com",
            "Tides: salt",
            "AC/DC",
            "3.5/4",
            "Heron - a boat",
            "Null hypothesis - a history",
        ),
        *(
            "Report 2024/25",
            "data: the new oil",
            "12:30 at the pier",
            "Untitled poems - an edition",
        ),
    ],
)
def test_a_title_with_characters_of_an_address_is_accepted(title):
    assert clean_title(title) == title
