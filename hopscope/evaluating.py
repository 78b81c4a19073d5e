"""Evaluation of several methods on sets of questions: `evaluate`, `advise` and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from core.corpus import open_corpus
from core.corpus.corpus_import import GoldDocumentFinder, note_missing_gold
from core.errors import BadInput, HopscopeError
from core.evaluation.advice.advice_state import QUESTIONS_BY_MODEL, QUESTIONS_BY_NAMES
from core.evaluation.advice.advisor import start_advice
from core.evaluation.advice.answer import AdviceAnswer, answer
from core.evaluation.advice.plan import ADVICE_DEFAULTS
from core.evaluation.exchange.run_files import write_run_files
from core.evaluation.metrics.catalogue import metric
from core.evaluation.reports.export import latex_table
from core.evaluation.reports.html import report_html
from core.evaluation.reports.recommendation import recommendation
from core.evaluation.reports.summary import RunSummary, summary_dict
from core.evaluation.runs.evaluation_jobs import add_methods
from core.evaluation.runs.evaluation_jobs import evaluate as start
from core.evaluation.runs.plan import OpenedSet, make_plan, misfits, source_of
from core.evaluation.runs.store import Store, evaluations_file
from core.methods.catalogue import RUN_PREFIX, Method, catalogue
from core.models.price import parse_cap
from core.operators.base import Line, Operator
from core.questions.gold import GOLD_KEYS
from core.questions.question_files import read_question_rows
from core.retrievers.runs.saved_runs import save_run_file
from core.serving.calls import find_source
from core.sources import AnswerSource
from hopscope.comparing import MethodLike, to_method
from hopscope.session import engine, wait_for_job, warn_user
from hopscope.tables import TableLike, table_rows

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

    def __init__(self, summary: RunSummary, store: Store, metrics: Sequence[str] = ()):
        self.summary = summary
        self.metrics = tuple(metrics)
        self._store = store

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
            values = dict(zip(self.summary.questions, self.summary.values(method, names)))
            for row in self.summary.rows_of(method):
                scored = row.outcome.answer if row.outcome is not None else None
                figures = [None if np.isnan(v) else float(v) for v in values[row.question.id]]
                rows.append(
                    {
                        "method": method,
                        "qid": row.question.id,
                        "question": row.question.text,
                        "answer": scored.text if scored is not None else "",
                        **dict(zip(names, figures)),
                        "error": row.error or "",
                    }
                )
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
        return [
            name for name, has_value in zip(names, is_measured) if has_value or name in self.metrics
        ]

    def _means(self, names: Sequence[str]) -> list[dict[str, Any]]:
        return [
            {
                "method": key,
                "questions": self.summary.counts(key)["scored"],
                **{name: figure.mean for name, figure in figures.items()},
            }
            for key, figures in self.summary.table(names).items()
        ]

    def compare(
        self,
        other: Evaluation | str | Path,
        *,
        metrics: str | Sequence[str] = (),
        progress: bool = True,
    ) -> list[dict[str, Any]]:
        """Return paired tests of the methods against those of a finished run.

        Parameters
        ----------
        other : Evaluation, str or Path
            An evaluation of the same questions, of which the shared ones are compared; or a
            finished run of another program: its file (docs/formats.md) or the name `run-NAME`.
        metrics : str or list of str
            Names of metrics. Default: the chosen ones, else those that are tested in the app.
        progress : bool
            Whether to draw a progress bar.

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
            If the runs share no question, or the file is no run.

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
        if isinstance(other, Evaluation):
            summary, theirs = _join(self.summary, other.summary)
        else:
            summary, theirs = self._with_run(other, progress)
        pairs = []
        for method in self.summary.methods:
            partners = [theirs[method]] if method in theirs else list(theirs.values())
            pairs += [(method, partner) for partner in partners]
        tests = summary.paired_tests(pairs, _metric_names(metrics) or self.metrics)
        return [asdict(test) for test in tests]

    def _with_run(self, run: str | Path, progress: bool) -> tuple[RunSummary, dict[str, str]]:
        """Return this evaluation with a finished run as one more method, and the method's id."""
        source = self._store.drawn_questions(self.summary.run.id)[0].source
        if not str(run).startswith(RUN_PREFIX) or Path(run).is_file():
            saved_run = save_run_file(run, source)
            warn_user(saved_run.notes)
            run = f"{RUN_PREFIX}{saved_run.name}"
        method = to_method(str(run), source)
        job = add_methods(engine(), self._store, self.summary.run, [method])
        number = wait_for_job(job, "Evaluating", progress).number
        summary = RunSummary(self._store.run(number), self._store.rows(number))
        return summary, {method.id: method.id}

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
    texts = {row.question.id: row.question.text for row in theirs.rows}
    shared = {
        row.question.id for row in ours.rows if texts.get(row.question.id) == row.question.text
    }
    if not shared:
        raise BadInput("The two evaluations share no question, so they cannot be compared.")
    ids = {key: f"{key} (other)" if key in ours.methods else key for key in theirs.methods}
    specs = list(ours.run.spec["instances"])
    specs += [spec | {"id": ids[spec["id"]]} for spec in theirs.run.spec["instances"]]
    rows = [*ours.rows, *(replace(row, method=ids[row.method]) for row in theirs.rows)]
    spec = ours.run.spec | {"instances": specs, "sample": len(shared)}
    shared_rows = [row for row in rows if row.question.id in shared]
    return RunSummary(replace(ours.run, spec=spec), shared_rows), ids


