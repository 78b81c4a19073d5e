"""Raised, lowered and stacked digits are never read as another number."""

from __future__ import annotations

import io
import zipfile

import openpyxl
import pptx
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from pptx.util import Inches

from core.corpus.readers.epub import read_epub
from core.corpus.readers.html import read_html
from core.corpus.readers.office import read_slides, read_workbook
from core.corpus.readers.pdf_pieces import FractionBar, TextPiece, text_with_scripts
from core.corpus.readers.raised_text import (
    FORMULA_EDGE,
    LOWERED_START,
    RAISED_START,
    SCRIPT_END,
    on_one_line,
    write_raised,
)
from core.corpus.readers.word import read_word
from tests.core.corpus.readers.test_word import made, paragraph, run


@pytest.mark.parametrize(
    "before, text, written",
    [
        ("holds 10", "6", "^6"),
        ("thick, 2 × 10", "−3", "^−3"),
        ("built in 1984", "3", "[3]"),
        ("of 1,250", "7", "[7]"),
        ("area 12 m", "2", "^2"),
        ("by Tobin Ashe", "3", "[3]"),
        ("by Tobin Ashe.", "3,4", "[3,4]"),
        ("(a+b)", "2", "^2"),
        ("(see Ashe)", "2", "[2]"),
        ("the 1", "st", "st"),
        ("Ca", "2+", "^2+"),
        ("dated by ", "14", "14"),
        ("built.", "[3]", "[3]"),
        ("", "1", "[1] "),
    ],
)
def test_a_raised_number_has_a_sign_before_it(before, text, written):
    assert write_raised(before, text) == written


@pytest.mark.parametrize(
    "text, written",
    [
        (f"10{RAISED_START}-{SCRIPT_END}{RAISED_START}3{SCRIPT_END} m", "10^-3 m"),
        (f"5{RAISED_START}3{SCRIPT_END}⁄{LOWERED_START}4{SCRIPT_END} cups", "5 3⁄4 cups"),
        (f"1010{LOWERED_START}2{SCRIPT_END} and H{LOWERED_START}2{SCRIPT_END}O", "1010_2 and H2O"),
        (f"5{FORMULA_EDGE}3/4{FORMULA_EDGE} cups", "5 3/4 cups"),
        (f"{RAISED_START}1{SCRIPT_END}See Ashe", "[1] See Ashe"),
    ],
)
def test_marks_in_a_line_become_signs(text, written):
    assert on_one_line(text) == written


@pytest.mark.parametrize(
    "inner, text",
    [
        ("10<sup>6</sup> litres", "10^6 litres"),
        ("in 1984<sup><a href='#n'>3</a></sup> by", "in 1984[3] by"),
        ("in 12<a href='#n'><sup>3</sup></a> ports", "in 12[3] ports"),
        ("of <a href='/k'>12 km<sup>2</sup></a>", "of 12 km^2"),
        ("tide.<a role='doc-noteref' href='#n'>1</a>", "tide.[1]"),
        ("5<sup>3</sup>⁄<sub>4</sub> cups", "5 3⁄4 cups"),
        ("10<span style='font-size:80%; vertical-align: super'>6</span>", "10^6"),
        ("CO<sub>2</sub>, <sup>14</sup>C", "CO2, 14C"),
        ("of <math><mfrac><mn>3</mn><mn>4</mn></mfrac></math> watch", "of 3/4 watch"),
        ("5<math><mfrac><mn>3</mn><mn>4</mn></mfrac></math>", "5 3/4"),
        (
            "<math><semantics><mrow><msup><mi>x</mi><mrow><mi>n</mi><mo>+</mo><mn>1</mn>"
            "</mrow></msup>"
            "<mo>=</mo><msub><mi>y</mi><mn>2</mn></msub></mrow><annotation>"
            "x^2</annotation></semantics></math>",
            "x^(n+1) = y_2",
        ),
        (
            "<span style='display:none'><math><mn>1</mn></math></span>"
            "<img class='mwe-math-fallback-image-inline' alt='{\\displaystyle 12^{2}}'> m",
            "12^{2} m",
        ),
    ],
)
def test_raised_numbers_of_a_page(inner, text):
    assert read_html("a.html", f"<p>{inner}</p>".encode())[0].text == text


def test_places_of_a_page_stay_at_their_headings():
    page = "<h1>In 1984<sup>3</sup></h1><p>10<sup>6</sup> and 5<sup>1</sup>/2</p><h2>Last</h2>"
    (document,) = read_html("a.html", page.encode())
    assert document.text == "In 1984[3]\n10^6 and 5 1/2\nLast"
    assert [document.text[at:] for at, _ in document.places][1] == "Last"


def test_raised_numbers_of_a_book():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as book:
        book.writestr(
            "META-INF/container.xml",
            '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>',
        )
        book.writestr(
            "b.opf",
            '<package><manifest><item id="a" href="a.xhtml" '
            'media-type="application/xhtml+xml"/></manifest>'
            '<spine><itemref idref="a"/></spine></package>',
        )
        page = (
            "<p>10<sup>6</sup> litres<a epub:type='noteref' href='#f'>2</a></p><p hidden=''>old</p>"
        )
        book.writestr("a.xhtml", f"<html><body>{page}</body></html>")
    notes: list[str] = []
    assert read_epub("b.epub", out.getvalue(), note=notes.append)[0].text == "10^6 litres[2]"
    assert ["hides" in note for note in notes] == [True]


