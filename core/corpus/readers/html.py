"""HTML: the text that a person reads, its headings as places."""

from __future__ import annotations

import re

from core.corpus.document import Document, Place, sound
from core.corpus.readers.no_memory import for_want_of_memory
from core.corpus.readers.options import USUAL, Note, Options, Step, ignored
from core.corpus.readers.text import given_title, stem
from core.errors import BadInput
from core.io.encoding import decoded

DROPPED = frozenset(
    {"script", "style", "noscript", "template", "svg", "head", "iframe", "object", "math"}
)
INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q ruby rb rt rp s samp small span strike strong "
    "sub sup time tt u var wbr".split()
)
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
CELLS = frozenset({"td", "th"})
CHARSET = re.compile(
    rb"<meta[^<>]+?charset=[\"']?\s*([\w-]+)|<\?xml[^<>]+?encoding=[\"']([\w-]+)", re.IGNORECASE
)
UNUSABLE = (
    "utf",
    "idna",
    "punycode",
    "unicode",
    "raw",
    "undefined",
)  # UTF-8 is tried anyway; UTF-16 is known by its mark, else told falsely
DECLARATION = re.compile(r"\s*<\?xml[^>]*>")
STOPPING = (
    "ERR_NO_MEMORY",
    "ERR_RESOURCE_LIMIT",
)  # of the parser's faults, those after which it reads no further
LOOK_EVERY = 10_000  # elements
DEEPEST = 2_048  # elements within elements
LONGEST_LABEL = 1_000  # characters of a heading as a place
BLANKS = re.compile(r"[ \t\r\n\f\xa0]+")


def html(
    name: str, data: bytes, step: Step = ignored, note: Note = ignored, options: Options = USUAL
) -> list[Document]:
    """A page as one document, without its scripts and styles; its title is the one it states, else its first heading of the first rank.
    `step` is called every now and then. Raises BadInput where it holds no text or is nested too deep, MemoryError."""
    from lxml import etree

    said = CHARSET.search(data[:4096])
    declared = (said.group(1) or said.group(2)).decode("ascii", "ignore") if said else ""
    declared = "" if declared.lower().startswith(UNUSABLE) else declared
    source = decoded(name, data, declared, options.encoding, note)
    if declaration := DECLARATION.match(source):
        source = source[declaration.end() :]
    page = _Page(name, step)
    parser = etree.HTMLParser(huge_tree=True, target=page)
    try:
        etree.fromstring(source.replace("\r\n", "\n"), parser=parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        if for_want_of_memory(error):
            raise MemoryError from None
        raise BadInput(f"{name} is empty, or no HTML.") from None
    if any(
        fault.type_name in STOPPING for fault in parser.error_log
    ):  # it leaves out all that comes after, and raises nothing
        raise MemoryError
    text, places = page.whole()
    if not text.strip():
        raise BadInput(f"{name} holds no text.")
    title = given_title("".join(page.title or ())) or next(
        (label for rank, label in page.headings if rank == "h1"), ""
    )
    return [Document(name, text, title or stem(name), name, places)]


class _Page:
    """The text of a page, taken down while the parser goes through it: blanks as one, a line for each block.

    The parser calls `start`, `end`, `data` and `close`, and makes no tree: to one, the attributes of an element are added in time that is
    the square of their number.
    """

    def __init__(self, name: str, step: Step) -> None:
        self._name, self._step = name, step
        self._elements = 0
        self._depth = 0  # how many elements are open
        self._dropped = 0  # how many of them are left out
        self._in_title = False
        self.title: list[str] | None = None  # the parts of the first one
        self.parts: list[str] = []
        self.length = 0
        self.within = 0  # how many headings have begun; of one within another the outer one counts
        self.heading = (0, 0)  # where it begins, and how many parts there were
        self.places: list[Place] = []
        self.headings: list[tuple[str, str]] = []
        self.preformatted = 0  # how many elements are open in which blanks stay as they are

    def start(self, tag: str, attributes: object) -> None:
        if self._elements % LOOK_EVERY == 0:
            self._step(None)
        self._elements += 1
        self._depth += 1
        if self._depth > DEEPEST:
            raise BadInput(
                f"{self._name} has elements within elements more than {DEEPEST:,} deep; save it as plain text and bring that."
            )
        if tag == "title" and self.title is None:
            self.title, self._in_title = [], True
        if self._dropped or tag in DROPPED:
            self._dropped += 1
            return
        self.preformatted += tag == "pre"
        if tag in CELLS and self.parts and not self.parts[-1].endswith("\n"):
            self._put(" | ")
        elif tag not in INLINE and tag not in CELLS:
            self._break()
        if tag in HEADINGS:
            self.heading = self.heading if self.within else (self.length, len(self.parts))
            self.within += 1

    def end(self, tag: str) -> None:
        self._depth -= 1
        self._in_title = False
        if self._dropped:
            self._dropped -= 1
            return
        if tag in HEADINGS and self.within:
            self.within -= 1
            start, before = self.heading
            label = (
                ""
                if self.within
                else " ".join("".join(self.parts[before:]).split())[:LONGEST_LABEL].strip()
            )
            if label:
                self.places.append((start, label))
                self.headings.append((tag, label))
        if tag not in INLINE and tag not in CELLS:
            self._break()
        self.preformatted -= tag == "pre"

    def data(self, text: str) -> None:
        if self._in_title and self.title is not None:
            self.title.append(text)
        if self._dropped:
            return
        if self.preformatted:
            self._put(text)
            return
        text = BLANKS.sub(" ", text)
        before = self.parts[-1][-1] if self.parts else "\n"
        self._put(text.lstrip(" ") if before in " \n" else text)

    def close(self) -> None:
        """The parser has come to the end."""

    def whole(self) -> tuple[str, tuple[Place, ...]]:
        """The text and its places."""
        return "".join(self.parts).rstrip(), tuple(sorted(self.places))

    def _break(self) -> None:
        if self.parts and not self.parts[-1].endswith("\n"):
            self._put("\n")

    def _put(self, text: str) -> None:
        if text:
            text = sound(text)
            self.parts.append(text)
            self.length += len(text)
