"""Recognition of citations between the documents of a corpus.

The entries of a document's reference list are matched with documents of the corpus. Citations of
these entries are then found in its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.corpus.document import Document

HEADING = re.compile(
    r"^[ \t]*+(?:\d\d?\.?[ \t]*+)?(?:[Rr]eferences|REFERENCES|[Bb]ibliography|BIBLIOGRAPHY"
    r"|(?:Literature|Works) [Cc]ited):?[ \t]*+$",
    re.M,
)
WORD = re.compile(r"\w{1,60}")
YEAR = re.compile(r"\b(?:1[89]|20)\d\d[a-z]?\b")
CAPITAL = re.compile(r"\b[^\W\d_a-z][\w’'-]{1,40}")
MARKER = re.compile(r"^\s{0,8}\[?(\d{1,3})[\].]")
# End of an entry in a reference list.
ENDS = re.compile(r"(?<=[.\d\])])[ \t]{0,8}\n|\n[ \t]{0,8}\n")
NAMED_YEAR = re.compile(
    r"\b([^\W\d_a-z][\w’'-]{1,40})(?: et al\.?| (?:and|&) [^\W\d_a-z][\w’'-]{1,40})?"
    r"[,(\s]{1,3}((?:1[89]|20)\d\d[a-z]?)\b"
)
NUMBERS = re.compile(r"\[(\d{1,3}(?:[,;–-]{1,2} ?\d{1,3}){0,30})\]")
SPAN = re.compile(r"(\d{1,3})(?:[–-]{1,2} ?(\d{1,3}))?")
BEFORE, AFTER = 400, 160  # characters of an entry that are read before and after a title
# Fewest words of a title that is recognised in an entry, and of one in the text.
WORDS_OF_TITLE, WORDS_NAMED = (3, 4)
MAX_SPAN = 30  # most numbers that a span such as [3-12] may stand for


@dataclass(frozen=True)
class Reference:
    """An entry of a reference list that is a document of the corpus.

    `document` is its id, `number` its number in the list, and `names` are the names before its
    title.
    """

    document: str
    year: str
    number: int | None
    names: tuple[str, ...]


class Titles:
    """Titles of a corpus by which its documents are recognised.

    Only titles of three words or more count, and only if no other document has the same.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        by_title: dict[tuple[str, ...], list[str]] = {}
        for one in documents:
            title = tuple(words(one.title))
            if len(title) >= WORDS_OF_TITLE and one.title != one.id:
                by_title.setdefault(title, []).append(one.id)
        self.shared = sum(len(ids) for ids in by_title.values() if len(ids) > 1)
        self._by_start: dict[tuple[str, ...], list[tuple[tuple[str, ...], str]]] = {}
        for title, ids in by_title.items():
            if len(ids) == 1:
                self._by_start.setdefault(title[:WORDS_OF_TITLE], []).append((title, ids[0]))

    def found(self, text: str, least: int = WORDS_OF_TITLE) -> list[tuple[int, int, str]]:
        """Return (start, end, document) for each title in a text, the longest at each position.

        Titles with fewer than `least` words are ignored.
        """
        spans = [(one.group().casefold(), one.start(), one.end()) for one in WORD.finditer(text)]
        read = tuple(word for word, _, _ in spans)
        found, at = list[tuple[int, int, str]](), 0
        while at < len(read):
            fits = [
                pair
                for pair in self._by_start.get(read[at : at + WORDS_OF_TITLE], ())
                if read[at : at + len(pair[0])] == pair[0]
            ]
            title, document = max(fits, key=lambda pair: len(pair[0]), default=((), ""))
            if len(title) >= least:
                found.append((spans[at][1], spans[at + len(title) - 1][2], document))
                at += len(title)
            else:
                at += 1
        return found


def words(text: str) -> list[str]:
    """Return the words of a text for comparing titles, without case and punctuation."""
    return [one.group().casefold() for one in WORD.finditer(text)]


def body(text: str) -> int:
    r"""Return the position at which the reference list of a text begins.

    It is the last line that is such a heading, or the end of the text.

    >>> from core.builds.merge.citations import body
    >>> body("It works.\n\nReferences\nLee. 2012. A tool for trees.")
    11
    """
    return max((one.start() for one in HEADING.finditer(text)), default=len(text))


def references(listed: str, titles: Titles) -> list[Reference]:
    r"""Return the entries of a reference list whose titles belong to the corpus.

    >>> from core.builds.merge.citations import Titles, references
    >>> from core.corpus import Document
    >>> titles = Titles([Document("tree", "...", "A tool for trees")])
    >>> references("References\n[3] Ann Lee and Bob Moss. 2012. A Tool for Trees. In ACL.", titles)
    [Reference(document='tree', year='2012', number=3, names=('Ann', 'Lee', 'Bob', 'Moss'))]
    """
    found = []
    for start, end, document in titles.found(listed):
        before = listed[max(start - BEFORE, 0) : start]
        ends = [
            0,
            *([before.find("\n") + 1] if start <= BEFORE else []),
            *(one.end() for one in ENDS.finditer(before)),
        ]
        # There may be a line break within the entry, before the title.
        entry = next((before[end:] for end in reversed(ends) if CAPITAL.search(before[end:])), "")
        years, later = YEAR.findall(entry), YEAR.search(ENDS.split(listed[end : end + AFTER])[0])
        number = MARKER.match(entry)
        year = years[-1] if years else later.group() if later else ""
        found.append(
            Reference(
                document,
                year,
                int(number.group(1)) if number else None,
                tuple(CAPITAL.findall(entry)),
            )
        )
    return found


def cited(text: str, listed: Sequence[Reference], titles: Titles) -> Iterator[str]:
    """Yield the documents that a text cites, once for each citation.

    Citations are recognised by name and year, by number, or by title.

    >>> from core.builds.merge.citations import Reference, Titles, cited
    >>> entry = Reference("tree", "2012", 3, ("Ann", "Lee"))
    >>> text = "As Lee (2012) says, and others [1, 3], (Lee et al., 2013)."
    >>> list(cited(text, [entry], Titles([])))
    ['tree', 'tree']
    """
    for name, year in NAMED_YEAR.findall(text):
        yield from by_name(name, year, listed)
    for inside in NUMBERS.findall(text):
        for first, last in SPAN.findall(inside):
            low, high = int(first), min(int(last or first), int(first) + MAX_SPAN)
            yield from (
                one.document
                for one in listed
                if one.number is not None and low <= one.number <= high
            )
    yield from (document for _, _, document in titles.found(text, WORDS_NAMED))


def by_name(name: str, year: str, listed: Sequence[Reference]) -> list[str]:
    """Return the documents of a year with an author of that name.

    If the name is among the first two names of some of them, only these are returned.
    """
    fit = [one for one in listed if name in one.names and one.year and same_year(one.year, year)]
    return [one.document for one in fit if name in one.names[:2]] or [one.document for one in fit]


def same_year(one: str, other: str) -> bool:
    """Return whether two years are equal; 2012a may be written as 2012."""
    return one == other or (one[:4] == other[:4] and (one.isdecimal() or other.isdecimal()))
