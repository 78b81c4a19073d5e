"""Evaluation of several methods: `evaluate`, `Experiment`, `advise`, and their results.

`Experiment` is for those who know PyTerrier: topics, qrels, and the metrics of ir_measures.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from core.corpus import open_corpus
from core.corpus.corpus_import import GoldDocumentFinder, note_missing_gold
from core.errors import BadInput, BadParameter, HopscopeError, with_command
from core.evaluation.advice.advice_state import QUESTIONS_BY_MODEL, QUESTIONS_BY_NAMES
from core.evaluation.advice.advisor import start_advice
from core.evaluation.advice.answer import AdviceAnswer, answer
from core.evaluation.advice.plan import ADVICE_DEFAULTS
from core.evaluation.exchange.run_files import (
    ExportedResult,
    exported_results,
    write_run_files,
)
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.metric import Metric
from core.evaluation.metrics.outcome import Outcome
from core.evaluation.metrics.ranking import gold_ranks
from core.evaluation.reports.export import latex_table
from core.evaluation.reports.html import report_html
from core.evaluation.reports.recommendation import recommendation
from core.evaluation.reports.summary import RunSummary, summary_dict
from core.evaluation.runs.evaluation_jobs import evaluate as start
from core.evaluation.runs.plan import OpenedSet, make_plan, misfits, source_of
from core.evaluation.runs.repeats import aa_offer, with_repeats
from core.evaluation.runs.store import Store, StoredRow, evaluations_file
from core.methods.catalogue import catalogue
from core.models.price import parse_cap
from core.questions.gold import GOLD_KEYS
from core.questions.question_files import read_question_file
from core.serving.calls import find_source
from core.sources import AnswerSource
from hopscope.comparing import MethodLike, is_method, to_methods
from hopscope.session import engine, wait_for_job, warn_user
from hopscope.tables import TableLike, table_rows

if TYPE_CHECKING:
    import pandas
    import pyarrow

# The metrics that need no ir_measures, by their names there: those of Hopscope for documents.
OWN_METRICS = {"nDCG": "ndcg", "R": "passage_recall", "P": "passage_precision", "RR": "path_mrr"}
ScoresByTopic = Mapping[str, Mapping[str, float]]  # of the retrieved documents, best first
LabelsByTopic = Mapping[str, Mapping[str, int]]  # of the judged documents
MetricFunction = Callable[[ScoresByTopic, LabelsByTopic], dict[str, float]]  # returns the means


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
        tests = summary.paired_tests(pairs, _metric_names(metrics) or self.metrics)
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
    repeats: int = 1,
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
    repeats : int
        Runs of each method with chance, with other seeds (docs/noise-and-claims.md). Methods
        without chance run once.
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
    source, sets = _open_questions(questions, graph, corpus)
    size = sample if isinstance(sets, str) else None
    settings: dict[str, Any] = {"graph": graph, "seed": seed, "model": llm, "judge": judge}
    plan = make_plan(to_methods(methods, source), sets, size, engine().graph, **settings)
    plan = with_repeats(plan, repeats, engine().models)
    offer = aa_offer(plan.methods, engine().models, llm, plan.repeats)
    warn_user([*plan.notes, *misfits(plan.drawn, engine().graph), *offer])
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
    return is_method(value[0] if isinstance(value, list | tuple) and value else value)


def _open_questions(
    questions: str | Path | TableLike, graph: str, corpus: str
) -> tuple[AnswerSource, str | OpenedSet]:
    """Return the source of some questions, and the names of sets or the opened rows.

    On a corpus, the documents with the evidence are found by their ids or titles.
    """
    if isinstance(questions, str | Path):
        return source_of(str(questions)), str(questions)
    source = find_source(graph, corpus)
    gold = GOLD_KEYS if source.is_corpus else ()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "questions.jsonl"
        lines = [f"{json.dumps(row, default=str)}\n" for row in table_rows(questions, "questions")]
        file.write_text("".join(lines), "utf-8")
        read = read_question_file(file, gold=gold)
    read.check_known()
    opened, notes = list(read.questions), [read.note()]
    if source.is_corpus:
        documents = open_corpus(source.name)
        opened = GoldDocumentFinder(documents).resolve_gold(opened)
        notes += note_missing_gold(documents, {"questions": ("", opened)})
    note = " ".join(filter(None, notes))
    return source, ("questions", opened, source, source.digest(engine().graph), note)


def Experiment(
    methods: Sequence[MethodLike],
    topics: TableLike,
    qrels: TableLike,
    metrics: Sequence[Any],
    *,
    corpus: str,
    names: Sequence[str] = (),
    seed: int = 0,
    progress: bool = True,
) -> pandas.DataFrame:
    """Run methods on topics and score their rankings, as PyTerrier does.

    The rankings are saved as an evaluation, so that the same call continues what was stopped.

    Parameters
    ----------
    methods : list of MethodLike
        Any methods that `compare` accepts.
    topics : DataFrame or list of dict
        Columns `qid` and `query`.
    qrels : DataFrame or list of dict
        Columns `qid`, `docno` and `label`. A `docno` is the id of a document. If none is, they are
        ids of passages, as in `Lane.hits`. A label above 0 is relevant.
    metrics : list
        Metrics of ir_measures, or their names: `nDCG@10`, `"RR"`. Where it is not installed,
        `nDCG`, `R`, `P` and `RR` by their names, with a cut-off or without.
    corpus : str
        Name of the corpus that is searched.
    names : list of str
        Names of the methods in the result. Default: their ids.
    seed : int
        Seed of all random choices.
    progress : bool
        Whether to draw a progress bar.

    Returns
    -------
    pandas.DataFrame
        A row for each method: its `name`, and the mean of each metric over the topics with qrels. A
        topic without a result counts 0.

    Raises
    ------
    BadInput
        If a column is missing, which is named with those that are there.
    BadParameter
        If there is no such metric.

    Examples
    --------
    >>> import hopscope as hs
    >>> texts = {"ada": "Ada wrote notes.", "bob": "Bob built an engine.", "eve": "Eve sang."}
    >>> _ = hs.corpus("experiment", texts)
    >>> topics = [{"qid": "1", "query": "Who built an engine?"}]
    >>> qrels = [{"qid": "1", "docno": "bob", "label": 1}]
    >>> result = hs.Experiment(
    ...     ["bm25-passages"], topics, qrels, ["RR"], corpus="experiment", progress=False
    ... )
    >>> result.to_dict("records")
    [{'name': 'bm25-passages', 'RR': 1.0}]
    """
    import pandas

    compute = _metric_function(metrics)
    topic_rows = table_rows(topics, "topics", ("qid", "query"))
    queries = {str(row["qid"]): row["query"] for row in topic_rows}
    labels: dict[str, dict[str, int]] = {}
    for row in table_rows(qrels, "qrels", ("qid", "docno", "label")):
        if str(row["qid"]) in queries:
            labels.setdefault(str(row["qid"]), {})[str(row["docno"])] = int(row["label"])
    by_passage = _are_passages(set().union(*labels.values()), find_source(corpus=corpus))
    questions = []
    for qid, query in queries.items():
        gold = [docno for docno, label in labels.get(qid, {}).items() if label > 0]
        questions.append({"qid": qid, "query": query, "gold": [] if by_passage else gold})
    done = evaluate(methods, questions, corpus=corpus, seed=seed, progress=progress)
    warn_user(done.summary.failure_sentences())
    rows = []
    for index, results in enumerate(done.results(passages=by_passage)):
        scores = {one.question.id: dict(one.documents) for one in results if one.documents}
        name = names[index] if names else done.summary.methods[index]
        rows.append({"name": name, **compute(scores, labels)})
    return pandas.DataFrame(rows)


def _are_passages(docnos: set[str], source: AnswerSource) -> bool:
    """Return whether the ids in qrels are those of passages, as none is that of a document.

    Raises BadInput if they are neither.
    """
    documents = source.documents
    if any(docno in documents for docno in docnos):
        return False
    if docnos.isdisjoint(source.open(engine()).graph.columns.chunks.texts("id")):
        raise BadInput(
            f"No row of the qrels is of a topic, and of a document or a passage of “{source.name}”."
        )
    return True


def _metric_function(metrics: Sequence[Any]) -> MetricFunction:
    """Return the function that computes the metrics, by ir_measures where it is installed.

    Raises BadParameter for an unknown metric.
    """
    if find_spec("ir_measures") is None:
        return _own_metric_function(list(map(str, metrics)))
    import ir_measures

    titles = {}
    for name in metrics:
        try:
            titles[ir_measures.parse_measure(name)] = str(name)
        except (NameError, ValueError, TypeError) as error:
            raise BadParameter(f"ir_measures has no metric “{name}”: {error}.") from None

    def compute(scores: ScoresByTopic, labels: LabelsByTopic) -> dict[str, float]:
        judged_scores = {qid: scores[qid] for qid in labels if qid in scores}
        means = ir_measures.calc_aggregate(list(titles), labels, judged_scores)
        return {title: means[parsed] for parsed, title in titles.items()}

    return compute


def _own_metric_function(names: Sequence[str]) -> MetricFunction:
    """Return the function that computes metrics by Hopscope, named as in ir_measures."""
    own_metrics: dict[str, Metric] = {}
    for name in names:
        base, at, cutoff = name.partition("@")
        if base not in OWN_METRICS:
            there = ", ".join(OWN_METRICS)
            raise BadParameter(f"Without ir_measures there is no metric “{name}”, only {there}.")
        own_metrics[name] = metric(f"{OWN_METRICS[base]}{at}{cutoff}")

    def compute(scores: ScoresByTopic, labels: LabelsByTopic) -> dict[str, float]:
        means = dict.fromkeys(names, 0.0)
        for qid, topic_labels in labels.items():
            if max(topic_labels.values()) > 1 and "nDCG" in ",".join(names):
                sentence = "nDCG of labels above 1 needs ir_measures."
                raise BadInput(with_command(sentence, "pip install ir-measures"))
            relevant = [docno for docno, label in topic_labels.items() if label > 0]
            found = [
                [relevant.index(one)] if one in relevant else [] for one in scores.get(qid, ())
            ]
            ranks = gold_ranks(found, len(relevant))
            outcome = Outcome(golds=len(relevant), paths=ranks, passages=ranks)
            for name, own_metric in own_metrics.items():
                means[name] += (own_metric(outcome) or 0.0) / len(labels)
        return means

    return compute


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
