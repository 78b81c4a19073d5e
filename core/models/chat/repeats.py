"""Detection of replies that repeat themselves endlessly.

Small models do so in greedy decoding. Their replies are then stopped before the token limit.
"""

from __future__ import annotations

import re

TOKEN = re.compile(r"\w+|[^\w\s]")
WORD_CHARACTER = re.compile(r"\w")
# Numbers of list items. They are ignored, as they differ even if the items are the same.
LIST_NUMBER = re.compile(r"(?m)^[ \t]*\d+[.)][ \t]+")
MAX_PERIOD_TOKENS = 64  # of the sequence that is repeated
MIN_REPEATED_TOKENS = 16  # of all occurrences together
MIN_REPETITIONS = 4  # occurrences in a row


class RepeatDetector:
    """Detector of repetition in a reply while it is written.

    A reply repeats itself if the same sequence of words and punctuation occurs at least
    `MIN_REPETITIONS` times in a row, and all occurrences have at least `MIN_REPEATED_TOKENS`.
    Tokens are words and punctuation marks here. The result depends on the text alone, not on its
    division into pieces.
    """

    def __init__(self) -> None:
        self._text = ""
        self._position = 0  # up to which the text was scanned
        self._tokens: list[tuple[str, int, int]] = []  # token, start and end position
        # End position of the first occurrence, and words of the reply when it was detected.
        self.repetition: tuple[int, int] | None = None

    def add(self, piece: str) -> bool:
        """Add a piece; return whether the reply now repeats itself."""
        self._text += piece
        return self._scan(len(self._text))

    def end(self) -> bool:
        """Return whether the complete reply repeats itself."""
        return self._scan(len(self._text) + 1)

    @property
    def text_once(self) -> str:
        """The reply up to the end of the first occurrence.

        Without a repetition it is the whole reply.
        """
        if self.repetition is None:
            return self._text
        return self._text[: self.repetition[0]].rstrip().rstrip(",;:-•*|/").rstrip()

    def _scan(self, limit: int) -> bool:
        """Scan new tokens that end before `limit`; return whether the text repeats itself.

        A token that ends at the limit may continue in the next piece.
        """
        while self.repetition is None:
            match = TOKEN.search(self._text, self._position)
            if match is None or match.end() >= limit:
                break
            self._position = match.end()
            line = self._text.rfind("\n", 0, match.start()) + 1
            number = LIST_NUMBER.match(self._text, line)
            if (
                number is None
                and match.end() + 2 >= limit
                and LIST_NUMBER.match(self._text[line : match.end()] + ". ")
            ):
                self._position = match.start()  # it may become the number of a list item
                break
            if number is not None and match.start() < number.end():
                continue
            self._tokens.append((match.group().casefold(), match.start(), match.end()))
            self._find_repetition()
        return self.repetition is not None

    def _find_repetition(self) -> None:
        """Record a repetition if the text ends in one."""
        tokens = [token for token, _, _ in self._tokens[-MAX_PERIOD_TOKENS * MIN_REPETITIONS :]]
        for period in range(1, MAX_PERIOD_TOKENS + 1):
            times = max(MIN_REPETITIONS, -(-MIN_REPEATED_TOKENS // period))  # rounded up
            if period * times > len(tokens):
                return
            if tokens[-1] != tokens[-1 - period]:
                continue
            tail = tokens[-period * times :]
            # It repeats itself if each token equals the one a period before.
            if tail[period:] == tail[:-period] and any(map(WORD_CHARACTER.match, tail[:period])):
                self._record(period)
                return

    def _record(self, period: int) -> None:
        """Record the end of the first occurrence, and the number of words so far."""
        index = len(self._tokens) - 1
        while index >= period and self._tokens[index][0] == self._tokens[index - period][0]:
            index -= 1
        n_words = sum(1 for token, _, _ in self._tokens if WORD_CHARACTER.match(token))
        self.repetition = self._tokens[index][2], n_words
