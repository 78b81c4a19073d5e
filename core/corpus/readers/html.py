"""Reader of HTML: the visible text, with headings as places."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.corpus.document import Document
from core.corpus.readers.html_page import PageText
from core.corpus.readers.library_errors import is_memory_error
from core.corpus.readers.options import (
    DEFAULT_OPTIONS,
    Note,
    ReadingOptions,
    count_with_noun,
    verb_of_number,
)
from core.corpus.readers.text import clean_title, file_stem
from core.errors import BadInput
from core.io.encoding import decode_text, ignore_note
from core.watch import NO_WATCH, Watch

CHARSET = re.compile(
    rb"<meta[^<>]+?charset=[\"']?\s*([\w-]+)|<\?xml[^<>]+?encoding=[\"']([\w-]+)", re.IGNORECASE
)
# UTF-8 is tried anyway; UTF-16 is recognised by its mark, and a declaration without it is wrong
UNUSABLE_CHARSETS = ("utf", "idna", "punycode", "unicode", "raw", "undefined")
DECLARATION = re.compile(r"\s*<\?xml[^>]*>")
# names of lxml's faults after which the parser stops reading
STOPPING_ERRORS = ("ERR_NO_MEMORY", "ERR_RESOURCE_LIMIT")


@dataclass(frozen=True)
class HtmlPage:
    """An HTML page as a document.

    It comes with the number of passages that a browser hides.
    """

    document: Document
    n_hidden: int


def read_html(
    name: str,
    data: bytes,
    watch: Watch = NO_WATCH,
    note: Note = ignore_note,
    options: ReadingOptions = DEFAULT_OPTIONS,
) -> list[Document]:
    """Read a page as one document.

    Its title is the one it states, else its first heading of rank 1. Scripts, styles, form fields
    and hidden passages are left out.

    Parameters
    ----------
    name : name of the file, for the document and for messages.
    data : the bytes of the file.
    watch : called from time to time; may raise RunCancelled.
    note : receives a sentence on hidden passages, and on a guessed encoding.
    options : options of reading, of which only the encoding is used.

    Returns
    -------
    One document.

    Raises
    ------
    BadInput : it holds no text or is nested too deep.
    MemoryError : memory runs out.
    """
    page = read_page(name, data, watch, note, options)
    if page.n_hidden:
        note(hidden_note(name, page.n_hidden))
    return [page.document]


def hidden_note(name: str, count: int) -> str:
    """Return the sentence on passages that a browser hides.

    Parameters
    ----------
    name : name of the file.
    count : number of passages.

    Returns
    -------
    A sentence.
    """
    return f"{name}: {count_with_noun(count, 'passage')} that a browser hides {verb_of_number(count)} left out."


class EmptyPage(BadInput):
    """A page without text."""


def read_page(
    name: str,
    data: bytes,
    watch: Watch = NO_WATCH,
    note: Note = ignore_note,
    options: ReadingOptions = DEFAULT_OPTIONS,
) -> HtmlPage:
    """Read a page as `read_html` does, but only count hidden passages.

    If all text is hidden, as on pages that a script shows, hidden passages are read too.

    Parameters
    ----------
    name : name of the file, for the document and for messages.
    data : the bytes of the file.
    watch : called from time to time; may raise RunCancelled.
    note : receives a sentence on a guessed encoding.
    options : options of reading, of which only the encoding is used.

    Returns
    -------
    The document, and the number of hidden passages.

    Raises
    ------
    EmptyPage : it holds no text.
    BadInput : it is nested too deep, or its encoding cannot be read.
    """
    match = CHARSET.search(data[:4096])
    charset = (match.group(1) or match.group(2)).decode("ascii", "ignore") if match else ""
    if charset.lower().startswith(UNUSABLE_CHARSETS):
        charset = ""
    source = decode_text(name, data, charset, options.encoding, note)
    declaration = DECLARATION.match(source)
    if declaration:
        source = source[declaration.end() :]
    source = source.replace("\r\n", "\n")
    page = _parse_page(source, PageText(name, watch))
    if page.n_hidden and not page.text_and_places()[0].strip():
        page = _parse_page(source, PageText(name, watch, omits_hidden=False))
    text, places = page.text_and_places()
    if not text.strip():
        raise EmptyPage(f"{name} holds no text.")
    main_headings = (label for rank, label in page.headings if rank == "h1")
    title = clean_title("".join(page.title or ())) or next(main_headings, file_stem(name))
    return HtmlPage(Document(name, text, title, name, places), page.n_hidden)


def _parse_page(source: str, page: PageText) -> PageText:
    """Parse a page, which collects its text, and return it.

    Raises BadInput if it is no HTML, and MemoryError.
    """
    from lxml import etree

    parser = etree.HTMLParser(huge_tree=True, target=page)
    try:
        etree.fromstring(source, parser=parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        if is_memory_error(error):
            raise MemoryError from None
        raise BadInput(f"{page.name} is empty, or no HTML.") from None
    # After such a fault the parser drops the rest of the page without raising an error.
    if any(fault.type_name in STOPPING_ERRORS for fault in parser.error_log):
        raise MemoryError
    return page