def raised_run(text: str, kind: str = "superscript") -> str:
    return f'<w:r><w:rPr><w:vertAlign w:val="{kind}"/></w:rPr><w:t>{text}</w:t></w:r>'


POWER = "<m:sSup><m:e><m:r><m:t>12</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
SHARE = "<m:f><m:num><m:r><m:t>3</m:t></m:r></m:num><m:den><m:r><m:t>4</m:t></m:r></m:den></m:f>"
ROOT = "<m:rad><m:deg/><m:e><m:r><m:t>a+b</m:t></m:r></m:e></m:rad>"
SUM = (
    '<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub><m:r><m:t>i=1</m:t></m:r></m:sub>'
    "<m:sup><m:r><m:t>n</m:t></m:r></m:sup><m:e><m:r><m:t>x</m:t></m:r></m:e></m:nary>"
)


@pytest.mark.parametrize(
    "inner, text",
    [
        (run("10") + raised_run("6") + run(" litres"), "10^6 litres"),
        (run("10") + raised_run("-") + raised_run("3") + run(" m"), "10^-3 m"),
        (run("in 1984") + raised_run("3") + run(" by"), "in 1984[3] by"),
        (run("H") + raised_run("2", "subscript") + run("O"), "H2O"),
        (run("10") + '<w:r><w:rPr><w:position w:val="8"/></w:rPr><w:t>6</w:t></w:r>', "10^6"),
        (run("5") + f"<m:oMath>{SHARE}</m:oMath>" + run(" cups"), "5 3/4 cups"),
        (f"<m:oMath>{POWER}</m:oMath>", "12^2"),
        (f"<m:oMathPara><m:oMath>{ROOT}</m:oMath></m:oMathPara>", "√(a+b)"),
        (f"<m:oMath>{SUM}</m:oMath>", "∑_(i=1)^n x"),
    ],
)
def test_raised_numbers_of_a_word_document(inner, text):
    assert read_word("a.docx", made(paragraph(inner)))[0].text == text


def test_a_style_of_letters_that_raises_them():
    def change(document):
        style = document.styles.add_style("High", 2)
        style.font.superscript = True

    high_run = '<w:r><w:rPr><w:rStyle w:val="High"/></w:rPr><w:t>6</w:t></w:r>'
    assert (
        read_word("a.docx", made(paragraph(run("10") + high_run), change=change))[0].text == "10^6"
    )


def test_raised_numbers_of_slides():
    shown = pptx.Presentation()
    slide = shown.slides.add_slide(shown.slide_layouts[6])
    box = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(5), Inches(1))
    first = box.text_frame.paragraphs[0]
    for text, baseline in (("10", None), ("6", "30000"), (" litres of H", None), ("2", "-25000")):
        piece = first.add_run()
        piece.text = text
        if baseline:
            piece.font._element.set("baseline", baseline)
    table = slide.shapes.add_table(3, 2, Inches(1), Inches(3), Inches(5), Inches(2)).table
    for row, cells in enumerate((("Skerry", "Heron"), ("", "Tern"), ("Fenby", "Auk"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    table.cell(0, 0).merge(table.cell(1, 0))
    out = io.BytesIO()
    shown.save(out)
    text = read_slides("a.pptx", out.getvalue())[0].text
    assert text.split("\n") == [
        "10^6 litres of H2",
        "Skerry | Heron",
        "Skerry | Tern",
        "Fenby | Auk",
    ]


def test_raised_numbers_of_a_workbook():
    book = openpyxl.Workbook()
    book.active.append(
        ["Volume", CellRichText("10", TextBlock(InlineFont(vertAlign="superscript"), "6"), " l")]
    )
    out = io.BytesIO()
    book.save(out)
    assert read_workbook("a.xlsx", out.getvalue())[0].text == "Volume | 10^6 l"


def line(*pieces: tuple[str, float, float, float]) -> list[TextPiece]:
    return [TextPiece(text, x, y, size) for text, x, y, size in pieces]


@pytest.mark.parametrize(
    "pieces, bars, text",
    [
        (line(("in 1984", 0, 0, 10), ("3", 40, 4, 7), (" by", 44, 0, 10)), [], "in 1984[3] by"),
        (line(("10", 0, 0, 10), ("−", 12, 4, 7), ("3", 16, 4, 7)), [], "10^−3"),
        (line(("small", 0, 0, 10), ("3", 30, 0, 7)), [], "small3"),
        (line(("1", 0, 4, 7), ("See Ashe.", 5, 0, 10)), [], "[1] See Ashe."),
        (line(("10", 0, 0, 10), ("6\n", 12, 4, 7), ("4", 0, -14, 10)), [], "10^6\n4"),
        (
            line(("of ", 0, 0, 10), ("3", 20, 4, 7), ("4", 20, -3.4, 7), (" watch", 26, 0, 10)),
            [FractionBar(19, 25, 2.5)],
            "of 3/4 watch",
        ),
        (
            line(("5", 14, 0, 10), ("a", 20, 4, 7), ("+b", 24, 4, 7), ("c\n", 22, -3.4, 7)),
            [FractionBar(19, 31, 2.5)],
            "5(a+b)/c\n",
        ),
        (line(("12", 0, 0, 10), ("13", 40, -9, 10)), [FractionBar(0, 200, -4)], "1213"),
    ],
)
def test_heights_of_the_pieces_of_a_line(pieces, bars, text):
    assert text_with_scripts(pieces, bars) == text
