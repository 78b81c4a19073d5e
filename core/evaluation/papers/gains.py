"""Correlation of a search's gain with its starting point.

It is in Table 6 and Figure 5 of FastInsight. Section 5.3.1 of the paper studies searches over a
corpus graph that begin with the first ten results of another method.
"""

from __future__ import annotations

import numpy as np

from core.evaluation.metrics.statistics import correlation
from core.evaluation.papers.experiments import Experiment
from core.evaluation.papers.paper_comparison import MethodValues, MetricComparison
from core.evaluation.reports.summary import RunSummary

START_NEARNESS_METRIC = "topological_recall@10"
START_RECALL_METRIC = "capped_node_recall@10"
END_RECALL_METRIC = "capped_node_recall@100"


def gain_correlations(
    experiment: Experiment, name: str, summary: RunSummary
) -> list[MetricComparison]:
    """Return the correlation of each method's gain with each metric of the starting point.

    The metrics are those that the paper prints for the set, computed on the first ten results of
    the experiment's `after` method. The gain is R@100 of the method minus R@10 of these results,
    with R@k as capped recall.

    Parameters
    ----------
    experiment : the experiment, with its `after` method.
    name : the paper's name of the question set.
    summary : figures of the run on that set.

    Returns
    -------
    One table for each metric, with Pearson's correlation over the questions next to the paper's.

    Notes
    -----
    FastInsight, section 4.3.1. The paper's table has a column Recall; MissTR is the difference
    between Topological Recall and that column (corollary 1), so the column is recall without a cap.
    """
    # One column per printed metric, and the recall of the starting point as the last one.
    start_values = summary.values(
        experiment.after, [*experiment.printed[name], START_RECALL_METRIC]
    )
    comparisons = []
    for column, (metric, printed) in enumerate(experiment.printed[name].items()):
        rows = []
        for method, value in zip(experiment.rows, printed, strict=True):
            gains = summary.values(method, [END_RECALL_METRIC])[:, 0] - start_values[:, -1]
            estimate = correlation(start_values[:, column], gains)
            rows.append(MethodValues(method, experiment.rows[method], value, estimate))
        title = f"gain with {metric}"
        comparisons.append(MetricComparison.from_rows(name, summary.run.spec["set"], title, rows))
    return comparisons


def quartiles(summary: RunSummary, start: str, method: str) -> list[tuple[float, float, int]]:
    """Return figures of the four quartiles of the questions by Topological Recall (Figure 5).

    The questions are sorted by the Topological Recall of the first ten results of `start`. Ties
    keep the order of the questions.

    Parameters
    ----------
    summary : figures of a run.
    start : id of the method whose first ten results are the starting point.
    method : id of the method that continues from these results.

    Returns
    -------
    For each quartile, lowest first: mean Topological Recall, mean capped recall at 10 of the
        method, number of questions. Empty quartiles are left out.
    """
    nearness = summary.values(start, [START_NEARNESS_METRIC])[:, 0]
    recall = summary.values(method, [START_RECALL_METRIC])[:, 0]
    known_rows = np.flatnonzero(~np.isnan(nearness) & ~np.isnan(recall))
    parts = np.array_split(known_rows[np.argsort(nearness[known_rows], kind="stable")], 4)
    return [
        (float(nearness[part].mean()), float(recall[part].mean()), len(part))
        for part in parts
        if len(part)
    ]
