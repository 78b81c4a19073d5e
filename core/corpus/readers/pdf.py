"""Reader of PDFs by pypdf: the text of pages, with each page a place.

Columns and right-to-left lines are put in reading order, raised numbers and fractions are written
on the line, and words that are divided at line ends are joined.
"""

from __future__ import annotations

import io
import logging
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from core.corpus.document import Document, Place, utf8_text
from core.corpus.readers.library_errors import report_damage
from core.corpus.readers.options import (
    DEFAULT_OPTIONS,
    Note,
    ReadingOptions,
    count_with_noun,
    list_text,
    verb_of_number,
)
from core.corpus.readers.pdf_additions import attached_files, page_additions
from core.corpus.readers.pdf_columns import text_in_columns
from core.corpus.readers.pdf_direction import in_reading_order, is_right_to_left
from core.corpus.readers.pdf_ligatures import single_ligatures
from core.corpus.readers.pdf_pieces import PagePieces, text_with_scripts
from core.corpus.readers.text import clean_title, file_stem
from core.errors import BadInput, shorten
from core.io.encoding import ignore_note
from core.watch import NO_WATCH, Watch

PAGE_SEPARATOR = "\n\n"
# code points of ligatures, and of Arabic letters in a shape for their position
PRESENTED_CODES = [
    *range(0xFB00, 0xFB07),
    *range(0xFB13, 0xFB18),
    *range(0xFB50, 0xFDFC),
    *range(0xFE70, 0xFEFD),
]
# the usual letters of these code points
PRESENTED_LETTERS = {code: unicodedata.normalize("NFKC", chr(code)) for code in PRESENTED_CODES}
HYPHEN = re.compile(r"(?<!\w)(\w{1,40})([-\u2010\xad])\n[ \t]{0,8}(\w{1,40})([^\s\w-]{0,3})[ \t]?")
HYPHENATED_WORD = re.compile(r"\w{1,40}(?:[-\u2010]\w{1,40}){0,3}")
# first parts of compounds that are usually hyphenated
WITH_HYPHEN = frozenset(
    (
        "all co cross e ex half high long low mid multi non post pre quasi self semi short "
        "single so two vice well"
    ).split()
)
LOST_SIGN = "\N{REPLACEMENT CHARACTER}"
MAX_NAMED_PAGES = 8  # pages named in a sentence


@dataclass
class _PdfPages:
    """The texts of a PDF's pages, and facts about them to report. Pages are numbered from 1."""

    texts: list[str] = field(default_factory=list)
    title: str = ""
    picture_pages: set[int] = field(default_factory=set)  # pages without text that hold a picture
    # pages whose columns were drawn line by line, and are read one after the other
    column_pages: list[int] = field(default_factory=list)
    # pages whose raised numbers have no mark
    unmarked_pages: list[int] = field(default_factory=list)
    # right-to-left pages that were not reordered
    screen_order_pages: list[int] = field(default_factory=list)
    # pages with damaged form fields or notes
    damaged_pages: list[int] = field(default_factory=list)
    n_fields: int = 0  # filled form fields
    n_notes: int = 0  # notes that a person put on the pages
    file_names: list[str] = field(default_factory=list)  # names of attached files


def read_pdf(
    name: str,
    data: bytes,
    watch: Watch = NO_WATCH,
    note: Note = ignore_note,
    options: ReadingOptions = DEFAULT_OPTIONS,
) -> list[Document]:
    """Read a PDF as one document, with ligatures and divided words written out.

    Values of form fields, and notes put on a page, come at its end.

    Parameters
    ----------
    name : name of the file, for the document and for messages.
    data : the bytes of the file.
    watch : receives the share of pages read; may raise RunCancelled.
    note : receives a sentence on pages without text, on guesses, and on attached files.
    options : not used; a parameter of all readers.

    Returns
    -------
    One document.

    Raises
    ------
    BadInput : it is damaged, locked, or holds no text, like a scanned one.
    """
    if not data.strip():
        raise BadInput(f"{name} is empty.")
    pages = _pages(name, data, watch)
    total = len(pages.texts)
    if not any(page.strip() for page in pages.texts):
        raise BadInput(
            f"{name} holds no text in its {count_with_noun(total, 'page')}; it looks scanned. "
            "Recognise its text (OCR) first."
        )
    texts, hyphens = _join_words(pages.texts)
    _note_gaps(name, pages, hyphens, note)
    places: list[Place] = []
    length = 0
    for number, page in enumerate(texts, 1):
        places.append((length, f"page {number}"))
        length += len(page) + len(PAGE_SEPARATOR)
    title = clean_title(pages.title) or file_stem(name)
    return [Document(name, PAGE_SEPARATOR.join(texts), title, name, tuple(places))]


