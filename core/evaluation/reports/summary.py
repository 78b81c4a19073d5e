"""Summary of a run: metrics with intervals, hop counts, funnel, operators, paired tests and fronts.

All reports, plots and screens of an evaluation read their figures from a `RunSummary`.

A failed question counts as 0 in every quality (see `Metric.value_if_failed`), like a wrong answer,
so that no method gains by failing. Costs and sizes are means over the answered questions. A method
that answered no question has no figures. `RunSummary.failure_text` gives the number of failures and
their reasons. A method that never returns k passages has no figure at cut-off k
(`RunSummary.max_passages_below_cutoff`), because it would not be comparable.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from core.diagnosis.wording import count_noun, join_words
from core.evaluation.metrics.answer_scores import ANSWER_BY_METHOD
from core.evaluation.metrics.catalogue import REPORTED_METRICS, metric
from core.evaluation.metrics.defaults import EvaluationDefaults, defaults_for
from core.evaluation.metrics.failures import answered_text, failure_patterns, join_reasons
from core.evaluation.metrics.formulas import f1
from core.evaluation.metrics.outcome import OperatorCost, Outcome
from core.evaluation.metrics.statistics import (
    Estimate,
    PairedTest,
    RunSpread,
    estimates,
    holm_corrected,
    paired_test,
    pareto,
    run_spread,
)
from core.evaluation.reports.method_names import method_names
from core.evaluation.runs.saved_sources import sources_of
from core.evaluation.runs.store import Run, StoredRow
from core.methods.catalogue import ADAPTED_SUFFIX
from core.sources import CorpusSource, GraphSource

SUMMARY_SETTINGS = ("set", "of", "sample", "seed", "model", "judge", "cold")
COST_FIELDS = ("seconds", "calls", "tokens_in", "tokens_out", "texts")
PASSAGE_RECALL_CUTOFF = 4  # default cut-off of passage recall
# Precision and recall of each F1 of means (`RunSummary.f1_of_means`).
F1_OF_MEANS = {
    "subgraph": ("subgraph_precision", "subgraph_recall"),
    "path@32": ("path_precision@32", "path_recall@32"),
    "answer": ("hits@1", "recall"),
}


@dataclass(frozen=True, eq=False)
class RunSummary:
    """Figures of a run, computed from its rows.

    They may also be those of a part of its questions.
    """

    run: Run
    rows: Sequence[StoredRow]
    full_summary: RunSummary | None = None  # summary of all questions, if this covers only a part

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """Ids of the methods, in the order of the plan."""
        return tuple(method["id"] for method in self.run.spec["instances"])

    @cached_property
    def defaults(self) -> EvaluationDefaults:
        """Default metrics for the sources of the run.

        The cut-off of passage recall is lowered if a method never returns so many passages
        (`fitting_metric`).
        """
        base = defaults_for(sources_of(self.run.spec))
        return dataclasses.replace(
            base,
            table_metrics=self._usable_metrics(base.table_metrics),
            test_metrics=self._usable_metrics(base.test_metrics),
            front_metrics=tuple(
                (cost, self.fitting_metric(quality)) for cost, quality in base.front_metrics
            ),
            question_metric=self.fitting_metric(base.question_metric),
        )

    def _usable_metrics(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return metrics with fitting cut-offs, without those for which no method has a figure."""
        return tuple(
            name for name in map(self.fitting_metric, names) if not self._is_too_deep_for_all(name)
        )

    @cached_property
    def reported_metrics(self) -> tuple[str, ...]:
        """Names of the metrics that a report shows by default, including those of `defaults`."""
        names: list[str] = []
        for name in REPORTED_METRICS:
            names += (self.fitting_metric(name), name)
        return tuple(dict.fromkeys(names))

    @cached_property
    def max_passages(self) -> dict[str, int]:
        """Largest number of passages that each method returned for a question.

        Methods that returned none are left out.
        """
        counts: dict[str, int] = {}
        for row in (self.full_summary or self).rows:
            passages = row.outcome.passages if row.outcome is not None else None
            if passages is not None and passages.count:
                counts[row.method] = max(counts.get(row.method, 0), passages.count)
        return counts

    def fitting_metric(self, name: str) -> str:
        """Return the name of a metric with a cut-off that fits the run.

        `passage_recall@4` becomes @3 if a method never returns more than 3 passages. Other names
        stay the same.
        """
        fewest = min(self.max_passages.values(), default=PASSAGE_RECALL_CUTOFF)
        if name == f"passage_recall@{PASSAGE_RECALL_CUTOFF}":
            return f"passage_recall@{min(fewest, PASSAGE_RECALL_CUTOFF)}"
        return name

    def max_passages_below_cutoff(self, method: str, name: str) -> int:
        """Return the most passages that a method returns, if the metric's cut-off is higher.

        Parameters
        ----------
        method : id of the method.
        name : name of the metric.

        Returns
        -------
        A number of passages. 0 if the method reaches the cut-off, if it returns no passages at all,
            or if the metric has no cut-off over passages.
        """
        target = metric(name)
        count = self.max_passages.get(method, 0)
        return count if target.over_passages and target.k is not None and target.k > count else 0

    def _is_too_deep_for_all(self, name: str) -> bool:
        """Return whether no method ever returns as many passages as a metric's cut-off."""
        return bool(self.max_passages) and all(
            self.max_passages_below_cutoff(method, name) for method in self.max_passages
        )

    def missing_depth_sentences(self, names: Sequence[str]) -> list[str]:
        """Return sentences on methods that never return as many passages as a metric's cut-off.

        They have no figures of such a metric. Methods with the same limit share a sentence.
        """
        names_by_id = method_names(self.run)
        groups: dict[tuple[int, str], list[str]] = {}
        for method in self.methods:
            targets = [
                target
                for target in map(metric, names)
                if self.max_passages_below_cutoff(method, target.name)
            ]
            lacked = {target.k for target in targets if target.k}
            if lacked:
                key = self.max_passages[method], ", ".join(f"@{k}" for k in sorted(lacked))
                groups.setdefault(key, []).append(str(names_by_id[method]))
        return [
            f"{join_words(group)} {'hands' if len(group) == 1 else 'hand'} on at most "
            f"{count_noun(count, 'passage')}: no figures {cuts}."
            for (count, cuts), group in groups.items()
        ]

    @property
    def fronts(self) -> tuple[tuple[str, str], ...]:
        """Pairs of cost and quality for the Pareto fronts.

        Without a language model, accuracy comes last: the answer is then only the sentence nearest
        to the question, and the retrieved passages say more.
        """
        if self.run.spec["model"]:
            return self.defaults.front_metrics
        return tuple(sorted(self.defaults.front_metrics, key=lambda pair: pair[1] == "accuracy"))

    @cached_property
    def questions(self) -> tuple[str, ...]:
        """Ids of the questions that have a row.

        They are in the order in which they were asked.
        """
        return tuple(dict.fromkeys(row.question.id for row in self.rows))

    def rows_of(self, method: str, run: int = 0) -> list[StoredRow]:
        """Return the rows of a method in one of its runs (`runs_of`); 0 is the first."""
        rows = [row for row in self.rows if row.method == method]
        return [row.repeats[run] for row in rows] if run else rows

    def outcomes(self, method: str) -> list[Outcome]:
        """Return the outcomes of the questions that a method answered."""
        return [row.outcome for row in self.rows_of(method) if row.outcome is not None]

    @property
    def repeated(self) -> dict[str, str]:
        """Words for the chance in each repeated method, by its id."""
        return dict(self.run.spec.get("varied", ()))

    def runs_of(self, method: str) -> list[int]:
        """Return the numbers of a method's runs on all its questions, 0 for the first.

        A repeat counts once it has a row for each question that the first run has.
        """
        rows = self.rows_of(method)
        if method not in self.repeated or not rows:
            return [0]
        return [0, *sorted(set.intersection(*(set(row.repeats) for row in rows)))]

    def spread(self, method: str, name: str) -> RunSpread | None:
        """Return the spread of a metric's mean between the runs of a method.

        None for a method without complete repeats, or without a value in each run.
        """
        if len(self.runs_of(method)) == 1:
            return None
        return run_spread(self.values_by_run(method, name))

    def values_by_run(self, method: str, name: str) -> np.ndarray:
        """Return the values of a metric in each run of a method, float64 [runs, questions]."""
        runs = self.runs_of(method)
        return np.array([self._values_of_run(method, [name], False, run)[:, 0] for run in runs])

    def aa_test(self, method: str, name: str) -> PairedTest | None:
        """Return the paired test of a method's first repeat against its first run (A/A)."""
        runs = self.values_by_run(method, name)
        if len(runs) == 1:
            return None
        return paired_test(name, method, method, runs[1], runs[0])

    def spread_sentences(self, names: Sequence[str]) -> list[str]:
        """Return a sentence on each repeated method: its runs, what varies, and the spread."""
        titles = method_names(self.run)
        sentences = []
        for method, varied in self.repeated.items():
            ranges = []
            for name in names:
                if spread := self.spread(method, name):
                    ranges.append(f"{metric(name).name} {spread.low:.3g} to {spread.high:.3g}")
            if ranges:
                runs = len(self.runs_of(method))
                sentences.append(
                    f"{titles[method]}: means of {runs} runs that vary in {varied}; by run "
                    f"{', '.join(ranges)}."
                )
        return sentences

    def values(self, method: str, names: Sequence[str], with_context: bool = False) -> np.ndarray:
        """Return the values of metrics for a method.

        A failed question has the value that the metric gives to failures, provided that at least
        one answered question has a value. With repeats, a value is the mean over the runs.

        Parameters
        ----------
        method : id of the method.
        names : names of metrics.
        with_context : True to leave out failed questions, and questions whose subgraph is empty.

        Returns
        -------
        float64 [questions, names], with the questions in the order of `questions`. NaN marks a
            missing value.
        """
        matrices = []
        for run in self.runs_of(method):
            matrices.append(self._values_of_run(method, names, with_context, run))
        return mean_of_runs(np.array(matrices))

    def _values_of_run(
        self, method: str, names: Sequence[str], with_context: bool, run: int
    ) -> np.ndarray:
        """Return the values of `values` in one run of a method; 0 is the first."""
        row_by_question = {question: i for i, question in enumerate(self.questions)}
        chosen_metrics = list(map(metric, names))
        matrix = np.full((len(row_by_question), len(chosen_metrics)), np.nan)
        rows = self.rows_of(method, run)
        for row in rows:
            if row.outcome is not None and not (with_context and row.outcome.has_empty_subgraph):
                values = [each(row.outcome) for each in chosen_metrics]
                matrix[row_by_question[row.question.id]] = _with_nan(values)
        if not with_context:
            has_values = ~np.isnan(matrix).all(0)
            for row in rows:
                if row.error is not None:
                    values = [
                        each.value_if_failed(row.question) if has_value else None
                        for each, has_value in zip(chosen_metrics, has_values, strict=True)
                    ]
                    matrix[row_by_question[row.question.id]] = _with_nan(values)
        # No figures at cut-offs that the method never reaches.
        matrix[:, [bool(self.max_passages_below_cutoff(method, name)) for name in names]] = np.nan
        return matrix

    def table(
        self, names: Sequence[str] = (), with_context: bool = False
    ) -> dict[str, dict[str, Estimate]]:
        """Return every metric's estimate for each method.

        For the intervals, the same bootstrap samples of questions are drawn for all methods.

        Parameters
        ----------
        names : names of metrics; by default those that are reported.
        with_context : True to leave out failed questions, and questions whose subgraph is empty.

        Returns
        -------
        Estimates by method and metric.
        """
        names = names or self.reported_metrics
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
        hop_counts = {row.question.hops for row in self.rows}
        summaries = {}
        for hops in sorted(hop_counts, key=lambda hops: (hops is None, hops or 0)):
            rows = [row for row in self.rows if row.question.hops == hops]
            summaries[hops] = RunSummary(self.run, rows, self.full_summary or self)
        return summaries

    def funnel(self, method: str) -> dict[str, float | None]:
        """Return the mean share of known answers left at each stage.

        The mean is over the answered questions. The share is None for a stage that the method does
        not have.
        """
        outcomes = [outcome for outcome in self.outcomes(method) if outcome.golds]
        shares_alive: dict[str, float | None] = {}
        for stage in stages_of(outcomes):
            shares = [o.alive[stage] / o.golds for o in outcomes if o.alive and stage in o.alive]
            shares_alive[stage] = sum(shares) / len(shares) if shares else None
        return shares_alive

    def passage_funnel(self, method: str) -> dict[str, float]:
        """Return the mean share of gold passages left at each stage.

        The mean is over the answered questions that have gold passages. Stages that the method does
        not have are left out.
        """
        outcomes = self.outcomes(method)
        survivals = [outcome.fates for outcome in outcomes if outcome.fates is not None]
        shares = {
            stage: [each.alive[stage] / each.golds for each in survivals if stage in each.alive]
            for stage in CorpusSource.stages
        }
        return {stage: sum(values) / len(values) for stage, values in shares.items() if values}

    def operators(self, method: str) -> list[dict[str, Any]]:
        """Return the mean seconds, calls, tokens and texts of each operator of a method.

        The means are over the answered questions. `share` is the share of questions for which the
        operator ran; it is below 1 inside a branch. If an operator occurs several times in a line,
        each occurrence has its own row.
        """
        outcomes = self.outcomes(method)
        costs_by_operator: dict[tuple[str, str, int], list[OperatorCost]] = {}
        for outcome in outcomes:
            operator_counts: Counter[str] = Counter()
            for cost in outcome.costs:
                key = (cost.operator, cost.stage, operator_counts[cost.operator])
                costs_by_operator.setdefault(key, []).append(cost)
                operator_counts[cost.operator] += 1
        rows = []
        for (operator, stage, _), costs in costs_by_operator.items():
            share = len(costs) / len(outcomes)
            row: dict[str, Any] = {"operator": operator, "stage": stage, "share": share}
            for name in COST_FIELDS:
                row[name] = sum(getattr(cost, name) for cost in costs) / len(outcomes)
            rows.append(row)
        return rows

    def counts(self, method: str) -> dict[str, int]:
        """Return the numbers of asked, scored (answered) and failed questions.

        `without_context` counts the scored questions whose subgraph is empty, and `without_answers`
        those without known answers.
        """
        outcomes = self.outcomes(method)
        return {
            "asked": self.run.spec["sample"],
            "scored": len(outcomes),
            "failed": sum(row.error is not None for row in self.rows_of(method)),
            "without_context": sum(outcome.has_empty_subgraph for outcome in outcomes),
            "without_answers": sum(not outcome.golds for outcome in outcomes),
        }

    def answered_by(self, method: str) -> dict[str, int]:
        """Return the number of scored answers by their source (`ScoredAnswer.by`)."""
        answers = [outcome.answer for outcome in self.outcomes(method)]
        return dict(Counter(answer.by for answer in answers if answer is not None))

    @property
    def unfinished_row_counts(self) -> dict[str, int]:
        """Number of rows of each method if the run is unfinished, else empty.

        Rows of failed questions count too.
        """
        counts = {method: len(self.rows_of(method)) for method in self.methods}
        return counts if any(count < self.run.spec["sample"] for count in counts.values()) else {}

    def done_text(self, method: str) -> str:
        """Return `13 of 40`: the questions for which a method has a row, answered or failed."""
        return f"{len(self.rows_of(method)):,} of {self.run.spec['sample']:,}"

    def progress_text(self) -> str:
        """Return the progress of an unfinished run, empty if the run is finished.

        An example is `not finished: 13 of 40 questions of A, 12 of 40 of B`.
        """
        row_counts = self.unfinished_row_counts
        if not row_counts:
            return ""
        if len(set(row_counts.values())) == 1:
            return f"not finished: {self.done_text(self.methods[0])} questions"
        names = method_names(self.run)
        parts = [
            f"{self.done_text(method)} questions of {names[method].plain}" for method in row_counts
        ]
        return f"not finished: {', '.join(parts)}"

    def errors(self, method: str) -> dict[str, int]:
        """Return the counts of a method's failures.

        They are by the pattern of the reason, highest first.
        """
        return failure_patterns(row.error for row in self.rows_of(method) if row.error is not None)

    def failure_text(self, method: str) -> str:
        """Return `2 of 40 answered, 38 failed: ...` with the reasons; empty without failures."""
        counts = self.counts(method)
        return answered_text(counts["scored"], counts["failed"], join_reasons(self.errors(method)))

    def failure_sentences(self) -> list[str]:
        """Return `RunSummary.failure_text` for each method with failures, after its name."""
        names = method_names(self.run)
        sentences = {method: self.failure_text(method) for method in self.methods}
        return [f"{names[method]}: {text}" for method, text in sentences.items() if text]

    def answer_fault_sentences(self) -> list[str]:
        """Return a sentence for each method with blank or cut answers.

        It gives their number and the reasons.
        """
        names = method_names(self.run)
        sentences = []
        for method in self.methods:
            outcomes = self.outcomes(method)
            fault_texts = [outcome.answer_fault for outcome in outcomes if outcome.answer_fault]
            if fault_texts:
                sentences.append(
                    f"{names[method]}: {len(fault_texts):,} of {len(outcomes):,} answers blank or cut: "
                    f"{join_reasons(failure_patterns(fault_texts))}"
                )
        return sentences

    def external_result_sentences(self) -> list[str]:
        """Return sentences on methods whose results come from a user's program or file.

        They say how many documents that these name are not in the corpus, which methods brought
        their own answers, and for which methods the cost is unknown.
        """
        names = method_names(self.run)
        sentences = list[str]()
        for method in self.methods:
            outcomes = self.outcomes(method)
            counts = [outcome.given for outcome in outcomes if outcome.given is not None]
            unplaced_total = sum(count.unplaced for count in counts)
            if unplaced_total:
                document_total = sum(count.documents for count in counts)
                lacking_count = sum(count.unplaced > 0 for count in counts)
                sentences.append(
                    f"{names[method]}: {unplaced_total:,} of {document_total:,} documents not in "
                    f"the corpus, in {lacking_count:,} of {len(counts):,} questions."
                )
        answering = self._names_of_any(_is_answered_by_method)
        from_file = self._names_of_any(_is_from_file)
        if answering:
            sentences.append(
                f"{join_words(answering)} brought {'its' if len(answering) == 1 else 'their'} own "
                "answers, which are scored."
            )
        if from_file:
            sentences.append(
                f"What {join_words(from_file)} took in seconds and tokens is not known, as it "
                "comes from a file."
            )
        return sentences

    def _names_of_any(self, predicate: Callable[[Outcome], bool]) -> list[str]:
        """Return the names of the methods with a fitting outcome.

        An outcome fits if a predicate is true for it.
        """
        names = method_names(self.run)
        return [str(names[id]) for id in self.methods if any(map(predicate, self.outcomes(id)))]

    def f1_of_means(self, table: dict[str, Estimate]) -> dict[str, float | None]:
        """Return the F1 of mean precision and mean recall, by the keys of `F1_OF_MEANS`.

        The text of the first version of LEGO-GraphRAG defines F1 in this way. `table` holds the
        estimates of one method by metric.
        """
        return {
            part: f1(table[p].mean, table[r].mean)
            for part, (p, r) in F1_OF_MEANS.items()
            if p in table and r in table
        }

    @property
    def adapted_names(self) -> dict[str, str]:
        """Names by id of the methods that are adaptations.

        They adapt a published method to other data. They are not tested, because the results of an
        adaptation say nothing about the published method.
        """
        names_by_id = {spec["id"]: spec["name"] for spec in self.run.spec["instances"]}
        return {id: name for id, name in names_by_id.items() if name.endswith(ADAPTED_SUFFIX)}

    def untested_sentence(self) -> str:
        """Return a sentence that names the adaptations, empty if there are none."""
        names = " and ".join(self.adapted_names.values())
        if not names:
            return ""
        return (
            f"No test is made against {names}: an adaptation is not the method that was published."
        )

    def paired_tests(
        self, pairs: Iterable[tuple[str, str]] | None = None, names: Sequence[str] = ()
    ) -> list[PairedTest]:
        """Return paired tests of metrics.

        Adaptations are left out. Holm's correction covers the pairs of one metric.

        Parameters
        ----------
        pairs : ids of the methods a and b to compare; None compares every method with the first.
        names : names of metrics; by default those that are tested.

        Returns
        -------
        One test for each metric and pair.
        """
        names = names or self.defaults.test_metrics
        if pairs is None:
            pairs = [(other, self.methods[0]) for other in self.methods[1:]]
        pairs = [pair for pair in pairs if not {*pair} & self.adapted_names.keys()]
        values = {method: self.values(method, names) for method in {*chain.from_iterable(pairs)}}
        tests: list[PairedTest] = []
        for column, name in enumerate(names):
            tests += holm_corrected(
                self._paired_test(name, a, b, values[a][:, column], values[b][:, column])
                for a, b in pairs
            )
        return tests

    def _paired_test(
        self, name: str, a: str, b: str, values_a: np.ndarray, values_b: np.ndarray
    ) -> PairedTest | None:
        """Return the test of two methods, which takes their repeats into account."""
        spreads = (self.spread(a, name), self.spread(b, name))
        return paired_test(name, a, b, values_a, values_b, spreads=spreads)

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
        points = {name: (row[cost].mean, row[quality].mean) for name, row in table.items()}
        return pareto(points)


