"""Reader of books (epub): pages in reading order, with headings as places."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote

from core.corpus.document import Document, Place, utf8_text
from core.corpus.readers.html import EmptyPage, HtmlPage, hidden_note, read_page
from core.corpus.readers.library_errors import report_damage
from core.corpus.readers.office_package import parse_xml
from core.corpus.readers.options import (
    DEFAULT_OPTIONS,
    Note,
    ReadingOptions,
    count_with_noun,
    verb_of_number,
)
from core.corpus.readers.text import clean_title, file_stem
from core.corpus.readers.word import check_unpacked
from core.errors import BadInput
from core.io.encoding import ignore_note
from core.watch import NO_WATCH, Watch

PAGE_MEDIA_TYPES = ("application/xhtml+xml", "text/html")
ENCRYPTION_FILE = "META-INF/encryption.xml"
# encryption of fonts alone, which leaves the texts readable
FONT_ENCRYPTIONS = (
    "http://www.idpf.org/2008/embedding",
    "http://ns.adobe.com/pdf/enc#RC",
)


def read_epub(
    name: str,
    data: bytes,
    watch: Watch = NO_WATCH,
    note: Note = ignore_note,
    options: ReadingOptions = DEFAULT_OPTIONS,
) -> list[Document]:
    """Read a book as one document, with its pages in reading order.

    Parameters
    ----------
    name : name of the file, for the document and for messages.
    data : the bytes of the file.
    watch : called from time to time; may raise RunCancelled.
    note : receives a sentence on pages that are missing or hold no text, and on hidden passages.
    options : not used; a parameter of all readers.

    Returns
    -------
    One document.

    Raises
    ------
    BadInput : it is damaged, locked, too large once unpacked, or holds no text.
    """
    if not data:
        raise BadInput(f"{name} is empty.")
    with report_damage(name, "book (epub)"):
        check_unpacked(name, data)
        with zipfile.ZipFile(io.BytesIO(data)) as book:
            return [_read(name, book, watch, note)]


def _read(name: str, book: zipfile.ZipFile, watch: Watch, note: Note) -> Document:
    if _is_locked(book):
        raise BadInput(f"{name} is locked by its publisher (DRM) and cannot be read.")
    container = parse_xml(book.read("META-INF/container.xml"))
    package_path = container.find(".//{*}rootfile").get("full-path")
    package = parse_xml(book.read(package_path))
    pages = list(_pages(package, package_path))
    texts: list[str] = []
    places: list[Place] = []
    page_errors: list[BadInput] = []
    length = n_hidden = 0
    for number, page in enumerate(pages):
        watch.step(number / len(pages))
        try:
            content = _read_page(book, page, watch)
        except BadInput as error:
            page_errors.append(error)
            continue
        document = content.document
        n_hidden += content.n_hidden
        places += [(length + offset, label) for offset, label in document.places]
        texts.append(document.text)
        length += len(document.text) + 1
    if not texts:
        raise BadInput(
            f"{name} holds no text in its {count_with_noun(len(pages), 'page')}; what is in "
            "pictures is not read."
        )
    _note_left_out(name, len(pages), page_errors, note)
    if n_hidden:
        note(hidden_note(name, n_hidden))
    title = clean_title(package.findtext(".//{http://purl.org/dc/elements/1.1/}title") or "")
    return Document(name, "\n".join(texts), title or file_stem(name), name, tuple(places))


def _note_left_out(name: str, n_pages: int, errors: Sequence[BadInput], note: Note) -> None:
    """Note the pages without text, and those that could not be read."""
    faults = [error for error in errors if not isinstance(error, EmptyPage)]
    if faults:
        pages_text, verb = count_with_noun(len(faults), "page"), verb_of_number(len(faults))
        note(f"{name}: {pages_text} {verb} left out. The first reason: {faults[0]}")
    n_empty = len(errors) - len(faults)
    if n_empty:
        hold = "holds" if n_empty == 1 else "hold"
        pages_text = count_with_noun(n_pages, "page")
        note(f"{name}: {n_empty:,} of {pages_text} {hold} no text, as covers and pictures do.")


def _read_page(book: zipfile.ZipFile, page: str, watch: Watch) -> HtmlPage:
    """Read a page. Raises EmptyPage, and BadInput if it is missing or cannot be read."""
    try:
        data = book.read(page)
    except KeyError:
        raise BadInput(f"{page} is named in the book, but is not in it.") from None
    return read_page(page, data, watch)


def _is_locked(book: zipfile.ZipFile) -> bool:
    """Return whether more than the fonts of a book is encrypted."""
    if ENCRYPTION_FILE not in book.namelist():
        return False
    methods = parse_xml(book.read(ENCRYPTION_FILE)).iter("{*}EncryptionMethod")
    return any(method.get("Algorithm") not in FONT_ENCRYPTIONS for method in methods)


def _pages(package: Any, package_path: str) -> Iterator[str]:
    """Yield the names of a book's pages in reading order.

    The table of contents is left out. `package_path` is the name of the package document, to which
    the pages' names are relative.
    """
    items = {item.get("id"): item for item in package.iter("{*}item")}
    folder = posixpath.dirname(package_path)
    for reference in package.iter("{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in PAGE_MEDIA_TYPES:
            continue
        if "nav" not in (item.get("properties") or "").split():
            path = posixpath.join(folder, unquote(item.get("href") or ""))
            yield utf8_text(posixpath.normpath(path))
