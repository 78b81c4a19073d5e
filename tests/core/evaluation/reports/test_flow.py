"""From one method to another: bands of made-up rows, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.evaluation.metrics.outcome import GoldRanks, Outcome, ScoredAnswer
from core.evaluation.metrics.passages import PassageSurvival
from core.evaluation.reports.flow import (
    PASSAGE_MEASURE,
    READER_MEASURE,
    Band,
    Flow,
    correctness_measure,
    flow,
    flow_layout,
)
from core.evaluation.reports.html import report_html
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import StoredRow
from core.types import Question
from tests.core.evaluation.reports.test_summary import RUN, SPEC

QUESTIONS = [
    Question(f"who {i}", f"q{i}", ("One",), ("Ann",), gold=("one", "two")) for i in range(5)
]


def on_triples(*stages: str) -> list[Outcome]:
    """An outcome for each: right by the graph reader, or lost at this stage."""
    order = ("graph", "subgraph", "paths", "prompt", "answer")
    found = []
    for stage in stages:
        right = stage == "right"
        lost = len(order) if right else order.index(stage)
        reader = GoldRanks(1, (1,), (1,)) if right else GoldRanks(1, (), (None,))
        found.append(
            Outcome(1, reader=reader, alive={name: int(i < lost) for i, name in enumerate(order)})
        )
    return found


def on_documents(*shown: tuple[int, int], answers: str = "") -> list[Outcome]:
    """Outcomes with two passages each, by how many were found and how many are in the prompt.

    Each of `shown` is one outcome. With `answers` there is a letter for each outcome: 1 is right
    and 0 is wrong.
    """
    fates = [
        PassageSurvival(2, {"corpus": 2, "graph": 2, "retrieved": found, "prompt": prompt})
        for found, prompt in shown
    ]
    said = [ScoredAnswer("said", "language model", int(mark), 1) for mark in answers] or [
        None
    ] * len(fates)
    return [Outcome(1, fates=one, answer=answer) for one, answer in zip(fates, said)]


def summed(
    model: bool = False, documents: bool = False, **rows: list[Outcome | None]
) -> RunSummary:
    methods = [
        {"id": key, "name": key.upper(), "title": key, "line": "EgoNetwork()"} for key in rows
    ]
    graphs = [["corpus:three" if documents else "films", "0"]]
    spec = {
        **SPEC,
        "instances": methods,
        "sample": len(QUESTIONS),
        "model": model,
        "graphs": graphs,
    }
    stored = [
        StoredRow(key, question, outcome, None if outcome else "No.")
        for key, outcomes in rows.items()
        for question, outcome in zip(QUESTIONS, outcomes)
    ]
    return RunSummary(replace(RUN, spec=spec), stored)


def test_questions_flow_from_stage_to_stage():
    found = flow(
        summed(
            a=on_triples("right", "right", "paths", "subgraph", "answer"),
            b=on_triples("right", "paths", "right", "right", "paths"),
        ),
        "a",
        "b",
    )
    assert found.measure == READER_MEASURE and found.n == 5 and found.left_out == 0
    assert [(band.before, band.after, band.questions, band.kind) for band in found.bands] == [
        ("right", "right", ("q0",), "right"),
        ("right", "paths", ("q1",), "lost"),
        ("answer", "paths", ("q4",), "wrong"),
        ("paths", "right", ("q2",), "won"),
        ("subgraph", "right", ("q3",), "won"),
    ]
    assert found.count_ends("before") == {
        "right": 2,
        "answer": 1,
        "paths": 1,
        "subgraph": 1,
    } and found.count_ends("after") == {"right": 3, "paths": 2}
    assert found.stage_label("answer") == "wrong first answer"


def test_the_prompt_does_not_count_where_the_graph_reader_reads_all_paths():
    """The prompt counts only where the language model answers.

    An answer that is not in the prompt was then lost there.
    """
    outcome = replace(on_triples("prompt")[0], answer=ScoredAnswer("Bob", "language model", 0, 1))
    assert [band.before for band in flow(summed(a=[outcome], b=[outcome]), "a", "b").bands] == [
        "answer"
    ]
    assert [
        band.before for band in flow(summed(model=True, a=[outcome], b=[outcome]), "a", "b").bands
    ] == ["prompt"]


def test_on_documents_all_gold_passages_are_to_come_through():
    found = flow(
        summed(
            documents=True,
            a=on_documents((2, 2), (2, 1), (1, 1)),
            b=on_documents((1, 1), (2, 2), (1, 1)),
        ),
        "a",
        "b",
    )
    assert found.measure == PASSAGE_MEASURE and found.stage_label("right") == "all evidence found"
    assert [(band.before, band.after) for band in found.bands] == [
        ("right", "retrieved"),
        ("prompt", "right"),
        ("retrieved", "retrieved"),
    ]


def test_where_a_language_model_answered_its_answers_count():
    """Right without its passages; all passages in the prompt and a wrong answer."""
    rows = on_documents((1, 1), (2, 2), answers="10")
    found = flow(summed(model=True, documents=True, a=rows, b=rows), "a", "b")
    assert found.measure == "accuracy" and [band.before for band in found.bands] == [
        "right",
        "answer",
    ]


def test_failed_questions_are_a_stage_and_those_without_a_row_are_left_out_and_counted():
    found = flow(summed(a=[*on_triples("right", "right"), None], b=on_triples("right")), "a", "b")
    assert found.n == 1 and found.left_out == 2
    found = flow(summed(a=[*on_triples("right"), None], b=on_triples("right", "right")), "a", "b")
    assert [(band.before, band.after) for band in found.bands] == [
        ("right", "right"),
        ("failed", "right"),
    ]


def test_nothing_flows_where_nothing_is_known():
    assert flow(summed(a=[Outcome(0)], b=[Outcome(0)]), "a", "b") is None
    assert (
        correctness_measure(summed(a=[None], b=[None]), ("a", "b")) == ""
        and flow(summed(a=[], b=[]), "a", "b") is None
    )


def test_a_line_that_retrieves_nothing_loses_passages_at_retrieval():
    nothing = Outcome(1, fates=PassageSurvival(2, {"corpus": 2, "graph": 2}))
    found = flow(summed(documents=True, a=[nothing], b=on_documents((2, 2))), "a", "b")
    assert [(band.before, band.after) for band in found.bands] == [("retrieved", "right")]


def test_bands_fill_the_stages_of_both_sides_and_labels_are_a_row_from_one_another():
    questions = tuple(f"q{i}" for i in range(9))
    bands = (
        Band("right", "right", questions[:5]),
        Band("right", "prompt", questions[5:6]),
        Band("prompt", "right", questions[6:7]),
        Band("paths", "right", questions[7:8]),
        Band("paths", "paths", questions[8:]),
    )
    labels = {
        ("right", "prompt"): "1 lost",
        ("prompt", "right"): "1 won",
        ("paths", "right"): "1 won",
    }
    drawn = flow_layout(Flow("a", "b", "hits@1", bands), labels)
    for side in ("left", "right"):
        ends = "before" if side == "left" else "after"
        for stage in drawn[side]:
            edges = [
                band[side]
                for band, of in zip(drawn["bands"], bands)
                if getattr(of, ends) == stage["stage"]
            ]
            assert edges[0][0] == stage["top"] and edges[-1][1] == pytest.approx(
                stage["top"] + stage["height"]
            )
            assert all(one[1] == pytest.approx(two[0]) for one, two in zip(edges, edges[1:]))
    heights = sorted(band["at"] for band in drawn["bands"] if band["label"])
    assert (
        all(b - a >= 22 - 1e-9 for a, b in zip(heights, heights[1:]))
        and heights[-1] <= drawn["height"]
    )


def test_the_report_lists_where_questions_end_with_two_methods():
    summary = summed(a=on_triples("right", "paths"), b=on_triples("paths", "right"))
    html = report_html(summary)
    assert (
        "<h2>What changed from one method to another</h2>" in html
        and "With A</th>" in html
        and "Questions, n = 2</th>" in html
    )
    assert (
        "<td class=words>right</td><td class=words>not on a path</td><td class=words>lost</td><td>1</td>"
        in html
    )
    assert "<h2>What changed" not in report_html(summed(a=[Outcome(0)], b=[Outcome(0)]))
