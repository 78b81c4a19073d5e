"""What verdicts on pairs come to: who wins how often, whether the two orders agree, and whether the judge can be believed at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from core.evaluation.metrics.statistics import Estimate, estimates
from core.evaluation.pairwise.verdicts import CRITERIA, FIRST, SECOND, TIE, Match

BLIND, LEANING = 0.8, 0.65  # shares of the verdicts for one place from which on they say nothing, or are to be read with care
CHANCE = 0.01  # the p-value below which a lean is no chance
FEW = 0.5  # share of replies that can be read, below which they say little


@dataclass(frozen=True, eq=False)
class Tally:
    """The matches that were judged, of so many pairs, and who judged."""

    instances: tuple[str, ...]
    matches: tuple[Match, ...]
    of: int
    judge: str

    @cached_property
    def read(self) -> tuple[Match, ...]:
        """The matches of which both replies could be read."""
        return tuple(match for match in self.matches if match.read)

    def wins(self, criterion: str) -> dict[tuple[str, str], Estimate]:
        """For each two instances, in both directions, the win rate of the first over the second: the mean over questions of what it has of
        the match, with the 95 % bootstrap interval. A tie is half a win.

        >>> from core.evaluation.pairwise.tally import Tally
        >>> from core.evaluation.pairwise.verdicts import Match, Verdict
        >>> won, lost = Verdict({"overall": "first"}), Verdict({"overall": "second"})
        >>> tally = Tally(("a", "b"), (Match("q", "a", "b", won, lost),), 1, "nobody")
        >>> tally.wins("overall")["a", "b"].mean, tally.wins("overall")["b", "a"].mean
        (1.0, 0.0)
        """
        scores: dict[tuple[str, str], list[float]] = {}
        for match in self.read:
            score = match.score(criterion)
            assert score is not None  # both were read
            scores.setdefault((match.a, match.b), []).append(score)
            scores.setdefault((match.b, match.a), []).append(1 - score)
        return {pair: estimates(np.array(found)[:, None])[0] for pair, found in sorted(scores.items())}

    def agreement(self, criterion: str) -> float | None:
        """The share of the matches in which both orders say the same; None where none was read."""
        told = [match.agree(criterion) for match in self.read]
        return sum(map(bool, told)) / len(told) if told else None

    def places(self, criterion: str) -> tuple[int, int, int]:
        """How many single verdicts prefer the first place, the second, and neither."""
        said = [verdict.winners[criterion] for match in self.read for verdict in (match.there, match.back) if verdict.winners]
        return said.count(FIRST), said.count(SECOND), said.count(TIE)

    def doubts(self) -> tuple[str, ...]:
        """Sentences on why the verdicts say little or nothing; none where they may be believed as far as can be told from them."""
        return tuple(self._doubts())

    def _doubts(self) -> Iterator[str]:
        asked, read = len(self.matches), len(self.read)
        if asked and read < FEW * asked:
            why = next(verdict.why for match in self.matches for verdict in (match.there, match.back) if verdict.winners is None)
            yield f"Of {asked:,} pairs the judge's replies could be read in {read:,}: its verdicts say little. {why}"
        elif read < asked:
            yield f"{asked - read:,} of {asked:,} pairs are left out, as a reply could not be read."
        if read:
            yield from self._places()

    def _places(self) -> Iterator[str]:
        """Asked in both orders a fair judge prefers each place as often as the other, whatever the answers are."""
        from scipy.stats import binomtest

        first, second, ties = self.places("overall")
        decided, more, place = first + second, max(first, second), "first" if first >= second else "second"
        if not decided:
            yield f"The judge called all {ties:,} a tie: its verdicts tell nothing apart."
            return
        chance = binomtest(more, decided).pvalue < CHANCE
        told = f"The judge preferred the {place} place in {more:,} of {decided:,}"
        if chance and more >= BLIND * decided:
            yield f"{told}: its verdicts say nothing."
        elif chance and more >= LEANING * decided:
            yield f"{told}: read its verdicts with care."

    def plain(self) -> dict[str, Any]:
        """Everything as plain data."""
        criteria = {
            name: {
                "wins": [{"row": a, "column": b, **asdict(one)} for (a, b), one in self.wins(name).items()],
                "agreement": self.agreement(name),
                "places": dict(zip(("first", "second", "tie"), self.places(name))),
            }
            for name in CRITERIA
        }
        head = {"judge": self.judge, "pairs": self.of, "judged": len(self.matches), "read": len(self.read)}
        return {**head, "doubts": list(self.doubts()), "criteria": criteria}
