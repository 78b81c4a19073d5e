"""Metrics of several methods on a set of questions, as tables, tests and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import BadInput, HopscopeError
from core.evaluation.exchange.run_files import (
    ExportedResult,
    exported_results,
    write_run_files,
)
from core.evaluation.metrics.catalogue import metric
from core.evaluation.repairs.reading_run import start_readings
from core.evaluation.reports.export import latex_table
from core.evaluation.reports.html import report_html
from core.evaluation.reports.reading_shares import reading_shares, shares_row
from core.evaluation.reports.recommendation import recommendation
from core.evaluation.reports.summary import RunSummary, summary_dict
from core.evaluation.routing.router import Router, find_router
from core.evaluation.runs.store import Store, StoredRow
from core.models.price import Cap, parse_cap
from hopscope.session import engine, wait_for_job, warn_user

if TYPE_CHECKING:
    import pandas
    import pyarrow


class Evaluation:
    """Metrics of several methods on a set of questions.

    In a notebook it draws a table of their means.

    Attributes
    ----------
    summary : RunSummary
        All figures of the run, with intervals and paired tests.
    metrics : tuple of str
        Names of the chosen metrics; empty for those that suit the source.
    """

    def __init__(
        self, summary: RunSummary, store: Store, metrics: Sequence[str] = (), cap: Cap | None = None
    ):
        self.summary = summary
        self.metrics = tuple(metrics)
        self._store = store
        self._cap = cap

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per method and question.

        Returns
        -------
        list of dict
            Each with `method`, `qid`, `question`, `answer` (empty without one), the metrics, and
            `error`. A failed question has the value that it counts in the mean: 0 for a quality.
        """
        names = self._measured(self.metrics or self.summary.reported_metrics)
        rows = []
        for method in self.summary.methods:
            values = self.summary.values(method, names)
            cells_by_row = np.where(np.isnan(values), np.array(None), values)
            figures = dict(zip(self.summary.questions, cells_by_row))
            for row in self.summary.rows_of(method):
                question, outcome = row.question, row.outcome
                scored = outcome.answer if outcome is not None else None
                cells = {"method": method, "qid": question.id, "question": question.text}
                cells |= {"answer": scored.text if scored is not None else ""}
                cells |= dict(zip(names, figures[question.id]))
                rows.append(cells | {"error": row.error or ""})
        return rows

    def means(self) -> list[dict[str, Any]]:
        """Return one row per method with the means of its metrics.

        Returns
        -------
        list of dict
            Each with `method`, `questions` (the number of scored questions) and the mean of every
            chosen metric, else of every metric that has a value for any method; None if this method
            has none.
        """
        return self._means(self._measured(self.metrics or self.summary.reported_metrics))

    def _measured(self, names: Sequence[str]) -> list[str]:
        """Return the metrics that were chosen or have a value for any method."""
        values = [self.summary.values(method, names) for method in self.summary.methods]
        is_measured = ~np.isnan(np.concatenate(values)).all(axis=0)
        is_chosen = np.isin(names, np.array(self.metrics, str))
        return np.array(names)[is_measured | is_chosen].tolist()

    def _means(self, names: Sequence[str]) -> list[dict[str, Any]]:
        rows = []
        for method, figures in self.summary.table(names).items():
            row = {"method": method, "questions": self.summary.counts(method)["scored"]}
            for name, figure in figures.items():
                row[name] = figure.mean
            rows.append(row)
        return rows

    def compare(
        self, other: Evaluation, *, metrics: str | Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """Return paired tests of the methods against those of a finished evaluation.

        A finished run of another program (docs/evaluation.md) is a method, `run-NAME`.

        Parameters
        ----------
        other : Evaluation
            An evaluation of the same questions, of which the shared ones are compared.
        metrics : str or list of str
            Names of metrics. Default: the chosen ones, else those that are tested in the app.

        Returns
        -------
        list of dict
            For each metric and pair of methods, the mean `difference` a - b over the `n` questions
            where both have a value, its 95 % interval from `low` to `high`, and the p-value of a
            permutation test, `p_holm` with Holm's correction. A method that both runs have is
            compared with itself, any other with each method of the other run.

        Raises
        ------
        BadInput
            If the evaluations share no question.

        Examples
        --------
        >>> import hopscope as hs
        >>> near, far = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)", "lego-1"
        >>> settings = {"sample": 2, "progress": False}
        >>> first = hs.evaluate(near, "metaqa-1hop-dev", **settings)
        >>> second = hs.evaluate(far, "metaqa-1hop-dev", **settings)
        >>> [test["n"] for test in first.compare(second, metrics=["reader_hit@1"])]
        [2]
        """
        summary, theirs = _join(self.summary, other.summary)
        pairs = []
        for method in self.summary.methods:
            partners = [theirs[method]] if method in theirs else list(theirs.values())
            pairs += [(method, partner) for partner in partners]
        tests = summary.paired_tests(pairs, metric_names(metrics) or self.metrics)
        return [asdict(test) for test in tests]

    def to_pandas(self) -> pandas.DataFrame:
        """Return `rows` as a data frame.

        Returns
        -------
        pandas.DataFrame
            One row for each method and question.
        """
        import pandas

        return pandas.DataFrame(self.rows())

    def to_arrow(self) -> pyarrow.Table:
        """Return `rows` as an Arrow table.

        Returns
        -------
        pyarrow.Table
            One row for each method and question.
        """
        import pyarrow

        return pyarrow.Table.from_pylist(self.rows())

    def results(self, passages: bool = False) -> list[list[ExportedResult]]:
        """Return what each method retrieved, a result per question with saved states.

        Parameters
        ----------
        passages : bool
            Whether the `documents` of a result are passages.

        Returns
        -------
        list of list of ExportedResult
            For each method, results with `question`, `documents` (pairs of id and score, best
            first) and `contexts` (the texts in the prompt).
        """
        run = self.summary.run
        sample = self._store.drawn_questions(run.id)
        settings: dict[str, Any] = {"sample": sample, "answers": {}, "passages": passages}
        return [
            list(exported_results(engine(), self._store, run, spec=spec, **settings))
            for spec in run.spec["instances"]
        ]

    def to_run(self, folder: str | Path) -> list[Path]:
        """Write the files of the run into a folder: TREC runs, qrels and more.

        The files are described in docs/formats.md.

        Parameters
        ----------
        folder : str or Path
            The folder, which is made if it does not exist.

        Returns
        -------
        list of Path
            The files.

        Raises
        ------
        BadInput
            If the folder cannot be written.
        """
        return write_run_files(engine(), self._store, self.summary.run, Path(folder))

    def to_latex(self) -> str:
        """Return the summary as a LaTeX table for the package booktabs.

        Returns
        -------
        str
            Text that needs the package booktabs.
        """
        return latex_table(self.summary)

    def to_html(self) -> str:
        """Return the report as one HTML file.

        Returns
        -------
        str
            A whole HTML document.
        """
        return report_html(self.summary)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data, with intervals and paired tests.

        It is the object that `hopscope evaluate --json` prints.

        Returns
        -------
        dict[str, Any]
            Only numbers, texts, lists and dicts.
        """
        return summary_dict(self.summary)

    def reading(
        self, *, ask: bool = True, cap: str | float = "", progress: bool = True
    ) -> list[dict[str, Any]]:
        """Return what each method loses in retrieval and in reading (docs/reading.md).

        The readers are asked again with nothing and with the evidence alone: of a language model at
        most two calls for each question and reader. Each answer is saved.

        Parameters
        ----------
        ask : bool
            Whether missing answers are asked for. Otherwise `known`, `ceiling` and `evidence_gain`
            are those so far.
        cap : str or float
            What the evaluation and the readings may cost in all, as in `evaluate`; default: its
            cap. At the cap they stop with a warning, and the shares so far are returned.
        progress : bool
            Whether to draw a progress bar.

        Returns
        -------
        list of dict
            For each method `instance`, the number `n` of counted questions, and the shares, each
            with `mean`, `low`, `high` and `n`. `uncounted` and `notes` tell what is missing.

        Raises
        ------
        HopscopeError
            If a language model is missing.

        Examples
        --------
        >>> import hopscope as hs
        >>> line = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
        >>> done = hs.evaluate(line, "metaqa-1hop-dev", sample=2, progress=False)
        >>> (shares,) = done.reading(progress=False)
        >>> shares["right"]["mean"] + shares["lost_in_reading"]["mean"], shares["n"]
        (1.0, 2)
        """
        run = self.summary.run
        if ask:
            limit = parse_cap(str(cap)) or self._cap
            job = start_readings(engine(), self._store, run, cap=limit)
            try:
                warn_user(wait_for_job(job, "Reading", progress).result)
            except HopscopeError as error:
                if limit is None:
                    raise
                warn_user([str(error)])
            self.summary = RunSummary(run, self._store.rows(run.id))
        return [shares_row(shares) for shares in reading_shares(self.summary)]

    def router(self, methods: Sequence[str] = ()) -> Router:
        """Learn a rule that chooses a method for each question, and save it.

        Parameters
        ----------
        methods : list of str
            Ids of the methods to choose between. Default: all that fit in one branch.

        Returns
        -------
        Router
            Its `line` is a method. `sentences()` has its figures on unseen questions, and `pays`
            says whether they are beyond chance (docs/routing.md).

        Raises
        ------
        BadInput
            If there is nothing to choose, or too little to learn from.
        """
        router = find_router(self._store, self.summary, methods)
        router.rule.save()
        return router

    @property
    def recommendation(self) -> str:
        """The recommended method with the reasons, in sentences.

        Empty if the figures do not decide between the methods.
        """
        advice = recommendation(self.summary)
        return "" if advice is None else " ".join((advice.headline, *advice.details))

    def _default_table(self) -> pandas.DataFrame:
        """A data frame of the means of the chosen metrics, else of those that the app shows."""
        import pandas

        names = self.metrics or self.summary.defaults.table_metrics
        return pandas.DataFrame(self._means(self._measured(names)))

    def __repr__(self) -> str:
        return self._default_table().to_string(index=False, float_format="{:.3f}".format)

    def _repr_html_(self) -> str:
        return self._default_table().to_html(index=False, float_format="{:.3f}".format, border=0)


def _join(ours: RunSummary, theirs: RunSummary) -> tuple[RunSummary, dict[str, str]]:
    """Return two runs as one over the questions that they share, and the ids in it of `theirs`.

    A method that both have gets another id. Raises BadInput if no question is shared.
    """
    shared = set(map(_question_key, ours.rows)) & set(map(_question_key, theirs.rows))
    if not shared:
        raise BadInput("The two evaluations share no question, so they cannot be compared.")
    ids = {key: f"{key} (other)" if key in ours.methods else key for key in theirs.methods}
    specs = list(ours.run.spec["instances"])
    specs += [spec | {"id": ids[spec["id"]]} for spec in theirs.run.spec["instances"]]
    rows = [*ours.rows, *(replace(row, method=ids[row.method]) for row in theirs.rows)]
    spec = ours.run.spec | {"instances": specs, "sample": len(shared)}
    shared_rows = [row for row in rows if _question_key(row) in shared]
    return RunSummary(replace(ours.run, spec=spec), shared_rows), ids


def _question_key(row: StoredRow) -> tuple[str, str]:
    return row.question.id, row.question.text


def metric_names(metrics: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of some metrics, or of one. Raises BadParameter for an unknown one."""
    names = [metrics] if isinstance(metrics, str) else metrics
    return tuple(metric(name).name for name in names)
