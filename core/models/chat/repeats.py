"""A guard against replies that repeat themselves without end, as greedy decoding of small models does."""

from __future__ import annotations

import re

TOKEN, LETTER = re.compile(r"\w+|[^\w\s]"), re.compile(r"\w")
# the numbers of a list differ where its items do not
ORDINAL = re.compile(r"(?m)^[ \t]*\d+[.)][ \t]+")
LONGEST = 64  # words and marks of what is repeated
WHOLE = 16  # words and marks that the repetitions make up together, at least
TIMES = 4  # how often it is there, at least


class Repeats:
    """Reads a reply as it is written, and knows when it has begun to repeat itself: the same words and marks, four times or
    more in a row and at least 16 of them. What it says depends on the text alone, not on the pieces in which it comes."""

    def __init__(self) -> None:
        self._text, self._read = "", 0
        self._tokens: list[tuple[str, int, int]] = []  # with where each begins and ends
        self.found: tuple[int, int] | None = (
            None  # where the first occurrence of what repeats ends, and words until it was seen
        )

    def add(self, piece: str) -> bool:
        """Whether the reply repeats itself, with `piece` added to it."""
        self._text += piece
        return self._look(len(self._text))

    def end(self) -> bool:
        """Whether the reply repeats itself, now that nothing more comes."""
        return self._look(len(self._text) + 1)

    @property
    def once(self) -> str:
        """The reply with what repeats in it once."""
        if self.found is None:
            return self._text
        return self._text[: self.found[0]].rstrip().rstrip(",;:-•*|/").rstrip()

    def _look(self, known: int) -> bool:
        """Read on, up to the last word that cannot grow any more."""
        while self.found is None:
            match = TOKEN.search(self._text, self._read)
            if match is None or match.end() >= known:
                break
            self._read = match.end()
            line = self._text.rfind("\n", 0, match.start()) + 1
            number = ORDINAL.match(self._text, line)
            if (
                number is None
                and match.end() + 2 >= known
                and ORDINAL.match(self._text[line : match.end()] + ". ")
            ):
                self._read = match.start()  # may still become the number of an item
                break
            if number is not None and match.start() < number.end():
                continue
            self._tokens.append((match.group().casefold(), match.start(), match.end()))
            self._judge()
        return self.found is not None

    def _judge(self) -> None:
        """Whether the text up to the newest token ends in repetitions."""
        words = [token for token, _, _ in self._tokens[-LONGEST * TIMES :]]
        for period in range(1, LONGEST + 1):
            times = max(TIMES, -(-WHOLE // period))
            if period * times > len(words):
                return
            if words[-1] != words[-1 - period]:
                continue
            tail = words[-period * times :]
            if tail[period:] == tail[:-period] and any(
                LETTER.match(word) for word in tail[:period]
            ):
                self._cut(period)
                return

    def _cut(self, period: int) -> None:
        """Keep everything up to the end of the first occurrence."""
        first = len(self._tokens) - 1
        while first >= period and self._tokens[first][0] == self._tokens[first - period][0]:
            first -= 1
        self.found = (
            self._tokens[first][2],
            sum(1 for token, _, _ in self._tokens if LETTER.match(token)),
        )
