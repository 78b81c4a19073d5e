"""Printed values of a paper beside measured ones.

The differences, the agreement and the order are worked out by hand.
"""

from __future__ import annotations

import dataclasses
import json

import pytest

from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.evaluation.metrics.statistics import Estimate, kendall
from core.evaluation.papers.experiments import Experiment, PublishedSet
from core.evaluation.papers.paper_comparison import (
    MethodValues,
    MetricComparison,
    agreement_text,
    compare_with_paper,
    comparison_markdown,
    set_order_sentences,
    table_texts,
    wide_table,
)
from core.evaluation.papers.printed_values import UpperBound
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import Run, StoredRow
from core.types import Question
from tests.core.evaluation.reports.test_summary import SPEC, outcome
from tests.notes import NoteWith

MADE = Experiment(
    "made",
    "A paper",
    "Table 1",
    "Made",
    {"a": "A", "b": "B"},
    {"Films": {"accuracy": (0.2, 0.7)}},
    {"Films": PublishedSet("Films", "nowhere")},
    "nobody",
    (),
    1,
)


def summary(n):
    """Of `n` questions `a` answers half and `b` all."""
    questions = [Question(f"q{i}", f"q{i}", ("One",), ("Ann",), 1) for i in range(n)]
    rows = [StoredRow("a", one, outcome(1, i % 2)) for i, one in enumerate(questions)]
    rows += [StoredRow("b", one, outcome(1, 1)) for one in questions]
    return RunSummary(Run(7, "key", SPEC | {"of": n, "sample": n}, 0.0, "done", 2 * n, 0), rows)


def test_differences_from_the_first_row_and_whether_they_agree():
    (found,) = compare_with_paper(MADE, "Films", summary(40))
    a, b = found.rows
    assert (
        (a.here.mean, b.here.mean) == (0.5, 1.0)
        and found.tau is None
        and found.asked == "films_set"
    )
    assert a.printed_difference is None and a.difference is None and a.agrees is None
    assert (
        b.printed_difference == pytest.approx(0.5)
        and b.difference[0] == 0.5
        and b.difference[1] <= 0.5 <= b.difference[2]
    )
    assert b.agrees is True
    assert "1 of 1" in agreement_text(found) and "40 questions of films_set" in agreement_text(
        found
    )


def test_few_questions_say_nothing_on_agreement():
    (found,) = compare_with_paper(MADE, "Films", summary(4))
    assert found.rows[1].agrees is None and "fewer than 20" in agreement_text(found)


def test_where_the_papers_metric_is_not_known_nothing_is_said_on_agreement():
    unknown = dataclasses.replace(MADE, metric_unknown="It does not name the metric.")
    (found,) = compare_with_paper(unknown, "Films", summary(40))
    _, head, rows, notes = table_texts(found)
    assert [row[head.index("agrees")] for row in rows] == ["–", "–"]
    assert "does not name the metric" in notes[0] and "1 of 1" not in notes[0]


def test_a_difference_outside_of_the_interval_does_not_agree():
    row = MethodValues("b", "B", 0.9, Estimate(0.5, 0.4, 0.6, 40), 0.6, (0.1, 0.0, 0.2))
    assert row.agrees is False


def test_a_row_with_a_bound_is_no_first_row():
    here, difference = Estimate(0.5, 0.4, 0.6, 40), (0.1, 0.0, 0.2)
    rows = (
        MethodValues("a", "A", 0.3, here),
        MethodValues("a2", "A 2", 0.4, here, 0.1, difference),
        MethodValues("a3", "A 3", UpperBound(0.01), here, None, difference),
    )
    first_bound = (
        MethodValues("b", "B", UpperBound(0.01), here),
        MethodValues("b2", "B 2", 0.2, here, None, difference),
    )

    def text(rows):
        return agreement_text(MetricComparison("Films", "films_set", "accuracy", rows, None))

    assert "from the first row lies" in text(rows)
    assert "from the first row of the same method lies" in text(rows + first_bound)


def test_orders_that_cannot_be_compared():
    assert (
        kendall([]) is None
        and kendall([(1, 2), (2, 3)]) is None
        and kendall([(1, 2), (2, 2), (3, 2)]) is None
    )
    assert kendall([(3, 1), (2, 2), (1, 3)]) == -1


def test_differences_are_from_the_row_that_each_names():
    own = dataclasses.replace(MADE, firsts={"b": "b"})  # each begins a method of its own
    (found,) = compare_with_paper(own, "Films", summary(40))
    assert [row.printed_difference for row in found.rows] == [None, None] and found.rows[
        1
    ].difference is None


def test_the_order_of_sets_for_one_method():
    table = lambda set, printed, here: MetricComparison(
        set,
        "asked",
        "summaries",
        (MethodValues("a", "A", printed, Estimate(here, here, here, 30)),),
        None,
    )
    # of three pairs one is the other way round
    tables = [table("One", 0.4, 0.9), table("Two", 0.3, 0.1), table("Three", 0.2, 0.2)]
    assert set_order_sentences(tables) == [NoteWith("A, summaries", "tau", 3, "0.33")]
    assert set_order_sentences(tables[:2]) == [] and set_order_sentences([]) == []


