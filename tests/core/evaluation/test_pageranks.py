"""Methods compared on the five nodes of the film graph, their numbers worked out by hand."""

import numpy as np
import pytest

from core.errors import BadInput
from core.evaluation.pageranks import compare_methods, tie_aware_recall
from core.types import Question


def test_recall_counts_what_ties_with_the_last():
    exact = np.array([0.4, 0.2, 0.2, 0.2, 0.0])
    assert tie_aware_recall(exact, np.array([0, 3]), 2) == 1.0  # any of the three may stand second
    assert tie_aware_recall(exact, np.array([1, 3]), 1) == 0.0
    assert tie_aware_recall(exact, np.array([0, 4]), 2) == 0.5
    assert tie_aware_recall(exact, np.array([0, 1, 2, 3]), 9) == 1.0  # the fifth cannot be reached


def test_exact_and_push_on_five_nodes(films):
    # from One both ways: One, Ann and Drama are the best three (test_extract.py says why); Two is one step further
    asked = [Question("a question", entities=("One",), answers=("Drama", "1999")), (0,)]
    exact, push = compare_methods(films, ("exact", "push"), asked, keep=3, damping=0.5)
    for row in (exact, push):
        assert (row.recall, row.least_recall, row.questions) == (1.0, 1.0, 2)
        assert row.answer_recall == 0.5 and row.components == 1.0  # Drama is kept, 1999 is not
        assert 0 < row.median_ms <= row.p95_ms and row.prepared_s == 0 and row.unsettled == 0


def test_no_question_is_refused(films):
    with pytest.raises(BadInput):
        compare_methods(films, ("push",), [])


def test_every_method_on_five_nodes(films, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    told = []
    rows = compare_methods(films, ("fora", "topppr", "rbs", "partition"), [(0,), (1, 2)], keep=5, progress=lambda *said: told.append(said))
    assert [row.method for row in rows] == ["fora", "topppr", "rbs", "partition"]
    for row in rows:
        assert row.recall == 1.0 and row.edges > 0 and row.answer_recall is None  # five nodes hold each other's best five
    shares = [share for text, share in told if text.startswith("PageRank by")]
    assert shares == sorted(shares) and rows[3].prepared_s >= 0
