"""What chat models share: a token estimate where a model cannot count."""

from __future__ import annotations

import re
from functools import lru_cache

from core.models.base import Messages

BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.):])\s+")  # before the items of a list, one a line
WORD = re.compile(r"[^\W\d_]+")  # letters alone: digits and marks may share a token with them
# Greek, Cyrillic, Hebrew, Arabic: letters of two bytes
SHORT_LETTER = re.compile("[\u0370-\u07ff]")
LONGEST_WORD = 16  # letters of a token, at most
PIECE = re.compile(rf"[^\W\d_]{{1,{LONGEST_WORD}}}")  # a word, or of a long one so many letters
SMALLEST_CONTEXT = 64  # tokens


def estimate(text: str) -> int:
    """About how many tokens a text is to a language model: one for 3.5 bytes of UTF-8, which is close for English. A letter of
    another script counts as three bytes, also where it takes two: 55 Russian letters are some 47 tokens.

    >>> from core.models.chat.replies import estimate
    >>> estimate("seven b"), estimate("")
    (2, 0)
    >>> estimate("Кто построил мост через реку Серебрянку в тот год?")
    38
    """
    short = 0 if text.isascii() else len(SHORT_LETTER.findall(text))
    return -(-2 * (len(text.encode("utf-8", "replace")) + short) // 7)


def fewest_tokens(messages: Messages) -> int:
    """A number of tokens below which no tokenizer gets with these messages: one for each word, long ones in pieces of 16 letters.

    >>> from core.models.chat.replies import fewest_tokens
    >>> fewest_tokens([{"role": "user", "content": "Who wrote this, and when?"}])
    5
    """
    return sum(_fewest_of(message.get("content", "")) for message in messages)


@lru_cache(maxsize=64)
def _fewest_of(text: str) -> int:
    return len(PIECE.findall(text))


def was_cut(read: int, fewest: int) -> bool:
    """Whether a server that says it read so many tokens cut the prompt, which has at least `fewest`. A number below that of any context is
    no count of the prompt, as where only what was not read before is counted."""
    return SMALLEST_CONTEXT <= read < fewest


def pieces(word: str) -> int:
    """The tokens of a word, at least."""
    return -(-len(word) // LONGEST_WORD)


def estimate_tokens(messages: Messages) -> int:
    """About how many tokens the messages are, 4 a message for its frame."""
    return 4 + sum(4 + estimate(message.get("content", "")) for message in messages)
