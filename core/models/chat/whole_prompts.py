"""Detection of prompts that a server cut, from the token counts that it reports.

Some servers, such as Ollama, silently cut a prompt to the size of their context. An answer from
the rest of the prompt would look like a bad answer of the retrieval method.
"""

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
MIN_REMOVED_TOKENS = 8  # removed from a prompt for comparison
# A prompt is checked below this fraction of the smallest tokens per byte so far.
SPARSE_TOKENS_FRACTION = 0.75
SHORTEST_PROMPT: Messages = ({"role": "user", "content": "Hello"},)


class WholePrompts:
    """Record of the prompts that a server read completely.

    A prompt is checked if it has more tokens than all before, or far fewer tokens per byte. The
    server is then asked for the token count of the same prompt without some words. If that is no
    smaller, the prompt was cut. To exclude unreliable counts, the server must also report the same
    count for the same prompt twice, and a smaller one for a greeting.
    """

    def __init__(self) -> None:
        # Of the prompts that were read completely.
        self._max_tokens = 0
        self._min_tokens_per_byte = float("inf")

    def find_cut_evidence(
        self, read_tokens: int, messages: Messages, count_tokens: Callable[[Messages], int]
    ) -> str:
        """Return the evidence that the server cut a prompt, in words for a message.

        Parameters
        ----------
        read_tokens : the server's token count of the prompt.
        messages : the prompt.
        count_tokens : asks the server for the token count of other messages; 0 if it reports none.

        Returns
        -------
        Words that follow "The server"; empty if the prompt was not cut.
        """
        min_tokens = min_token_count(messages)
        if is_prompt_cut(read_tokens, min_tokens):
            return f"read {read_tokens:,} tokens of a prompt of at least {min_tokens:,}"
        n_bytes = sum(len(message["content"].encode("utf-8", "replace")) for message in messages)
        max_sparse_tokens = SPARSE_TOKENS_FRACTION * self._min_tokens_per_byte * n_bytes
        is_usual = max_sparse_tokens <= read_tokens <= self._max_tokens
        if is_usual or n_bytes < MIN_CHECKED_PROMPT_BYTES:
            return ""
        shorter = shorten_prompt(messages)
        if (
            shorter
            and 0 < read_tokens <= count_tokens(shorter)
            and count_tokens(messages) == read_tokens
            and 0 < count_tokens(SHORTEST_PROMPT) < read_tokens
        ):
            return f"read {read_tokens:,} tokens of a prompt, and no fewer of a shorter one"
        self._max_tokens = max(self._max_tokens, read_tokens)
        self._min_tokens_per_byte = min(self._min_tokens_per_byte, read_tokens / n_bytes)
        return ""


def shorten_prompt(messages: Messages) -> Messages | None:
    """Return the messages with one of them shortened at its end.

    The result is None if all are too short. The first message that is long enough is shortened,
    except that of the system: servers cut the oldest messages first. The removed words have at
    least `MIN_REMOVED_TOKENS`.

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
    """Return a text without some words at its end.

    The removed words have at least `MIN_REMOVED_TOKENS`. The result is empty if there are no
    others.
    """
    removed_tokens = 0
    for word in reversed(list(WORD_LETTERS.finditer(text))):
        removed_tokens += min_word_tokens(word[0])
        if removed_tokens >= MIN_REMOVED_TOKENS:
            beginning = text[: word.start()]
            return beginning if beginning.strip() else ""
    return ""
