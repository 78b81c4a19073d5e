"""Reader of Word documents (docx): the visible text in order, with headings as places.

Tracked changes are read as if all were accepted. The elements are those of WordprocessingML: “p” is
a paragraph, “r” a run of text, “t” its text, and “tbl”, “tr” and “tc” are tables, rows and cells.
"""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.corpus.document import Document, Place, utf8_text
from core.corpus.readers.formulas import write_office_formula
from core.corpus.readers.library_errors import report_damage
from core.corpus.readers.office_package import parse_xml, readable_package
from core.corpus.readers.options import (
    DEFAULT_OPTIONS,
    Note,
    ReadingOptions,
    count_with_noun,
    list_text,
)
from core.corpus.readers.raised_text import (
    FORMULA_EDGE,
    LOWERED_START,
    RAISED_START,
    SCRIPT_END,
    on_one_line,
)
from core.corpus.readers.text import clean_title, file_stem
from core.corpus.readers.word_numbers import WORD_NAMESPACE, WordNumbers
from core.errors import BadInput
from core.io.encoding import ignore_note
from core.io.files import size_text
from core.watch import NO_WATCH, Watch

MAX_UNPACKED_BYTES = 1 << 28  # bytes of all parts of a document
# First bytes of older Office files. Locked files are wrapped in this format too.
OLD_WORD_START = b"\xd0\xcf\x11\xe0"
MAX_WORD_COLUMNS = 63  # columns of a table, as in Word; a cell spans at most as many
PARAGRAPHS_PER_CHECK = 1_000  # paragraphs or rows between two calls of the watch
MIN_TEXT_CHARACTERS = 200  # below this, pictures may be most of a document
HEADING_STYLES = ("Heading", "Title")
BREAK_SIGNS = {"tab": "\t", "ptab": "\t", "cr": "\n", "noBreakHyphen": "-"}
# properties, and other elements whose content is no visible text
PROPERTY_ELEMENTS = frozenset(
    (
        "pPr rPr tblPr tblGrid trPr tcPr sectPr sdtPr sdtEndPr numPr instrText delText "
        "delInstrText moveFrom rt fldData"
    ).split()
)
# elements that are left out and reported, with words for one and, if irregular, for several
LEFT_OUT_ELEMENTS = {
    "del": ("deleted passage", ""),
    "commentReference": ("comment", ""),
    "chart": ("chart", ""),
    "OLEObject": ("embedded object", ""),
    "altChunk": ("embedded file", ""),
    "sym": ("sign of a symbol font", "signs of a symbol font"),
    "hidden": ("hidden passage", ""),
}
NOTE_KINDS = ("footnote", "endnote")
SCRIPT_STARTS = {"superscript": RAISED_START, "subscript": LOWERED_START}
MIN_RISE_HALF_POINTS = 4  # a smaller rise only adjusts the line and marks no superscript
Line = tuple[str, bool]  # the text of a line, and True for a heading


def read_word(
    name: str,
    data: bytes,
    watch: Watch = NO_WATCH,
    note: Note = ignore_note,
    options: ReadingOptions = DEFAULT_OPTIONS,
) -> list[Document]:
    """Read a docx file as one document.

    It includes inserted text, text boxes, content controls, notes, nested tables, headers and
    footers. Deleted and hidden text, comments and charts are left out and reported to `note`.

    Parameters
    ----------
    name : name of the file, for the document and for messages.
    data : the bytes of the file.
    watch : called from time to time; may raise RunCancelled.
    note : receives a sentence on what is left out.
    options : not used; a parameter of all readers.

    Returns
    -------
    One document.

    Raises
    ------
    BadInput : it is damaged, too large once unpacked, or holds no text.
    """
    if not data:
        raise BadInput(f"{name} is empty.")
    with report_damage(name, "Word document (docx)"):
        check_unpacked(name, data)
        word_lines, title = _read(data, watch)
    text = "\n".join(line for line, _ in word_lines.lines)
    if not text.strip():
        raise BadInput(f"{name} holds no text{_pictures(word_lines)}.")
    _note_gaps(name, word_lines, note)
    if len(text) < MIN_TEXT_CHARACTERS and word_lines.counts["blip"]:
        note(f"{name} holds little text{_pictures(word_lines)}.")
    places = _heading_places(word_lines.lines)
    first_heading = places[0][1] if places else ""
    own_title = clean_title(title) or first_heading or file_stem(name)
    return [Document(name, text, own_title, name, tuple(places))]