def evaluate(
    methods: MethodLike | Sequence[MethodLike],
    questions: str | Path | TableLike,
    *,
    metrics: str | Sequence[str] = (),
    cap: str | float = "",
    sample: int | None = 50,
    seed: int = 0,
    llm: bool = False,
    judge: bool = False,
    graph: str = "",
    corpus: str = "",
    progress: bool = True,
) -> Evaluation:
    """Evaluate methods on questions.

    Each answer is saved when it is there. The same call continues a run that was stopped. The
    former order of the first two arguments works too.

    Parameters
    ----------
    methods : MethodLike or list of MethodLike
        Any methods that `compare` accepts.
    questions : str, Path, DataFrame or list of dict
        Name of a question set, several names separated by commas, or a file of questions
        (docs/data.md). Or the questions themselves, a row each, with the columns of such a file:
        `question` or `query`, `answers` or `answer`, `entities`, `qid` or `id`, and on documents
        `gold`, the ids or titles of the documents that hold the evidence.
    metrics : str or list of str
        Names of metrics, such as `reader_hit@1`. Default: those that suit the source.
    cap : str or float
        What language models may cost in all: money (`2.50`, `"2 EUR"`) or `"200000 tokens"`. At the
        cap the run stops with a warning, and what is done is returned.
    sample : int or None
        Number of questions from each set; None asks all. Rows are all asked.
    seed : int
        Seed of the sample and of all random choices.
    llm : bool
        Whether a language model answers.
    judge : bool
        Whether a language model also judges the answers.
    graph, corpus : str
        Name of the graph to ask instead of the set's own; for rows, of the graph or the corpus.
        Default for rows: the graph of MetaQA.
    progress : bool
        Whether to draw a progress bar.

    Returns
    -------
    Evaluation
        The metrics of all methods.

    Raises
    ------
    HopscopeError
        If the questions, a metric or a method cannot be used. A missing column is named, with those
        that are there.

    Examples
    --------
    >>> import hopscope as hs
    >>> line = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
    >>> rows = [{"question": "who directed Inception", "answers": ["Christopher Nolan"]}]
    >>> done = hs.evaluate(line, rows, metrics=["reader_hit@1"], progress=False)
    >>> done.rows()[0]["reader_hit@1"], done.means()[0]["questions"]
    (1.0, 1)
    """
    if _are_methods(questions):
        methods, questions = cast(Any, questions), methods
    names = _metric_names(metrics)
    sets: str | OpenedSet
    if isinstance(questions, str | Path):
        source, sets = source_of(str(questions)), str(questions)
    else:
        source = find_source(graph, corpus)
        sets, sample = _open_rows(questions, source), None
    method_list = (
        [methods]
        if isinstance(methods, str) or not isinstance(methods, Sequence)
        else list(methods)
    )
    selected = [to_method(method, source) for method in method_list]
    plan = make_plan(
        selected, sets, sample, engine().graph, graph=graph, seed=seed, model=llm, judge=judge
    )
    warn_user([*plan.notes, *misfits(plan.drawn, engine().graph)])
    store = Store(evaluations_file())
    job = start(engine(), store, plan, cap=parse_cap(str(cap)))
    try:
        wait_for_job(job, "Evaluating", progress)
    except HopscopeError as error:
        if not cap or not store.rows(job.number):
            raise
        warn_user([str(error)])
    return Evaluation(RunSummary(store.run(job.number), store.rows(job.number)), store, names)


