"""Win rates of each method's answers over those of one method, and their correlation with recall.

This is Table 4 and Figure 3 of FastInsight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.evaluation.metrics.statistics import Estimate, correlation
from core.evaluation.pairwise.tally import PairwiseTally
from core.evaluation.papers.experiments import Experiment
from core.evaluation.papers.paper_comparison import WIN_RATE_PREFIX, MethodValues, MetricComparison
from core.evaluation.reports.summary import RunSummary

WIN_RECALL_METRIC, WIN_CRITERION = "capped_node_recall@10", "overall"
SELF_WIN_RATE = 0.5  # win rate of a method against itself


def compare_win_rates(
    experiment: Experiment, name: str, summary: RunSummary, tally: PairwiseTally
) -> MetricComparison:
    """Return the win rate of each method over that of `against`, next to the paper's.

    The method `against` has no row.

    Parameters
    ----------
    experiment : the experiment, with the printed win rates.
    name : the paper's name of the question set.
    summary : figures of the run on that set.
    tally : the judged pairs of that run.

    Returns
    -------
    One row for each other method.
    """
    rates, against = tally.wins(WIN_CRITERION), experiment.against
    printed = dict(zip(experiment.rows, experiment.wins[name], strict=True))
    none = Estimate(None, None, None, 0)
    rows = [
        MethodValues(one, experiment.rows[one], printed[one], rates.get((one, against), none))
        for one in summary.methods
        if one != against
    ]
    return MetricComparison.of(
        name, summary.run.spec["set"], f"{WIN_RATE_PREFIX} over {experiment.rows[against]}", rows
    )


def compare_duels(
    experiment: Experiment, name: str, summary: RunSummary, tally: PairwiseTally
) -> list[MetricComparison]:
    """Return the win rates by each criterion, next to those that the paper prints.

    Parameters
    ----------
    experiment : the experiment as it is asked on the set (`Experiment.asked`).
    name : the paper's name of the set.
    summary : the run, whose methods have rows.
    tally : the judged pairs of its answers.

    Returns
    -------
    One table per criterion, with a row for each method over another one.
    """
    comparisons, none = [], Estimate(None, None, None, 0)
    for criterion, printed in experiment.duels.get(name, {}).items():
        rates = tally.wins(criterion)
        rows = [
            MethodValues(
                f"{winner} over {loser}",
                f"{experiment.rows[winner]} over {experiment.rows[loser]}",
                rate,
                rates.get((winner, loser), none),
            )
            for winner, against in printed.items()
            for loser, rate in against.items()
            if winner != loser and {winner, loser} <= set(summary.methods)
        ]
        comparisons.append(
            MetricComparison.of(
                name, summary.run.spec["set"], f"{WIN_RATE_PREFIX}, {criterion}", rows
            )
        )
    return comparisons


def recall_correlations(
    comparisons: Sequence[MetricComparison], rates: MetricComparison, tally: PairwiseTally
) -> list[str]:
    """Return sentences on the correlation of win rates with recall over the methods of a set.

    They give Pearson's r here and of the printed values. The method that the others are compared
    with counts with a win rate of one half. The first sentence says so if the judge's verdicts are
    not informative.

    Parameters
    ----------
    comparisons : the comparisons of metrics on the set.
    rates : the comparison of win rates on the set.
    tally : the judged pairs of that run.

    Returns
    -------
    Two sentences; empty if the set has no recall.
    """
    recall = next((one for one in comparisons if one.metric == WIN_RECALL_METRIC), None)
    if recall is None:
        return []
    rates_by_method = {row.method: row for row in rates.rows}
    points = lambda value: [
        (
            value(row),
            value(rates_by_method[row.method]) if row.method in rates_by_method else SELF_WIN_RATE,
        )
        for row in recall.rows
    ]
    judge_caveat = "" if tally.decides(WIN_CRITERION) else ", by a judge whose verdicts say nothing"
    return [
        f"Win rate by recall at 10, here{judge_caveat}: {pearson_text(points(lambda row: row.here.mean))}.",
        "The same of the values that the paper prints: "
        f"{pearson_text(points(lambda row: row.printed))}. Its figure gives p < 0.05 and no r.",
    ]


def pearson_text(points: Sequence[tuple[float | None, float | None]]) -> str:
    """Return Pearson's r with its 95 % interval and p-value as a text.

    Each point has two figures of a method. Points that lack one are left out.

    >>> from core.evaluation.papers.win_rates import pearson_text
    >>> pearson_text([(0.1, 0.4), (0.2, 0.3), (0.3, 0.5), (0.4, 0.6), (0.5, None)])
    "Pearson's r 0.80 [-0.70, 1.00], p = 0.200, n = 4"
    >>> pearson_text([(0.1, 0.4), (0.2, 0.3), (0.3, 0.5)])
    "no Pearson's r, with 3 methods of which both are known, or all alike"
    """
    from scipy.stats import pearsonr

    pairs = np.array([pair for pair in points if None not in pair], np.float64).reshape(-1, 2)
    estimate = correlation(pairs[:, 0], pairs[:, 1])
    if estimate.mean is None:
        return f"no Pearson's r, with {len(pairs)} methods of which both are known, or all alike"
    p_value = float(pearsonr(pairs[:, 0], pairs[:, 1]).pvalue)
    return f"Pearson's r {estimate.text('{:.2f}'.format)}, p = {p_value:.3f}, n = {estimate.n}"