def _note_gaps(name: str, pages: _PdfPages, hyphens: int, note: Note) -> None:
    """Report what was left out or guessed."""
    _note_pages_without_text(name, pages, note)
    _note_lost_letters(name, pages, note)
    if pages.column_pages:
        seem = "seems" if len(pages.column_pages) == 1 else "seem"
        note(
            f"{name}: {_numbers(pages.column_pages)} {seem} to be in columns, which are read one "
            "after the other."
        )
    if pages.screen_order_pages:
        note(
            f"{name}: words on {_numbers(pages.screen_order_pages)} run from right to left and may "
            "stand in the order of the screen."
        )
    if pages.unmarked_pages:
        note(
            f"{name}: raised numbers on {_numbers(pages.unmarked_pages)} stand beside the text "
            "before them without a sign."
        )
    _note_additions(name, pages, note)
    if hyphens:
        note(
            f"{name}: {count_with_noun(hyphens, 'word')} divided at the end of a line "
            f"{'is' if hyphens == 1 else 'are'} joined."
        )


def _note_pages_without_text(name: str, pages: _PdfPages, note: Note) -> None:
    empty = [number for number, page in enumerate(pages.texts, 1) if not page.strip()]
    if not empty:
        return
    verb = "holds" if len(empty) == 1 else "hold"
    advice = ""
    if pages.picture_pages.intersection(empty):
        advice = "; recognise the text (OCR) of those that are scanned"
    note(f"{name}: {_numbers(empty)} of {len(pages.texts):,} {verb} no text{advice}.")


def _note_lost_letters(name: str, pages: _PdfPages, note: Note) -> None:
    lost = [number for number, page in enumerate(pages.texts, 1) if LOST_SIGN in page]
    if not lost:
        return
    letters = sum(page.count(LOST_SIGN) for page in pages.texts)
    note(
        f"{name}: {count_with_noun(letters, 'letter')} on {_numbers(lost)} cannot be read, as "
        f"its fonts do not say which; shown as {LOST_SIGN}."
    )


def _note_additions(name: str, pages: _PdfPages, note: Note) -> None:
    """Report form fields, notes and attached files."""
    added = [
        count_with_noun(number, thing)
        for number, thing in ((pages.n_fields, "filled form field"), (pages.n_notes, "note"))
        if number
    ]
    if added:
        number = pages.n_fields + pages.n_notes
        note(f"{name}: {list_text(added)} {verb_of_number(number)} read at the end of the page.")
    if pages.damaged_pages:
        note(f"{name}: form fields and notes of {_numbers(pages.damaged_pages)} cannot be read.")
    files = list(dict.fromkeys(pages.file_names))
    if files:
        names = [shorten(file, 40) for file in files[:MAX_NAMED_PAGES]]
        if len(files) > MAX_NAMED_PAGES:
            names.append(f"{len(files) - MAX_NAMED_PAGES:,} more")
        phrase = (
            f"{count_with_noun(len(files), 'attached file')} {verb_of_number(len(files))} left out"
        )
        note(f"{name}: {phrase}: {list_text(names)}.")


def _numbers(pages: Sequence[int]) -> str:
    """Return words for pages, such as “page 3” or “pages 1, 4 and 7”."""
    numbers = [f"{number:,}" for number in pages[:MAX_NAMED_PAGES]]
    if len(pages) > MAX_NAMED_PAGES:
        numbers.append(f"{len(pages) - MAX_NAMED_PAGES:,} more")
    return f"page{'s' * (len(pages) > 1)} {list_text(numbers)}"


