"""PDF: words instead of print, pages without text, and columns in reading order."""

from __future__ import annotations

import io

import pypdf
import pytest
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    NameObject,
    NumberObject,
)

from core.corpus.readers.pdf import read_pdf
from core.corpus.readers.text import clean_title
from tests.notes import NoteWith

Line = tuple[int, int, str]  # Start position, across and up, and the text.


def drawn(*pages: list[Line], title: str = "", rotate: int = 0) -> bytes:
    """Return a PDF whose pages have these lines, drawn in this order.

    The table of the font names each letter by its code.
    """
    letters = sorted({sign for page in pages for _, _, text in page for sign in text})
    codes = {sign: code for code, sign in enumerate(letters, 1)}
    rows = "\n".join(
        f"<{code:02X}> <{sign.encode('utf-16-be').hex()}>" for sign, code in codes.items()
    )
    table = (
        "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> "
        "endcodespacerange "
    )
    table += f"{len(codes)} beginbfchar\n{rows}\nendbfchar endcmap end"
    writer = pypdf.PdfWriter()
    cmap = DecodedStreamObject()
    cmap.set_data(table.encode())
    font = DictionaryObject(
        {
            NameObject(f"/{key}"): NameObject(f"/{value}")
            for key, value in (("Type", "Font"), ("Subtype", "Type1"))
        }
    )
    font[NameObject("/BaseFont")] = NameObject("/Helvetica")
    font[NameObject("/ToUnicode")] = writer._add_object(cmap)
    font[NameObject("/FirstChar")], font[NameObject("/LastChar")] = (
        NumberObject(0),
        NumberObject(255),
    )
    font[NameObject("/Widths")] = ArrayObject([NumberObject(500)] * 256)
    for lines in pages:
        page = writer.add_blank_page(600, 800)
        stream = DecodedStreamObject()
        encoded = lambda text: "".join(f"{codes[sign]:02x}" for sign in text)
        stream.set_data(
            "".join(
                f"BT /F1 10 Tf {x} {y} Td <{encoded(text)}> Tj ET\n" for x, y, text in lines
            ).encode()
        )
        page[NameObject("/Contents")] = writer._add_object(stream)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
        if rotate:
            page.rotate(rotate)
    if title:
        writer.add_metadata({"/Title": title})
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def below(*lines: str) -> list[Line]:
    return [(50, 700 - 14 * number, text) for number, text in enumerate(lines)]


def read(*pages: list[Line], **more) -> tuple[str, list[str]]:
    notes: list[str] = []
    (document,) = read_pdf("a.pdf", drawn(*pages, **more), note=notes.append)
    return document.text, notes


def test_ligatures_are_their_letters():
    text, notes = read(
        below(
            "the o\ufb03ce of the Gri\ufb03n \ufb01shery, \ufb02eet, e\ufb00ort, "
            "ba\ufb04e, \ufb06op"
        )
    )
    assert text == "the office of the Griffin fishery, fleet, effort, baffle, stop" and notes == []


def test_arabic_presentation_forms_become_letters():
    assert read(below("\ufe96\ufef4\ufe91"))[0] == "بيت"  # Drawn from left to right.


@pytest.mark.parametrize(
    "lines, text, joined",
    [
        (["the adminis-", "tration of it"], "the administration\nof it", 1),
        (["the adminis\u2010", "tration, of it"], "the administration,\nof it", 1),
        (["the light\xad", "house and a sea\xadwall"], "the lighthouse\nand a seawall", 1),
        (["a well-", "known man"], "a well-known\nman", 1),
        (["Jean-", "Paul came"], "Jean-Paul\ncame", 1),
        (["1914-", "1918 was"], "1914-1918\nwas", 1),
        (["a salt-water lake, the salt-", "water"], "a salt-water lake, the salt-water", 1),
        (["it is so - ", "they said -", "and left"], "it is so - \nthey said -\nand left", 0),
    ],
)
def test_words_divided_at_the_end_of_a_line_are_joined(lines, text, joined):
    said = [f"a.pdf: {joined} word divided at the end of a line is joined."] if joined else []
    assert read(below(*lines)) == (text, said)


