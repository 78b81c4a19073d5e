"""Methods over sets of questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.evaluation.exchange.run_files import write_run_files
from core.evaluation.reports.export import latex
from core.evaluation.reports.html import report_html
from core.evaluation.reports.recommendation import recommendation
from core.evaluation.reports.summary import Summary, summary_dict
from core.evaluation.runs.plan import make_plan, source_of
from core.evaluation.runs.starting import evaluate as start
from core.evaluation.runs.store import Store, evaluations_file
from hopscope.comparing import Method, instance_of
from hopscope.session import engine, finished

if TYPE_CHECKING:
    import pandas
    import pyarrow


class Evaluation:
    """Figures of methods over questions: `summary` has everything, and in a notebook the table draws itself."""

    def __init__(self, summary: Summary, store: Store):
        self.summary, self._store = summary, store

    def rows(self) -> list[dict[str, Any]]:
        """A row for each method: `method, questions`, and the mean of every metric that has a value for any of them, None where not."""
        return self._rows(self.summary.reported)

    def _rows(self, names: Sequence[str]) -> list[dict[str, Any]]:
        table = self.summary.table(names)
        valued = [
            name
            for name in names
            if any(figures[name].mean is not None for figures in table.values())
        ]
        counts = {method: self.summary.counts(method)["scored"] for method in table}
        return [
            {
                "method": key,
                "questions": counts[key],
                **{name: table[key][name].mean for name in valued},
            }
            for key in table
        ]

    def to_pandas(self) -> pandas.DataFrame:
        """`rows` as a data frame."""
        import pandas

        return pandas.DataFrame(self.rows())

    def to_arrow(self) -> pyarrow.Table:
        """`rows` as an Arrow table."""
        import pyarrow

        return pyarrow.Table.from_pylist(self.rows())

    def to_run(self, folder: str | Path) -> list[Path]:
        """The files written into a folder: TREC runs, qrels and more (docs/formats.md)."""
        return write_run_files(engine(), self._store, self.summary.run, Path(folder))

    def to_latex(self) -> str:
        """The summary as a table of LaTeX (booktabs)."""
        return latex(self.summary)

    def to_html(self) -> str:
        """The report as one file for a browser."""
        return report_html(self.summary)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, with intervals and paired tests, as `hopscope evaluate --json` prints it."""
        return summary_dict(self.summary)

    @property
    def recommendation(self) -> str:
        """Which method to take and why, in sentences; empty where the figures decide nothing."""
        found = recommendation(self.summary)
        return "" if found is None else " ".join((found.headline, *found.details))

    def _usual(self) -> pandas.DataFrame:
        """The figures that the page shows first."""
        import pandas

        return pandas.DataFrame(self._rows(self.summary.defaults.table))

    def __repr__(self) -> str:
        return self._usual().to_string(index=False, float_format="{:.3f}".format)

    def _repr_html_(self) -> str:
        return self._usual().to_html(index=False, float_format="{:.3f}".format, border=0)


def evaluate(
    questions: str,
    methods: Method | Sequence[Method],
    *,
    sample: int | None = 50,
    seed: int = 0,
    llm: bool = False,
    judge: bool = False,
    graph: str = "",
    progress: bool = True,
) -> Evaluation:
    """These methods over a sample of a question set: its name, several separated by commas, or a file of questions (docs/questions.md).

    The methods are those of `compare`. Every answer is saved as it comes, and the same call goes on where one was stopped. With `sample`
    None all questions are asked. Raises HopscopeError.

    >>> import hopscope as hs
    >>> done = hs.evaluate("metaqa-1hop-dev", "EgoNetwork(hops=1) >> ShortestPaths(hops=1)", sample=2, progress=False)
    >>> [row["questions"] for row in done.rows()]
    [2]
    """
    source = source_of(questions)
    given = (
        [methods]
        if isinstance(methods, str) or not isinstance(methods, Sequence)
        else list(methods)
    )
    instances = [instance_of(one, source) for one in given]
    plan = make_plan(
        instances, questions, sample, engine().graph, graph=graph, seed=seed, model=llm, judge=judge
    )
    store = Store(evaluations_file())
    job = finished(start(engine(), store, plan), "Evaluating", progress)
    return Evaluation(Summary(store.run(job.number), store.rows(job.number)), store)