def test_markdown_has_what_is_missing_as_a_dash():
    rows = (MethodValues("a", "A | b", None, Estimate(None, None, None, 0)),)
    text = comparison_markdown(
        MADE, [MetricComparison("Films", "films_set", "accuracy", rows, None)], ["Another model."]
    )
    assert (
        "| A \\| b | – | – | 0 | – | – | – |" in text
        and text.endswith("- Another model.\n")
        and "cannot be compared" in text
    )


def test_what_is_drawn_without_numbers_is_one_table_a_set():
    drawn = dataclasses.replace(
        MADE, printed={"Films": {"accuracy": (None, None), "seconds": (None, None)}}
    )
    table = wide_table(compare_with_paper(drawn, "Films", summary(4)))
    assert (table.title, table.head) == ("Films", ("method", "accuracy", "seconds"))
    assert [(row[0], row[1][:5]) for row in table.rows] == [("A", "0.500"), ("B", "1.000")]
    assert table.notes == (NoteWith(4, "films_set"),)
    assert "| B | 1.000 " in comparison_markdown(
        drawn, [table], []
    ) and "| paper |" not in comparison_markdown(drawn, [table], [])


@pytest.fixture
def told(films, tmp_path, monkeypatch, capsys):
    """`told(*arguments)`: the exit code, output and error of `reproduce`.

    Two questions of the films graph stand for the set CWQ.
    """
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    (tmp_path / "RoG-cwq-test.jsonl").write_text(
        '{"question": "what genre has One", "entities": ["One"], "answers": ["Drama"]}\n'
        '{"question": "who directed Two", "entities": ["Two"], "answers": ["Ann"]}\n',
        "utf-8",
    )

    def run(*arguments):
        code = main(["reproduce", *arguments])
        out = capsys.readouterr()
        return code, out.out, out.err

    return run


def test_a_table_is_made_from_published_files_and_taken_up_again(told, films, tmp_path):
    asked = ("lego-table-7", "--data", str(tmp_path), "--graph", str(films.folder), "--no-llm")
    code, out, err = told(*asked, "--out", str(tmp_path / "t.md"), "--json")
    found = json.loads(out)
    assert code == EXIT_OK and "WebQSP is left out" in err
    assert [table["metric"] for table in found["tables"]] == ["f1", "path_f1@32"]
    for table in found["tables"]:
        assert table["set"].startswith("CWQ") and table["metric_unknown"]
        assert [row["printed"] for row in table["rows"]] == [0.183, 0.224, 0.133]
        assert all(row["here"]["n"] == 2 for row in table["rows"])
    assert any("graph reader" in sentence for sentence in found["differs"])
    assert "# Table 7, B.8" in (tmp_path / "t.md").read_text("utf-8")
    again = told(*asked)
    # nothing is asked again
    assert again[0] == EXIT_OK and "SBE+ISAR-EEMs (Origin)" in again[1] and "done" not in again[2]


def test_what_cannot_be_is_a_sentence(told, tmp_path):
    assert told("nothing")[0] == EXIT_WRONG_INPUT
    code, _, err = told("lego-table-7")
    assert code == EXIT_WRONG_INPUT and "--data" in err and "--small" in err
    assert "neither" in told("lego-table-7", "--data", "CWX=a.jsonl")[2]
    assert "Did you mean “CWQ”" in told("lego-table-7", "--small", "--set", "CWW")[2]
    assert "A sample is" in told("lego-table-7", "--small", "--sample", "some")[2]
    assert (
        "cannot be written"
        in told("lego-table-7", "--small", "--out", str(tmp_path / "none" / "t.md"))[2]
    )


def test_an_experiment_of_which_nothing_ships_has_no_small_run(told, monkeypatch):
    monkeypatch.setattr("core.commands.reproduce.find_experiment", lambda id: MADE)
    code, _, err = told("made", "--small")
    assert code == EXIT_WRONG_INPUT and "cannot be tried in small" in err


def test_graphs_by_a_language_model_are_to_be_built_first(told):
    code, out, err = told(
        "analysis-table-7", "--data", "MultihopQA=christmas-carol", "--sample", "1"
    )
    assert code == EXIT_WRONG_INPUT and not out and "12 graphs are to be built first" in err
    assert (
        'corpus build christmas-carol --graph "TokenChunks(size=600) >> LanguageModelExtraction('
        in err
    )


def test_the_list_and_the_sources(told):
    code, out, _ = told()
    assert (
        code == EXIT_OK and "lego-table-7" in out and "Walk&Retrieve" in out and "Not made" in out
    )
    assert json.loads(told("--json")[1])[0]["experiments"]
    assert "RoG-cwq" in told("lego-table-7", "--fetch")[1]
