"""Reader of Word documents (docx): the visible text in order, with headings as places.

All tracked changes count as accepted.
"""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from core.corpus.document import Document, Place, sound
from core.corpus.readers.formulas import office
from core.corpus.readers.no_memory import damage_reported
from core.corpus.readers.office_package import readable_package
from core.corpus.readers.options import USUAL, Note, Options, counted, listed
from core.corpus.readers.raised import END, LOWERED, RAISED, SPLIT, on_one_line
from core.corpus.readers.text import given_title, stem
from core.corpus.readers.word_numbers import W, WordNumbers
from core.errors import BadInput
from core.io.encoding import ignored
from core.io.files import size_text
from core.watch import NO_WATCH, Watch

MAX_BYTES = 1 << 28  # bytes that the parts of a document may unpack to
BEFORE_2007 = (
    # first bytes of older Office files; locked files are wrapped in this format too
    b"\xd0\xcf\x11\xe0"
)
MOST_COLUMNS = 63  # columns of a table, as in Word; a cell spans at most as many
LOOK_EVERY = 1_000  # paragraphs or rows between two calls of the watch
FEW_LETTERS = 200  # characters below which pictures may be most of a document
HEADINGS = ("Heading", "Title")
BREAKS = {"tab": "\t", "ptab": "\t", "cr": "\n", "noBreakHyphen": "-"}
ABOUT = frozenset(
    (
        "pPr rPr tblPr tblGrid trPr tcPr sectPr sdtPr sdtEndPr numPr instrText delText "
        "delInstrText moveFrom rt fldData"
    ).split()
)
LEFT_OUT = {  # elements that are left out and reported, by name
    "del": ("deleted passage", ""),
    "commentReference": ("comment", ""),
    "chart": ("chart", ""),
    "OLEObject": ("embedded object", ""),
    "altChunk": ("embedded file", ""),
    "sym": ("sign of a symbol font", "signs of a symbol font"),
    "hidden": ("hidden passage", ""),
}
NOTES = ("footnote", "endnote")
HEIGHTS = {"superscript": RAISED, "subscript": LOWERED}
LEAST_HEIGHT = 4  # half points; text that is raised or lowered by less is only adjusted
Line = tuple[str, bool]  # a line, and True for a heading


def word(
    name: str, data: bytes, watch: Watch = NO_WATCH, note: Note = ignored, options: Options = USUAL
) -> list[Document]:
    """Read a docx file as one document.

    It includes inserted text, text boxes, content controls, notes, nested tables, headers and
    footers. Deleted and hidden text, comments and charts are left out and reported to `note`.
    Raises BadInput if it is damaged, too large once unpacked, or holds no text.
    """
    if not data:
        raise BadInput(f"{name} is empty.")
    with damage_reported(name, "Word document (docx)"):
        check_unpacked(name, data)
        read, title = _read(data, watch)
    places: list[Place] = []
    length = 0
    for line, heading in read.lines:
        if heading and line.strip():
            places.append((length, " ".join(line.split())))
        length += len(line) + 1
    text = "\n".join(line for line, _ in read.lines)
    if not text.strip():
        raise BadInput(f"{name} holds no text{_pictures(read)}.")
    if read.numbers.guessed:
        note(
            f"{name}: numbers in the format {listed(sorted(read.numbers.guessed))} are "
            "written in digits."
        )
    if left := [
        counted(number, *LEFT_OUT[what]) for what, number in read.counts.items() if what in LEFT_OUT
    ]:
        note(
            f"{name}: {listed(left)} "
            f"{'is' if sum(read.counts[what] for what in LEFT_OUT) == 1 else 'are'} left out."
        )
    if len(text) < FEW_LETTERS and read.counts["blip"]:
        note(f"{name} holds little text{_pictures(read)}.")
    return [
        Document(
            name,
            text,
            given_title(title) or (places[0][1] if places else stem(name)),
            name,
            tuple(places),
        )
    ]


def check_unpacked(name: str, data: bytes) -> None:
    """Raise BadInput if an Office file is locked or unpacks to more than `MAX_BYTES`.

    Raises zipfile.BadZipFile if it is no zip.
    """
    if data.startswith(BEFORE_2007):
        raise BadInput(
            f"{name} is locked with a password, or in Office's format of before 2007; save "
            "it anew, without a password."
        )
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        size = sum(part.file_size for part in parts.infolist())
    if size > MAX_BYTES:
        raise BadInput(
            f"{name} unpacks to more than {size_text(MAX_BYTES)}; that is more than can be "
            "read here."
        )


def _pictures(read: _Read) -> str:
    number = read.counts["blip"]
    return (
        f", and {counted(number, 'picture')}, which {'is' if number == 1 else 'are'} not "
        "read; recognise the text (OCR) first"
    ) * bool(number)


def _read(data: bytes, watch: Watch) -> tuple[_Read, str]:
    """Return the lines of a document, and the title in its properties."""
    import docx

    document = docx.Document(io.BytesIO(readable_package(data)))
    read = _Read(document.part, watch)
    read.numbers = WordNumbers(_root(document.part, "numbering"), _root(document.part, "styles"))
    read.margin("header")
    read.blocks(document.element.body)
    read.further_notes()
    read.margin("footer")
    return read, " ".join(sound(document.core_properties.title or "").split())


