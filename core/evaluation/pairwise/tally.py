"""What verdicts on pairs come to: who wins how often, whether the two orders agree, and whether the judge can be believed at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from core.evaluation.metrics.statistics import Estimate, of_shares
from core.evaluation.pairwise.verdicts import CRITERIA, FIRST, SECOND, TIE, Match

# shares of the verdicts for one place from which on they say nothing, or are to be read with care
BLIND, LEANING = (0.8, 0.65)
CHANCE = 0.01  # the p-value below which a lean is no chance
SAME = 0.05  # that below which the two orders agree beyond chance
FEW = 0.5  # share of replies that can be read, below which they say little


@dataclass(frozen=True, eq=False)
class Tally:
    """The matches that were judged, of so many pairs, who judged, and how many of the questions asked for a short answer."""

    instances: tuple[str, ...]
    matches: tuple[Match, ...]
    of: int
    judge: str
    short: int = 0

    @cached_property
    def read(self) -> tuple[Match, ...]:
        """The matches of which both replies could be read."""
        return tuple(match for match in self.matches if match.read)

    def wins(self, criterion: str) -> dict[tuple[str, str], Estimate]:
        """For each two instances, in both directions, the win rate of the first over the second: the mean over questions of what it has of
        the match, with its 95 % interval (Wilson's, as questions may be few). A tie is half a win.

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
        return {pair: of_shares(found) for pair, found in sorted(scores.items())}

    def agreement(self, criterion: str) -> float | None:
        """The share of the matches in which both orders say the same; None where none was read."""
        agreed = [match.agree(criterion) for match in self.read]
        return sum(map(bool, agreed)) / len(agreed) if agreed else None

    def places(self, criterion: str) -> tuple[int, int, int]:
        """How many single verdicts prefer the first place, the second, and neither."""
        said = [
            verdict.winners[criterion]
            for match in self.read
            for verdict in (match.there, match.back)
            if verdict.winners
        ]
        return said.count(FIRST), said.count(SECOND), said.count(TIE)

    def by_chance(self, criterion: str) -> float:
        """The share of agreeing orders that a judge would come to who looks at no answer, but likes the places as often as this one does;
        0 where no reply was read.

        >>> from core.evaluation.pairwise.tally import Tally
        >>> from core.evaluation.pairwise.verdicts import Match, Verdict
        >>> won, lost = Verdict({"overall": "first"}), Verdict({"overall": "second"})
        >>> Tally(("a", "b"), (Match("q", "a", "b", won, lost),), 1, "nobody").by_chance("overall")  # 1/2 of each place: 2 x 1/4
        0.5
        """
        first, second, ties = self.places(criterion)
        said = first + second + ties
        return (2 * first * second + ties * ties) / said**2 if said else 0.0

    def decides(self, criterion: str) -> bool:
        """Whether the win rates of a criterion say anything: the two orders agree beyond chance, and no place is preferred throughout."""
        return self._steady(criterion) and self._lean(criterion)[2] < BLIND

    def _steady(self, criterion: str) -> bool:
        """Whether the two orders agree more often than by chance, by a one-sided binomial test."""
        from scipy.stats import binomtest

        same, pairs = self._same(criterion), len(self.read)
        return pairs > 0 and bool(
            binomtest(same, pairs, self.by_chance(criterion), "greater").pvalue < SAME
        )

    def _same(self, criterion: str) -> int:
        """Of how many matches both orders say the same."""
        return sum(bool(match.agree(criterion)) for match in self.read)

    def _lean(self, criterion: str) -> tuple[str, int, float]:
        """The place that is preferred, how often it is, and in which share of the verdicts that are no tie; 0 where it may be chance.
        Asked in both orders a fair judge prefers each place as often as the other, whatever the answers are."""
        from scipy.stats import binomtest

        first, second, _ = self.places(criterion)
        decided, more, place = (
            first + second,
            max(first, second),
            FIRST if first >= second else SECOND,
        )
        beyond = bool(decided) and binomtest(more, decided).pvalue < CHANCE
        return place, more, more / decided if beyond else 0.0

    def doubts(self) -> tuple[str, ...]:
        """Sentences on why the verdicts say little or nothing; none where nothing in them speaks against them."""
        return tuple(self._doubts())

    def _doubts(self) -> Iterator[str]:
        asked, read = len(self.matches), len(self.read)
        if asked and read < FEW * asked:
            why = next(
                verdict.why
                for match in self.matches
                for verdict in (match.there, match.back)
                if verdict.winners is None
            )
            yield f"Of {asked:,} pairs the judge's replies could be read in {read:,}: its verdicts say little. {why}"
        elif read < asked:
            yield f"{asked - read:,} of {asked:,} pairs are left out, as a reply could not be read."
        if read:
            yield from self._said_of_places(*self.places("overall"))
        if self.short:
            yield (
                f"{'One question asks' if self.short == 1 else f'{self.short:,} questions ask'} for a short answer, which says little of "
                "comprehensiveness; ask as abstract questions (evaluate --abstract) before answers are compared."
            )

    def _said_of_places(self, first: int, second: int, ties: int) -> Iterator[str]:
        """What the places that were preferred and the two orders say against the judge."""
        (place, more, lean), pairs, decided = self._lean("overall"), len(self.read), first + second
        sentence = f"The judge preferred the {place} place in {more:,} of {decided:,}"
        if not decided:
            yield f"The judge called all {ties:,} a tie: its verdicts show no difference."
        elif lean >= BLIND:
            yield f"{sentence}: its verdicts say nothing."
        elif self._steady("overall"):
            if lean >= LEANING:
                yield f"{sentence}: read its verdicts with care."
        elif self.by_chance("overall") ** pairs >= SAME:
            yield f"{'One pair is' if pairs == 1 else f'{pairs:,} pairs are'} too few to tell the judge's verdicts from chance."
        else:
            same = f"Asked in both orders, the judge gives the same verdict on {self._same('overall'):,} of {pairs:,} pairs"
            yield f"{same}, no more than by chance: its verdicts say nothing."

    def plain(self) -> dict[str, Any]:
        """Everything as plain data."""
        criteria = {
            name: {
                "wins": [
                    {"row": a, "column": b, **asdict(one)}
                    for (a, b), one in self.wins(name).items()
                ],
                "agreement": self.agreement(name),
                "agreement_by_chance": self.by_chance(name),
                "tells": self.decides(name),
                "places": dict(zip(("first", "second", "tie"), self.places(name))),
            }
            for name in CRITERIA
        }
        head = {
            "judge": self.judge,
            "pairs": self.of,
            "judged": len(self.matches),
            "read": len(self.read),
        }
        return {**head, "doubts": list(self.doubts()), "criteria": criteria}
