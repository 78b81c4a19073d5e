"""Detection of prompts that a server cut, from the token counts that it reports."""

from __future__ import annotations

from collections.abc import Callable

from core.models.base import Messages
from core.models.chat.token_estimates import (
    WORD_LETTERS,
    fewest_tokens,
    fewest_word_tokens,
    is_prompt_cut,
)

MIN_CHECKED_PROMPT_BYTES = 3_000  # bytes from which on a prompt may exceed the context of a server
MIN_REMOVED_TOKENS = 8  # least tokens by which the shorter prompt differs
SPARSE_TOKENS_FRACTION = (
    0.75  # fraction of the fewest tokens per byte so far, below which a prompt is checked
)
SHORTEST_PROMPT: Messages = ({"role": "user", "content": "Hello"},)


class WholePrompts:
    """Record of the prompts that a server read completely.

    A prompt is checked if it is longer than all before, or has far fewer tokens per byte. The
    server is then asked for the token count of the same prompt without some words. If that has no
    fewer tokens, the prompt was cut. This holds only if the server reports the same count for the
    same prompt twice, and a smaller one for a greeting. No prompt that was read completely is thus
    taken for a cut one.
    """

    def __init__(self) -> None:
        self._max_tokens, self._sparsest = 0, float("inf")  # tokens, and tokens per byte

    def cut(self, read: int, messages: Messages, reads: Callable[[Messages], int]) -> str:
        """Return in words how the token count shows that a prompt was cut.

        Parameters
        ----------
        read : tokens that the server says it read.
        messages : the prompt.
        reads : asks the server for the token count of other messages; 0 if it gives none.

        Returns
        -------
        A few words; empty if the prompt was not cut.
        """
        fewest = fewest_tokens(messages)
        if is_prompt_cut(read, fewest):
            return f"read {read:,} tokens of a prompt of at least {fewest:,}"
        size = sum(len(message["content"].encode("utf-8", "replace")) for message in messages)
        if size < MIN_CHECKED_PROMPT_BYTES or not (
            read > self._max_tokens or read < SPARSE_TOKENS_FRACTION * self._sparsest * size
        ):
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
        self._sparsest = min(self._sparsest, read / size)
        return ""


def shorten_prompt(messages: Messages) -> Messages | None:
    """Return the messages without some words at the end of one; None if all are too short.

    It is the first message long enough that is not the system's, as servers that cut remove the
    oldest messages first. The removed words have eight tokens at least.

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
    """Return the text before its last words; empty if it has no more words."""
    removed_tokens = 0
    for word in reversed(list(WORD_LETTERS.finditer(text))):
        removed_tokens += fewest_word_tokens(word[0])
        if removed_tokens >= MIN_REMOVED_TOKENS:
            beginning = text[: word.start()]
            return beginning if beginning.strip() else ""
    return ""