@dataclass
class _Read:
    """The lines of a document, collected part by part, and counts of what is left out."""

    part: Any  # docx's part of the document, which leads to the others
    watch: Watch
    lines: list[Line] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)  # elements of `LEFT_OUT`, and pictures
    # by the id of a style: True for a heading
    headings: dict[str | None, bool] = field(default_factory=dict)
    seen: int = 0  # paragraphs and rows
    # text boxes that come after the current paragraph
    waiting: list[Any] = field(default_factory=list)
    # kind and id of each note to which the text refers
    cited: list[tuple[str, str]] = field(default_factory=list)
    written: int = 0  # number of these notes that are written
    numbers: WordNumbers = field(default_factory=lambda: WordNumbers(None, None))

    def blocks(self, within: Any) -> None:
        """Add the paragraphs and tables within an element."""
        for block in _found(within, ("p", "tbl", "altChunk")):
            self._look()
            if _name(block) == "altChunk":
                self.counts["altChunk"] += 1
            elif _name(block) == "tbl":
                self.lines += ((" | ".join(row), False) for row in self._rows(block))
            else:
                self.lines.append((self._text(block), self._is_heading(block)))
            boxes, self.waiting = self.waiting, []
            for box in boxes:
                self.blocks(box)
            self._notes()

    def margin(self, kind: str) -> None:
        """Add the texts above or below pages, each text once."""
        known = set()
        for related in _related(self.part, kind):
            other = _Read(related, self.watch)
            other.blocks(related.element)
            text = "\n".join(line for line, _ in other.lines).strip()
            if any(sign.isalpha() for sign in text) and text not in known:
                known.add(text)
                self.lines += ((line, False) for line in text.split("\n"))

    def further_notes(self) -> None:
        """Add the notes to which no text refers."""
        known = set(self.cited)
        for kind in NOTES:
            self.cited += [(kind, id) for id in self._notes_of(kind) if (kind, id) not in known]
        self._notes()

    def _look(self) -> None:
        if self.seen % LOOK_EVERY == 0:
            self.watch.step()
        self.seen += 1

    def _is_heading(self, paragraph: Any) -> bool:
        from docx.text.paragraph import Paragraph

        style = paragraph.style
        if style not in self.headings:
            known = Paragraph(paragraph, self.part).style if hasattr(self.part, "styles") else None
            self.headings[style] = known is not None and (known.name or "").startswith(HEADINGS)
        return self.headings[style]

    def _text(self, paragraph: Any) -> str:
        """Return the text of a paragraph. Its boxes and notes are queued for later."""
        number = "" if _is_deleted(paragraph) else self.numbers.before(paragraph)
        text = on_one_line(sound("".join(self._pieces(paragraph)))).replace("\xad", "")
        return f"{number}{text}" if text.strip() else text

    def _pieces(self, within: Any) -> Iterator[str]:
        for element in _children(within):
            name = _name(element)
            if name == "t":
                yield element.text or ""
            elif name in BREAKS:
                yield BREAKS[name]
            elif name == "br":
                yield "" if element.get(f"{W}type") in ("page", "column") else "\n"
            elif name == "txbxContent":
                self.waiting.append(element)
            elif name.removesuffix("Reference") in NOTES:
                self.cited.append((name.removesuffix("Reference"), element.get(f"{W}id")))
                yield f"[{len(self.cited)}]"
            elif name == "relIds":
                yield from self._diagram(element)
            elif left := self._left_out(element, name):
                self.counts[left] += 1
            elif name == "oMath":
                yield f"{SPLIT}{office(element)}{SPLIT}"
            elif name == "r" and (height := self._height(element)):
                yield from (height, *self._pieces(element), END)
            elif name not in ABOUT:
                self.counts["blip"] += name == "blip"
                yield from self._pieces(element)

    def _left_out(self, element: Any, name: str) -> str:
        """Return the name under which an element is left out and counted; empty if it is not."""
        if name == "r" and _is_on(element.find(f"{W}rPr/{W}vanish")):
            return "hidden" if next(self._pieces(element), "").strip() else ""
        return name if name in LEFT_OUT else ""

    def _height(self, run: Any) -> str:
        """Return the mark of a raised or lowered run, by itself or its style; empty for others."""
        properties = run.find(f"{W}rPr")
        if properties is None:
            return ""
        style = properties.find(f"{W}rStyle")
        if style is not None and (id := style.get(f"{W}val", "")) not in self._heights:
            held = self.numbers.style(id)
            self._heights[id] = None if held is None else _height(held.find(f"{W}rPr"))
        own = _height(properties)
        if own is None and style is not None:
            own = self._heights[style.get(f"{W}val", "")]
        return own or ""

    def _diagram(self, element: Any) -> Iterator[str]:
        """Yield the texts of a diagram (SmartArt), each on a line."""
        from lxml import etree

        for key, id in element.attrib.items():
            if key.endswith("}dm") and id in self.part.rels and not self.part.rels[id].is_external:
                parser = etree.XMLParser(resolve_entities=False)
                for text in etree.fromstring(self.part.rels[id].target_part.blob, parser).iter(
                    "{*}p"
                ):
                    yield "\n" + "".join(piece.text or "" for piece in text.iter("{*}t"))

    def _rows(self, table: Any) -> Iterator[list[str]]:
        """Yield the texts of a table's cells, row by row.

        A cell over several columns is written once, one over several rows in each row.
        """
        above: dict[int, str] = {}
        for row in _found(table, ("tr",)):
            self._look()
            if row.find(f"{W}trPr/{W}del") is not None:
                self.counts["del"] += 1
                continue
            column, here = 0, {}
            for cell in _found(row, ("tc",)):
                known = above.get(column) if cell.vMerge == "continue" else None
                here[column] = self._cell(cell) if known is None else known
                column += min(cell.grid_span, MOST_COLUMNS)
            yield list(here.values())
            above = here

    def _cell(self, cell: Any) -> str:
        """Return the text of a cell on one line.

        Cells of a nested table are separated by commas, its rows by semicolons.
        """
        parts = []
        for block in _found(cell, ("p", "tbl")):
            if _name(block) == "p":
                parts.append(self._text(block))
            else:
                parts.append("; ".join(", ".join(filter(None, row)) for row in self._rows(block)))
        return " ".join(" ".join(parts).split())

    def _notes(self) -> None:
        """Write the notes to which the text has referred since the last call."""
        while self.written < len(self.cited):
            kind, id = self.cited[self.written]
            self.written += 1
            found = self._notes_of(kind).get(id)
            if found is not None:
                text = " ".join(
                    " ".join(self._text(paragraph) for paragraph in _found(found, ("p",))).split()
                )
                self.lines.append((f"[{self.written}] {text}", False))

    def _notes_of(self, kind: str) -> dict[str, Any]:
        """Return the footnotes or endnotes by id, without their separator lines."""
        from lxml import etree

        if kind not in self._known_notes:
            parser = etree.XMLParser(resolve_entities=False)
            roots = [
                etree.fromstring(part.blob, parser) for part in _related(self.part, f"{kind}s")
            ]
            held = [
                one
                for root in roots
                for one in root.iter(f"{W}{kind}")
                if one.get(f"{W}type", "normal") == "normal"
            ]
            self._known_notes[kind] = {one.get(f"{W}id", ""): one for one in held}
        return self._known_notes[kind]

    _known_notes: dict[str, dict[str, Any]] = field(default_factory=dict)
    _heights: dict[str, str | None] = field(default_factory=dict)  # of styles, by their ids


