"""Summary of a run: metrics with intervals, hop counts, funnel, operators, paired tests and fronts.

A failed question counts as 0 in every quality (see `Metric.when_failed`), as a wrong answer does,
so that no method gains by failing. Costs and sizes are means over the answered questions. An
method that answered no question has no figures. `RunSummary.answered` says how many failed, and
why. A method that never hands on k passages has no figure at cut-off k (see `lacks`), because
its figure would not be comparable.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from core.diagnosis.wording import count_noun, join_words
from core.evaluation.metrics.answer_scores import ANSWER_BY_METHOD
from core.evaluation.metrics.catalogue import REPORTED_METRICS, metric
from core.evaluation.metrics.defaults import Defaults, defaults
from core.evaluation.metrics.failures import answered_text, failure_patterns, join_reasons
from core.evaluation.metrics.formulas import f1
from core.evaluation.metrics.outcome import OperatorCost, Outcome
from core.evaluation.metrics.statistics import (
    Estimate,
    PairedTest,
    estimates,
    holm_corrected,
    paired_test,
    pareto,
)
from core.evaluation.reports.method_names import method_names
from core.evaluation.runs.saved_sources import sources_of
from core.evaluation.runs.store import Run, StoredRow
from core.methods.catalogue import ADAPTED_SUFFIX
from core.sources import CorpusSource, GraphSource

COST_FIELDS = ("seconds", "calls", "tokens_in", "tokens_out", "texts")
PASSAGE_RECALL_CUTOFF = 4  # cut-off of gold passages if every method hands on that many
F1_OF_MEANS = {
    "subgraph": ("subgraph_precision", "subgraph_recall"),
    "path@32": ("path_precision@32", "path_recall@32"),
    "answer": ("hits@1", "recall"),
}


@dataclass(frozen=True, eq=False)
class RunSummary:
    """Figures of the rows of a run, or of a part of its questions."""

    run: Run
    rows: Sequence[StoredRow]
    whole: RunSummary | None = None  # summary of all questions, if this is a part of them

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """Ids of the methods, in the order in which they were named."""
        return tuple(method["id"] for method in self.run.spec["instances"])

    @cached_property
    def defaults(self) -> Defaults:
        """Default metrics for the sources of the run.

        The cut-off of gold-passage recall is at most the number of passages that every method can
        hand on.
        """
        base = defaults(sources_of(self.run.spec))
        fit = lambda names: tuple(
            name for name in map(self.fitting, names) if not self._lacked_by_all(name)
        )
        fronts = tuple((cost, self.fitting(quality)) for cost, quality in base.fronts)
        return dataclasses.replace(
            base,
            table=fit(base.table),
            tests=fit(base.tests),
            fronts=fronts,
            question=self.fitting(base.question),
        )

    @cached_property
    def reported(self) -> tuple[str, ...]:
        """Metrics to choose from, including those of `defaults`."""
        return tuple(
            dict.fromkeys(
                variant for name in REPORTED_METRICS for variant in (self.fitting(name), name)
            )
        )

    @cached_property
    def handed_on(self) -> dict[str, int]:
        """Most passages that each method handed on for a question.

        Methods that handed on none are left out.
        """
        counts: dict[str, int] = {}
        for row in (self.whole or self).rows:
            if (
                row.outcome is not None
                and row.outcome.passages is not None
                and row.outcome.passages.count
            ):
                counts[row.method] = max(counts.get(row.method, 0), row.outcome.passages.count)
        return counts

    def fitting(self, name: str) -> str:
        """Return the name of a metric with a cut-off that fits the run.

        `passage_recall@4` becomes @3 if a method hands on at most 3. Other names stay the same.
        """
        fewest = min(self.handed_on.values(), default=PASSAGE_RECALL_CUTOFF)
        if name == f"passage_recall@{PASSAGE_RECALL_CUTOFF}":
            return f"passage_recall@{min(fewest, PASSAGE_RECALL_CUTOFF)}"
        return name

    def lacks(self, method: str, name: str) -> int:
        """Return the most passages that a method hands on, if a metric's cut-off exceeds it.

        Parameters
        ----------
        method : id of the method.
        name : name of the metric.

        Returns
        -------
        A number of passages; 0 if the cut-off is reached.
        """
        target, most = metric(name), self.handed_on.get(method, 0)
        return most if target.over_passages and target.k is not None and target.k > most else 0

    def _lacked_by_all(self, name: str) -> bool:
        return bool(self.handed_on) and all(self.lacks(method, name) for method in self.handed_on)

    def shallow(self, names: Sequence[str]) -> list[str]:
        """Return sentences on methods without a figure in some metrics.

        These methods never hand on as many passages as the metric's cut-off.
        """
        names_by_id, groups = method_names(self.run), dict[tuple[int, str], list[str]]()
        for method in self.methods:
            cuts = sorted(
                {
                    target.k
                    for target in map(metric, names)
                    if target.k and self.lacks(method, target.name)
                }
            )
            if cuts:
                key = self.handed_on[method], ", ".join(f"@{k}" for k in cuts)
                groups.setdefault(key, []).append(str(names_by_id[method]))
        return [
            f"{join_words(group)} {'hands' if len(group) == 1 else 'hand'} on at most "
            f"{count_noun(count, 'passage')}: no figures {cuts}."
            for (count, cuts), group in groups.items()
        ]

    @property
    def fronts(self) -> tuple[tuple[str, str], ...]:
        """Pairs of cost and quality for the Pareto fronts.

        Without a language model, accuracy comes last, because the retrieved passages say more than
        the nearest sentence.
        """
        return tuple(
            sorted(
                self.defaults.fronts,
                key=lambda pair: pair[1] == "accuracy" and not self.run.spec["model"],
            )
        )

    @cached_property
    def questions(self) -> tuple[str, ...]:
        """Ids of the questions that have a row, in the order in which they were asked."""
        return tuple(dict.fromkeys(row.question.id for row in self.rows))

    def of(self, method: str) -> list[StoredRow]:
        """Return the rows of a method."""
        return [row for row in self.rows if row.method == method]

    def values(self, method: str, names: Sequence[str], with_context: bool = False) -> np.ndarray:
        """Return the values of metrics for a method.

        A failed question has a value if the metric gives one for failures and an answered question
        has one.

        Parameters
        ----------
        method : id of the method.
        names : names of metrics.
        with_context : leaves out failed questions and questions without a triple.

        Returns
        -------
        float64 [questions, names]; NaN marks a missing value.
        """
        row_by_question = {question: i for i, question in enumerate(self.questions)}
        chosen_metrics = [metric(name) for name in names]
        matrix = np.full((len(row_by_question), len(chosen_metrics)), np.nan)
        for row in self.of(method):
            if row.outcome is not None and not (with_context and row.outcome.without_context):
                values = [one(row.outcome) for one in chosen_metrics]
                matrix[row_by_question[row.question.id]] = _with_nan(values)
        if not with_context:
            has_values = ~np.isnan(matrix).all(0)
            for row in self.of(method):
                if row.error is not None:
                    values = [
                        one.when_failed(row.question) if has_value else None
                        for one, has_value in zip(chosen_metrics, has_values, strict=True)
                    ]
                    matrix[row_by_question[row.question.id]] = _with_nan(values)
        matrix[:, [bool(self.lacks(method, name)) for name in names]] = np.nan
        return matrix

    def table(
        self, names: Sequence[str] = (), with_context: bool = False
    ) -> dict[str, dict[str, Estimate]]:
        """Return every metric's estimate for each method.

        The same questions are resampled for all methods.

        Parameters
        ----------
        names : names of metrics; by default those that are reported.
        with_context : leaves out failed questions and questions without a triple.

        Returns
        -------
        Estimates by method and metric.
        """
        names = names or self.reported
        all_values = [self.values(method, names, with_context) for method in self.methods]
        figures = estimates(np.concatenate(all_values, axis=1)) if all_values else []
        return {
            method: dict(zip(names, figures[i * len(names) : (i + 1) * len(names)], strict=True))
            for i, method in enumerate(self.methods)
        }

    def by_hops(self) -> dict[int | None, RunSummary]:
        """Return the summaries of the questions of each hop count, fewest hops first.

        The key is None for questions without a hop count.
        """
        hops = sorted(
            {row.question.hops for row in self.rows}, key=lambda hop: (hop is None, hop or 0)
        )
        hop_rows = lambda hop: [row for row in self.rows if row.question.hops == hop]
        return {hop: RunSummary(self.run, hop_rows(hop), self.whole or self) for hop in hops}

    def funnel(self, method: str) -> dict[str, float | None]:
        """Return the mean share of known answers left at each stage, over the answered questions.

        It is None for a stage that the method does not have.
        """
        outcomes = [
            row.outcome for row in self.of(method) if row.outcome is not None and row.outcome.golds
        ]
        shares_alive: dict[str, float | None] = {}
        for stage in stages_of(outcomes):
            shares = [o.alive[stage] / o.golds for o in outcomes if o.alive and stage in o.alive]
            shares_alive[stage] = sum(shares) / len(shares) if shares else None
        return shares_alive

    def passage_funnel(self, method: str) -> dict[str, float]:
        """Return the mean share of gold passages left at each stage.

        The mean is over the answered questions that have gold passages.
        """
        survivals = [
            row.outcome.fates
            for row in self.of(method)
            if row.outcome is not None and row.outcome.fates is not None
        ]
        shares = {
            stage: [one.alive[stage] / one.golds for one in survivals if stage in one.alive]
            for stage in CorpusSource.stages
        }
        return {stage: sum(values) / len(values) for stage, values in shares.items() if values}

    def operators(self, method: str) -> list[dict[str, Any]]:
        """Return the mean seconds, calls, tokens and texts of each operator of a method.

        The means are over the scored questions. `share` is the fraction of questions in which the
        operator ran, below 1 in a branch.
        """
        outcomes = [row.outcome for row in self.of(method) if row.outcome is not None]
        costs_by_operator: dict[tuple[str, str, int], list[OperatorCost]] = {}
        for outcome in outcomes:
            operator_counts: Counter[str] = Counter()
            for cost in outcome.costs:
                costs_by_operator.setdefault(
                    (cost.operator, cost.stage, operator_counts[cost.operator]), []
                ).append(cost)
                operator_counts[cost.operator] += 1
        return [
            {
                "operator": operator,
                "stage": stage,
                "share": len(costs) / len(outcomes),
                **{
                    name: sum(getattr(cost, name) for cost in costs) / len(outcomes)
                    for name in COST_FIELDS
                },
            }
            for (operator, stage, _), costs in costs_by_operator.items()
        ]

    def counts(self, method: str) -> dict[str, int]:
        """Return the numbers of asked, scored and failed questions.

        Of the scored ones, it also counts those without a triple and without a known answer.
        """
        rows = self.of(method)
        outcomes = [row.outcome for row in rows if row.outcome is not None]
        return {
            "asked": self.run.spec["sample"],
            "scored": len(outcomes),
            "failed": sum(row.error is not None for row in rows),
            "without_context": sum(outcome.without_context for outcome in outcomes),
            "without_answers": sum(not outcome.golds for outcome in outcomes),
        }

    def answered_by(self, method: str) -> dict[str, int]:
        """Return the number of scored answers by source: a language model or the graph reader."""
        counts: dict[str, int] = {}
        for row in self.of(method):
            if row.outcome is not None and row.outcome.answer is not None:
                counts[row.outcome.answer.by] = counts.get(row.outcome.answer.by, 0) + 1
        return counts

    @property
    def unfinished(self) -> dict[str, int]:
        """Number of rows of each method, if some method lacks questions; else empty.

        Rows of failed questions count too.
        """
        counts = {method: len(self.of(method)) for method in self.methods}
        return counts if any(count < self.run.spec["sample"] for count in counts.values()) else {}

    def done(self, method: str) -> str:
        """Return `13 of 40`: the questions for which a method has a row, answered or failed."""
        return f"{len(self.of(method)):,} of {self.run.spec['sample']:,}"

    def so_far(self) -> str:
        """Return the progress of an unfinished run, empty if the run is finished.

        An example is `not finished: 13 of 40 questions of A, 12 of 40 of B`.
        """
        names, question_count = method_names(self.run), self.run.spec["sample"]
        row_counts = self.unfinished
        if len(set(row_counts.values())) == 1:
            return (
                f"not finished: {next(iter(row_counts.values())):,} of {question_count:,} questions"
            )
        if row_counts:
            return "not finished: " + ", ".join(
                f"{n:,} of {question_count:,} questions of {names[i].plain}"
                for i, n in row_counts.items()
            )
        return ""

    def errors(self, method: str) -> dict[str, int]:
        """Return the reasons of failures by pattern with their counts, most frequent first."""
        return failure_patterns(row.error for row in self.of(method) if row.error is not None)

    def answered(self, method: str) -> str:
        """Return `2 of 40 answered, 38 failed: ...` with the reasons, or an empty text.

        It is empty if no question failed.
        """
        counts = self.counts(method)
        return answered_text(counts["scored"], counts["failed"], join_reasons(self.errors(method)))

    def failed(self) -> list[str]:
        """Return the text of `RunSummary.answered` for each method with failures, after its name."""
        names = method_names(self.run)
        return [
            f"{names[method]}: {sentence}"
            for method in self.methods
            if (sentence := self.answered(method))
        ]

    def faults(self) -> list[str]:
        """Return a sentence for each method with blank or cut answers.

        It says how many there are, and why.
        """
        names, sentences = method_names(self.run), []
        for method in self.methods:
            outcomes = [row.outcome for row in self.of(method) if row.outcome is not None]
            fault_texts = [outcome.answer_fault for outcome in outcomes if outcome.answer_fault]
            if fault_texts:
                sentences.append(
                    f"{names[method]}: {len(fault_texts):,} of {len(outcomes):,} answers blank or cut: "
                    f"{join_reasons(failure_patterns(fault_texts))}"
                )
        return sentences

    def brought(self) -> list[str]:
        """Return sentences on methods that use documents of a user's program or file.

        They say how many of these documents are not in the corpus, and which methods brought their
        own answers.
        """
        names = method_names(self.run)
        sentences = list[str]()
        for method in self.methods:
            outcomes = self._outcomes(method)
            document_counts = [outcome.given for outcome in outcomes if outcome.given is not None]
            lacking = [one for one in document_counts if one.unplaced]
            if lacking:
                unplaced_total = sum(one.unplaced for one in document_counts)
                document_total = sum(one.documents for one in document_counts)
                of_questions = f"in {len(lacking):,} of {len(document_counts):,} questions"
                sentences.append(
                    f"{names[method]}: {unplaced_total:,} of {document_total:,} documents not in the corpus, "
                    f"{of_questions}."
                )
        answering = self._names_of_any(_is_answered_by_method)
        from_file = self._names_of_any(attrgetter("looked_up"))
        if answering:
            sentences.append(
                f"{join_words(answering)} brought {'its' if len(answering) == 1 else 'their'} own "
                "answers, which are scored."
            )
        if from_file:
            sentences.append(
                f"What {join_words(from_file)} took in seconds and tokens is not known, as it "
                "comes from "
                "a file."
            )
        return sentences

    def _outcomes(self, method: str) -> list[Outcome]:
        return [row.outcome for row in self.of(method) if row.outcome is not None]

    def _names_of_any(self, has: Callable[[Outcome], bool]) -> list[str]:
        """Return the names of the methods that have an outcome of a kind."""
        names = method_names(self.run)
        return [str(names[one]) for one in self.methods if any(map(has, self._outcomes(one)))]

    def f1_of_means(self, table: dict[str, Estimate]) -> dict[str, float | None]:
        """Return the F1 of mean precision and mean recall.

        The text of the first version of LEGO-GraphRAG defines F1 in this way.
        """
        return {
            part: f1(table[p].mean, table[r].mean)
            for part, (p, r) in F1_OF_MEANS.items()
            if p in table and r in table
        }

    @property
    def adapted(self) -> dict[str, str]:
        """Names by id of the methods that are adaptations.

        They are not tested, because an adaptation's failures say nothing about the published
        method.
        """
        return {
            one["id"]: one["name"]
            for one in self.run.spec["instances"]
            if one["name"].endswith(ADAPTED_SUFFIX)
        }

    def untested(self) -> str:
        """Return a sentence that names the adaptations, empty without any."""
        names = " and ".join(self.adapted.values())
        if names:
            return (
                f"No test is made against {names}: an adaptation is not the method that was "
                "published."
            )
        return ""

    def compared(
        self, pairs: Iterable[tuple[str, str]] | None = None, names: Sequence[str] = ()
    ) -> list[PairedTest]:
        """Return paired tests of metrics.

        Adaptations are left out. Holm's correction covers the pairs of one metric.

        Parameters
        ----------
        pairs : ids of the methods to compare; None compares every one with the first.
        names : names of metrics; by default those that are tested.

        Returns
        -------
        One test for each metric and pair.
        """
        names = names or self.defaults.tests
        candidates = (
            ((other, self.methods[0]) for other in self.methods[1:]) if pairs is None else pairs
        )
        pairs = [pair for pair in candidates if not {*pair} & self.adapted.keys()]
        values = {method: self.values(method, names) for pair in pairs for method in pair}
        tests: list[PairedTest] = []
        for column, name in enumerate(names):
            tests += holm_corrected(
                paired_test(name, a, b, values[a][:, column], values[b][:, column])
                for a, b in pairs
            )
        return tests

    def front(
        self, table: Mapping[str, Mapping[str, Estimate]], cost: str, quality: str
    ) -> tuple[str, ...]:
        """Return the methods on the Pareto front of mean cost and quality, cheapest first.

        Parameters
        ----------
        table : estimates by method and metric.
        cost, quality : names of the metrics.

        Returns
        -------
        Ids of methods.
        """
        return pareto(
            {
                method: (figures[cost].mean, figures[quality].mean)
                for method, figures in table.items()
            }
        )


def summary_dict(summary: RunSummary, names: Sequence[str] = ()) -> dict[str, Any]:
    """Return a summary as plain data.

    It holds the run, each method's figures, paired tests, fronts, and the metrics' conventions.

    Parameters
    ----------
    summary : figures of a run.
    names : names of metrics; by default those that are reported.

    Returns
    -------
    Numbers, texts, lists and dicts alone.
    """
    names = names or summary.reported
    run = summary.run
    tables = FigureTables(
        summary.table(names),
        summary.table(names, with_context=True),
        {hop: part.table(names) for hop, part in summary.by_hops().items()},
    )
    names_by_id = method_names(run)
    methods = {}
    for method, spec in zip(summary.methods, run.spec["instances"], strict=True):
        names_dict = {
            "name": spec["name"],
            "method": names_by_id[method].plain,
            "title": spec["title"],
            "line": spec["line"],
        }
        methods[method] = names_dict | _figures_dict(summary, method, tables)
    return {
        "run": run.id,
        "status": run.status,
        **{
            name: run.spec[name]
            for name in ("set", "of", "sample", "seed", "model", "judge", "cold")
        },
        "graphs": [name for name, _ in run.spec["graphs"]],
        "instances": methods,
        "paired": [dataclasses.asdict(test) for test in summary.compared()],
        **_without_empty("untested", summary.untested()),
        **_without_empty("unfinished", summary.so_far()),
        **_without_empty("shallow", summary.shallow(names)),
        "fronts": [
            {"cost": c, "quality": q, "instances": list(summary.front(tables.whole, c, q))}
            for c, q in summary.fronts
            if {c, q} <= set(names)
        ],
        "conventions": {name: metric(name).described() for name in names},
    }


@dataclass(frozen=True)
class FigureTables:
    """Estimates of a run by method and metric.

    Parameters
    ----------
    whole : over all questions.
    with_context : over the questions that were answered with a context.
    by_hops : over the questions of each hop count; None where it is unknown.
    """

    whole: Mapping[str, dict[str, Estimate]]
    with_context: Mapping[str, dict[str, Estimate]]
    by_hops: Mapping[int | None, Mapping[str, dict[str, Estimate]]]


def _figures_dict(summary: RunSummary, method: str, tables: FigureTables) -> dict[str, Any]:
    """Return the figures of a method as plain data."""
    return {
        "questions": summary.counts(method),
        "answered_by": summary.answered_by(method),
        "metrics": _to_dicts(tables.whole[method]),
        "metrics_with_context": _to_dicts(tables.with_context[method]),
        "f1_of_means": summary.f1_of_means(tables.whole[method]),
        "by_hops": {
            "unknown" if hop is None else str(hop): _to_dicts(part[method])
            for hop, part in tables.by_hops.items()
        },
        "funnel": summary.funnel(method),
        **_without_empty("passage_funnel", summary.passage_funnel(method)),
        "operators": summary.operators(method),
        "errors": summary.errors(method),
    }


def _without_empty(key: str, value: Any) -> dict[str, Any]:
    """Return an item of a dict, or none if its value is empty."""
    return {key: value} if value else {}


def _is_answered_by_method(outcome: Outcome) -> bool:
    return outcome.answer is not None and outcome.answer.by == ANSWER_BY_METHOD


def _with_nan(values: Iterable[float | None]) -> list[float]:
    """Return values with NaN for missing ones."""
    return [np.nan if value is None else value for value in values]


def _to_dicts(estimates: dict[str, Estimate]) -> dict[str, dict[str, Any]]:
    return {name: dataclasses.asdict(estimate) for name, estimate in estimates.items()}


def stages_of(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """Return the stages of the funnel.

    They are those of documents if any outcome has them, else those of triples.
    """
    if any("retrieved" in (outcome.alive or ()) for outcome in outcomes):
        return CorpusSource.stages
    return GraphSource.stages
