"""Gold passages as question sets name them: a whole document by its id, or the part of one that holds a quotation.

The name of the latter is the document's id and the quotation on a line of its own, so that it names the same passage however the document
is cut into chunks.
"""

from __future__ import annotations

from functools import lru_cache

from core.languages.spelling import fold

MARK = "\n"


def passage_name(document: str, quote: str = "") -> str:
    """The name of the passage of a document that holds a quotation; without one the document's id.

    >>> from core.corpus.quoted import passage_name
    >>> passage_name("may.md", "Ann Lee built  the harbour."), passage_name("may.md")
    ('may.md\\nAnn Lee built the harbour.', 'may.md')
    """
    return f"{document}{MARK}{squeezed(quote)}" if quote else document


def parts_of(passage: str) -> tuple[str, str]:
    """The document's id and the quotation that a passage's name holds; the latter is empty where the whole document is meant.

    >>> from core.corpus.quoted import parts_of
    >>> parts_of("may.md\\nAnn Lee built the harbour."), parts_of("may.md")
    (('may.md', 'Ann Lee built the harbour.'), ('may.md', ''))
    """
    document, _, quote = passage.partition(MARK)
    return document, quote


def holds(text: str, quote: str) -> bool:
    """Return whether a text holds a quotation, case, typography and blanks between its words aside.

    Any text holds an empty one.
    """
    return quote in squeezed(text) or alike(quote) in alike(text)


def halves(quote: str) -> tuple[str, str]:
    """The first and the second half of a quotation's words, one of which is whole in a chunk wherever a single cut goes through it.

    >>> from core.corpus.quoted import halves
    >>> halves("Ann Lee built the harbour.")
    ('Ann Lee', 'built the harbour.')
    """
    words = quote.split()
    return " ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])


@lru_cache(maxsize=4096)
def alike(text: str) -> str:
    """Return what texts have in common that differ in case, typography and blanks."""
    return squeezed(fold(text))


@lru_cache(maxsize=4096)
def squeezed(text: str) -> str:
    """A text on one line, with single blanks."""
    return " ".join(text.split())
