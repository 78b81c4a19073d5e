"""How what a search over a corpus graph gains goes with where it began (FastInsight, section 5.3.1: Table 6 and Figure 5)."""

from __future__ import annotations

import numpy as np

from core.evaluation.metrics.statistics import correlation
from core.evaluation.papers.beside import Beside, Row
from core.evaluation.papers.experiments import Experiment
from core.evaluation.reports.summary import Summary

NEAR, RECALL, RECALL_AT_END = (
    "topological_recall@10",
    "capped_node_recall@10",
    "capped_node_recall@100",
)


def gains(experiment: Experiment, name: str, summary: Summary) -> list[Beside]:
    """For each metric that the paper prints of the set `name`, taken of the first ten of `after`: its correlation (Pearson's, over the
    questions) with what each instance gains, beside the paper's.

    The gain is R@100 of the instance less R@10 of these first ten, R@k capped recall as the paper defines it (section 4.3.1). Its table
    calls a column Recall, of which MissTR is what is missing from Topological Recall (corollary 1): that one is recall without a cap.
    """
    columns = summary.values(experiment.after, [*experiment.printed[name], RECALL])
    found = []
    for column, (metric, printed) in enumerate(experiment.printed[name].items()):
        rows = []
        for instance, value in zip(experiment.rows, printed, strict=True):
            gained = summary.values(instance, [RECALL_AT_END])[:, 0] - columns[:, -1]
            rows.append(
                Row(
                    instance,
                    experiment.rows[instance],
                    value,
                    correlation(columns[:, column], gained),
                )
            )
        found.append(Beside.of(name, summary.run.spec["set"], f"gain with {metric}", rows))
    return found


def quartiles(summary: Summary, first: str, instance: str) -> list[tuple[float, float, int]]:
    """The questions in four parts by the Topological Recall of the first ten of `first`: of each part its mean, the mean recall at 10 of an
    instance, and how many questions it has (Figure 5). Ties go by the order of the questions."""
    near = summary.values(first, [NEAR])[:, 0]
    recall = summary.values(instance, [RECALL])[:, 0]
    there = np.flatnonzero(~np.isnan(near) & ~np.isnan(recall))
    parts = np.array_split(there[np.argsort(near[there], kind="stable")], 4)
    return [
        (float(near[part].mean()), float(recall[part].mean()), len(part))
        for part in parts
        if len(part)
    ]
