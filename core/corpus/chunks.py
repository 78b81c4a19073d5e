"""Cutting of documents into chunks: by tokens, sentences or characters, or one per document.

Builds of graphs use these functions. Each returns a table with one row for each chunk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from core.corpus.document import Document
from core.corpus.sentences import sentence_spans
from core.corpus.tokens import token_spans
from core.errors import BadParameter
from core.graph.columns import Table
from core.watch import NO_WATCH, Watch

# Returns the start and end of each chunk of a text in characters, and its number of tokens.
Cut = Callable[[str], Iterable[tuple[int, int, int]]]
CHUNK_COLUMNS = ("id", "document", "title", "place", "text", "tokens")
NUMBER_SUFFIX = re.compile(r"#\d+$")
# Chinese and Japanese
SPACELESS_SCRIPT = re.compile(
    "[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
OPENING_SIGNS = frozenset("「『（【《〈“‘")
CLOSING_SIGNS = frozenset("、。，．！？；：」』）】》〉”’…")


def chunk_by_tokens(
    documents: Iterable[Document], size: int = 1200, overlap: int = 100, watch: Watch = NO_WATCH
) -> Table:
    """Cut documents into overlapping chunks of limited size.

    Tokens are those of `core.corpus.tokens`. A chunk's text is an exact slice of its document. No
    cut falls within a word, unless the word alone is longer than a chunk.

    Parameters
    ----------
    documents : the documents.
    size : largest number of tokens of a chunk.
    overlap : greatest number of tokens that a chunk shares with the previous one.
    watch : called from time to time; may raise RunCancelled.

    Returns
    -------
    A table in the order of the documents, with the columns id, document (its id), title, place (the
        page or heading at which the chunk begins), text and tokens (their number).

    Raises
    ------
    BadParameter : the overlap is negative or not below the size.

    Notes
    -----
    These are the chunks of LightRAG and GraphRAG. LightRAG's code also adds a last chunk that lies
    within the one before it.

    Examples
    --------
    >>> from core.corpus import Document
    >>> from core.corpus.chunks import chunk_by_tokens
    >>> table = chunk_by_tokens([Document("d", "One two three. Four five six.")], size=5, overlap=2)
    >>> table.texts("id"), table.texts("text"), table.numbers("tokens").tolist()
    (['d#0', 'd#1'], ['One two three. Four', 'Four five six.'], [5, 4])
    """
    if not 0 <= overlap < size:
        raise BadParameter(
            f"The overlap of chunks must be below their size of {size} tokens, not {overlap}."
        )
    return _chunk_table(
        documents, lambda text: _windows(text, token_spans(text), size, overlap), watch
    )


def chunk_by_sentences(
    documents: Iterable[Document], size: int = 100, watch: Watch = NO_WATCH, code: str = ""
) -> Table:
    """Pack whole sentences into chunks of limited size.

    A longer sentence is cut at words. The chunks of a document do not overlap.

    Parameters
    ----------
    documents : the documents.
    size : largest number of tokens of a chunk.
    watch : called from time to time; may raise RunCancelled.
    code : code of their language; empty for English.

    Returns
    -------
    A table like that of `chunk_by_tokens`.

    Raises
    ------
    BadParameter : the size is below 1.

    Notes
    -----
    These are the leaves of RAPTOR.

    Examples
    --------
    >>> from core.corpus import Document
    >>> from core.corpus.chunks import chunk_by_sentences
    >>> chunk_by_sentences([Document("d", "One two. Three four. Five.")], size=6).texts("text")
    ['One two. Three four.', 'Five.']
    """
    if size < 1:
        raise BadParameter(f"The size of chunks must be at least one token, not {size}.")
    return _chunk_table(documents, lambda text: _pack_sentences(text, size, code), watch)


def chunk_by_characters(
    documents: Iterable[Document], size: int = 4096, watch: Watch = NO_WATCH
) -> Table:
    """Cut documents at blanks into adjacent chunks of limited size.

    A longer word is cut.

    Parameters
    ----------
    documents : the documents.
    size : largest number of characters of a chunk.
    watch : called from time to time; may raise RunCancelled.

    Returns
    -------
    A table like that of `chunk_by_tokens`.

    Raises
    ------
    BadParameter : the size is below 1.

    Notes
    -----
    These are the nodes of FastInsight's ACL-OCL; the paper does not say where a word is cut.

    Examples
    --------
    >>> from core.corpus import Document
    >>> from core.corpus.chunks import chunk_by_characters
    >>> chunk_by_characters([Document("d", "One two three.  Four")], size=9).texts("text")
    ['One two', 'three.', 'Four']
    """
    if size < 1:
        raise BadParameter(f"The size of chunks must be at least one character, not {size}.")
    return _chunk_table(documents, lambda text: _slices(text, size), watch)


def documents_as_chunks(documents: Iterable[Document], watch: Watch = NO_WATCH) -> Table:
    """Return each document as one chunk with its text unchanged.

    Blank documents are left out.

    Parameters
    ----------
    documents : the documents.
    watch : called from time to time; may raise RunCancelled.

    Returns
    -------
    A table like that of `chunk_by_tokens`.

    Examples
    --------
    >>> from core.corpus import Document
    >>> from core.corpus.chunks import documents_as_chunks
    >>> documents_as_chunks([Document("d", "One two. ", "D")]).texts("text")
    ['One two. ']
    """
    return _chunk_table(
        documents,
        lambda text: [(0, len(text), len(token_spans(text)))] if text.strip() else [],
        watch,
    )


def chunk_id(document: str, number: int, total: int) -> str:
    """Return the id of a document's chunk.

    No two chunks of a corpus share an id.

    Parameters
    ----------
    document : id of the document.
    number : number of the chunk, from 0.
    total : number of chunks of the document.

    Returns
    -------
    The document's id if it has only one chunk, else this id with the number.

    Examples
    --------
    >>> from core.corpus.chunks import chunk_id
    >>> chunk_id("d", 0, 1), chunk_id("d", 2, 3), chunk_id("d#1", 0, 1)
    ('d', 'd#2', 'd#1#0')
    """
    # An id that itself ends with “#” and a number could equal that of another document's chunk.
    if total == 1 and not NUMBER_SUFFIX.search(document):
        return document
    return f"{document}#{number}"


def _chunk_table(documents: Iterable[Document], cut: Cut, watch: Watch) -> Table:
    rows: dict[str, list] = {name: [] for name in CHUNK_COLUMNS}
    for document in documents:
        watch.check()
        spans = list(cut(document.text))
        for number, (start, end, size) in enumerate(spans):
            rows["id"].append(chunk_id(document.id, number, len(spans)))
            rows["document"].append(document.id)
            rows["title"].append(document.heading)
            rows["place"].append(document.place_at(start))
            rows["text"].append(document.text[start:end])
            rows["tokens"].append(size)
    return Table.from_columns(**rows)


def _windows(
    text: str, spans: np.ndarray, size: int, overlap: int
) -> Iterator[tuple[int, int, int]]:
    """Yield windows of at most `size` tokens, cut between words if possible.

    `spans` holds the start and end of each token. Each window ends after the previous one.
    """
    n_tokens = len(spans)
    cuts = _cuts(text, spans)
    start = stop = 0  # of the window, in tokens
    while stop < n_tokens:
        end: int | None = n_tokens
        if n_tokens - start > size:
            end = _last_cut_in(cuts, stop + 1, start + size)
        if end is None and start < stop:  # the next word only fits without an overlap
            start = stop
            continue
        stop = end or start + size  # without a cut, a word is longer than the window
        yield int(spans[start, 0]), int(spans[stop - 1, 1]), stop - start
        start = _next_start(cuts, stop, start, overlap)


def _next_start(cuts: np.ndarray, last: int, first: int, overlap: int) -> int:
    """Return the token at which the next window begins.

    After a window from token `first` to before `last`, it is the first cut within the last
    `overlap` tokens, else `last`.
    """
    index = int(np.searchsorted(cuts, max(last - overlap, first + 1)))
    return int(min(cuts[index], last)) if index < len(cuts) else last


def _last_cut_in(cuts: np.ndarray, low: int, high: int) -> int | None:
    """Return the greatest cut from `low` to `high`, inclusive; None without one."""
    index = int(np.searchsorted(cuts, high, "right")) - 1
    return int(cuts[index]) if index >= 0 and cuts[index] >= low else None


def _cuts(text: str, spans: np.ndarray) -> np.ndarray:
    """Return the tokens before which a text may be cut, ascending.

    Such a token follows a blank, or one of the two at the cut is of a script without blanks. There,
    no cut lies before a closing mark or after an opening one.
    """
    if len(spans) < 2:
        return np.empty(0, np.int64)
    may_cut = spans[1:, 0] > spans[:-1, 1]  # between a token and the next
    if SPACELESS_SCRIPT.search(text):
        for index in np.flatnonzero(~may_cut).tolist():
            before, after = text[spans[index, 1] - 1], text[spans[index + 1, 0]]
            is_spaceless = any(map(SPACELESS_SCRIPT.match, (before, after)))
            may_cut[index] = (
                is_spaceless and before not in OPENING_SIGNS and after not in CLOSING_SIGNS
            )
    return np.flatnonzero(may_cut) + 1


def _slices(text: str, size: int) -> Iterator[tuple[int, int, int]]:
    """Yield slices of at most `size` characters.

    They begin at a word and have no outer blanks.
    """
    start, n = 0, len(text)
    while start < n:
        if text[start].isspace():
            start += 1
            continue
        end = min(start + size, n)
        cut = end
        while end < n and cut > start and not (text[cut].isspace() or text[cut - 1].isspace()):
            cut -= 1
        end = cut if cut > start else end  # a word longer than a slice is cut
        part = text[start:end].rstrip()
        yield start, start + len(part), len(token_spans(part))
        start = end


def _pack_sentences(text: str, size: int, code: str) -> Iterator[tuple[int, int, int]]:
    """Yield runs of sentences that fit into a chunk together."""
    spans = token_spans(text)
    start = stop = 0  # the tokens of the current chunk
    for _, end in sentence_spans(text, code):
        sentence_stop = int(np.searchsorted(spans[:, 0], end))
        if sentence_stop - start > size and stop > start:
            yield int(spans[start, 0]), int(spans[stop - 1, 1]), stop - start
            start = stop
        if sentence_stop - start > size:
            part = spans[start:sentence_stop]
            yield from _windows(text, part, size, 0)
            start = sentence_stop
        stop = sentence_stop
    if stop > start:
        yield int(spans[start, 0]), int(spans[stop - 1, 1]), stop - start
