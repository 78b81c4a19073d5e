"""Win rates beside the paper's, and their correlation with recall: by hand and against SciPy."""

from __future__ import annotations

import pytest
from scipy.stats import pearsonr

from core.cli import EXIT_WRONG_INPUT, main
from core.evaluation.metrics.outcome import Outcome, ScoredAnswer
from core.evaluation.metrics.ranking import GoldRanks
from core.evaluation.pairwise.pair_judgements import answer_pairs
from core.evaluation.pairwise.tally import PairwiseTally
from core.evaluation.pairwise.verdicts import CRITERIA, Match, PairwiseVerdict
from core.evaluation.papers.experiments import Experiment, PublishedSet
from core.evaluation.papers.paper_comparison import compare_with_paper, value_texts
from core.evaluation.papers.win_rates import compare_win_rates, pearson_text, recall_correlations
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import Run, StoredRow
from core.types import Question
from tests.core.evaluation.reports.test_summary import SPEC

ROWS = {"a": "A", "b": "B", "c": "C", "d": "D"}
MADE = Experiment(
    "made",
    "P",
    "T",
    "M",
    ROWS,
    {"Films": {"capped_node_recall@10": (0.1, 0.2, 0.3, 0.4)}, "Bare": {}},
    {"Films": PublishedSet("Films", "-"), "Bare": PublishedSet("Bare", "-")},
    "nobody",
    (),
    1,
    against="d",
    wins={"Films": (0.4, 0.3, 0.5, None), "Bare": (0.1, 0.1, 0.1, None)},
)
FIRST, SECOND = (PairwiseVerdict(dict.fromkeys(CRITERIA, place)) for place in ("first", "second"))


@pytest.fixture
def summary():
    """A run of the methods a, b, c and d on two questions.

    Each question has ten gold nodes, of which a, b, c and d find 1, 2, 3 and 4.
    """
    methods = [{"id": one, "name": one, "title": one, "line": "GraphReader()"} for one in ROWS]
    rows = [
        StoredRow(
            one,
            Question(f"q{i}", f"q{i}", gold=("x",), abstract=True),
            Outcome(
                0,
                nodes=GoldRanks(
                    10, tuple(range(1, n + 1)), tuple(p if p <= n else None for p in range(1, 11))
                ),
                answer=ScoredAnswer(f"{one} {i}", "language model", 0, 1),
            ),
        )
        for n, one in enumerate(ROWS, 1)
        for i in range(2)
    ]
    return RunSummary(
        Run(7, "key", SPEC | {"instances": methods, "of": 2, "sample": 2}, 0.0, "done", 8, 0), rows
    )


@pytest.fixture
def tally():
    """Over d, a wins none of two, b one, and c both."""
    matches = [("a", 0), ("a", 0), ("b", 0), ("b", 1), ("c", 1), ("c", 1)]
    return PairwiseTally(
        tuple(ROWS),
        tuple(
            Match(f"q{i % 2}", one, "d", *((FIRST, SECOND) if win else (SECOND, FIRST)))
            for i, (one, win) in enumerate(matches)
        ),
        6,
        "a judge",
    )


def test_win_rates_beside_the_papers(summary, tally):
    found = compare_win_rates(MADE, "Films", summary, tally)
    assert [(row.name, row.printed, row.here.mean, row.here.n) for row in found.rows] == [
        ("A", 0.4, 0, 2),
        ("B", 0.3, 0.5, 2),
        ("C", 0.5, 1, 2),
    ]
    assert found.metric == "win rate over D" and found.tau == pytest.approx(1 / 3)
    assert value_texts(found.metric, found.rows[1])[1:3] == [
        "0.300",
        value_texts(found.metric, found.rows[1])[2],
    ]
    assert value_texts(found.metric, found.rows[1])[2].startswith("0.500 [")


def test_the_correlation_is_over_the_methods_and_the_one_they_are_held_against(summary, tally):
    here, printed = recall_correlations(
        compare_with_paper(MADE, "Films", summary),
        compare_win_rates(MADE, "Films", summary, tally),
        tally,
    )
    r, p = pearsonr([0.1, 0.2, 0.3, 0.4], [0, 0.5, 1, 0.5])
    assert f"{r:.2f} [" in here and f"p = {p:.3f}, n = 4" in here
    assert f"{pearsonr([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.5, 0.5])[0]:.2f} [" in printed


def test_a_set_without_gold_has_win_rates_alone(summary, tally):
    assert compare_with_paper(MADE, "Bare", summary) == []
    assert recall_correlations([], compare_win_rates(MADE, "Bare", summary, tally), tally) == []


def test_a_judge_that_says_nothing_is_named(summary):
    blind = PairwiseTally(
        tuple(ROWS), tuple(Match("q0", one, "d", FIRST, FIRST) for one in "abc"), 3, "a judge"
    )
    said = recall_correlations(
        compare_with_paper(MADE, "Films", summary),
        compare_win_rates(MADE, "Films", summary, blind),
        blind,
    )
    assert "by a judge with uninformative verdicts" in said[0]


def test_with_few_methods_or_equal_ones_there_is_no_correlation():
    assert (
        pearson_text([])
        == pearson_text([(None, 0.5)])
        == "no Pearson's r: 0 methods have both values; it needs 4, with values that differ"
    )
    assert pearson_text([(0.1, 0.5)] * 6).startswith("no Pearson's r")


def test_pairs_of_which_one_is_its_alone_are_judged(summary):
    assert {(pair.a, pair.b) for pair in answer_pairs(summary, against="d")} == {
        ("a", "d"),
        ("b", "d"),
        ("c", "d"),
    }
    assert len(answer_pairs(summary)) == 12


def test_without_a_language_model_it_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    assert main(["reproduce", "fastinsight-figure-3", "--small", "--no-llm"]) == EXIT_WRONG_INPUT
    assert "compares the answers of a language model" in capsys.readouterr().err
