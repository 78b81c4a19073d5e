"""The plot of PageRank methods: where the names stand, and that the numbers are those of the rows."""

import itertools

from core.evaluation.pagerank.plot import PUBLISHED, method_figure
from core.evaluation.pagerank.plot import label_sides as sides
from core.evaluation.pagerank.trials import MethodRow


def row(method, milliseconds, recall, answers=None):
    return MethodRow(
        method, 20, milliseconds, 2 * milliseconds, recall, recall, answers, 1.0, None, None, 0.0, 0
    )


def test_names_keep_out_of_each_others_way():
    assert sides([(0.5, 0.5, "Push")]) == ["top center"]
    assert sides([(0.5, 0.5, "Push"), (0.52, 0.5, "Exact")]) == ["top center", "bottom center"]
    assert sides([(0.5, 0.97, "Push")]) == ["bottom center"]  # above, it would leave the picture
    close = [(0.7 + 0.02 * i, 0.9, "RBS") for i in range(4)]
    assert len(set(sides(close))) == 4
    assert all(a != b for a, b in itertools.combinations(sides(close), 2)) and sides(
        close
    ) == sides(close)


def test_marks_stand_at_seconds_and_recall():
    rows = [row("push", 2.0, 0.98, 0.9), row("exact", 500.0, 1.0, 0.91)]
    plain, answers = (method_figure(rows, {"push": "Forward push"}, told) for told in (False, True))
    assert [(one.x[0], one.y[0], one.text[0]) for one in plain.data] == [
        (0.002, 0.98, "Forward push"),
        (0.5, 1.0, "exact"),
    ]
    assert [one.error_x.array[0] for one in plain.data] == [0.002, 0.5]  # up to the 95th percentile
    assert [one.y[0] for one in answers.data[:2]] == [0.9, 0.91] and list(answers.data[2].y) == [
        one.recall for one in PUBLISHED
    ]
    assert len(answers.data[2].textposition) == len(PUBLISHED)