def _pages(name: str, data: bytes, watch: Watch) -> _PdfPages:
    """Read the pages of a file, and the title that it states."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    # pypdf warns about faults that it repairs.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    pdf_pages = _PdfPages()
    with report_damage(name, "PDF"):
        try:
            _read_file(PdfReader(io.BytesIO(data)), name, watch, pdf_pages)
        except DependencyError:  # no package for AES decryption is installed
            raise BadInput(
                f"{name} is encrypted; save it without, as by printing it into a new PDF."
            ) from None
    return pdf_pages


def _read_file(reader: Any, name: str, watch: Watch, pages: _PdfPages) -> None:
    if reader.is_encrypted and not reader.decrypt(""):
        raise BadInput(f"{name} is locked with a password; save it without one.")
    total = len(reader.pages)
    for number, page in enumerate(reader.pages, 1):
        watch.step((number - 1) / total)
        _read_page(page, number, pages)
    pages.file_names += attached_files(reader)
    pages.title = str((reader.metadata.title if reader.metadata else "") or "")


def _read_page(page: Any, number: int, pages: _PdfPages) -> None:
    """Add a page: its text in reading order, then form values and notes."""
    page_pieces = PagePieces()
    raw = page.extract_text(
        visitor_text=page_pieces.see_text, visitor_operand_before=page_pieces.see_operator
    )
    text = _order_text(page, number, raw or "", page_pieces, pages)
    try:
        additions = page_additions(page, page_pieces.pieces)
    except MemoryError:
        raise
    except Exception:  # damaged annotations may fail anywhere in the library
        pages.damaged_pages.append(number)
    else:
        pages.n_fields += len(additions.fields)
        pages.n_notes += len(additions.notes)
        pages.file_names += additions.files
        text = "\n".join(filter(None, [text.rstrip(), *additions.fields, *additions.notes]))
    pages.texts.append(_expand_ligatures(text))
    if not text.strip() and _holds_pictures(page):
        pages.picture_pages.add(number)


def _order_text(page: Any, number: int, raw: str, collected: PagePieces, pages: _PdfPages) -> str:
    """Return the text of a page in reading order.

    `raw` is the text as pypdf extracts it, in the order in which it was drawn.
    """
    text = text_with_scripts(collected.pieces, collected.bars)  # with raised numbers marked
    if is_right_to_left(raw):
        # The layout mode places words as on the screen.
        with single_ligatures(page) as letters:
            layout = page.extract_text(extraction_mode="layout", layout_mode_space_vertically=False)
        ordered = in_reading_order((layout or "").split("\n"), raw, letters)
        if ordered is None:
            pages.screen_order_pages.append(number)
            return raw
    else:
        ordered = text_in_columns(page, raw, collected.pieces)
        if not ordered:
            return text
        pages.column_pages.append(number)
    if text != raw:  # the reordered text has lost the marks of raised numbers
        pages.unmarked_pages.append(number)
    return ordered


def _holds_pictures(page: Any) -> bool:
    resources = page.get("/Resources")
    return bool(resources and resources.get_object().get("/XObject"))


def _expand_ligatures(text: str) -> str:
    """Return a page's text with ligatures written as letters.

    Letters that the fonts do not name become one replacement character.
    """
    text = utf8_text(text).translate(PRESENTED_LETTERS).replace("\0", LOST_SIGN)
    # fonts use code points for private use (“Co”) for letters that they do not name
    return "".join(
        LOST_SIGN if unicodedata.category(sign) == "Co" else sign for sign in text
    ).strip()


def _join_words(pages: list[str]) -> tuple[list[str], int]:
    """Return the pages with divided words joined, and the number of joined words.

    The hyphen stays before a capital or a digit. It also stays if the document has the word with a
    hyphen elsewhere, or if its first part is usually hyphenated, unless the document also has the
    word without a hyphen. In all other words it is removed.
    """
    known_words = set[str]()
    for page in pages:
        known_words.update(word.casefold() for word in HYPHENATED_WORD.findall(page))
    n_joined = 0

    def join(match: re.Match[str]) -> str:
        nonlocal n_joined
        before, hyphen, after, marks_after = match.groups()
        n_joined += 1
        joined_word, hyphenated_word = (before + after).casefold(), f"{before}-{after}".casefold()
        if hyphen == "\xad":  # a soft hyphen, which only marks where a word may be divided
            has_hyphen = False
        elif not (before[-1].isalpha() and after[0].islower()):
            has_hyphen = True
        else:
            is_usual = hyphenated_word in known_words or before.casefold() in WITH_HYPHEN
            has_hyphen = is_usual and joined_word not in known_words
        return f"{before}{'-' if has_hyphen else ''}{after}{marks_after}\n"

    return [HYPHEN.sub(join, page).replace("\xad", "").strip() for page in pages], n_joined
