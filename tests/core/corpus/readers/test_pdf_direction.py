"""Reading order of PDF pages that run from right to left."""

from __future__ import annotations

import io

import pypdf
import pytest

from core.corpus.readers.pdf import read_pdf
from core.corpus.readers.pdf_direction import in_reading_order, is_right_to_left
from tests.core.corpus.readers.test_pdf import below, drawn, read
from tests.server import browser


def as_shown(line: str) -> str:
    """Return a line of Hebrew or Arabic letters as it appears on the screen."""
    return line[::-1]


@pytest.mark.parametrize(
    "line, text",
    [
        ("ירקסב הרג דנול הרימ", "מירה לונד גרה בסקרי"),
        (".רטמ 12 הכרואו 1984-ב התנבנ", "נבנתה ב-1984 ואורכה 12 מטר."),
        ("(םוטרח לש 3.5 ללוכ) רטמ", "מטר (כולל 3.5 של חרטום)"),
        (".םימי 5-10 ;החנה 12%", "12% הנחה; 5-10 ימים."),
        (".םויה Hopscope Graph (beta) ואר", "ראו Hopscope Graph (beta) היום."),
        ("04-123-4567 ,info@x.org", "04-123-4567 ,info@x.org"),
        (".1984 ماع", "عام 1984."),
        ("%12 ةبسن", "نسبة 12%"),
        ("١٩٨٤ ماع", "عام ١٩٨٤"),
        ("10-5 نم", "من 5-10"),
    ],
)
def test_a_line_is_read_from_its_right_end(line, text):
    # The letters of the second line determine the direction of the page.
    own = "דומע" if any("\u05d0" <= sign <= "\u05ea" for sign in line) else "ةحفص"
    ordered = in_reading_order([line, own * 4], f"{line}\n{own * 4}")
    assert ordered is not None and ordered.split("\n")[0] == text


def test_brackets_of_a_font_that_names_them_by_how_they_were_typed():
    line = ")" + as_shown("כולל") + "( Graph )beta( " + as_shown("מירה לונד גרה")
    assert in_reading_order([line], line) == "מירה לונד גרה Graph (beta) (כולל)"


def test_words_the_other_way_within_a_line_from_left_to_right():
    line = (
        f"The harbour of {as_shown('ميناء سكيري')} (Skerry) and {as_shown('נמל סקרי')}, 12 boats."
    )
    assert (
        in_reading_order([line], line)
        == "The harbour of ميناء سكيري (Skerry) and נמל סקרי, 12 boats."
    )


def test_brackets_that_are_named_as_they_were_typed():
    line = ")" + as_shown("כולל") + "( " + as_shown("מטר")
    assert in_reading_order([line], line) == "מטר (כולל)"


def test_a_ligature_of_two_letters_keeps_their_order():
    assert in_reading_order(["\ufdd4 م\ufdd4سلا"], "السلام لا", {0xFDD4: "لا"}) == "السلام لا"


def test_a_font_that_names_a_ligature_by_its_letters():
    data = drawn(below("Xلوأ مX"))
    reader = pypdf.PdfReader(io.BytesIO(data))
    writer = pypdf.PdfWriter(clone_from=reader)
    font = writer.pages[0]["/Resources"]["/Font"]["/F1"]
    table = font["/ToUnicode"].get_object()
    table.set_data(table.get_data().replace(b"<0058>", b"<06440627>"))
    out = io.BytesIO()
    writer.write(out)
    assert read_pdf("a.pdf", out.getvalue())[0].text == "لام أوللا"


def test_lines_that_do_not_hold_all_that_was_drawn_are_not_taken():
    assert in_reading_order(["אב"], "אב ג") is None
    assert not is_right_to_left("Ann, ½") and is_right_to_left("a א")


def test_a_page_of_hebrew_is_read_in_order():
    text, notes = read(below(".1984-ב התנבנ הריסה", "ירקסב הרג דנול הרימ"))
    assert text == "הסירה נבנתה ב-1984.\nמירה לונד גרה בסקרי" and notes == []


PAGE = """<html dir="rtl"><body style="font-family: DejaVu Sans"><h1>ميناء سكيري</h1>
<p>القارب اسمه <b>الحزين</b>، وطوله 12 مترا (بني عام 1984). لا أحد يعلم الإبحار.</p></body></html>"""


def test_a_page_that_a_browser_printed_is_read_in_order():
    with browser() as opened:
        page = opened.new_page()
        page.set_content(PAGE)
        data = page.pdf(format="A4")
        page.close()
    assert read_pdf("a.pdf", data)[0].text.split("\n") == [
        "ميناء سكيري",
        "القارب اسمه الحزين، وطوله 12 مترا (بني عام 1984). لا أحد يعلم الإبحار.",
    ]
