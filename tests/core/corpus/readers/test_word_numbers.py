"""Numbers that Word writes before paragraphs automatically."""

from __future__ import annotations

import pytest
from docx.oxml import parse_xml

from core.corpus.readers.word import read_word
from tests.core.corpus.readers.test_word import W, cell, made, run

NS = f'xmlns:w="{W}"'


def level(index: int, text: str, format: str = "decimal", start: int = 1, more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{index}"><w:start w:val="{start}"/><w:numFmt w:val="{format}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def numbered_lines(
    *blocks: str, levels: str = "", lists: str = "", change=lambda document: None
) -> list[str]:
    """Lines of a document whose list 70 has these levels.

    Further lists may use the same definition.
    """

    def prepare(document):
        numbering = document.part.numbering_part.element
        first = f'<w:abstractNum {NS} w:abstractNumId="70">{levels}</w:abstractNum>'
        numbering.insert(0, parse_xml(first))
        for number in (
            f'<w:num {NS} w:numId="70"><w:abstractNumId w:val="70"/></w:num>',
            *filter(None, lists.split("|")),
        ):
            numbering.append(parse_xml(number))
        change(document)

    notes: list[str] = []
    (document,) = read_word("a.docx", made(*blocks, change=prepare), note=notes.append)
    return document.text.split("\n") + notes


def item(index: int, text: str, number: int = 70, more: str = "") -> str:
    place = f'<w:numPr><w:ilvl w:val="{index}"/><w:numId w:val="{number}"/></w:numPr>'
    return f"<w:p><w:pPr>{place}{more}</w:pPr>{run(text)}</w:p>"


LEGAL = level(0, "%1.", start=4) + level(1, "%1.%2") + level(2, "(%3)", "lowerLetter")


def test_numbers_of_clauses_count_and_restart():
    lines = numbered_lines(
        *(item(0, "Duties"), item(1, "Keeps."), item(1, "May fine"), item(2, "a,"), item(2, "b.")),
        *(item(0, "Pilot"), item(1, "Boards."), item(2, "c.")),
        levels=LEGAL,
    )
    assert lines == [
        *("4. Duties", "4.1 Keeps.", "4.2 May fine", "(a) a,", "(b) b."),
        *("5. Pilot", "5.1 Boards.", "(a) c."),
    ]


@pytest.mark.parametrize(
    "format, start, written",
    [
        ("upperRoman", 9, "IX."),
        ("lowerRoman", 4, "iv."),
        ("upperLetter", 27, "AA."),
        ("decimalZero", 7, "07."),
        ("ordinal", 22, "22nd."),
        ("ordinal", 12, "12th."),
        ("bullet", 1, ""),
        ("none", 1, "."),
    ],
)
def test_formats_of_numbers(format, start, written):
    lines = numbered_lines(item(0, "x"), levels=level(0, "%1.", format, start))
    assert lines == [f"{written} x".strip()]


def test_an_unknown_format_is_written_in_digits_with_a_note():
    lines = numbered_lines(item(0, "x"), levels=level(0, "%1.", "chineseCounting", 3))
    assert lines[0] == "3. x" and "chineseCounting" in lines[1]


def test_a_level_in_digits_whatever_those_above_are():
    levels = level(0, "%1", "upperRoman") + level(1, "%1.%2", more="<w:isLgl/>")
    assert numbered_lines(item(0, "a"), item(1, "b"), levels=levels) == ["I a", "1.1 b"]


def test_a_level_that_never_restarts():
    levels = level(0, "%1") + level(1, "%2", more='<w:lvlRestart w:val="0"/>')
    lines = numbered_lines(item(0, "a"), item(1, "b"), item(0, "c"), item(1, "d"), levels=levels)
    assert lines == ["1 a", "1 b", "2 c", "2 d"]


def test_lists_of_one_definition_go_on_unless_they_restart():
    further = f'<w:num {NS} w:numId="71"><w:abstractNumId w:val="70"/></w:num>'
    again = (
        f'|<w:num {NS} w:numId="72"><w:abstractNumId w:val="70"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>'
    )
    lines = numbered_lines(
        *(item(0, "a"), item(0, "b", 71), item(0, "c", 72), item(0, "d", 72)),
        levels=level(0, "%1."),
        lists=further + again,
    )
    assert lines == ["1. a", "2. b", "1. c", "2. d"]


def test_numbers_by_styles_and_those_taken_away():
    def change(document):
        for style, index in (("Heading 1", 0), ("Heading 2", 1)):
            place = f'<w:numPr {NS}><w:ilvl w:val="{index}"/><w:numId w:val="70"/></w:numPr>'
            document.styles[style].element.get_or_add_pPr().append(parse_xml(place))

    heading = lambda style, text, own="": (
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/>{own}</w:pPr>{run(text)}</w:p>'
    )
    none = '<w:numPr><w:numId w:val="0"/></w:numPr>'
    lines = numbered_lines(
        *(
            heading("Heading1", "One"),
            heading("Heading2", "Two"),
            heading("Heading1", "Bare", none),
        ),
        heading("Heading1", "Three"),
        levels=level(0, "%1") + level(1, "%1.%2"),
        change=change,
    )
    assert lines == ["1 One", "1.1 Two", "Bare", "2 Three"]


def test_places_have_their_numbers_and_deleted_paragraphs_none():
    deleted = "<w:rPr><w:del/></w:rPr>"
    blocks = (item(0, "a"), item(0, "", more=deleted), item(0, "b"))
    assert [line for line in numbered_lines(*blocks, levels=level(0, "%1.")) if line] == [
        "1. a",
        "2. b",
    ]
    table = f"<w:tbl><w:tr>{cell(item(0, 'in a cell'))}</w:tr></w:tbl>"
    assert numbered_lines(item(0, "a"), table, levels=level(0, "%1.")) == ["1. a", "2. in a cell"]
