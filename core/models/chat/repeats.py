"""Detection of replies that repeat themselves endlessly.

Greedy decoding of small models produces such replies.
"""

from __future__ import annotations

import re

TOKEN, LETTER = re.compile(r"\w+|[^\w\s]"), re.compile(r"\w")
# Numbers of list items, which differ although the items are the same.
ORDINAL = re.compile(r"(?m)^[ \t]*\d+[.)][ \t]+")
LONGEST = 64  # most words and marks of a repeated sequence
WHOLE = 16  # least words and marks of all repetitions together
TIMES = 4  # least number of repetitions


class Repeats:
    """Detector of repetition in a reply while it is written.

    A reply repeats itself if the same words and marks occur four times or more in a row, and at
    least 16 of them. The result depends on the text alone, not on its division into pieces.
    """

    def __init__(self) -> None:
        self._text, self._read = "", 0
        self._tokens: list[tuple[str, int, int]] = []  # with start and end positions
        # End of the first occurrence of the repeated text, and words until it was detected.
        self.found: tuple[int, int] | None = None

    def add(self, piece: str) -> bool:
        """Add a piece; return whether the reply now repeats itself."""
        self._text += piece
        return self._look(len(self._text))

    def end(self) -> bool:
        """Return whether the complete reply repeats itself."""
        return self._look(len(self._text) + 1)

    @property
    def once(self) -> str:
        """The reply with the repeated text only once."""
        if self.found is None:
            return self._text
        return self._text[: self.found[0]].rstrip().rstrip(",;:-•*|/").rstrip()

    def _look(self, known: int) -> bool:
        """Read on, up to the last word that cannot become longer."""
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
                self._read = match.start()  # it may become the number of a list item
                break
            if number is not None and match.start() < number.end():
                continue
            self._tokens.append((match.group().casefold(), match.start(), match.end()))
            self._judge()
        return self.found is not None

    def _judge(self) -> None:
        """Record a repetition if the text ends in one."""
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
        """Set the cut at the end of the first occurrence."""
        first = len(self._tokens) - 1
        while first >= period and self._tokens[first][0] == self._tokens[first - period][0]:
            first -= 1
        self.found = (
            self._tokens[first][2],
            sum(1 for token, _, _ in self._tokens if LETTER.match(token)),
        )
