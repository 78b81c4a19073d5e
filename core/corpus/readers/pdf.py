"""PDF: the text of its pages, each page a place."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable

from core.corpus.document import Document, Place, sound
from core.corpus.readers.no_memory import for_want_of_memory
from core.corpus.readers.text import stem
from core.errors import BadInput, HopscopeError

BETWEEN = "\n\n"


Step = Callable[[float | None], None]


def pdf(name: str, data: bytes, step: Step = lambda share: None) -> list[Document]:
    """A PDF as one document; `step` hears the share of its pages read.

    Raises BadInput where it is damaged, locked, or holds no text, as a scanned one.
    """
    if not data.strip():
        raise BadInput(f"{name} is empty.")
    pages, title = _pages(name, data, step)
    if not any(page.strip() for page in pages):
        raise BadInput(
            f"{name} holds no text in its {len(pages):,} page{'s' * (len(pages) != 1)}; it looks scanned. Recognise its text (OCR) first."
        )
    places: list[Place] = []
    length = 0
    for number, page in enumerate(pages, 1):
        places.append((length, f"page {number}"))
        length += len(page) + len(BETWEEN)
    return [Document(name, BETWEEN.join(pages), title or stem(name), name, tuple(places))]


def _pages(name: str, data: bytes, step: Step) -> tuple[list[str], str]:
    """The text of each page, and the title that the file tells."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it mends in a file is nobody's concern
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise BadInput(f"{name} is locked with a password; save it without one.")
        number = len(reader.pages)
        pages: list[str] = []
        for page in reader.pages:
            step(len(pages) / number)
            pages.append(sound(page.extract_text() or "").strip())
        title = (reader.metadata.title if reader.metadata else "") or ""
    except HopscopeError:
        raise
    except DependencyError:  # where what reads AES is not installed
        raise BadInput(f"{name} is encrypted; save it without, as by printing it into a new PDF.") from None
    except Exception as error:  # a damaged file may fail anywhere in the library, with errors of any kind
        if for_want_of_memory(error):
            raise MemoryError from None
        raise BadInput(f"{name} is damaged or no PDF ({type(error).__name__}).") from None
    return pages, " ".join(sound(str(title)).split())