def mean_of_runs(values: np.ndarray) -> np.ndarray:
    """Return the mean over the runs that have a value, NaN where none has.

    `values` has the runs as its first axis.
    """
    if len(values) == 1:
        return values[0]
    known = (~np.isnan(values)).sum(0)
    with np.errstate(invalid="ignore"):  # 0 / 0 where no run has a value
        return np.nansum(values, axis=0) / np.where(known, known, np.nan)


def summary_dict(summary: RunSummary, names: Sequence[str] = ()) -> dict[str, Any]:
    """Return a summary as plain data for JSON.

    The data are the run, each method's figures, paired tests, fronts, and the metrics' conventions.

    Parameters
    ----------
    summary : figures of a run.
    names : names of metrics; by default those that are reported.

    Returns
    -------
    A dict of numbers, texts, lists and dicts.
    """
    names = names or summary.reported_metrics
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
        **{name: run.spec[name] for name in SUMMARY_SETTINGS},
        "graphs": [name for name, _ in run.spec["graphs"]],
        "instances": methods,
        "paired": [dataclasses.asdict(test) for test in summary.paired_tests()],
        **_without_empty("untested", summary.untested_sentence()),
        **_without_empty("unfinished", summary.progress_text()),
        **_without_empty("shallow", summary.missing_depth_sentences(names)),
        **_without_empty("repeats", _repeats_dict(summary, names)),
        "fronts": [
            {"cost": c, "quality": q, "instances": list(summary.front(tables.all_questions, c, q))}
            for c, q in summary.fronts
            if {c, q} <= set(names)
        ],
        "conventions": {name: metric(name).describe() for name in names},
    }


