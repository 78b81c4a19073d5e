"""Shares of a run's questions that are right, lost in retrieval, or lost in reading.

Notes
-----
Each question of a method is in one class:

- *right*: the answer holds a correct answer, under any of its names. Of several correct answers
  one is enough. The graph reader is right if the node that it names first is one.
- *lost in retrieval*: not right, and the evidence was not read (`core.diagnosis.reading`).
- *lost in reading*: not right, and all the evidence was read.
- not counted: no evidence or no correct answer is known, the question failed, or no answer came.

The first three shares sum to 1 over the counted questions. A right answer counts as right even if
its evidence was not read. *Known without context* is a share of the same questions, and may
overlap with each of the three.

The *ceiling* is the share that the same reader answers right with the evidence alone. It is over
the counted questions whose evidence alone was shown. A better retriever can win at most the
questions lost in retrieval, without those that are wrong with the evidence alone. A better reader
can win at most those lost in reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, combinations

import numpy as np

from core.diagnosis.reading import EVIDENCE, NOTHING, has_known_evidence, last_read_stage
from core.diagnosis.wording import count_noun
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.outcome import Outcome
from core.evaluation.metrics.statistics import (
    Estimate,
    PairedTest,
    holm_corrected,
    paired_test,
    share_estimate,
)
from core.evaluation.reports.export import format_share
from core.evaluation.reports.flow import READER_MEASURE
from core.evaluation.reports.method_names import method_names
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.saved_sources import sources_of
from core.evaluation.runs.store import StoredRow

READ_RIGHT = "right"
LOST_IN_RETRIEVAL = "retrieval"
LOST_IN_READING = "reading"
COUNTED_ENDS = (READ_RIGHT, LOST_IN_RETRIEVAL, LOST_IN_READING)
UNKNOWN_EVIDENCE = "unknown"
FAILED = "failed"
NO_ANSWER = "no answer"
END_LABELS = {
    READ_RIGHT: "right",
    LOST_IN_RETRIEVAL: "lost in retrieval",
    LOST_IN_READING: "lost in reading",
    UNKNOWN_EVIDENCE: "without known evidence or correct answer",
    FAILED: "failed",
    NO_ANSWER: "without an answer",
}

SHARE_NAMES = (
    "right",
    "lost_in_retrieval",
    "lost_in_reading",
    "evidence_read",
    "known",
    "ceiling",
    "retriever_gain",
    "reader_gain",
    "evidence_gain",
)


@dataclass(frozen=True)
class ReadingShares:
    """Shares of the counted questions of a method, as the module defines them.

    Parameters
    ----------
    ends : by the id of each question, its class or the reason why it is not counted.
    evidence_read : the evidence was read.
    known : right without any context. Its `n` is the number of questions asked so.
    ceiling : right with the evidence alone. Its `n` is the number of questions asked so.
    retriever_gain, reader_gain : most that a better retriever or reader can win.
    evidence_gain : lost in reading, and right with the evidence alone.
    notes : reasons why a question could not be asked again, with their numbers of questions.
    """

    method: str
    ends: Mapping[str, str]
    right: Estimate
    lost_in_retrieval: Estimate
    lost_in_reading: Estimate
    evidence_read: Estimate
    known: Estimate
    ceiling: Estimate
    retriever_gain: Estimate
    evidence_gain: Estimate
    notes: Mapping[str, int] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of counted questions."""
        return self.right.n

    @property
    def reader_gain(self) -> Estimate:
        """Most that a better reader can win."""
        return self.lost_in_reading

    @property
    def uncounted(self) -> str:
        """The numbers of questions that are not counted, in words; empty if all are."""
        counts = Counter(end for end in self.ends.values() if end not in COUNTED_ENDS)
        parts = [f"{count:,} {END_LABELS[end]}" for end, count in counts.most_common()]
        return ", ".join(parts)


def reading_shares(summary: RunSummary) -> list[ReadingShares]:
    """Return the shares of each method that has counted questions."""
    all_shares = [_method_shares(summary, method) for method in summary.methods]
    return [shares for shares in all_shares if shares.n]


def reading_measure(summary: RunSummary) -> str:
    """Return the metric by which an answer is right."""
    if summary.run.spec["model"]:
        return summary.defaults.answer_metrics[0]
    return "accuracy" if _asks_documents(summary) else READER_MEASURE