def _metric_names(metrics: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of some metrics, or of one. Raises BadParameter for an unknown one."""
    names = [metrics] if isinstance(metrics, str) else metrics
    return tuple(metric(name).name for name in names)


def _are_methods(value: Any) -> bool:
    """Return whether a value is one or more methods, and no questions."""
    if isinstance(value, str):
        return value in catalogue() or ">>" in value
    if isinstance(value, list | tuple):
        return bool(value) and not any(isinstance(item, Mapping) for item in value)
    return isinstance(value, Method | Line | Operator) or callable(value)


def _open_rows(rows: TableLike, source: AnswerSource) -> OpenedSet:
    """Return questions given as rows as an opened set of a source.

    On a corpus, the documents with the evidence are found by their ids or titles.
    """
    read = read_question_rows(
        table_rows(rows, "questions"), gold=GOLD_KEYS if source.is_corpus else ()
    )
    questions, notes = list(read.questions), [read.note()]
    if source.is_corpus:
        documents = open_corpus(source.name)
        questions = GoldDocumentFinder(documents).resolve_gold(questions)
        notes += note_missing_gold(documents, questions)
    note = " ".join(filter(None, notes))
    return "questions", questions, source, source.digest(engine().graph), note


def advise(
    corpus: str,
    *,
    llm: bool = False,
    minutes: float = ADVICE_DEFAULTS.minutes,
    seed: int = 0,
    again: bool = False,
    progress: bool = True,
) -> AdviceAnswer:
    """Say whether the documents of a corpus need a graph, from questions made of them.

    Everything is saved as it comes. The same call continues what was stopped, and a finished answer
    is returned at once (docs/advice.md).

    Parameters
    ----------
    corpus : str
        Name of the corpus.
    llm : bool
        Whether a language model writes the questions. Otherwise they are made of names.
    minutes : float
        The time that it may take.
    seed : int
        Seed of all that is drawn.
    again : bool
        Whether to make the questions and the answer anew.
    progress : bool
        Whether to draw a progress bar.

    Returns
    -------
    AdviceAnswer
        `needed` (yes, no, partly or open), the answer in the sentence `headline`, and its `kinds`,
        `details` and `caveats`.

    Raises
    ------
    HopscopeError
        If there is no such corpus, or no language model with `llm`.
    """
    store = Store(evaluations_file())
    writer = QUESTIONS_BY_MODEL if llm else QUESTIONS_BY_NAMES
    settings = {"by": writer, "seed": seed, "minutes": minutes, "again": again}
    job = start_advice(engine(), store, open_corpus(corpus), **settings)
    advice = wait_for_job(job, "Making and asking questions", progress).result
    return answer(RunSummary(store.run(advice.run), store.rows(advice.run)), advice)
