"""Tally of pairwise verdicts: win rates, agreement of both orders, doubts about the judge.

A judge may prefer a position instead of an answer. Each pair is therefore judged in both orders,
and the tally tests whether the verdicts depend on the answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from core.evaluation.metrics.statistics import Estimate, share_estimate
from core.evaluation.pairwise.verdicts import CRITERIA, FIRST_ANSWER, SECOND_ANSWER, TIE, Match


@dataclass(frozen=True)
class JudgeThresholds:
    """Thresholds of shares and p-values for doubts about a judge."""

    # From these shares of verdicts for one position, the verdicts are useless, or need care.
    blind_share: float = 0.8
    leaning_share: float = 0.65
    position_p_value: float = 0.01  # below it, a preference for a position is not chance
    agreement_p_value: float = 0.05  # below it, the two orders agree beyond chance
    min_readable_share: float = 0.5  # share of pairs below which the verdicts say little


JUDGE_THRESHOLDS = JudgeThresholds()


@dataclass(frozen=True, eq=False)
class PairwiseTally:
    """Judged matches of a run.

    Parameters
    ----------
    methods : ids of the methods.
    matches : the judged pairs.
    pair_count : number of pairs to be judged, of which some may not be judged yet.
    judge : title of the judging model.
    short_question_count : number of questions that ask for a short answer.
    """

    methods: tuple[str, ...]
    matches: tuple[Match, ...]
    pair_count: int
    judge: str
    short_question_count: int = 0

    @cached_property
    def readable_matches(self) -> tuple[Match, ...]:
        """Matches of which both replies could be read."""
        return tuple(match for match in self.matches if match.is_readable)

    def win_rates(self, criterion: str) -> dict[tuple[str, str], Estimate]:
        """Return the win rate of each method over each other one.

        The rate is the mean score over questions, with Wilson's 95 % interval, as there may be few
        questions. A tie is half a win. The keys are pairs of method ids: the rate of (a, b) says
        how often a won over b.

        >>> from core.evaluation.pairwise.tally import PairwiseTally
        >>> from core.evaluation.pairwise.verdicts import Match, PairwiseVerdict
        >>> won, lost = PairwiseVerdict({"overall": "first"}), PairwiseVerdict({"overall": "second"})
        >>> tally = PairwiseTally(("a", "b"), (Match("q", "a", "b", won, lost),), 1, "nobody")
        >>> tally.win_rates("overall")["a", "b"].mean, tally.win_rates("overall")["b", "a"].mean
        (1.0, 0.0)
        """
        scores: dict[tuple[str, str], list[float]] = {}
        for match in self.readable_matches:
            score = match.score(criterion)
            assert score is not None  # both replies were read
            scores.setdefault((match.a, match.b), []).append(score)
            scores.setdefault((match.b, match.a), []).append(1 - score)
        return {pair: share_estimate(values) for pair, values in sorted(scores.items())}

    def agreement(self, criterion: str) -> float | None:
        """Return the share of matches with the same result in both orders.

        None without matches.
        """
        if not self.readable_matches:
            return None
        return self._count_same(criterion) / len(self.readable_matches)

    def position_counts(self, criterion: str) -> tuple[int, int, int]:
        """Return how many single verdicts prefer the first position, the second, and neither."""
        verdicts = chain.from_iterable(
            (match.verdict_a_first, match.verdict_b_first) for match in self.readable_matches
        )
        winners = [verdict.winners[criterion] for verdict in verdicts if verdict.winners]
        return winners.count(FIRST_ANSWER), winners.count(SECOND_ANSWER), winners.count(TIE)

    def chance_agreement(self, criterion: str) -> float:
        """Return the agreement of orders expected from a judge that ignores the answers.

        That judge chooses each position as often as this one does. Its orders agree if it names the
        first position once and the second once, or calls two ties. The value is 0 if no reply could
        be read.

        >>> from core.evaluation.pairwise.tally import PairwiseTally
        >>> from core.evaluation.pairwise.verdicts import Match, PairwiseVerdict
        >>> won, lost = PairwiseVerdict({"overall": "first"}), PairwiseVerdict({"overall": "second"})
        >>> # Each position is chosen in half of the verdicts, so 2 x 1/2 x 1/2.
        >>> PairwiseTally(("a", "b"), (Match("q", "a", "b", won, lost),), 1, "nobody").chance_agreement("overall")
        0.5
        """
        first, second, ties = self.position_counts(criterion)
        total = first + second + ties
        return (2 * first * second + ties * ties) / total**2 if total else 0.0

    def is_informative(self, criterion: str) -> bool:
        """Return whether the win rates of a criterion are informative.

        They are if the two orders agree beyond chance and no position is preferred too often.
        """
        _, _, preferred_share = self._preferred_position(criterion)
        is_blind = preferred_share >= JUDGE_THRESHOLDS.blind_share
        return self._has_agreement(criterion) and not is_blind

    def _has_agreement(self, criterion: str) -> bool:
        """Return whether the two orders agree beyond chance, by a one-sided binomial test."""
        from scipy.stats import binomtest

        if not self.readable_matches:
            return False
        test = binomtest(
            self._count_same(criterion),
            len(self.readable_matches),
            self.chance_agreement(criterion),
            "greater",
        )
        return bool(test.pvalue < JUDGE_THRESHOLDS.agreement_p_value)

    def _count_same(self, criterion: str) -> int:
        """Return the number of matches in which both orders have the same result."""
        return sum(bool(match.is_consistent(criterion)) for match in self.readable_matches)

    def _preferred_position(self, criterion: str) -> tuple[str, int, float]:
        """Return the preferred position, its count, and its share of verdicts.

        Ties are not among these verdicts. The share is 0 if the preference may be chance. A fair
        judge who is asked in both orders prefers each position equally often, whatever the answers
        are.
        """
        from scipy.stats import binomtest

        first, second, _ = self.position_counts(criterion)
        total = first + second
        preferred_count = max(first, second)
        position = FIRST_ANSWER if first >= second else SECOND_ANSWER
        share = 0.0
        if total and binomtest(preferred_count, total).pvalue < JUDGE_THRESHOLDS.position_p_value:
            share = preferred_count / total
        return position, preferred_count, share

    def doubts(self) -> tuple[str, ...]:
        """Return sentences on doubts about the verdicts; empty without doubts."""
        return tuple(self._doubts())

    def _doubts(self) -> Iterator[str]:
        asked_count, read_count = len(self.matches), len(self.readable_matches)
        if asked_count and read_count < JUDGE_THRESHOLDS.min_readable_share * asked_count:
            verdicts = chain.from_iterable(
                (match.verdict_a_first, match.verdict_b_first) for match in self.matches
            )
            why = next(verdict.why for verdict in verdicts if verdict.winners is None)
            yield (
                f"Of {asked_count:,} pairs the judge's replies could be read in {read_count:,}: its "
                f"verdicts say little. {why}"
            )
        elif read_count < asked_count:
            yield f"{asked_count - read_count:,} of {asked_count:,} pairs are left out, as a reply could not be read."
        if read_count:
            yield from self._position_sentences(*self.position_counts("overall"))
        if self.short_question_count:
            yield (
                f"{'One question asks' if self.short_question_count == 1 else f'{self.short_question_count:,} questions ask'} "
                "for a short answer, which says little of comprehensiveness; ask as abstract "
                "questions (long answers) before answers are compared."
            )

    def _position_sentences(self, first: int, second: int, ties: int) -> Iterator[str]:
        """Yield doubts because of preferred positions, or of orders that do not agree."""
        position, preferred_count, share = self._preferred_position("overall")
        pairs = len(self.readable_matches)
        total = first + second
        sentence = (
            f"The judge preferred the {position} position in {preferred_count:,} of {total:,}"
        )
        if not total:
            yield f"The judge called all {ties:,} a tie: its verdicts show no difference."
        elif share >= JUDGE_THRESHOLDS.blind_share:
            yield f"{sentence}: its verdicts say nothing."
        elif self._has_agreement("overall"):
            if share >= JUDGE_THRESHOLDS.leaning_share:
                yield f"{sentence}: read its verdicts with care."
        # Even if the orders agreed on all pairs, it could be chance.
        elif self.chance_agreement("overall") ** pairs >= JUDGE_THRESHOLDS.agreement_p_value:
            yield (
                f"{'One pair is' if pairs == 1 else f'{pairs:,} pairs are'} too few to tell the "
                "judge's verdicts from chance."
            )
        else:
            agreement_text = (
                "Asked in both orders, the judge gives the same verdict on "
                f"{self._count_same('overall'):,} of {pairs:,} pairs"
            )
            yield f"{agreement_text}, no more than by chance: its verdicts say nothing."

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of all criteria and the doubts as data for JSON."""
        criteria = {
            name: {
                "wins": [
                    {"row": a, "column": b, **asdict(rate)}
                    for (a, b), rate in self.win_rates(name).items()
                ],
                "agreement": self.agreement(name),
                "agreement_by_chance": self.chance_agreement(name),
                "tells": self.is_informative(name),
                "places": dict(zip(("first", "second", "tie"), self.position_counts(name))),
            }
            for name in CRITERIA
        }
        head = {
            "judge": self.judge,
            "pairs": self.pair_count,
            "judged": len(self.matches),
            "read": len(self.readable_matches),
        }
        return {**head, "doubts": list(self.doubts()), "criteria": criteria}