def question_end(row: StoredRow, measure: str, stage: str) -> str:
    """Return the class of a question, or the reason why it is not counted.

    Parameters
    ----------
    row : a row of a run.
    measure : the metric by which an answer is right.
    stage : the stage that the reader reads.
    """
    outcome = row.outcome
    if outcome is None:
        return FAILED
    read = is_evidence_read(row, outcome, stage)
    if read is None or not row.question.answers:
        return UNKNOWN_EVIDENCE
    value = metric(measure)(outcome)
    if value is None:
        return NO_ANSWER
    if value == 1:
        return READ_RIGHT
    return LOST_IN_READING if read else LOST_IN_RETRIEVAL


def is_evidence_read(row: StoredRow, outcome: Outcome, stage: str) -> bool | None:
    """Return whether all needed evidence is alive at a stage; None if none is known.

    A method without the stage retrieves nothing, so its reader reads no evidence.
    """
    if outcome.fates is not None:
        return outcome.fates.alive.get(stage, 0) >= outcome.fates.golds
    if outcome.alive is None or not has_known_evidence(row.question):
        return None
    return outcome.alive.get(stage, 0) > 0


def _asks_documents(summary: RunSummary) -> bool:
    return any(source.is_corpus for source in sources_of(summary.run.spec))


def _stage(summary: RunSummary, row: StoredRow) -> str:
    """Return the stage that the reader of a row reads. A run may ask triples and documents."""
    outcome = row.outcome
    is_corpus = outcome is not None and (
        outcome.fates is not None or "corpus" in (outcome.alive or ())
    )
    return last_read_stage(is_corpus, summary.run.spec["model"])


def _method_shares(summary: RunSummary, method: str) -> ReadingShares:
    measure, rows = reading_measure(summary), summary.rows_of(method)
    stages = {row.question.id: _stage(summary, row) for row in rows}
    ends = {row.question.id: question_end(row, measure, stages[row.question.id]) for row in rows}
    counted = [row for row in rows if ends[row.question.id] in COUNTED_ENDS]
    counted_ends = [ends[row.question.id] for row in counted]
    alone = [_truth(row, EVIDENCE) for row in counted]
    known = [_truth(row, NOTHING) for row in counted]
    is_read = [
        bool(row.outcome and is_evidence_read(row, row.outcome, stages[row.question.id]))
        for row in counted
    ]
    answers = chain.from_iterable(row.readings.values() for row in counted)
    return ReadingShares(
        method,
        ends,
        right=_share_of(READ_RIGHT, counted_ends),
        lost_in_retrieval=_share_of(LOST_IN_RETRIEVAL, counted_ends),
        lost_in_reading=_share_of(LOST_IN_READING, counted_ends),
        evidence_read=_share(is_read),
        known=_share(_known_truths(known)),
        ceiling=_share(_known_truths(alone)),
        retriever_gain=_share(_retriever_gains(counted_ends, alone)),
        evidence_gain=_share(_evidence_gains(counted_ends, alone)),
        notes=dict(Counter(answer.fault for answer in answers if answer.right is None)),
    )


def _share_of(value: str, ends: Sequence[str]) -> Estimate:
    """Return the share of an end among ends."""
    return _share([end == value for end in ends])


def _retriever_gains(ends: Sequence[str], alone: Sequence[bool | None]) -> list[bool]:
    """Return for each question whether a better retriever can win it.

    `alone` has the truth with the evidence alone; a question that was not asked so can be won.
    """
    pairs = zip(ends, alone)
    return [end == LOST_IN_RETRIEVAL and truth is not False for end, truth in pairs]


def _evidence_gains(ends: Sequence[str], alone: Sequence[bool | None]) -> list[bool]:
    """Return for each question whether the evidence alone wins it; empty if none was asked so."""
    if not _known_truths(alone):
        return []
    return [pair == (LOST_IN_READING, True) for pair in zip(ends, alone)]


def _known_truths(truths: Iterable[bool | None]) -> list[bool]:
    """Return the truths without those that are not known."""
    return [truth for truth in truths if truth is not None]


def _truth(row: StoredRow, context: str) -> bool | None:
    answer = row.readings.get(context)
    return None if answer is None else answer.right


def _share(truths: Iterable[bool]) -> Estimate:
    return share_estimate([float(truth) for truth in truths])


def gain_sentence(shares: ReadingShares, name: str = "") -> str:
    """Return a sentence on what a better retriever and a better reader can win at most."""
    subject = f"With {name} a" if name else "A"
    text = (
        f"{subject} better retriever can win at most {_figure(shares.retriever_gain)} here, a "
        f"better reader {_figure(shares.reader_gain)}"
    )
    if shares.evidence_gain.n:
        text += f"; the same reader with the evidence alone {_figure(shares.evidence_gain)} of it"
    return f"{text} (n = {shares.n:,})."


