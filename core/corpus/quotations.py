"""Names of gold passages: a document's id, or an id with a quotation.

An id alone names the whole document. A quotation on a second line names the passage that holds it.
The name stays valid if the document is cut into other chunks.
"""

from __future__ import annotations

from functools import lru_cache

from core.languages.spelling import fold

QUOTATION_SEPARATOR = "\n"


def passage_name(document: str, quote: str = "") -> str:
    """Return the name of the passage that holds a quotation.

    Parameters
    ----------
    document : id of the document.
    quote : words of the passage; empty for the whole document.

    Returns
    -------
    The document's id, with the quotation on a line of its own if there is one.

    Examples
    --------
    >>> from core.corpus.quotations import passage_name
    >>> passage_name("may.md", "Ann Lee built  the harbour."), passage_name("may.md")
    ('may.md\\nAnn Lee built the harbour.', 'may.md')
    """
    return f"{document}{QUOTATION_SEPARATOR}{single_line(quote)}" if quote else document


def split_passage_name(passage: str) -> tuple[str, str]:
    """Return the document's id and the quotation in a passage's name.

    The quotation is empty if the whole document is meant.

    >>> from core.corpus.quotations import split_passage_name
    >>> split_passage_name("may.md\\nAnn Lee built the harbour."), split_passage_name("may.md")
    (('may.md', 'Ann Lee built the harbour.'), ('may.md', ''))
    """
    document, _, quote = passage.partition(QUOTATION_SEPARATOR)
    return document, quote


def holds_quotation(text: str, quote: str) -> bool:
    """Return whether a text holds a quotation, ignoring case, typography and blanks.

    Parameters
    ----------
    text : the text.
    quote : the quotation.

    Returns
    -------
    True also if the quotation is empty.
    """
    return quote in single_line(text) or comparable_text(quote) in comparable_text(text)


def quotation_halves(quote: str) -> tuple[str, str]:
    """Return the first and second half of a quotation's words.

    If the border between two chunks divides the quotation, one of them still holds a whole half.

    >>> from core.corpus.quotations import quotation_halves
    >>> quotation_halves("Ann Lee built the harbour.")
    ('Ann Lee', 'built the harbour.')
    """
    words = quote.split()
    return " ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])


@lru_cache(maxsize=4096)
def comparable_text(text: str) -> str:
    """Return a text without differences in case, typography and blanks."""
    return single_line(fold(text))


@lru_cache(maxsize=4096)
def single_line(text: str) -> str:
    """Return a text on one line with single blanks."""
    return " ".join(text.split())
