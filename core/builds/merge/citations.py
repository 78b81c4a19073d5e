"""Recognition of citations between the documents of a corpus, by patterns.

The entries of a document's reference list are matched with documents of the corpus by their titles.
Citations of these entries are then found in its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.corpus.document import Document

REFERENCES_HEADING = re.compile(
    r"^[ \t]*+(?:\d\d?\.?[ \t]*+)?(?:[Rr]eferences|REFERENCES|[Bb]ibliography|BIBLIOGRAPHY"
    r"|(?:Literature|Works) [Cc]ited):?[ \t]*+$",
    re.M,
)
TITLE_WORD = re.compile(r"\w{1,60}")
YEAR_PATTERN = re.compile(r"\b(?:1[89]|20)\d\d[a-z]?\b")
CAPITALISED_WORD = re.compile(r"\b[^\W\d_a-z][\w’'-]{1,40}")
ENTRY_MARKER = re.compile(r"^\s{0,8}\[?(\d{1,3})[\].]")
# End of an entry in a reference list.
ENTRY_ENDS = re.compile(r"(?<=[.\d\])])[ \t]{0,8}\n|\n[ \t]{0,8}\n")
NAME_AND_YEAR = re.compile(
    r"\b([^\W\d_a-z][\w’'-]{1,40})(?: et al\.?| (?:and|&) [^\W\d_a-z][\w’'-]{1,40})?"
    r"[,(\s]{1,3}((?:1[89]|20)\d\d[a-z]?)\b"
)
CITED_NUMBERS = re.compile(r"\[(\d{1,3}(?:[,;–-]{1,2} ?\d{1,3}){0,30})\]")
NUMBER_SPAN = re.compile(r"(\d{1,3})(?:[–-]{1,2} ?(\d{1,3}))?")
# Characters of an entry that are read before and after a title.
ENTRY_CHARACTERS_BEFORE = 400
ENTRY_CHARACTERS_AFTER = 160
# Fewest words of a title that is recognised in an entry, and of one in the text.
MIN_ENTRY_TITLE_WORDS, MIN_TEXT_TITLE_WORDS = (3, 4)
MAX_SPAN_NUMBERS = 30  # largest difference of the numbers of a span such as [3-12]


@dataclass(frozen=True)
class Reference:
    """An entry of a reference list that is a document of the corpus.

    `document` is the id of the document. `year` is empty if the entry has none. `number` is the
    number in the list, None if entries are not numbered. `names` are the capitalised words before
    the title, mostly names of authors.
    """

    document: str
    year: str
    number: int | None
    names: tuple[str, ...]


class Titles:
    """Titles of a corpus by which its documents are recognised.

    Only titles of at least `MIN_ENTRY_TITLE_WORDS` words count, and only if no other document has
    the same title.

    Parameters
    ----------
    documents : all documents of the corpus.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        by_title: dict[tuple[str, ...], list[str]] = {}
        for document in documents:
            title = tuple(words_of_title(document.title))
            if len(title) >= MIN_ENTRY_TITLE_WORDS and document.title != document.id:
                by_title.setdefault(title, []).append(document.id)
        # Documents that are not recognised, because another one has the same title.
        self.n_ambiguous = sum(len(ids) for ids in by_title.values() if len(ids) > 1)
        # Title and document, by the first words of the title.
        self._by_start: dict[tuple[str, ...], list[tuple[tuple[str, ...], str]]] = {}
        for title, ids in by_title.items():
            if len(ids) == 1:
                self._by_start.setdefault(title[:MIN_ENTRY_TITLE_WORDS], []).append((title, ids[0]))

    def find_titles(
        self, text: str, shortest: int = MIN_ENTRY_TITLE_WORDS
    ) -> list[tuple[int, int, str]]:
        """Return the titles of documents in a text.

        Parameters
        ----------
        text : the text.
        shortest : fewest words of a title.

        Returns
        -------
        Start and end in characters, and id of the document, of each title. They do not overlap, and
        the longest title at a position counts.
        """
        words = list(TITLE_WORD.finditer(text))
        folded_words = tuple(word.group().casefold() for word in words)
        titles: list[tuple[int, int, str]] = []
        position = 0
        while position < len(words):
            title, document = self._longest_at(folded_words, position)
            if len(title) >= shortest:
                last = words[position + len(title) - 1]
                titles.append((words[position].start(), last.end(), document))
                position += len(title)
            else:
                position += 1
        return titles

    def _longest_at(self, words: tuple[str, ...], position: int) -> tuple[tuple[str, ...], str]:
        """Return the longest title at a position and its document.

        Both are empty if there is none.
        """
        start = words[position : position + MIN_ENTRY_TITLE_WORDS]
        titles = [
            (title, document)
            for title, document in self._by_start.get(start, ())
            if words[position : position + len(title)] == title
        ]
        return max(titles, key=lambda pair: len(pair[0]), default=((), ""))