def _related(part: Any, kind: str) -> list[Any]:
    """Return the parts of a kind to which a part refers, ordered by name."""
    found = {
        one.target_part.partname: one.target_part
        for one in part.rels.values()
        if not one.is_external and one.reltype.endswith(f"/{kind}")
    }
    return [found[name] for name in sorted(found)]


def _root(part: Any, kind: str) -> Any:
    """Return the root element of the first related part of a kind; None if there is none."""
    from lxml import etree

    for related in _related(part, kind):
        if hasattr(related, "element"):
            return related.element
        return etree.fromstring(related.blob, etree.XMLParser(resolve_entities=False))
    return None


def _is_deleted(paragraph: Any) -> bool:
    """Return whether a paragraph is deleted with its end, so that it takes no number."""
    marks = (f"{W}pPr/{W}rPr/{W}{kind}" for kind in ("del", "moveFrom"))
    return any(paragraph.find(mark) is not None for mark in marks)


def _height(properties: Any) -> str | None:
    """Return the mark of a raised or lowered text by its properties; None if they state none."""
    if properties is None:
        return None
    align, position = properties.find(f"{W}vertAlign"), properties.find(f"{W}position")
    if align is not None:
        return HEIGHTS.get(align.get(f"{W}val", ""), "")
    if position is None:
        return None
    try:
        half_points = int(position.get(f"{W}val", "0"))
    except ValueError:
        return None
    if abs(half_points) < LEAST_HEIGHT:
        return None
    return RAISED if half_points > 0 else LOWERED


def _found(within: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """Yield the elements of these names within another, also inside wrapping elements."""
    for element in _children(within):
        if _name(element) in names:
            yield element
        elif _name(element) not in ABOUT and _name(element) != "del":
            yield from _found(element, names)


def _children(element: Any) -> Iterator[Any]:
    """Yield the direct children of an element.

    Of alternatives the first is taken. Controls that still show a placeholder are skipped.
    """
    for child in element:
        if not isinstance(child.tag, str):
            continue
        if _name(child) == "AlternateContent":
            yield from child[:1]
        elif _name(child) != "sdt" or not _is_on(child.find(f"{W}sdtPr/{W}showingPlcHdr")):
            yield child


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _is_on(element: Any) -> bool:
    """Return whether a property exists and is not switched off."""
    return element is not None and element.get(f"{W}val", "true") not in ("0", "false", "off")
