"""Audit of a question set against its source, without a language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from core.evaluation.audit.answer_types import type_findings
from core.evaluation.audit.copies import CopySearch
from core.evaluation.audit.evaluated import (
    MethodOrder,
    asked_without_context,
    evaluation_findings,
    method_order,
    smallest_difference,
)
from core.evaluation.audit.findings import FINDING_TITLES, Finding
from core.evaluation.audit.graph_keys import GraphKeys
from core.evaluation.audit.text_keys import TextKeys
from core.evaluation.reports.summary import RunSummary
from core.sources import AnswerSource
from core.types import Question
from core.watch import NO_WATCH, Watch

Encode = Callable[[Sequence[str]], np.ndarray]  # unit vectors of texts


@dataclass(frozen=True, eq=False)
class Audit:
    """Findings on a question set, and what it can decide.

    Parameters
    ----------
    questions : the questions of the set.
    findings : the remarks, by kind and then in the order of the questions.
    notes : sentences on what was not checked.
    summary : the evaluation that was used; None without one.
    n_left : number of questions after the decisions of a person.
    excluded : ids of the questions that these decisions correct or leave out.
    """

    questions: tuple[Question, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    summary: RunSummary | None = field(default=None, repr=False)
    n_left: int = 0
    excluded: frozenset[str] = frozenset()

    @cached_property
    def suspect(self) -> tuple[str, ...]:
        """Ids of the questions with a likely fault, in the order of the set."""
        found = {finding.question for finding in self.findings if finding.is_fault}
        return tuple(question.id for question in self.questions if question.id in found)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of questions by kind of finding, without the kinds that have none."""
        pairs = {(finding.kind, finding.question) for finding in self.findings}
        counts = Counter(kind for kind, _ in pairs)
        return {kind: counts[kind] for kind in FINDING_TITLES if counts[kind]}

    @cached_property
    def n_telling(self) -> int | None:
        """Number of evaluated questions on which methods differ. None without an evaluation."""
        if self.summary is None:
            return None
        alike = {
            one.question for one in self.findings if one.kind in ("never_right", "always_right")
        }
        return len(self.summary.questions) - len(alike)

    @cached_property
    def smallest_difference(self) -> tuple[float, str]:
        """Smallest difference of two methods that the set can show, and its assumption."""
        return smallest_difference(self.summary, self.n_left)

    @cached_property
    def order(self) -> list[MethodOrder]:
        """The methods of the evaluation, with and without the suspect questions."""
        if self.summary is None:
            return []
        return method_order(self.summary, self.excluded.union(self.suspect))

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as values for JSON."""
        difference, assumption = self.smallest_difference
        return {
            "questions": len(self.questions),
            "suspect": list(self.suspect),
            "counts": self.counts,
            "findings": [asdict(finding) for finding in self.findings],
            "smallest_difference": {"difference": difference, "assumption": assumption},
            "questions_on_which_methods_differ": self.n_telling,
            "evaluation": self.summary.run.id if self.summary is not None else None,
            "order": [asdict(one) for one in self.order],
            "notes": list(self.notes),
        }


def audit_questions(
    questions: Sequence[Question],
    source: AnswerSource,
    *,
    build: Any = None,
    summary: RunSummary | None = None,
    encode: Encode | None = None,
    watch: Watch = NO_WATCH,
) -> Audit:
    """Audit the questions of a set.

    Parameters
    ----------
    questions : the questions; their ids differ.
    source : the opened source of the questions. Without a graph or documents, only the questions
        themselves are compared.
    build : a graph of the documents whose names are searched too; None takes the chunks.
    summary : a finished evaluation on the set.
    encode : returns the unit vectors of texts, to find copies in other words; None compares words.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    The findings. No model but `encode` is used.
    """
    notes: list[str] = []
    found = _without_key(questions)
    found += type_findings(questions)
    senses: Mapping[str, Any] = {}
    watch.report("Searching the answers in the source", 0.1)
    if source.corpus is not None:
        graph = build if build is not None else source.graph
        keys_in_texts = TextKeys(source.corpus, graph, questions, watch)
        found += keys_in_texts.findings()
        notes += keys_in_texts.notes()
    elif source.graph is not None and source.graph.live is None:
        keys = GraphKeys(source.graph, questions, watch)
        found += keys.findings()
        senses = keys.senses()
    else:
        notes.append("The source has no graph in common, so keys were not compared with it.")
    watch.report("Comparing the questions", 0.7)
    found += CopySearch(questions, encode, senses, watch).findings()
    if encode is None:
        notes.append("Copies in other words were searched by words alone, without vectors.")
    if summary is None:
        notes.append("No finished evaluation of two methods on this set was used.")
    else:
        found += evaluation_findings(summary)
    if summary is None or not asked_without_context(summary):
        notes.append("No language model was asked without context.")
    findings = _sorted(found, questions)
    return Audit(tuple(questions), findings, tuple(notes), summary, n_left=len(questions))


def _without_key(questions: Sequence[Question]) -> list[Finding]:
    """Return a finding on each question that nothing can score."""
    text = "Nothing says what is correct, so it cannot be scored."
    return [
        Finding(question.id, "no_key", text)
        for question in questions
        if not (any(map(str.strip, question.answers)) or question.gold or question.abstract)
    ]


def _sorted(found: Sequence[Finding], questions: Sequence[Question]) -> tuple[Finding, ...]:
    """Return findings by kind, then in the order of the set, without repeats."""
    kinds = {kind: index for index, kind in enumerate(FINDING_TITLES)}
    order = {question.id: index for index, question in enumerate(questions)}
    unique = [finding for finding in dict.fromkeys(found) if finding.question in order]
    return tuple(sorted(unique, key=lambda one: (kinds[one.kind], order[one.question])))