def words_of_title(text: str) -> list[str]:
    """Return the words of a text for comparing titles, without case and punctuation."""
    return [word.casefold() for word in TITLE_WORD.findall(text)]


def reference_list_start(text: str) -> int:
    r"""Return the position at which the reference list of a text begins.

    It is the start of the last heading such as “References”, or the end of the text.

    >>> from core.builds.merge.citations import reference_list_start
    >>> reference_list_start("It works.\n\nReferences\nLee. 2012. A tool for trees.")
    11
    """
    starts = (heading.start() for heading in REFERENCES_HEADING.finditer(text))
    return max(starts, default=len(text))


def references(text: str, titles: Titles) -> list[Reference]:
    r"""Return the entries of a reference list whose titles belong to the corpus.

    Parameters
    ----------
    text : text of a reference list.
    titles : titles of the corpus.

    Returns
    -------
    Entries in the order of the list.

    Examples
    --------
    >>> from core.builds.merge.citations import Titles, references
    >>> from core.corpus import Document
    >>> titles = Titles([Document("tree", "...", "A tool for trees")])
    >>> references("References\n[3] Ann Lee and Bob Moss. 2012. A Tool for Trees. In ACL.", titles)
    [Reference(document='tree', year='2012', number=3, names=('Ann', 'Lee', 'Bob', 'Moss'))]
    """
    entries = []
    for start, end, document in titles.find_titles(text):
        entry = _entry_before_title(text, start)
        after = ENTRY_ENDS.split(text[end : end + ENTRY_CHARACTERS_AFTER])[0]
        # the last year before the title, else the first one after it
        years = YEAR_PATTERN.findall(entry)[-1:] or YEAR_PATTERN.findall(after)
        marker = ENTRY_MARKER.match(entry)
        number = int(marker.group(1)) if marker else None
        names = tuple(CAPITALISED_WORD.findall(entry))
        entries.append(Reference(document, years[0] if years else "", number, names))
    return entries


def _entry_before_title(text: str, title_start: int) -> str:
    """Return the part of an entry before its title.

    The result is an empty text if the part has no name. `title_start` is the position of the title
    in `text`, which is a reference list.
    """
    before = text[max(title_start - ENTRY_CHARACTERS_BEFORE, 0) : title_start]
    starts = [0]
    if title_start <= ENTRY_CHARACTERS_BEFORE:  # the heading is before the first entry
        starts.append(before.find("\n") + 1)
    starts += [end.end() for end in ENTRY_ENDS.finditer(before)]
    # The last possible start is tried first. If no name follows it, it is a line break within the
    # entry.
    parts = (before[start:] for start in reversed(starts))
    return next(filter(CAPITALISED_WORD.search, parts), "")


def cited_documents(text: str, entries: Sequence[Reference], titles: Titles) -> Iterator[str]:
    """Yield the documents that a text cites, once for each citation.

    Citations are recognised by name and year, by number, or by title.

    Parameters
    ----------
    text : text of a chunk.
    entries : entries of the document's reference list.
    titles : titles of the corpus.

    Yields
    ------
    Id of a document. A document is yielded again for each further citation.

    Examples
    --------
    >>> from core.builds.merge.citations import Reference, Titles, cited_documents
    >>> entry = Reference("tree", "2012", 3, ("Ann", "Lee"))
    >>> text = "As Lee (2012) says, and others [1, 3], (Lee et al., 2013)."
    >>> list(cited_documents(text, [entry], Titles([])))
    ['tree', 'tree']
    """
    for name, year in NAME_AND_YEAR.findall(text):
        yield from documents_by_author(name, year, entries)
    for numbers in CITED_NUMBERS.findall(text):
        for first, last in NUMBER_SPAN.findall(numbers):
            low, high = int(first), min(int(last or first), int(first) + MAX_SPAN_NUMBERS)
            for entry in entries:
                if entry.number is not None and low <= entry.number <= high:
                    yield entry.document
    yield from (document for _, _, document in titles.find_titles(text, MIN_TEXT_TITLE_WORDS))


def documents_by_author(name: str, year: str, entries: Sequence[Reference]) -> list[str]:
    """Return the documents of a year with an author of that name.

    If the name is among the first two names of some entries, which belong to the first author, only
    these are returned.

    Parameters
    ----------
    name : last name of an author.
    year : the year as it is cited.
    entries : entries of the document's reference list.

    Returns
    -------
    Ids of documents.
    """
    entries = [
        one for one in entries if name in one.names and one.year and same_year(one.year, year)
    ]
    first_authors = [entry for entry in entries if name in entry.names[:2]]
    return [entry.document for entry in first_authors or entries]


def same_year(one: str, other: str) -> bool:
    """Return whether two years are equal; 2012a may be written as 2012.

    Parameters
    ----------
    one, other : years, perhaps with a letter.

    Returns
    -------
    False for different years, or if both have a letter and the letters differ.
    """
    return one == other or (one[:4] == other[:4] and (one.isdecimal() or other.isdecimal()))
