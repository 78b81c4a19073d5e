"""Whether a server read the whole of a prompt, by the tokens that it says it read."""

from __future__ import annotations

from collections.abc import Callable

from core.models.base import Messages
from core.models.chat.replies import WORD, fewest_tokens, pieces, was_cut

LONG = 3_000  # bytes of a prompt from which on a server may have no room for it
LEFT_OUT = 8  # words of the shorter prompt's difference, at least
SPARSE = 0.75  # of the fewest tokens a byte so far
SHORTEST: Messages = ({"role": "user", "content": "Hello"},)


class WholePrompts:
    """What is known of the prompts that a server read whole.

    One is looked at that is longer than all before, or has far fewer tokens a byte. The server is then asked how much it reads of the same
    prompt without some words: if no fewer tokens, it cut. It is believed only where it says the same of the same prompt twice, and
    fewer tokens of a greeting. So no prompt that was read whole is taken for one that was cut.
    """

    def __init__(self) -> None:
        self._most, self._sparsest = 0, float("inf")  # tokens, and tokens a byte

    def cut(self, read: int, messages: Messages, reads: Callable[[Messages], int]) -> str:
        """How a prompt of which so many tokens were read shows that the server cut it, in words; empty for one that was read whole.

        `reads` asks the server how many tokens it reads of other messages, 0 where it does not say.
        """
        fewest = fewest_tokens(messages)
        if was_cut(read, fewest):
            return f"read {read:,} tokens of a prompt of at least {fewest:,}"
        size = sum(len(message["content"].encode("utf-8", "replace")) for message in messages)
        if size < LONG or not (read > self._most or read < SPARSE * self._sparsest * size):
            return ""
        shorter = shortened(messages)
        if (
            shorter
            and 0 < read <= reads(shorter)
            and reads(messages) == read
            and 0 < reads(SHORTEST) < read
        ):
            return f"read {read:,} tokens of a prompt, and no fewer of a shorter one"
        self._most, self._sparsest = max(self._most, read), min(self._sparsest, read / size)
        return ""


def shortened(messages: Messages) -> Messages | None:
    """The messages without some words at the end of the first one that is not the system's and has more of them; None where none has.

    Servers that cut leave out the oldest messages first. The words are eight tokens at least.

    >>> from core.models.chat.whole_prompts import shortened
    >>> shortened([{"role": "system", "content": "Answer."}, {"role": "user", "content": "Say it. " * 5}])
    [{'role': 'system', 'content': 'Answer.'}, {'role': 'user', 'content': 'Say it. '}]
    """
    for place, message in enumerate(messages):
        begin = None if message["role"] == "system" else _before_last_words(message["content"])
        if begin:
            return [*messages[:place], {**message, "content": begin}, *messages[place + 1 :]]
    return None


def _before_last_words(text: str) -> str:
    """The text before its last words; empty where it has no more than these."""
    left_out = 0
    for word in reversed(list(WORD.finditer(text))):
        left_out += pieces(word[0])
        if left_out >= LEFT_OUT:
            begin = text[: word.start()]
            return begin if begin.strip() else ""
    return ""