def _heading_places(lines: Sequence[Line]) -> list[Place]:
    """Return the headings with their offsets in the joined lines."""
    places: list[Place] = []
    length = 0
    for line, is_heading in lines:
        if is_heading and line.strip():
            places.append((length, " ".join(line.split())))
        length += len(line) + 1
    return places


def _note_gaps(name: str, word_lines: _WordLines, note: Note) -> None:
    """Report numbers whose format was guessed, and elements that were left out."""
    guessed = sorted(word_lines.numbers.guessed)
    if guessed:
        note(f"{name}: numbers in the format {list_text(guessed)} are written in digits.")
    counts: list[str] = []
    total = 0
    for element, number in word_lines.counts.items():
        if element in LEFT_OUT_ELEMENTS:
            counts.append(count_with_noun(number, *LEFT_OUT_ELEMENTS[element]))
            total += number
    if counts:
        note(f"{name}: {list_text(counts)} {'is' if total == 1 else 'are'} left out.")


def check_unpacked(name: str, data: bytes) -> None:
    """Check that an Office file or book is not locked and not too large.

    Parameters
    ----------
    name : name of the file, for errors.
    data : the bytes of the file.

    Raises
    ------
    BadInput : it is locked, or unpacks to more than `MAX_UNPACKED_BYTES`.
    zipfile.BadZipFile : it is no zip.
    """
    if data.startswith(OLD_WORD_START):
        raise BadInput(
            f"{name} is locked with a password, or in Office's format of before 2007; save "
            "it anew, without a password."
        )
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        size = sum(part.file_size for part in parts.infolist())
    if size > MAX_UNPACKED_BYTES:
        raise BadInput(
            f"{name} unpacks to more than {size_text(MAX_UNPACKED_BYTES)}; that is more than can be "
            "read here."
        )


def _pictures(word_lines: _WordLines) -> str:
    """Return words on a document's pictures to append to a sentence; empty without any."""
    number = word_lines.counts["blip"]
    if not number:
        return ""
    return (
        f", and {count_with_noun(number, 'picture')}, which {'is' if number == 1 else 'are'} not "
        "read; recognise the text (OCR) first"
    )


def _read(data: bytes, watch: Watch) -> tuple[_WordLines, str]:
    """Return the lines of a document, and the title in its properties."""
    import docx

    document = docx.Document(io.BytesIO(readable_package(data)))
    word_lines = _WordLines(document.part, watch)
    numbering, styles = _root(document.part, "numbering"), _root(document.part, "styles")
    word_lines.numbers = WordNumbers(numbering, styles)
    word_lines.add_margin_texts("header")
    word_lines.add_blocks(document.element.body)
    word_lines.add_uncited_notes()
    word_lines.add_margin_texts("footer")
    return word_lines, " ".join(utf8_text(document.core_properties.title or "").split())


