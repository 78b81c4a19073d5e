"""Flow of a run's questions from one method to another.

The flow is by the stage at which each question ends. A question ends at the stage that lost its
correct answer (or its gold passages), or it is right, or it failed. Questions with the same end in
both methods form a band of the diagram.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.outcome import Outcome
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import StoredRow

END_RIGHT = "right"
END_FAILED = "failed"
# End stages in the order in which the diagram shows them, from top to bottom.
END_STAGES = (
    END_RIGHT,
    "answer",
    "prompt",
    "paths",
    "retrieved",
    "subgraph",
    "graph",
    "corpus",
    END_FAILED,
)
# Measures of correctness besides the metrics of answers: the graph reader's first name is correct
# (a metric), and all gold passages survive (no metric).
READER_MEASURE = "reader_hit@1"
PASSAGE_MEASURE = "passages"
STAGE_LABELS = {
    END_RIGHT: "right",
    "answer": "not in the answer",
    "prompt": "not in the prompt",
    "paths": "not on a path",
    "retrieved": "not retrieved",
    "subgraph": "outside the subgraph",
    "graph": "not in the graph",
    "corpus": "not in the documents",
    END_FAILED: "failed",
}
# Labels that replace those of `STAGE_LABELS`, by measure of correctness.
LABELS_BY_MEASURE = {
    PASSAGE_MEASURE: {END_RIGHT: "all evidence found"},
    READER_MEASURE: {"answer": "wrong first answer"},
}
FLOW_HEIGHT_PIXELS = 280.0  # height of all questions together
STAGE_GAP_PIXELS = 34.0  # between two stages
LABEL_HEIGHT_PIXELS = 22.0  # of a label on a band


@dataclass(frozen=True)
class Band:
    """Questions with the same end stage in the first and second method.

    The questions are ids. `before` is the stage at which they end in the first method, `after` the
    one in the second.
    """

    before: str
    after: str
    questions: tuple[str, ...]

    @property
    def kind(self) -> Literal["won", "lost", "right", "wrong"]:
        """Effect of the second method: questions won, lost, right in both or wrong in both."""
        if self.before == END_RIGHT:
            return "right" if self.after == END_RIGHT else "lost"
        return "won" if self.after == END_RIGHT else "wrong"

    @property
    def label(self) -> str:
        """Word for the effect on a screen: “gained” for won questions, else the kind."""
        return "gained" if self.kind == "won" else self.kind


@dataclass(frozen=True)
class Flow:
    """Bands of questions from method `a` to method `b`, correct questions first.

    `measure` decides which questions are correct (`correctness_measure`). `left_out` is the number
    of questions whose end stage is unknown in one of the two methods.
    """

    a: str
    b: str
    measure: str
    bands: tuple[Band, ...]
    left_out: int = 0

    @property
    def n(self) -> int:
        """Number of questions in all bands."""
        return sum(len(band.questions) for band in self.bands)

    def count_ends(self, side: Literal["before", "after"]) -> dict[str, int]:
        """Return how many questions end at each stage, in the first or second method."""
        counts = {
            stage: sum(len(band.questions) for band in self.bands if getattr(band, side) == stage)
            for stage in END_STAGES
        }
        return {stage: count for stage, count in counts.items() if count}

    def stage_label(self, stage: str) -> str:
        """Return the label of a stage."""
        return LABELS_BY_MEASURE.get(self.measure, {}).get(stage) or STAGE_LABELS[stage]


def flow(summary: RunSummary, a: str, b: str) -> Flow | None:
    """Return the flow of a run's questions from one method to another.

    Parameters
    ----------
    summary : figures of a run.
    a, b : ids of the methods.

    Returns
    -------
    The bands of questions; None if no correct answers are known.
    """
    measure_name = correctness_measure(summary, (a, b))
    if not measure_name:
        return None
    stages = {method: end_stages(summary, method, measure_name) for method in (a, b)}
    questions_by_ends: dict[tuple[str, str], list[str]] = {}
    for question in summary.questions:
        before, after = stages[a].get(question), stages[b].get(question)
        if before is not None and after is not None:
            questions_by_ends.setdefault((before, after), []).append(question)
    if not questions_by_ends:
        return None
    order = sorted(questions_by_ends, key=lambda pair: tuple(map(END_STAGES.index, pair)))
    bands = tuple(Band(*pair, tuple(questions_by_ends[pair])) for pair in order)
    left_out = len(summary.questions) - sum(map(len, questions_by_ends.values()))
    return Flow(a, b, measure_name, bands, left_out)


def correctness_measure(summary: RunSummary, methods: Sequence[str]) -> str:
    """Return the measure that decides if a question is correct.

    It is the same for all the methods. It is the first of these for which every method has values:
    the metric of answers if a language model gave them, the hit of the graph reader's first name,
    the survival of all gold passages (on documents), and accuracy. Methods without outcomes are
    ignored.

    Parameters
    ----------
    summary : figures of a run.
    methods : ids of methods.

    Returns
    -------
    Name of a metric, or `PASSAGE_MEASURE`; empty if there is none.
    """
    outcomes_by_method = [summary.outcomes(method) for method in methods]
    answered = [outcomes for outcomes in outcomes_by_method if outcomes]
    by_model = summary.defaults.answer_metrics[:1] if summary.run.spec["model"] else ()
    for measure in (*by_model, READER_MEASURE, PASSAGE_MEASURE, "accuracy"):
        is_known = (
            any(outcome_end_stage(outcome, measure) for outcome in outcomes)
            for outcomes in answered
        )
        if answered and all(is_known):
            return measure
    return ""


def end_stages(summary: RunSummary, method: str, measure: str, run: int = 0) -> dict[str, str]:
    """Return the end stage of each question of a method.

    Parameters
    ----------
    summary : figures of a run.
    method : id of the method.
    measure : the result of `correctness_measure`.
    run : number of the method's run, 0 for the first.

    Returns
    -------
    Stages by question id, without the unknown ones.
    """
    rows = summary.rows_of(method, run)
    stages = {row.question.id: row_end_stage(row, measure) for row in rows}
    return {question: end for question, end in stages.items() if end is not None}


def row_end_stage(row: StoredRow, measure: str) -> str | None:
    """Return the end stage of a question: right, failed, or the stage that lost the answer.

    Parameters
    ----------
    row : a row of a run.
    measure : the result of `correctness_measure`.

    Returns
    -------
    A stage; None if no correct answer is known.
    """
    if row.outcome is not None:
        return outcome_end_stage(row.outcome, measure)
    targets = row.question.gold if measure == PASSAGE_MEASURE else row.question.answers
    return END_FAILED if targets else None


def outcome_end_stage(outcome: Outcome, measure: str) -> str | None:
    """Return the end stage of an answered question.

    Parameters
    ----------
    outcome : the outcome of one question.
    measure : the result of `correctness_measure`.

    Returns
    -------
    A stage; None if no correct answer is known.

    Examples
    --------
    >>> from core.evaluation.metrics.outcome import ScoredAnswer, Outcome
    >>> from core.evaluation.metrics.passages import PassageSurvival
    >>> from core.evaluation.reports.flow import outcome_end_stage
    >>> found = PassageSurvival(golds=2, alive={"corpus": 2, "graph": 2, "retrieved": 2, "prompt": 1})
    >>> (
    ...     outcome_end_stage(Outcome(1, fates=found), "passages"),
    ...     outcome_end_stage(Outcome(1, answer=ScoredAnswer("Ann", "m", 1, 1), fates=found), "accuracy"),
    ... )
    ('prompt', 'right')
    """
    if measure == PASSAGE_MEASURE:
        return None if outcome.fates is None else lost_stage(outcome, measure) or END_RIGHT
    value = metric(measure)(outcome)
    if value is None:
        return None
    return END_RIGHT if value == 1 else lost_stage(outcome, measure) or "answer"


def lost_stage(outcome: Outcome, measure: str) -> str:
    """Return the first stage before the answer that lost a gold passage.

    If the question has no gold passages, return the first stage that lost all known answers. For
    the graph reader, which reads all paths and no prompt, the prompt is not considered.

    Parameters
    ----------
    outcome : the outcome of one question.
    measure : the result of `correctness_measure`.

    Returns
    -------
    A stage; empty if no stage lost them.
    """
    if outcome.fates is not None:
        alive: Mapping[str, int] = outcome.fates.alive
        required = outcome.fates.golds
    else:
        alive = outcome.alive or {}
        required = min(1, outcome.golds)
    excluded = ("answer", "prompt") if measure == READER_MEASURE else ("answer",)
    for stage, count in alive.items():
        if stage not in excluded and count < required:
            return stage
    # A method without that stage retrieves no passages, so the gold passages are lost there.
    return "retrieved" if outcome.fates is not None and "retrieved" not in alive else ""


def flow_layout(run_flow: Flow, labels: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """Return the layout of the diagram: stages, bands and labels, in pixels from the top.

    Parameters
    ----------
    run_flow : the flow.
    labels : label of each band, by its stages (before, after); other bands have no label.

    Returns
    -------
    Plain data: the stages of the `left` and `right` side, the `bands` and the total `height`. A
        band has its top and bottom on each side, and `at`, the height of its label.

    Examples
    --------
    >>> from core.evaluation.reports.flow import Band, Flow, flow_layout
    >>> drawn = flow_layout(
    ...     Flow(
    ...         "a",
    ...         "b",
    ...         "hits@1",
    ...         (Band("right", "right", ("q1",)), Band("answer", "right", ("q2",))),
    ...     ),
    ...     {},
    ... )
    >>> (
    ...     [(one["stage"], one["top"], one["height"]) for one in drawn["left"]],
    ...     [one["top"] for one in drawn["right"]],
    ... )
    ([('right', 0.0, 140.0), ('answer', 174.0, 140.0)], [0.0])
    >>> drawn["bands"][1]["left"], drawn["bands"][1]["right"], drawn["height"]
    ([174.0, 314.0], [140.0, 280.0], 314.0)
    """
    scale = FLOW_HEIGHT_PIXELS / run_flow.n
    next_top_by_stage = {}  # top of the next band at a stage of a side
    sides: dict[str, list[dict[str, Any]]] = {"left": [], "right": []}
    counts_by_side = {"left": run_flow.count_ends("before"), "right": run_flow.count_ends("after")}
    for side, counts in counts_by_side.items():
        top = 0.0
        for stage, count in counts.items():
            sides[side].append(
                {
                    "stage": stage,
                    "words": run_flow.stage_label(stage),
                    "n": count,
                    "top": top,
                    "height": count * scale,
                }
            )
            next_top_by_stage[side, stage] = top
            top += count * scale + STAGE_GAP_PIXELS
    bands = []
    for band in run_flow.bands:
        size = len(band.questions) * scale
        edges = []
        for side, stage in (("left", band.before), ("right", band.after)):
            band_top = next_top_by_stage[side, stage]
            next_top_by_stage[side, stage] = band_top + size
            edges.append([band_top, band_top + size])
        key = (band.before, band.after)
        bands.append(
            {
                "key": list(key),
                "kind": band.kind,
                "left": edges[0],
                "right": edges[1],
                "label": labels.get(key, ""),
            }
        )
    height = max(column[-1]["top"] + column[-1]["height"] for column in sides.values())
    _place_labels(bands, height)
    return {**sides, "bands": bands, "height": height}


def _place_labels(bands: Sequence[dict[str, Any]], height: float) -> None:
    """Set the position `at` of each band's label: the middle of the label, in pixels from the top.

    A label is at the middle of its band's right end, but at least one row below the previous label.
    Labels that would be below the diagram are moved up.
    """
    labelled_bands = sorted(
        (band for band in bands if band["label"]), key=lambda band: sum(band["right"])
    )
    top = -LABEL_HEIGHT_PIXELS
    for band in labelled_bands:
        top = band["at"] = max(top + LABEL_HEIGHT_PIXELS, sum(band["right"]) / 2)
    lowest = height - LABEL_HEIGHT_PIXELS / 2
    for band in reversed(labelled_bands):
        band["at"] = min(band["at"], lowest)
        lowest = band["at"] - LABEL_HEIGHT_PIXELS
