"""Evaluation of several methods on sets of questions: `evaluate` and its results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.evaluation.exchange.run_files import write_run_files
from core.evaluation.reports.export import latex_table
from core.evaluation.reports.html import report_html
from core.evaluation.reports.recommendation import recommendation
from core.evaluation.reports.summary import RunSummary, summary_dict
from core.evaluation.runs.evaluation_jobs import evaluate as start
from core.evaluation.runs.plan import make_plan, source_of
from core.evaluation.runs.store import Store, evaluations_file
from hopscope.comparing import MethodLike, to_method
from hopscope.session import engine, wait_for_job

if TYPE_CHECKING:
    import pandas
    import pyarrow


class Evaluation:
    """Metrics of several methods on a set of questions.

    In a notebook it draws its table.

    Attributes
    ----------
    summary : RunSummary
        All figures of the run, with intervals and paired tests.
    """

    def __init__(self, summary: RunSummary, store: Store):
        self.summary = summary
        self._store = store

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per method with the means of its metrics.

        Returns
        -------
        list of dict
            Each with `method`, `questions` (the number of scored questions) and the mean of every
            metric that has a value for any method; None if this method has none.
        """
        return self._rows(self.summary.reported_metrics)

    def _rows(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return rows with those of the metrics that have a value for any method."""
        table = self.summary.table(names)
        measured = [
            name
            for name in names
            if any(figures[name].mean is not None for figures in table.values())
        ]
        counts = {method: self.summary.counts(method)["scored"] for method in table}
        return [
            {
                "method": key,
                "questions": counts[key],
                **{name: table[key][name].mean for name in measured},
            }
            for key in table
        ]

    def to_pandas(self) -> pandas.DataFrame:
        """Return `rows` as a data frame.

        Returns
        -------
        pandas.DataFrame
            One row for each method.
        """
        import pandas

        return pandas.DataFrame(self.rows())

    def to_arrow(self) -> pyarrow.Table:
        """Return `rows` as an Arrow table.

        Returns
        -------
        pyarrow.Table
            One row for each method.
        """
        import pyarrow

        return pyarrow.Table.from_pylist(self.rows())

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

    @property
    def recommendation(self) -> str:
        """The recommended method with the reasons, in sentences.

        Empty if the figures do not decide between the methods.
        """
        advice = recommendation(self.summary)
        return "" if advice is None else " ".join((advice.headline, *advice.details))

    def _default_table(self) -> pandas.DataFrame:
        """A data frame with the metrics that the page Evaluate shows first."""
        import pandas

        return pandas.DataFrame(self._rows(self.summary.defaults.table_metrics))

    def __repr__(self) -> str:
        return self._default_table().to_string(index=False, float_format="{:.3f}".format)

    def _repr_html_(self) -> str:
        return self._default_table().to_html(index=False, float_format="{:.3f}".format, border=0)


def evaluate(
    questions: str,
    methods: MethodLike | Sequence[MethodLike],
    *,
    sample: int | None = 50,
    seed: int = 0,
    llm: bool = False,
    judge: bool = False,
    graph: str = "",
    progress: bool = True,
) -> Evaluation:
    """Evaluate methods on a sample of a question set.

    Each answer is saved when it is there. The same call continues a run that was stopped.

    Parameters
    ----------
    questions : str
        Name of a question set, several names separated by commas, or a file of questions
        (docs/questions.md).
    methods : MethodLike or list of MethodLike
        Any methods that `compare` accepts.
    sample : int or None
        Number of questions from each set; None asks all.
    seed : int
        Seed of the sample and of all random choices.
    llm : bool
        Whether a language model answers.
    judge : bool
        Whether a language model also judges the answers.
    graph : str
        Name of the graph to ask instead of the set's own.
    progress : bool
        Whether to draw a progress bar.

    Returns
    -------
    Evaluation
        The metrics of all methods.

    Raises
    ------
    HopscopeError
        If the questions or a method cannot be used.

    Examples
    --------
    >>> import hopscope as hs
    >>> line = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
    >>> done = hs.evaluate("metaqa-1hop-dev", line, sample=2, progress=False)
    >>> [row["questions"] for row in done.rows()]
    [2]
    """
    source = source_of(questions)
    method_list = (
        [methods]
        if isinstance(methods, str) or not isinstance(methods, Sequence)
        else list(methods)
    )
    selected = [to_method(method, source) for method in method_list]
    plan = make_plan(
        selected, questions, sample, engine().graph, graph=graph, seed=seed, model=llm, judge=judge
    )
    store = Store(evaluations_file())
    job = wait_for_job(start(engine(), store, plan), "Evaluating", progress)
    return Evaluation(RunSummary(store.run(job.number), store.rows(job.number)), store)