@dataclass(frozen=True)
class FigureTables:
    """Estimates of a run by method and metric.

    Parameters
    ----------
    all_questions : over all questions.
    with_context : over the answered questions whose subgraph is not empty.
    by_hops : over the questions of each hop count; the key None is for an unknown hop count.
    """

    all_questions: Mapping[str, dict[str, Estimate]]
    with_context: Mapping[str, dict[str, Estimate]]
    by_hops: Mapping[int | None, Mapping[str, dict[str, Estimate]]]


def _repeats_dict(summary: RunSummary, names: Sequence[str]) -> dict[str, Any]:
    """Return the runs of each repeated method, what varies, and the spread by metric."""
    methods = {}
    for method, varied in summary.repeated.items():
        spreads = {}
        for name in names:
            if spread := summary.spread(method, name):
                spreads[name] = dataclasses.asdict(spread)
        runs = len(summary.runs_of(method))
        methods[method] = {"runs": runs, "varied": varied, "spread": spreads}
    return methods


def _figures_dict(summary: RunSummary, method: str, tables: FigureTables) -> dict[str, Any]:
    """Return the figures of a method as plain data."""
    return {
        "questions": summary.counts(method),
        "answered_by": summary.answered_by(method),
        "metrics": _to_dicts(tables.all_questions[method]),
        "metrics_with_context": _to_dicts(tables.with_context[method]),
        "f1_of_means": summary.f1_of_means(tables.all_questions[method]),
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


def _is_from_file(outcome: Outcome) -> bool:
    return outcome.is_from_file


def _is_answered_by_method(outcome: Outcome) -> bool:
    return outcome.answer is not None and outcome.answer.by == ANSWER_BY_METHOD


def _with_nan(values: Iterable[float | None]) -> list[float]:
    """Return values with NaN for missing ones."""
    return [np.nan if value is None else value for value in values]


def _to_dicts(estimates: dict[str, Estimate]) -> dict[str, dict[str, Any]]:
    return {name: dataclasses.asdict(estimate) for name, estimate in estimates.items()}


def stages_of(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """Return the names of the stages at which known answers are counted.

    They are in their order, first to last. They are the stages of corpora if any outcome has them,
    else the stages of graphs of triples.
    """
    if any("retrieved" in (outcome.alive or ()) for outcome in outcomes):
        return CorpusSource.stages
    return GraphSource.stages
