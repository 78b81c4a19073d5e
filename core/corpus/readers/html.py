"""HTML: the text that a person reads, its headings as places."""

from __future__ import annotations

import re
from collections.abc import Callable

from core.corpus.document import Document, Place, sound
from core.corpus.readers.encoding import decoded
from core.corpus.readers.no_memory import for_want_of_memory
from core.corpus.readers.text import stem
from core.errors import BadInput

DROPPED = frozenset({"script", "style", "noscript", "template", "svg", "head", "iframe", "object", "math"})
INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q ruby rb rt rp s samp small span strike strong "
    "sub sup time tt u var wbr".split()
)
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
CELLS = frozenset({"td", "th"})
CHARSET = re.compile(rb"<meta[^<>]+?charset=[\"']?\s*([\w-]+)|<\?xml[^<>]+?encoding=[\"']([\w-]+)", re.IGNORECASE)
UNUSABLE = (
    "utf",
    "idna",
    "punycode",
    "unicode",
    "raw",
    "undefined",
)  # UTF-8 is tried anyway; UTF-16 is known by its mark, else told falsely
DECLARATION = re.compile(r"\s*<\?xml[^>]*>")
LOOK_EVERY = 10_000  # elements
LONGEST_LABEL = 1_000  # characters of a heading as a place
BLANKS = re.compile(r"[ \t\r\n\f\xa0]+")


def html(name: str, data: bytes, step: Callable[[float | None], None] = lambda share: None) -> list[Document]:
    """A page as one document, without its scripts and styles; its title is what it tells, else its first heading of the first rank.
    `step` is called every now and then. Raises BadInput where it holds no text, or more than the parser takes, MemoryError."""
    from lxml import etree
    from lxml import html as parser

    said = CHARSET.search(data[:4096])
    declared = (said.group(1) or said.group(2)).decode("ascii", "ignore") if said else ""
    declared = "" if declared.lower().startswith(UNUSABLE) else declared
    source = decoded(name, data, declared)
    if declaration := DECLARATION.match(source):
        source = source[declaration.end() :]
    reader = parser.HTMLParser(huge_tree=True)
    try:
        page = parser.document_fromstring(source.replace("\r\n", "\n"), parser=reader)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        if for_want_of_memory(error):
            raise MemoryError from None
        raise BadInput(f"{name} is empty, or no HTML.") from None
    if any(fault.type_name == "ERR_RESOURCE_LIMIT" for fault in reader.error_log):  # the parser leaves out all that comes after
        raise BadInput(f"{name} has elements within elements more than 2,000 deep; save it as plain text and bring that.")
    told = _Told()
    walk = etree.iterwalk(page, events=("start", "end", "comment", "pi"))
    for number, (event, element) in enumerate(walk):
        if number % LOOK_EVERY == 0:
            step(None)
        tag = element.tag if isinstance(element.tag, str) else ""
        if event == "start" and tag in DROPPED:
            walk.skip_subtree()
        elif event == "start":
            told.begin(tag, element.text or "")
        else:
            told.end(tag, element.tail or "")
    text, places = told.whole()
    if not text.strip():
        raise BadInput(f"{name} holds no text.")
    title = " ".join((page.findtext(".//title") or "").split()) or next((label for rank, label in told.headings if rank == "h1"), "")
    return [Document(name, text, sound(title) or stem(name), name, places)]


class _Told:
    """The text of a page as it is walked through: blanks as one, a line for each block."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.within = 0  # how many headings have begun; of one within another the outer one counts
        self.heading = (0, 0)  # where it begins, and how many parts there were
        self.places: list[Place] = []
        self.headings: list[tuple[str, str]] = []
        self.kept = 0  # how many elements are open in which blanks stay as they are

    def begin(self, tag: str, text: str) -> None:
        self.kept += tag == "pre"
        if tag in CELLS and self.parts and not self.parts[-1].endswith("\n"):
            self._put(" | ")
        elif tag not in INLINE and tag not in CELLS:
            self._break()
        if tag in HEADINGS:
            self.heading = self.heading if self.within else (self.length, len(self.parts))
            self.within += 1
        self._words(text)

    def end(self, tag: str, tail: str) -> None:
        if tag in HEADINGS and self.within:
            self.within -= 1
            start, before = self.heading
            label = "" if self.within else " ".join("".join(self.parts[before:]).split())[:LONGEST_LABEL].strip()
            if label:
                self.places.append((start, label))
                self.headings.append((tag, label))
        if tag not in INLINE and tag not in CELLS and tag not in DROPPED and tag:
            self._break()
        self.kept -= tag == "pre"
        self._words(tail)

    def whole(self) -> tuple[str, tuple[Place, ...]]:
        """The text and its places."""
        return "".join(self.parts).rstrip(), tuple(sorted(self.places))

    def _words(self, text: str) -> None:
        if self.kept:
            self._put(text)
            return
        text = BLANKS.sub(" ", text)
        before = self.parts[-1][-1] if self.parts else "\n"
        self._put(text.lstrip(" ") if before in " \n" else text)

    def _break(self) -> None:
        if self.parts and not self.parts[-1].endswith("\n"):
            self._put("\n")

    def _put(self, text: str) -> None:
        if text:
            text = sound(text)
            self.parts.append(text)
            self.length += len(text)
