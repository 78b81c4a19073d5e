"""Detection of prompts that a server cut, from the token counts that it reports."""

from __future__ import annotations

from collections.abc import Callable

from core.models.base import Messages
from core.models.chat.token_estimates import (
    WORD_LETTERS,
    is_prompt_cut,
    min_token_count,
    min_word_tokens,
)

MIN_CHECKED_PROMPT_BYTES = 3_000  # smaller prompts fit the context of any usual server
MIN_REMOVED_TOKENS = 8  # by which the shorter prompt differs
# A prompt is checked below this fraction of the min_tokens tokens per byte so far.
SPARSE_TOKENS_FRACTION = 0.75
SHORTEST_PROMPT: Messages = ({"role": "user", "content": "Hello"},)


class WholePrompts:
    """Record of the prompts that a server read completely.

    A prompt is checked if it is longer than all before, or has far fewer tokens per byte. The
    server is then asked for the token count of the same prompt without some words. If that is no
    smaller, the prompt was cut. To exclude unreliable counts, the server must also report the same
    count for the same prompt twice, and a smaller one for a greeting.
    """

    def __init__(self) -> None:
        self._max_tokens = 0
        self._min_tokens_per_byte = float("inf")

    def find_cut_evidence(
        self, read: int, messages: Messages, reads: Callable[[Messages], int]
    ) -> str:
        """Return the evidence that the server cut a prompt, in words for a message.

        Parameters
        ----------
        read : the server's token count of the prompt.
        messages : the prompt.
        reads : asks the server for the token count of other messages; 0 if it reports none.

        Returns
        -------
        Words that follow "The server"; empty if the prompt was not cut.
        """
        min_tokens = min_token_count(messages)
        if is_prompt_cut(read, min_tokens):
            return f"read {read:,} tokens of a prompt of at least {min_tokens:,}"
        size = sum(len(message["content"].encode("utf-8", "replace")) for message in messages)
        max_sparse_tokens = SPARSE_TOKENS_FRACTION * self._min_tokens_per_byte * size
        if size < MIN_CHECKED_PROMPT_BYTES or max_sparse_tokens <= read <= self._max_tokens:
            return ""
        shorter = shorten_prompt(messages)
        if (
            shorter
            and 0 < read <= reads(shorter)
            and reads(messages) == read
            and 0 < reads(SHORTEST_PROMPT) < read
        ):
            return f"read {read:,} tokens of a prompt, and no fewer of a shorter one"
        self._max_tokens = max(self._max_tokens, read)
        self._min_tokens_per_byte = min(self._min_tokens_per_byte, read / size)
        return ""


def shorten_prompt(messages: Messages) -> Messages | None:
    """Return the messages with one shortened at its end; None if all are too short.

    This is the first message that is long enough and not the system's, as servers that cut remove
    the oldest messages first. The removed words have at least eight tokens.

    >>> from core.models.chat.whole_prompts import shorten_prompt
    >>> system = {"role": "system", "content": "Answer."}
    >>> shorten_prompt([system, {"role": "user", "content": "Say it. " * 5}])
    [{'role': 'system', 'content': 'Answer.'}, {'role': 'user', 'content': 'Say it. '}]
    """
    for index, message in enumerate(messages):
        beginning = None if message["role"] == "system" else _before_last_words(message["content"])
        if beginning:
            return [*messages[:index], {**message, "content": beginning}, *messages[index + 1 :]]
    return None


def _before_last_words(text: str) -> str:
    """Return a text without its last words; empty if it has no more words."""
    removed_tokens = 0
    for word in reversed(list(WORD_LETTERS.finditer(text))):
        removed_tokens += min_word_tokens(word[0])
        if removed_tokens >= MIN_REMOVED_TOKENS:
            beginning = text[: word.start()]
            return beginning if beginning.strip() else ""
    return ""