@dataclass
class _WordLines:
    """The lines of a document, collected part by part.

    What is left out is counted.
    """

    part: Any  # a part of the package as python-docx reads it, with relations to other parts
    watch: Watch
    lines: list[Line] = field(default_factory=list)
    # number of each of `LEFT_OUT_ELEMENTS`, and of pictures (“blip”)
    counts: Counter[str] = field(default_factory=Counter)
    # True for a style of headings, by the id of the style
    heading_styles: dict[str | None, bool] = field(default_factory=dict)
    n_blocks: int = 0  # paragraphs and rows so far
    boxes: list[Any] = field(default_factory=list)  # text boxes of this paragraph, to add after it
    # kind and id of each note to which the text refers, in the order of their numbers
    note_refs: list[tuple[str, str]] = field(default_factory=list)
    n_written_notes: int = 0  # number of these whose lines are written
    numbers: WordNumbers = field(default_factory=lambda: WordNumbers(None, None))

    def add_blocks(self, parent: Any) -> None:
        """Add the paragraphs and tables within an element."""
        for block in _find(parent, ("p", "tbl", "altChunk")):
            self._step_watch()
            if _name(block) == "altChunk":
                self.counts["altChunk"] += 1
            elif _name(block) == "tbl":
                self.lines += ((" | ".join(row), False) for row in self._rows(block))
            else:
                self.lines.append((self._text(block), self._is_heading(block)))
            paragraph_boxes, self.boxes = self.boxes, []
            for box in paragraph_boxes:
                self.add_blocks(box)
            self._write_notes()

    def add_margin_texts(self, kind: str) -> None:
        """Add the texts of headers or footers of pages, each text once."""
        known_texts: set[str] = set()
        known_gaps = set()  # texts with the counts of what is left out of them
        for target in _parts(self.part, kind):
            margin_lines = _WordLines(target, self.watch)
            margin_lines.add_blocks(target.element)
            text = "\n".join(line for line, _ in margin_lines.lines).strip()
            if any(sign.isalpha() for sign in text) and text not in known_texts:
                known_texts.add(text)
                self.lines += ((line, False) for line in text.split("\n"))
            del margin_lines.counts["blip"]  # a logo is no page of pictures
            gaps = (text, tuple(sorted(margin_lines.counts.items())))
            if gaps not in known_gaps:
                known_gaps.add(gaps)
                self.counts += margin_lines.counts

    def add_uncited_notes(self) -> None:
        """Add the notes to which no text refers."""
        cited = set(self.note_refs)
        for kind in NOTE_KINDS:
            self.note_refs += [(kind, id) for id in self._notes_of(kind) if (kind, id) not in cited]
        self._write_notes()

    def _step_watch(self) -> None:
        if self.n_blocks % PARAGRAPHS_PER_CHECK == 0:
            self.watch.step()
        self.n_blocks += 1

    def _is_heading(self, paragraph: Any) -> bool:
        from docx.text.paragraph import Paragraph

        style_id = paragraph.style
        if style_id not in self.heading_styles:
            style = Paragraph(paragraph, self.part).style if hasattr(self.part, "styles") else None
            self.heading_styles[style_id] = style is not None and (style.name or "").startswith(
                HEADING_STYLES
            )
        return self.heading_styles[style_id]

    def _text(self, paragraph: Any) -> str:
        """Return the text of a paragraph with its number. Its boxes and notes are written later."""
        number = "" if _is_deleted(paragraph) else self.numbers.number_before(paragraph)
        text = on_one_line(utf8_text("".join(self._pieces(paragraph)))).replace("\xad", "")
        return f"{number}{text}" if text.strip() else text

    def _pieces(self, parent: Any) -> Iterator[str]:
        """Yield the texts within an element, with marks around raised texts and formulas."""
        for element in _children(parent):
            name = _name(element)
            if name == "t":
                yield element.text or ""
            elif name in BREAK_SIGNS:
                yield BREAK_SIGNS[name]
            elif name == "br":
                yield "" if element.get(f"{WORD_NAMESPACE}type") in ("page", "column") else "\n"
            elif name == "txbxContent":
                self.boxes.append(element)
            elif name.removesuffix("Reference") in NOTE_KINDS:
                kind = name.removesuffix("Reference")
                self.note_refs.append((kind, element.get(f"{WORD_NAMESPACE}id")))
                yield f"[{len(self.note_refs)}]"
            elif name == "relIds":
                yield from self._diagram(element)
            elif omitted := self._omitted_name(element, name):
                self.counts[omitted] += 1
            elif name == "oMath":
                yield f"{FORMULA_EDGE}{write_office_formula(element)}{FORMULA_EDGE}"
            elif name == "r" and (mark := self._script_mark(element)):
                yield from (mark, *self._pieces(element), SCRIPT_END)
            elif name not in PROPERTY_ELEMENTS:
                self.counts["blip"] += name == "blip"
                yield from self._pieces(element)

    def _omitted_name(self, element: Any, name: str) -> str:
        """Return the name in `LEFT_OUT_ELEMENTS` of an element; empty for others."""
        if name == "r" and _is_on(element.find(f"{WORD_NAMESPACE}rPr/{WORD_NAMESPACE}vanish")):
            return "hidden" if next(self._pieces(element), "").strip() else ""
        return name if name in LEFT_OUT_ELEMENTS else ""

    def _script_mark(self, run: Any) -> str:
        """Return the mark of a run, by itself or its style; empty without one."""
        properties = run.find(f"{WORD_NAMESPACE}rPr")
        if properties is None:
            return ""
        mark = _script_mark(properties)
        style = properties.find(f"{WORD_NAMESPACE}rStyle")
        if mark is None and style is not None:
            mark = self._style_mark(style.get(f"{WORD_NAMESPACE}val", ""))
        return mark or ""

    def _style_mark(self, id: str) -> str | None:
        """Return the mark of runs of a style; None if the style states none."""
        if id not in self._style_marks:
            style = self.numbers.style(id)
            properties = None if style is None else style.find(f"{WORD_NAMESPACE}rPr")
            self._style_marks[id] = _script_mark(properties)
        return self._style_marks[id]

    def _diagram(self, element: Any) -> Iterator[str]:
        """Yield the texts of a diagram (SmartArt), each on a line."""
        for key, id in element.attrib.items():
            if key.endswith("}dm") and id in self.part.rels and not self.part.rels[id].is_external:
                root = parse_xml(self.part.rels[id].target_part.blob)
                for paragraph in root.iter("{*}p"):
                    yield "\n" + "".join(piece.text or "" for piece in paragraph.iter("{*}t"))

    def _rows(self, table: Any) -> Iterator[list[str]]:
        """Yield the texts of a table's cells, row by row.

        A cell over several columns is written once, and a cell over several rows in each row.
        """
        above: dict[int, str] = {}  # texts of the row above, by the first column of each cell
        for row in _find(table, ("tr",)):
            self._step_watch()
            if row.find(f"{WORD_NAMESPACE}trPr/{WORD_NAMESPACE}del") is not None:
                self.counts["del"] += 1
                continue
            column = 0
            row_cells: dict[int, str] = {}
            for cell in _find(row, ("tc",)):
                spanning_cell = above.get(column) if cell.vMerge == "continue" else None
                row_cells[column] = self._cell(cell) if spanning_cell is None else spanning_cell
                column += min(cell.grid_span, MAX_WORD_COLUMNS)
            yield list(row_cells.values())
            above = row_cells

    def _cell(self, cell: Any) -> str:
        """Return the text of a cell on one line.

        Cells of a nested table are separated by commas, its rows by semicolons.
        """
        parts = []
        for block in _find(cell, ("p", "tbl")):
            if _name(block) == "p":
                parts.append(self._text(block))
            else:
                parts.append("; ".join(", ".join(filter(None, row)) for row in self._rows(block)))
        return " ".join(" ".join(parts).split())

    def _write_notes(self) -> None:
        """Write the notes to which the text has referred since the last call."""
        while self.n_written_notes < len(self.note_refs):
            kind, id = self.note_refs[self.n_written_notes]
            self.n_written_notes += 1
            note = self._notes_of(kind).get(id)
            if note is not None:
                texts = [self._text(paragraph) for paragraph in _find(note, ("p",))]
                text = " ".join(" ".join(texts).split())
                self.lines.append((f"[{self.n_written_notes}] {text}", False))

    def _notes_of(self, kind: str) -> dict[str, Any]:
        """Return the footnotes or endnotes by id, without their separator lines."""
        if kind not in self._notes_by_kind:
            notes: dict[str, Any] = {}
            for part in _parts(self.part, f"{kind}s"):
                root = parse_xml(part.blob)
                for note in root.iter(f"{WORD_NAMESPACE}{kind}"):
                    if note.get(f"{WORD_NAMESPACE}type", "normal") == "normal":
                        notes[note.get(f"{WORD_NAMESPACE}id", "")] = note
            self._notes_by_kind[kind] = notes
        return self._notes_by_kind[kind]

    _notes_by_kind: dict[str, dict[str, Any]] = field(default_factory=dict)
    _style_marks: dict[str, str | None] = field(default_factory=dict)  # by the id of a style


