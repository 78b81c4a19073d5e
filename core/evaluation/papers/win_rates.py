"""Win rates of methods over a baseline, and their correlation with recall.

A language model judges pairs of answers; the win rate of a method over another one is the share of
its answers that are preferred. See Table 4 and Figure 3 of FastInsight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.evaluation.metrics.statistics import Estimate, correlation
from core.evaluation.pairwise.tally import PairwiseTally
from core.evaluation.papers.experiments import Experiment
from core.evaluation.papers.paper_comparison import WIN_RATE_PREFIX, MethodValues, MetricComparison
from core.evaluation.reports.summary import RunSummary

WIN_RECALL_METRIC = "capped_node_recall@10"
WIN_CRITERION = "overall"
SELF_WIN_RATE = 0.5  # win rate of a method against itself, used for the baseline
NO_ESTIMATE = Estimate(None, None, None, 0)


def compare_win_rates(
    experiment: Experiment, name: str, summary: RunSummary, tally: PairwiseTally
) -> MetricComparison:
    """Compare each method's win rate over the baseline `experiment.against` with the paper's.

    The baseline has no row.

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
    baseline = experiment.against
    rates = tally.win_rates(WIN_CRITERION)
    paper_rates = dict(zip(experiment.rows, experiment.wins[name], strict=True))
    rows = []
    for method in summary.methods:
        if method != baseline:
            rate = rates.get((method, baseline), NO_ESTIMATE)
            rows.append(
                MethodValues(
                    method, experiment.rows[method], printed=paper_rates[method], here=rate
                )
            )
    title = f"{WIN_RATE_PREFIX} over {experiment.rows[baseline]}"
    return MetricComparison.from_rows(name, summary.run.spec["set"], title, rows)


def compare_pairwise_rates(
    experiment: Experiment, name: str, summary: RunSummary, tally: PairwiseTally
) -> list[MetricComparison]:
    """Compare the win rate of each pair of methods with the paper's.

    There is a rate for each criterion.

    Parameters
    ----------
    experiment : the experiment for the set (`Experiment.for_question_set`).
    name : the paper's name of the set.
    summary : figures of the run.
    tally : the judged pairs of the run's answers.

    Returns
    -------
    One comparison per criterion, with a row for each ordered pair of methods.
    """
    comparisons = []
    for criterion, paper_rates in experiment.duels.get(name, {}).items():
        rates = tally.win_rates(criterion)
        rows = []
        for winner, rates_by_loser in paper_rates.items():
            for loser, paper_rate in rates_by_loser.items():
                if winner == loser or not {winner, loser} <= set(summary.methods):
                    continue
                title = f"{experiment.rows[winner]} over {experiment.rows[loser]}"
                rate = rates.get((winner, loser), NO_ESTIMATE)
                rows.append(
                    MethodValues(f"{winner} over {loser}", title, printed=paper_rate, here=rate)
                )
        title = f"{WIN_RATE_PREFIX}, {criterion}"
        comparisons.append(MetricComparison.from_rows(name, summary.run.spec["set"], title, rows))
    return comparisons


def recall_correlations(
    comparisons: Sequence[MetricComparison], rates: MetricComparison, tally: PairwiseTally
) -> list[str]:
    """Return sentences on the correlation of win rates with recall.

    The correlation is over the methods of a set. One sentence gives Pearson's r of the measured
    values, the other that of the printed values. The baseline enters with a win rate of 0.5. The
    first sentence warns if the judge's verdicts are not informative.

    Parameters
    ----------
    comparisons : the comparisons of metrics on the set.
    rates : the comparison of win rates over the baseline on the set.
    tally : the judged pairs of that run.

    Returns
    -------
    Two sentences; empty if the set has no recall.
    """
    recalls = [comparison for comparison in comparisons if comparison.metric == WIN_RECALL_METRIC]
    if not recalls:
        return []
    rates_by_method = {row.method: row for row in rates.rows}
    measured_points = []
    printed_points = []
    for recall in recalls[0].rows:
        rate = rates_by_method.get(recall.method)
        measured_points.append((recall.here.mean, rate.here.mean if rate else SELF_WIN_RATE))
        printed_points.append((recall.printed, rate.printed if rate else SELF_WIN_RATE))
    judge_caveat = (
        "" if tally.is_informative(WIN_CRITERION) else ", by a judge with uninformative verdicts"
    )
    return [
        f"Win rate by recall at 10, here{judge_caveat}: {pearson_text(measured_points)}.",
        "The same of the values that the paper prints: "
        f"{pearson_text(printed_points)}. Its figure gives p < 0.05 and no r.",
    ]


def pearson_text(points: Sequence[tuple[float | None, float | None]]) -> str:
    """Return Pearson's r with its 95 % interval and p-value as a text.

    Each point has two figures of a method. Points that lack one are left out.

    >>> from core.evaluation.papers.win_rates import pearson_text
    >>> pearson_text([(0.1, 0.4), (0.2, 0.3), (0.3, 0.5), (0.4, 0.6), (0.5, None)])
    "Pearson's r 0.80 [-0.70, 1.00], p = 0.200, n = 4"
    >>> pearson_text([(0.1, 0.4), (0.2, 0.3), (0.3, 0.5)])
    "no Pearson's r: 3 methods have both values; it needs 4, with values that differ"
    """
    from scipy.stats import pearsonr

    pairs = np.array([pair for pair in points if None not in pair], np.float64).reshape(-1, 2)
    estimate = correlation(pairs[:, 0], pairs[:, 1])
    if estimate.mean is None:
        return (
            f"no Pearson's r: {len(pairs)} methods have both values; it needs 4, with values that "
            "differ"
        )
    p_value = float(pearsonr(pairs[:, 0], pairs[:, 1]).pvalue)
    return f"Pearson's r {estimate.format_with_interval('{:.2f}'.format)}, p = {p_value:.3f}, n = {estimate.n}"