def _figure(estimate: Estimate) -> str:
    return format_share(estimate.numbers()[0])


def reading_headline(all_shares: Sequence[ReadingShares]) -> str:
    """Return sentences on whether retrieval or reading loses more, over all methods.

    >>> from core.evaluation.reports.reading_shares import reading_headline
    >>> reading_headline([])
    'No question here has a known answer with known evidence.'
    """
    if not all_shares:
        return "No question here has a known answer with known evidence."
    ends = Counter(end for shares in all_shares for end in shares.ends.values())
    lost = ends[LOST_IN_RETRIEVAL] + ends[LOST_IN_READING]
    if not lost:
        return "No answer is wrong."
    head = "Retrieval and reading lose equally many."
    if ends[LOST_IN_READING] != ends[LOST_IN_RETRIEVAL]:
        is_reading = ends[LOST_IN_READING] > ends[LOST_IN_RETRIEVAL]
        head = f"Most errors are the {'reader' if is_reading else 'retriever'}'s."
    shown = sorted(shares.evidence_read.numbers()[0] for shares in all_shares)
    low, high = f"{100 * shown[0]:.0f}", f"{100 * shown[-1]:.0f}"
    span = f"{high} %" if low == high else f"{low} to {high} %"
    return (
        f"{head} The evidence is read in {span} of the questions, and "
        f"{100 * ends[LOST_IN_READING] / lost:.0f} % of the wrong answers are given although it is."
    )


def difference_sentences(summary: RunSummary) -> Iterator[str]:
    """Yield a sentence for each two methods that differ in retrieval but not in answers.

    They differ significantly in the questions whose evidence was read, and not in those that are
    right. Both are paired tests, with Holm's correction over all pairs.
    """
    names = {method: name.plain for method, name in method_names(summary.run).items()}
    retrieval, answers = paired_reading_tests(summary)
    answer_tests = {(test.a, test.b): test for test in answers}
    for test in retrieval:
        other = answer_tests[test.a, test.b]
        if test.is_significant and not other.is_significant:
            first = test if test.difference > 0 else test.swapped
            right = other if first is test else other.swapped
            yield (
                f"{names[first.a]} reads the evidence of more questions than {names[first.b]} "
                f"({first.estimate.format_with_interval(format_share)}), but its answers are not "
                f"significantly better ({right.estimate.format_with_interval(format_share)}, "
                f"n = {right.n:,})."
            )


def paired_reading_tests(summary: RunSummary) -> tuple[list[PairedTest], list[PairedTest]]:
    """Return the paired tests of all methods: evidence that was read, and right answers.

    Questions count that are counted for both methods.
    """
    measure = reading_measure(summary)
    read_values: dict[str, np.ndarray] = {}
    right_values: dict[str, np.ndarray] = {}
    position = {question: i for i, question in enumerate(summary.questions)}
    for method in summary.methods:
        read_values[method] = np.full(len(position), np.nan)
        right_values[method] = np.full(len(position), np.nan)
        for row in summary.rows_of(method):
            stage = _stage(summary, row)
            end = question_end(row, measure, stage)
            if row.outcome is not None and end in COUNTED_ENDS:
                i = position[row.question.id]
                read_values[method][i] = bool(is_evidence_read(row, row.outcome, stage))
                right_values[method][i] = end == READ_RIGHT
    tests = []
    for name, values in (("evidence read", read_values), ("right", right_values)):
        pairs = combinations(summary.methods, 2)
        tests.append(
            holm_corrected(paired_test(name, a, b, values[a], values[b]) for a, b in pairs)
        )
    return tests[0], tests[1]


def shares_row(shares: ReadingShares) -> dict[str, object]:
    """Return the shares of a method as values that JSON can hold."""
    row: dict[str, object] = {"instance": shares.method, "n": shares.n}
    for name in SHARE_NAMES:
        estimate: Estimate = getattr(shares, name)
        row[name] = asdict(estimate)
    return row | {"uncounted": shares.uncounted, "notes": dict(shares.notes)}


def note_sentences(all_shares: Sequence[ReadingShares], names: Mapping[str, str]) -> Iterator[str]:
    """Yield sentences on the questions that are not counted or could not be asked again."""
    for shares in all_shares:
        if shares.uncounted:
            yield f"{names[shares.method]}: not counted are {shares.uncounted}."
        for note, count in shares.notes.items():
            yield f"{names[shares.method]}: {count_noun(count, 'answer')} missing. {note}"
