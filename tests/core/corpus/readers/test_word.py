"""Word documents: all visible text with changes accepted, and notes on parts left out."""

from __future__ import annotations

import io

import docx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml

from core.corpus.readers.word import read_word
from tests.notes import NoteWith

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SPACES = (
    f'xmlns:w="{W}" xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(inner: str) -> str:
    return f"<w:p>{inner}</w:p>"


def cell(inner: str) -> str:
    return f"<w:tc>{inner}</w:tc>"


def made(*blocks: str, parts: dict[str, str] | None = None, change=lambda document: None) -> bytes:
    """Return a docx of these XML blocks, with note parts by their kind."""
    document = docx.Document()
    for block in blocks:
        document.element.body.insert(-1, parse_xml(block.replace(">", f" {SPACES}>", 1)))
    for kind, inner in (parts or {}).items():
        xml = f'<w:{kind} xmlns:w="{W}">{inner}</w:{kind}>'.encode()
        content = f"application/vnd.openxmlformats-officedocument.wordprocessingml.{kind}+xml"
        document.part.relate_to(
            Part(PackURI(f"/word/{kind}.xml"), content, xml),
            getattr(RELATIONSHIP_TYPE, kind.upper()),
        )
    change(document)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def read(*blocks: str, **more) -> tuple[str, list[str]]:
    notes: list[str] = []
    (document,) = read_word("a.docx", made(*blocks, **more), note=notes.append)
    return document.text, notes


BOX = f"<w:txbxContent>{paragraph(run('In the box.'))}</w:txbxContent>"


@pytest.mark.parametrize(
    "inner, text",
    [
        (f"<w:ins>{run('added')}</w:ins>{run(' now')}", "added now"),
        (f"<w:moveTo>{run('moved')}</w:moveTo><w:moveFrom>{run('moved')}</w:moveFrom>", "moved"),
        (f"<w:sdt><w:sdtContent>{run('Ann')}</w:sdtContent></w:sdt>", "Ann"),
        (f"<w:smartTag>{run('Oslo')}</w:smartTag>", "Oslo"),
        (f"<w:customXml><w:smartTag>{run('deep')}</w:smartTag></w:customXml>", "deep"),
        (f"<w:hyperlink>{run('a link')}</w:hyperlink>", "a link"),
        (f'<w:fldSimple w:instr="DATE">{run("May 3")}</w:fldSimple>', "May 3"),
        (f"<w:r><w:instrText>PAGE</w:instrText></w:r>{run('7')}", "7"),
        (
            "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/>"
            "<w:t>d</w:t></w:r>",
            "a\tb\nc-d",
        ),
        ("<w:r><w:t>light</w:t><w:softHyphen/><w:t>house</w:t></w:r>", "lighthouse"),
        (
            "<w:r><w:ruby><w:rt><w:r><w:t>kana</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>"
            "漢</w:t></w:r></w:rubyBase></w:ruby></w:r>",
            "漢",
        ),
        ("<m:oMath><m:r><m:t>x=2</m:t></m:r></m:oMath>", "x=2"),
        (
            run("Box:")
            + f"<w:r><w:pict><v:shape><v:textbox>{BOX}</v:textbox></v:shape></w:pict></w:r>",
            "Box:\nIn the box.",
        ),
        (
            f"<w:r><mc:AlternateContent><mc:Choice><wps:txbx>{BOX}</wps:txbx></mc:Choice>"
            "<mc:Fallback>"
            f"<w:pict><v:textbox>{BOX}</v:textbox></w:pict></mc:Fallback>"
            "</mc:AlternateContent></w:r>",
            "\nIn the box.",
        ),
        (
            "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>"
            + run("Click here")
            + "</w:sdtContent></w:sdt>"
            + run("x"),
            "x",
        ),
    ],
)
def test_visible_text_is_read_once(inner, text):
    assert read(paragraph(inner)) == (text, [])


@pytest.mark.parametrize(
    "inner, sentence",
    [
        (
            f"{run('open')}<w:del><w:r><w:delText>closed</w:delText></w:r></w:del>",
            "1 deleted passage is left out",
        ),
        (
            f"{run('open')}<w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r>",
            "1 hidden passage is left out",
        ),
        (
            f'{run("open")}<w:r><w:commentReference w:id="1"/></w:r><w:r>'
            '<w:commentReference w:id="2"/></w:r>',
            "2 comments are left out",
        ),
        (
            f'{run("open")}<w:r><w:sym w:font="Wingdings" w:char="F04A"/></w:r>',
            "1 sign of a symbol font is left out",
        ),
    ],
)
def test_parts_left_out_are_noted(inner, sentence):
    assert read(paragraph(inner)) == ("open", [f"a.docx: {sentence}."])


def test_text_that_is_hidden_only_to_be_switched_on_again_is_read():
    assert read(paragraph('<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>shown</w:t></w:r>')) == (
        "shown",
        [],
    )


def test_notes_follow_the_paragraph_that_refers_to_them():
    note = lambda kind, id, text, type="": (
        f'<w:{kind} w:id="{id}"{type}>{paragraph(run(text))}</w:{kind}>'
    )
    refer = lambda kind, id: f'<w:r><w:{kind}Reference w:id="{id}"/></w:r>'
    parts = {
        "footnotes": note("footnote", -1, "line", ' w:type="separator"')
        + note("footnote", 2, "Of the board.")
        + note("footnote", 3, "Lost."),
        "endnotes": note("endnote", 2, "At the end."),
    }
    text, notes = read(
        paragraph(run("Kept") + refer("footnote", 2)),
        paragraph(run("Then") + refer("endnote", 2)),
        parts=parts,
    )
    assert text == "Kept[1]\n[1] Of the board.\nThen[2]\n[2] At the end.\n[3] Lost." and notes == []


def test_tables_in_tables_controls_around_rows_and_deleted_rows():
    ina, voss, rolf = (cell(paragraph(run(name))) for name in ("Ina", "Voss", "Rolf"))
    inner = f"<w:tbl><w:tr>{ina}{voss}</w:tr><w:tr>{rolf}</w:tr></w:tbl>"
    rows = (
        f"<w:tr>{cell(paragraph(run('Ship')))}{cell(paragraph(run('Crew')))}</w:tr>"
        f"<w:sdt><w:sdtContent><w:tr>{cell(paragraph(run('Heron')))}"
        f"<w:sdt><w:sdtContent>{cell(inner + paragraph(''))}</w:sdtContent></w:sdt>"
        "</w:tr></w:sdtContent></w:sdt>"
        f"<w:tr><w:trPr><w:del/></w:trPr>{cell(paragraph(run('Sold')))}</w:tr>"
    )
    assert read(f"<w:tbl>{rows}</w:tbl>") == (
        "Ship | Crew\nHeron | Ina, Voss; Rolf",
        [NoteWith("a.docx", 1, "deleted")],
    )


def test_a_control_around_paragraphs_and_headings_keeps_their_places():
    block = f"<w:sdt><w:sdtContent>{paragraph(run('Inside.'))}</w:sdtContent></w:sdt>"
    assert read(block, paragraph(run("After."))) == ("Inside.\nAfter.", [])


def test_headers_and_footers_are_read_once_unless_they_are_page_numbers():
    def change(document):
        for section in (document.sections[0], document.add_section()):
            section.header.is_linked_to_previous = section.footer.is_linked_to_previous = False
            section.header.paragraphs[0].text = "Harbour board"
            section.footer.paragraphs[0].text = "- 3 -"

    text, _ = read(paragraph(run("The text.")), change=change)
    assert (
        text.split("\n")[:2] == ["Harbour board", "The text."]
        and text.count("Harbour board") == 1
        and "3" not in text
    )


def test_hidden_text_of_headers_is_noted_once():
    def change(document):
        document.add_section()
        for section in document.sections:
            section.header.is_linked_to_previous = False
            section.header.paragraphs[0].add_run("Draft of May").font.hidden = True

    text, notes = read(paragraph(run("The text.")), change=change)
    assert "Draft" not in text and notes == ["a.docx: 1 hidden passage is left out."]


@pytest.mark.parametrize(
    "title",
    [
        "Word Document",
        "Dokument1",
        "(untitled)",
        "report_final.doc",
        "Microsoft Word - draft.doc",
        "",
    ],
)
def test_a_title_that_a_program_wrote_is_not_taken(title):
    def change(document):
        document.core_properties.title = title

    (document,) = read_word("b/may.docx", made(paragraph(run("Text.")), change=change))
    assert document.title == "may"


def test_a_title_that_a_person_wrote_is_taken():
    def change(document):
        document.core_properties.title = "Documents of  the harbour"

    assert (
        read_word("a.docx", made(paragraph(run("Text.")), change=change))[0].title
        == "Documents of the harbour"
    )
