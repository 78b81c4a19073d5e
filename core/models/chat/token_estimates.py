"""Token estimates for models whose tokenizer is not available, such as those of servers."""

from __future__ import annotations

import re
from functools import lru_cache

from core.models.base import Messages

LIST_ITEM_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.):])\s+")  # marks of list items, one item a line
# Letters only, as digits and marks may share a token with them.
WORD_LETTERS = re.compile(r"[^\W\d_]+")
# Greek, Cyrillic, Hebrew and Arabic letters, which have two bytes in UTF-8.
TWO_BYTE_LETTER = re.compile("[\u0370-\u07ff]")
MAX_TOKEN_LETTERS = 16  # of one token in any usual tokenizer
# A word, or a piece of a long word.
WORD_PIECE = re.compile(rf"[^\W\d_]{{1,{MAX_TOKEN_LETTERS}}}")
MIN_CONTEXT_TOKENS = 64  # no server has a smaller context


def estimate_text_tokens(text: str) -> int:
    """Estimate the number of tokens of a text: one for 3.5 bytes of UTF-8.

    This is close for English. A letter of another script counts as three bytes, even if it has two:
    55 Russian letters are some 47 tokens.

    >>> from core.models.chat.token_estimates import estimate_text_tokens
    >>> estimate_text_tokens("seven b"), estimate_text_tokens("")
    (2, 0)
    >>> estimate_text_tokens("Кто построил мост через реку Серебрянку в тот год?")
    38
    """
    n_two_byte = 0 if text.isascii() else len(TWO_BYTE_LETTER.findall(text))
    n_bytes = len(text.encode("utf-8", "replace")) + n_two_byte
    return -(-2 * n_bytes // 7)  # rounded up


def min_token_count(messages: Messages) -> int:
    """Return a lower bound of the tokens of messages, for any tokenizer.

    It counts one token for each word, and long words in pieces of 16 letters.

    >>> from core.models.chat.token_estimates import min_token_count
    >>> min_token_count([{"role": "user", "content": "Who wrote this, and when?"}])
    5
    """
    return sum(_count_word_pieces(message.get("content", "")) for message in messages)


@lru_cache(maxsize=64)
def _count_word_pieces(text: str) -> int:
    return len(WORD_PIECE.findall(text))


def is_prompt_cut(read_tokens: int, min_tokens: int) -> bool:
    """Return whether a server cut a prompt.

    Servers cut prompts to the size of their context. A token count below that of any context has
    another reason: some servers count only the tokens that were not cached.

    Parameters
    ----------
    read_tokens : the server's token count of the prompt.
    min_tokens : lower bound of the prompt's tokens.

    Returns
    -------
    True if the count is below the bound, but not below the size of any context.
    """
    return MIN_CONTEXT_TOKENS <= read_tokens < min_tokens


def min_word_tokens(word: str) -> int:
    """Return a lower bound of the tokens of a word, for any tokenizer."""
    return -(-len(word) // MAX_TOKEN_LETTERS)


def estimate_tokens(messages: Messages) -> int:
    """Estimate the tokens of messages, including the chat template.

    The template counts 4 tokens per message, and 4 in all.
    """
    return 4 + sum(4 + estimate_text_tokens(message.get("content", "")) for message in messages)