def _parts(part: Any, kind: str) -> list[Any]:
    """Return the parts of a kind to which a part refers, ordered by name."""
    parts_by_name = {
        relation.target_part.partname: relation.target_part
        for relation in part.rels.values()
        if not relation.is_external and relation.reltype.endswith(f"/{kind}")
    }
    return [parts_by_name[name] for name in sorted(parts_by_name)]


def _root(part: Any, kind: str) -> Any:
    """Return the root element of the first related part of a kind.

    The result is None if there is none.
    """
    for target in _parts(part, kind):
        if hasattr(target, "element"):
            return target.element
        return parse_xml(target.blob)
    return None


def _is_deleted(paragraph: Any) -> bool:
    """Return whether the end of a paragraph is deleted.

    Then it joins the next paragraph and has no number of its own.
    """
    marks = (
        f"{WORD_NAMESPACE}pPr/{WORD_NAMESPACE}rPr/{WORD_NAMESPACE}{kind}"
        for kind in ("del", "moveFrom")
    )
    return any(paragraph.find(mark) is not None for mark in marks)


def _script_mark(properties: Any) -> str | None:
    """Return the mark of a raised or lowered text by its properties.

    Empty if they state that it stands on the line; None if they state nothing.
    """
    if properties is None:
        return None
    align = properties.find(f"{WORD_NAMESPACE}vertAlign")
    position = properties.find(f"{WORD_NAMESPACE}position")
    if align is not None:
        return SCRIPT_STARTS.get(align.get(f"{WORD_NAMESPACE}val", ""), "")
    if position is None:
        return None
    try:
        half_points = int(position.get(f"{WORD_NAMESPACE}val", "0"))
    except ValueError:
        return None
    if abs(half_points) < MIN_RISE_HALF_POINTS:
        return None
    return RAISED_START if half_points > 0 else LOWERED_START


def _find(parent: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """Yield the outermost elements with some names within another, also inside wrappers."""
    for element in _children(parent):
        if _name(element) in names:
            yield element
        elif _name(element) not in PROPERTY_ELEMENTS and _name(element) != "del":
            yield from _find(element, names)


def _children(element: Any) -> Iterator[Any]:
    """Yield the direct children of an element.

    Of alternatives for other versions of Word, only the first is used. Content controls that still
    show a placeholder are skipped.
    """
    for child in element:
        if not isinstance(child.tag, str):
            continue
        if _name(child) == "AlternateContent":
            yield from child[:1]
        elif _name(child) != "sdt" or not _is_on(
            child.find(f"{WORD_NAMESPACE}sdtPr/{WORD_NAMESPACE}showingPlcHdr")
        ):
            yield child


def _name(element: Any) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _is_on(element: Any) -> bool:
    """Return whether a property exists and is not switched off."""
    if element is None:
        return False
    return element.get(f"{WORD_NAMESPACE}val", "true") not in ("0", "false", "off")
