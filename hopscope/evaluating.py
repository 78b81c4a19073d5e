"""Evaluation of several methods on questions, and advice on the documents of a corpus."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from core.corpus import open_corpus
from core.corpus.corpus_import import GoldDocumentFinder, note_missing_gold
from core.errors import HopscopeError
from core.evaluation.advice.advice_state import QUESTIONS_BY_MODEL, QUESTIONS_BY_NAMES
from core.evaluation.advice.advisor import start_advice
from core.evaluation.advice.answer import AdviceAnswer, answer
from core.evaluation.advice.plan import ADVICE_DEFAULTS
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.evaluation_jobs import evaluate as start
from core.evaluation.runs.plan import OpenedSet, Plan, make_plan, misfits, source_of
from core.evaluation.runs.repeats import aa_offer, with_repeats
from core.evaluation.runs.store import Store, evaluations_file
from core.methods.catalogue import RUN_PREFIX, catalogue
from core.models.price import parse_cap
from core.questions.gold import GOLD_KEYS
from core.questions.question_files import read_question_file
from core.retrievers.runs.saved_runs import FileRun, save_run_file
from core.serving.calls import find_source
from core.sources import AnswerSource
from hopscope.evaluation import Evaluation, metric_names
from hopscope.method_values import MethodLike, is_method, to_methods
from hopscope.session import engine, wait_for_job, warn_user
from hopscope.tables import TableLike, table_rows


def evaluate(
    methods: MethodLike | Sequence[MethodLike],
    questions: str | Path | TableLike,
    *,
    metrics: str | Sequence[str] = (),
    against: str | Path = "",
    cap: str | float = "",
    sample: int | None = 50,
    seed: int = 0,
    llm: bool = False,
    judge: bool = False,
    graph: str = "",
    corpus: str = "",
    repeats: int = 1,
    rebuild: bool = False,
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
        `question` or `query`, `answers` or `answer`, `entities`, qid or id, and on documents
        `gold`, the ids or titles of the documents that hold the evidence.
    metrics : str or list of str
        Names of metrics, such as `reader_hit@1`. Default: those that suit the source.
    against : str or Path
        File of a finished run of another program (docs/formats.md). It becomes the first method,
        `run-NAME`, against which the others are tested.
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
    rebuild : bool
        Whether to build the graphs of documents again for each repeat, with other seeds.
    progress : bool
        Whether to draw a progress bar.

    Returns
    -------
    Evaluation
        The metrics of all methods.

    Raises
    ------
    HopscopeError
        If the questions, a metric, a method or the finished run cannot be used. A missing column is
        named, with those that are there.

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
    names = metric_names(metrics)
    source, sets = open_questions(questions, graph, corpus)
    size = sample if isinstance(sets, str) else None
    settings: dict[str, Any] = {"graph": graph, "seed": seed, "model": llm, "judge": judge}
    run = _save_finished_run(against, find_source(graph) if graph else source)
    first = [] if run is None else to_methods(f"{RUN_PREFIX}{run.name}", source)
    selected = [*first, *to_methods(methods, source)]
    plan = make_plan(selected, sets, size, engine().graph, **settings)
    plan = with_repeats(plan, repeats, engine().models, rebuild)
    warn_user(_warnings_of(plan, run))
    store = Store(evaluations_file())
    job = start(engine(), store, plan, cap=parse_cap(str(cap)))
    try:
        wait_for_job(job, "Evaluating", progress)
    except HopscopeError as error:
        if not cap or not store.rows(job.number):
            raise
        warn_user([str(error)])
    summary = RunSummary(store.run(job.number), store.rows(job.number))
    return Evaluation(summary, store, names, job.evaluation.cap)


def _warnings_of(plan: Plan, run: FileRun | None) -> list[str]:
    notes = [*(run.notes if run is not None else ()), *plan.notes]
    offer = aa_offer(plan.methods, engine().models, plan.model, plan.repeats)
    return [*notes, *misfits(plan.drawn, engine().graph), *offer]


def _save_finished_run(against: str | Path, source: AnswerSource) -> FileRun | None:
    """Save the finished run of a file. None if no file is given."""
    return save_run_file(against, source) if against else None


def _are_methods(value: Any) -> bool:
    """Return whether a value is one or more methods, and no questions."""
    if isinstance(value, str):
        return value in catalogue() or ">>" in value
    return is_method(value[0] if isinstance(value, list | tuple) and value else value)


def open_questions(
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
