"""The text of an HTML page, collected from the events of a parser.

It writes tables as lines with bars, formulas and raised numbers on the line, and leaves out hidden
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.corpus.document import Place, utf8_text
from core.corpus.readers.formulas import write_mathml
from core.corpus.readers.hidden_elements import HiddenElements
from core.corpus.readers.html_tables import SpannedRows
from core.corpus.readers.raised_text import (
    MAX_BASE_CHARACTERS,
    SLASHES,
    write_lowered,
    write_numerator,
    write_raised,
)
from core.errors import BadInput
from core.watch import NO_WATCH, Watch

DROPPED_ELEMENTS = frozenset(
    "script style noscript template svg head iframe object "
    "select datalist textarea".split()  # the last three are form fields
)
INLINE_ELEMENTS = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q ruby "
    "rb rt rp s samp small span strike strong "
    "sub sup time tt u var wbr".split()
)
HEADING_ELEMENTS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
CELL_ELEMENTS = frozenset({"td", "th"})
ROW_GROUPS = frozenset({"thead", "tbody", "tfoot"})
RAISED_STYLE = re.compile(r"vertical-align\s*:\s*(super|sub)\b", re.IGNORECASE)
# class of a formula's picture
FORMULA_CLASS = re.compile(r"\b(?:mwe-math|math|tex|latex)", re.IGNORECASE)
TEX_STYLE = ("{\\displaystyle", "{\\textstyle")  # around a formula in TeX
ELEMENTS_PER_CHECK = 10_000  # between two calls of the watch
MAX_PAGE_REPEATED_LETTERS = 1 << 24  # of a page's cells that are repeated in further rows
MAX_NESTED_ELEMENTS = 2_048
MAX_PLACE_CHARACTERS = 1_000  # of a heading as a place
HTML_BLANKS = re.compile(r"[ \t\r\n\f\xa0]+")


@dataclass
class _RaisedElement:
    """An open element whose text is raised or lowered.

    `depth` is the number of open elements up to this one, and `parts_before` the number of parts of
    the page's text before it.
    """

    kind: str  # `sup`, `sub`, or `a` for a link to a note
    depth: int
    parts_before: int
    holds_link: bool = False


class PageText:
    """Collector of the text of a page, as a target of lxml's parser.

    Blanks are reduced to one, and each block is a line. The parser calls `start`, `end`, `data` and
    `close` and builds no tree: building one takes time quadratic in an element's number of
    attributes.

    Parameters
    ----------
    name : name of the file, for errors.
    watch : called from time to time; may raise RunCancelled.
    omits_hidden : True to leave out elements that a browser hides.
    """

    def __init__(self, name: str, watch: Watch = NO_WATCH, omits_hidden: bool = True) -> None:
        self.name = name
        self._watch = watch
        self._omits_hidden = omits_hidden
        self.title: list[str] | None = None  # the parts of the first title
        self.headings: list[tuple[str, str]] = []  # tag and text
        self.n_hidden = 0  # passages that a browser hides
        self._parts: list[str] = []  # of the text so far
        self._length = 0  # characters of these parts
        self._places: list[Place] = []
        self._n_elements = 0
        self._depth = 0  # number of open elements
        self._n_dropped = 0  # number of open elements that are left out
        self._dropped_is_hidden = False  # True if a browser hides the outermost of these
        self._dropped_has_text = False
        self._in_title = False
        self._style: list[str] | None = None  # the parts of the open style element
        self._hidden_elements = HiddenElements()
        self._n_headings = 0  # number of open headings; of nested ones the outer one counts
        self._heading = (0, 0)  # offset of its beginning, and the number of parts before it
        self._n_preformatted = 0  # number of open elements that preserve blanks
        self._links: list[int] = []  # number of parts before each open link
        self._raised: list[_RaisedElement] = []
        # number of the last part, if it is a raised number, and its text as a numerator
        self._numerator: tuple[int, str] | None = None
        self._tables: list[SpannedRows] = []
        self._cells: list[int] = []  # number of parts before each open cell
        self._n_repeated = 0  # letters of cells that were repeated in further rows
        # the open elements of a formula, each with the texts of its parts
        self._formula: list[tuple[str, list[str]]] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin an element, called by the parser."""
        self._count_element()
        if tag == "title" and self.title is None:
            self.title = []
            self._in_title = True
        if tag == "style":
            self._style = []
        if self._n_dropped:
            self._n_dropped += 1
            return
        hidden = self._omits_hidden and self._hidden_elements.hides(tag, attributes)
        if hidden or tag in DROPPED_ELEMENTS:
            self._n_dropped = 1
            self._dropped_is_hidden = hidden
            self._dropped_has_text = False
            return
        if tag == "math" or self._formula:
            self._formula.append((tag, []))
            return
        self._n_preformatted += tag == "pre"
        self._start_in_table(tag, attributes)
        if tag not in INLINE_ELEMENTS and tag not in CELL_ELEMENTS:
            self._break()
        if tag in HEADING_ELEMENTS:
            if not self._n_headings:
                self._heading = (self._length, len(self._parts))
            self._n_headings += 1
        self._start_inline(tag, attributes)

    def end(self, tag: str) -> None:
        """End an element, called by the parser."""
        self._in_title = False
        if tag == "style" and self._style is not None:
            self._hidden_elements.add_style("".join(self._style))
            self._style = None
        if self._n_dropped:
            self._n_dropped -= 1
            if not self._n_dropped and self._dropped_is_hidden and self._dropped_has_text:
                self.n_hidden += 1
        elif self._formula:
            self._end_formula()
        else:
            self._end_inline(tag)
            self._end_heading(tag)
            self._end_in_table(tag)
            if tag not in INLINE_ELEMENTS and tag not in CELL_ELEMENTS:
                self._break()
            self._n_preformatted -= tag == "pre"
        self._depth -= 1

    def data(self, text: str) -> None:
        """Add a text, called by the parser."""
        text = text.replace("\xad", "")  # a soft hyphen, which shows only where a word is divided
        if self._in_title and self.title is not None:
            self.title.append(text)
        if self._style is not None:
            self._style.append(text)
        if self._n_dropped:
            self._dropped_has_text = self._dropped_has_text or bool(text.strip())
        elif self._formula:
            if text.strip():
                self._formula[-1][1].append(" ".join(text.split()))
        elif self._n_preformatted:
            self._put(text)
        else:
            text = HTML_BLANKS.sub(" ", text)
            before = self._parts[-1][-1] if self._parts else "\n"
            if before in " \n":
                text = text.lstrip(" ")
            self._rewrite_numerator(text)
            self._put(text)

    def close(self) -> None:
        """End of the page, called by the parser."""

    def text_and_places(self) -> tuple[str, tuple[Place, ...]]:
        """Return the text, and its headings as places."""
        return "".join(self._parts).rstrip(), tuple(sorted(self._places))

    def _count_element(self) -> None:
        if self._n_elements % ELEMENTS_PER_CHECK == 0:
            self._watch.step()
        self._n_elements += 1
        self._depth += 1
        if self._depth > MAX_NESTED_ELEMENTS:
            raise BadInput(
                f"{self.name} has elements within elements more than {MAX_NESTED_ELEMENTS:,} deep; save "
                "it as plain text and bring that."
            )

    def _end_heading(self, tag: str) -> None:
        if tag not in HEADING_ELEMENTS or not self._n_headings:
            return
        self._n_headings -= 1
        if self._n_headings:
            return
        start, count = self._heading
        label = " ".join("".join(self._parts[count:]).split())[:MAX_PLACE_CHARACTERS].strip()
        if label:
            self._places.append((start, label))
            self.headings.append((tag, label))

    def _start_in_table(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "table":
            self._tables.append(SpannedRows())
        elif tag in ROW_GROUPS and self._tables:
            self._tables[-1].begin_group()
        elif tag == "tr" and self._tables:
            self._tables[-1].begin_row()
        elif tag in CELL_ELEMENTS:
            if self._tables:
                self._repeat(self._tables[-1].take_repeated())
                self._tables[-1].begin_cell(attributes)
            self._separate()
            self._cells.append(len(self._parts))

    def _end_in_table(self, tag: str) -> None:
        if tag in CELL_ELEMENTS and self._cells:
            count = self._cells.pop()
            if self._tables:
                self._tables[-1].end_cell("".join(self._parts[count:]))
        elif tag == "tr" and self._tables:
            self._repeat(self._tables[-1].take_remaining())
        elif tag == "table" and self._tables:
            self._tables.pop()

    def _repeat(self, texts: Iterable[str]) -> None:
        """Write the texts of cells of rows above that span into this row."""
        for text in texts:
            self._n_repeated += len(text)
            if self._n_repeated <= MAX_PAGE_REPEATED_LETTERS:
                self._separate()
                self._put(text)

    def _separate(self) -> None:
        """Write a bar before a cell, unless it begins the line."""
        if self._parts and not self._parts[-1].endswith("\n"):
            self._put("| " if self._parts[-1].endswith(" ") else " | ")

    def _start_inline(self, tag: str, attributes: Mapping[str, str]) -> None:
        kind = tag if tag in ("sup", "sub") else ""
        style = RAISED_STYLE.search(attributes.get("style", ""))
        if style:
            kind = style[1].lower()[:3]
        if tag == "a":
            leads_to_note = "noteref" in f"{attributes.get('role')} {attributes.get('epub:type')}"
            self._links.append(len(self._parts))
            for element in self._raised:
                element.holds_link = True
            if leads_to_note:
                kind = kind or "a"
        elif tag == "img" and FORMULA_CLASS.search(attributes.get("class", "")):
            self._put_formula(_tex(attributes.get("alt", "")))
        if kind:
            self._raised.append(_RaisedElement(kind, self._depth, len(self._parts)))

    def _end_inline(self, tag: str) -> None:
        if self._raised and self._raised[-1].depth == self._depth:
            self._end_raised(self._raised.pop())
        if tag == "a" and self._links:
            self._links.pop()

    def _end_raised(self, element: _RaisedElement) -> None:
        """Rewrite a raised or lowered text on the line."""
        first = element.parts_before
        text = "".join(self._parts[first:])
        if not text.strip() or "\n" in text:
            return
        before = self._line_before(first)
        # A link around this text alone leads to a note. A link around a unit and its power does
        # not.
        is_linked = bool(self._links) and self._links[-1] == first
        if element.kind == "sub":
            result = write_lowered(before, text)
        else:
            is_note = element.kind == "a" or element.holds_link or is_linked
            result = write_raised(before, text, is_note=is_note)
        self._length += len(result) - len(text)
        self._parts[first:] = [result]
        is_number = element.kind == "sup" and text.strip().isdecimal()
        self._numerator = (first, write_numerator(before, text)) if is_number else None

    def _rewrite_numerator(self, text: str) -> None:
        """Rewrite the raised number before a slash as the numerator of a fraction."""
        if self._numerator is not None and text.startswith(SLASHES):
            index, numerator = self._numerator
            if index == len(self._parts) - 1:
                self._length += len(numerator) - len(self._parts[index])
                self._parts[index] = numerator
        self._numerator = None

    def _line_before(self, count: int) -> str:
        """Return the end of the last line of the first `count` parts."""
        line = ""
        for index in range(count - 1, -1, -1):
            line = self._parts[index][-MAX_BASE_CHARACTERS:] + line
            if "\n" in line or len(line) >= MAX_BASE_CHARACTERS:
                break
        return line.rpartition("\n")[2]

    def _end_formula(self) -> None:
        tag, parts = self._formula.pop()
        formula = write_mathml(tag, parts)
        if self._formula:
            self._formula[-1][1].append(formula)
        else:
            self._put_formula(formula)

    def _put_formula(self, formula: str) -> None:
        """Write a formula, with a blank between two numbers."""
        sign = self._parts[-1][-1] if self._parts else "\n"
        self._put(f" {formula}" if sign.isdigit() and formula[:1].isdigit() else formula)

    def _break(self) -> None:
        """Begin a new line."""
        if self._parts and not self._parts[-1].endswith("\n"):
            self._put("\n")

    def _put(self, text: str) -> None:
        if text:
            text = utf8_text(text)
            self._parts.append(text)
            self._length += len(text)


def _tex(text: str) -> str:
    """Return a TeX formula without the style command around it."""
    text = text.strip()
    for style in TEX_STYLE:
        if text.startswith(style) and text.endswith("}"):
            return text[len(style) : -1].strip()
    return text