def test_pages_without_text_are_noted():
    text, notes = read(below("One."), [], below("Three."), [])
    assert text.split() == ["One.", "Three."] and notes == [
        NoteWith("a.pdf", "2 and 4", 4, "no text")
    ]
    many = read(below("One."), *[[] for _ in range(12)])[1]
    assert many == [NoteWith("a.pdf", "2, 3, 4, 5, 6, 7, 8, 9", "4 more", 13, "no text")]


def test_letters_without_a_name_in_the_font_are_noted():
    text, notes = read(below("the o\0ce and \ue001"))
    assert text == "the o\ufffdce and \ufffd"
    assert notes == [NoteWith("a.pdf", "2 letters", "page 1", "�")]


LEFT = [
    "The lighthouse stood long",
    "on the point in the bay",
    "and was lit by two men",
    "for the first time then",
    "in a winter of storms",
]
RIGHT = [
    "Fishing in the bay ended",
    "after the cannery closed",
    "and the boats were sold",
    "to a museum in the town",
    "which shows them today",
]
SIDE_BY_SIDE = [
    (x, 700 - 14 * row, text)
    for row, pair in enumerate(zip(LEFT, RIGHT))
    for x, text in zip((50, 320), pair)
]


def test_columns_drawn_line_by_line_are_read_one_after_the_other():
    text, notes = read(
        [
            (
                50,
                760,
                "Of the bay and its lights, from the yearbook of the harbour board of that year",
            ),
            *SIDE_BY_SIDE,
        ]
    )
    assert text.split("\n")[1:] == LEFT + RIGHT and text.startswith("Of the bay")
    assert notes == [NoteWith("a.pdf", "page 1", "columns")]


def test_columns_drawn_one_after_the_other_stay_as_they_are():
    lines = [(50, 700 - 14 * row, text) for row, text in enumerate(LEFT)] + [
        (320, 700 - 14 * row, text) for row, text in enumerate(RIGHT)
    ]
    assert read(lines) == ("\n".join(LEFT + RIGHT), [])


def test_a_table_is_read_row_by_row():
    rows = [
        ("Ship", "Captain"),
        ("Marigold", "Ina Voss"),
        ("Heron", "Rolf Teague"),
        ("Gull", "Ada Quill"),
        ("Tern", "Bo Lind"),
        ("Auk", "Cy"),
    ]
    lines = [
        (x, 700 - 14 * row, text)
        for row, pair in enumerate(rows)
        for x, text in zip((50, 320), pair)
    ]
    text, notes = read(lines)
    assert (
        text.split() == " ".join(f"{ship} {captain}" for ship, captain in rows).split()
        and notes == []
    )


def test_a_page_that_lies_on_its_side_is_read():
    assert (
        read(below("A wide table.", "Its second row."), rotate=90)[0].split()
        == "A wide table. Its second row.".split()
    )


@pytest.mark.parametrize(
    "title",
    [
        "untitled",
        "(anonymous)",
        "Microsoft Word - draft_v3.doc",
        "Untitled-1",
        "PowerPoint Presentation",
        "scan0001",
        "a.dvi",
    ],
)
def test_a_title_that_a_program_wrote_is_not_taken(title):
    assert read_pdf("b/may.pdf", drawn(below("Text."), title=title))[0].title == "may"


@pytest.mark.parametrize(
    "title",
    [
        "The harbour",
        "Untitled poems of Ada Quill",
        "Anonymous was a woman",
        "Scanning the sky",
        "On Word documents",
        "Null",
    ],
)
def test_titles_of_people_are_taken(title):
    assert clean_title(title) == ("" if title == "Null" else title)
