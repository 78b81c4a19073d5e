"""Calls of programs and agents over HTTP or MCP, with bounded plain data.

Arguments are checked, and a wrong one raises BadInput. `methods` are ids of the catalogue of
methods or lines of operators as text. `core.serving.served_calls` names the calls that the servers
offer; programs and agents read the docstrings of these.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from core.cases import cases, comparison_of_case
from core.datasets import full_set_name
from core.diagnosis.verdict.verdict_words import explain_comparison
from core.errors import BadInput, HopscopeError, RunCancelled, shorten
from core.io.input_checks import (
    MAX_NAME_LETTERS,
    MAX_SEED,
    checked_number,
    checked_text,
    checked_texts,
)
from core.languages.spelling import contains_words
from core.methods.catalogue import (
    RUN_PREFIX,
    Method,
    catalogue,
    find_method,
    method_for_source,
)
from core.results import comparison_dict
from core.runtime.jobs import JOB_CANCELLED
from core.serving.removals import compare_without, removal_dict, unknown_names
from core.sources import (
    AnswerSource,
    GraphSource,
    SourceQuestion,
    available_sources,
    corpus_of_set,
    source_in,
)
from core.types import Question
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from core.engine import Engine, MethodComparison
    from core.evaluation.reports.summary import RunSummary


@dataclass(frozen=True)
class ServingLimits:
    """Bounds of requests and replies of the servers.

    A lane is the result of one method for the question.
    """

    max_lane_items: int = 50  # paths of a lane, and hits of each kind in it
    max_reply_text_characters: int = 2_000  # of each text in a reply
    max_sample_questions: int = 1_000  # of an evaluation
    max_question_characters: int = 20_000
    max_error_characters: int = 300
    max_minutes: float = 24 * 60.0  # of an evaluation or an advice
    max_open_jobs: int = 8  # jobs that have not ended
    job_poll_seconds: float = 0.1  # between two checks for the end of a job


SERVING = ServingLimits()


def short_message(error: object) -> str:
    """Return the message of an error, cut to `SERVING.max_error_characters` characters."""
    return shorten(error, SERVING.max_error_characters)


def describe_field_fault(location: Iterable[object], kind: str, message: str) -> str:
    """Describe the fault in a field of a request.

    Parameters
    ----------
    location : the field and the path to the fault within it, as in pydantic's error.
    kind, message : type and message of pydantic's error.
    """
    field = ".".join(map(str, location))
    if kind == "extra_forbidden":
        return f"There is no field “{field}”."
    return f"“{field}”: {message}."


def find_source(graph: str = "", corpus: str = "") -> AnswerSource:
    """Return the graph or the corpus of a name. The graph of MetaQA if neither is named.

    Raises BadInput if both are named.

    >>> from core.serving.calls import find_source
    >>> find_source().name, find_source(corpus="hotpotqa").is_corpus
    ('metaqa', True)
    """
    checked_text(graph, "graph", MAX_NAME_LETTERS)
    checked_text(corpus, "corpus", MAX_NAME_LETTERS)
    if graph and corpus:
        raise BadInput("A question is asked of a graph or of a corpus; name one of the two.")
    return source_in({"corpus": corpus, "graph": graph}) or GraphSource("metaqa")


def open_question(
    engine: Engine,
    source: AnswerSource,
    question: str,
    entities: Sequence[str] = (),
    answers: Sequence[str] = (),
    gold: Sequence[str] = (),
    model: bool = False,
    seed: int = 0,
) -> SourceQuestion:
    """Open a source and return a question to it.

    Entities, answers and gold documents that are not given are those of the same question in the
    question sets of the source, if it is there.

    Parameters
    ----------
    source : the graph or corpus.
    question : the question in words.
    entities : entities at which the search starts; empty for those that the question names.
    answers, gold : known answers, and ids of the documents that hold the evidence.
    model : True if a language model answers.
    seed : seed of all random choices.

    Raises
    ------
    HopscopeError
        As `Engine.prepare_question` does.
    """
    opened = source.open(engine)
    text = " ".join(question.split())
    full_question = opened.find_question(text) or Question(text)
    if entities:
        full_question = replace(full_question, entities=tuple(entities))
    if answers:
        full_question = replace(full_question, answers=tuple(answers))
    if gold:
        full_question = replace(full_question, gold=tuple(gold))
    return opened.ask(full_question, seed, uses_model=model)


def compare(
    engine: Engine,
    question: str,
    methods: Sequence[str] = (),
    graph: str = "",
    corpus: str = "",
    entities: Sequence[str] = (),
    answers: Sequence[str] = (),
    gold: Sequence[str] = (),
    without: Sequence[str] = (),
    language_model: bool = False,
    seed: int = 0,
    items: int = 10,
) -> dict[str, Any]:
    """Compare up to eight methods on one question, side by side.

    Parameters
    ----------
    question : the question in words.
    methods : ids of methods or lines of operators; empty for the usual methods of the source.
    graph : name of the graph; metaqa if neither a graph nor a corpus is named.
    corpus : name of the corpus whose documents are asked, in the place of a graph.
    entities : entities at which the search starts; empty for those that the question names.
    answers : known answers; empty for those of the same question in a question set.
    gold : ids of the documents that hold the evidence; empty for those in a question set.
    without : what is taken away before the question is asked again: entities, ids of documents, and
        texts of triples or paths as replies have them (A -> r -> B).
    language_model : True if a language model answers, which may cost money.
    seed : seed of all random choices.
    items : largest number of paths, and of hits of each kind, in a lane; 1 to 50.

    Returns
    -------
    The object that `hopscope ask --json` prints, with a lane for each method. `verdict` says at
    which step the correct answer was lost. With `without` the lanes are those of the second asking,
    and `without` says what changed. Texts are cut at 2,000 characters.
    """
    checked_number(items, "items", 1, SERVING.max_lane_items)
    checked_texts(without, "without")
    comparison = _run_comparison(
        engine, question, methods, graph, corpus, entities, answers, gold, language_model, seed
    )
    changes = {}
    if without:
        edited_comparison = compare_without(engine, comparison, without, _wait_for_job).comparison
        # After the second asking, which refuses graphs that are too large to be edited.
        for name in unknown_names(comparison, without):
            raise BadInput(f"“without”: nothing here is called “{shorten(name)}”.")
        comparison = edited_comparison
        changes["without"] = removal_dict(comparison, without)
    verdict = explain_comparison(comparison)
    return bound_reply(comparison_dict(comparison) | changes, items) | {"verdict": verdict.text}


def retrieve(
    engine: Engine,
    question: str,
    method: str = "",
    graph: str = "",
    corpus: str = "",
    entities: Sequence[str] = (),
    items: int = 10,
    seed: int = 0,
) -> dict[str, Any]:
    """Return the items that one method retrieves, without a language model's answer.

    Parameters
    ----------
    question : the question in words.
    method : id of a method or a line of operators; empty for the usual method of the source.
    graph : name of the graph; metaqa if neither a graph nor a corpus is named.
    corpus : name of the corpus whose documents are asked, in the place of a graph.
    entities : entities at which the search starts; empty for those that the question names.
    items : largest number of paths, and of hits of each kind; 1 to 50.
    seed : seed of all random choices.

    Returns
    -------
    `question`, `method` and `items`. An item has `kind`, `id`, `text` and `score`. Paths come
    first, and each kind is sorted best first.
    """
    checked_number(items, "items", 1, SERVING.max_lane_items)
    checked_text(method, "method")
    comparison = _run_comparison(
        engine, question, [method] if method else (), graph, corpus, entities, (), (), False, seed
    )
    (lane,) = bound_reply(comparison_dict(comparison), items)["lanes"]
    if lane["error"]:
        raise HopscopeError(lane["error"])
    reply_items = [
        {"kind": "path", "id": "", "text": path["text"], "score": path["score"]}
        for path in lane["paths"]
    ]
    for kind, hits in lane["hits"].items():
        reply_items += [
            {"kind": kind, "id": hit["id"], "text": hit["text"], "score": hit["score"]}
            for hit in hits
        ]
    return {"question": question, "method": lane["instance"], "items": reply_items}


def explain_loss(
    engine: Engine,
    question: str,
    methods: Sequence[str] = (),
    graph: str = "",
    corpus: str = "",
    answers: Sequence[str] = (),
    gold: Sequence[str] = (),
    entities: Sequence[str] = (),
    seed: int = 0,
) -> dict[str, Any]:
    """Explain at which step each method lost the known answers or gold passages.

    Parameters
    ----------
    question : the question in words.
    methods : ids of methods or lines of operators; empty for the usual methods of the source.
    graph : name of the graph; metaqa if neither a graph nor a corpus is named.
    corpus : name of the corpus whose documents are asked, in the place of a graph.
    answers : known answers; empty for those of the same question in a question set.
    gold : ids of the documents that hold the evidence; empty for those in a question set.
    entities : entities at which the search starts; empty for those that the question names.
    seed : seed of all random choices.

    Returns
    -------
    `question`, `verdict` for all methods, and `lanes`. A lane has `method`, `text`, `funnel` (the
    answers that are left at each stage), `gold` (the gold passages) and `error`.
    """
    comparison = _run_comparison(
        engine, question, methods, graph, corpus, entities, answers, gold, False, seed
    )
    full_question = comparison.ask.question
    if not (full_question.answers or full_question.gold):
        raise BadInput(
            "No correct answer is known: give answers, or on documents passages with the evidence, "
            "or ask a question of a set."
        )
    explanation = explain_comparison(comparison)
    lanes = []
    for lane_loss, lane in zip(explanation.lanes, comparison_dict(comparison)["lanes"]):
        text = lane_loss.text if lane_loss else ""
        fields = {name: lane[name] for name in ("funnel", "gold", "error")}
        lanes.append({"method": lane["instance"], "text": text, **fields})
    return {"question": question, "verdict": explanation.text, "lanes": lanes}


def list_methods(words: str = "") -> list[dict[str, str]]:
    """Return the methods whose id, title or paper contains each of these words.

    Each has `name`, the name to use, and `id`, an equal one by which it is saved. It also has
    `title`, `paper`, `asks` (“documents” or “a graph”) and `line`, its operators.

    >>> from core.serving.calls import list_methods
    >>> [method["id"] for method in list_methods("No. 12 one-shot")][:1]
    ['lego-12']
    """
    checked_text(words, "words")
    rows = []
    for key, method in catalogue().items():
        text = f"{key} {method.alias} {method.short} {method.title} {method.method} {method.paper}"
        if contains_words(text, words):
            asks = "documents" if method.on_documents else "a graph"
            row = {"id": key, "name": method.typed_name, "title": method.title}
            rows.append(row | {"paper": method.paper, "asks": asks, "line": repr(method.line)})
    return rows


def list_sources() -> list[dict[str, Any]]:
    """Return the graphs and corpora that can be asked.

    Each has `name`, `kind`, `title` and `sets`, its question sets by name.
    """
    return [
        {"name": source.name, "kind": source.kind, "title": title, "sets": dict(source.sets)}
        for source, title in available_sources().items()
    ]


def list_cases() -> list[dict[str, Any]]:
    """Return the saved comparisons. Each has `id`, `question`, `methods` and `notes`."""
    return [
        {
            "id": case.id,
            "question": case.question,
            "methods": list(case.methods),
            "notes": case.notes,
        }
        for case in cases()
    ]


def open_case(case: str) -> dict[str, Any]:
    """Return one saved comparison, by its id, in the form of `compare`."""
    comparison = comparison_dict(comparison_of_case(checked_text(case, "case")))
    return bound_reply(comparison, SERVING.max_lane_items)


def evaluate(
    engine: Engine,
    questions: str,
    methods: Sequence[str],
    sample: int = 20,
    seed: int = 0,
    language_model: bool = False,
    cap: str = "",
    minutes: float = SERVING.max_minutes,
    watch: Watch = NO_WATCH,
) -> dict[str, Any]:
    """Evaluate methods on a sample of a question set.

    The run is saved as on the page Evaluate. The same call continues a run that was stopped.

    Parameters
    ----------
    questions : name of a question set; a file is refused.
    methods : ids of methods or lines of operators.
    sample : number of questions, 1 to 1,000.
    seed : seed of the sample and of all random choices.
    language_model : True if a language model answers, which may cost money.
    cap : most that language models may cost in all: money (2.50) or tokens (200000 tokens); empty
        for no limit.
    minutes : most minutes that it may take, above 0 and at most 1,440.

    Returns
    -------
    `run` (its id), `rows` (each `method`, the number of `questions` that were scored, and the
    `means` by metric) and `recommendation`, which is empty if the figures do not decide. `stopped`
    says why not all questions were asked, else it is empty.
    """
    from core.evaluation.reports.summary import RunSummary
    from core.evaluation.runs.evaluation_jobs import evaluate as start
    from core.evaluation.runs.plan import make_plan, source_of
    from core.evaluation.runs.store import RUN_CANCELLED, Store, evaluations_file
    from core.models.price import parse_cap

    checked_number(sample, "sample", 1, SERVING.max_sample_questions)
    checked_number(seed, "seed", 0, MAX_SEED)
    seconds = _checked_minutes(minutes) * 60
    checked_texts(methods, "methods")
    _check_set_names(checked_text(questions, "questions", MAX_NAME_LETTERS))
    most = parse_cap(checked_text(cap, "cap", MAX_NAME_LETTERS))
    chosen = _find_methods(methods, source_of(questions))
    plan = make_plan(chosen, questions, sample, engine.graph, seed=seed, model=language_model)
    store = Store(evaluations_file())
    job = _follow_job(start(engine, store, plan, cap=most), watch, seconds)
    summary = RunSummary(store.run(job.number), store.rows(job.number))
    # The cap ends a job with an error; the time and a person cancel it.
    was_stopped = job.status == JOB_CANCELLED or summary.run.status == RUN_CANCELLED
    if job.error and not was_stopped:
        raise HopscopeError(job.error)
    stopped = job.error or "Stopped before its end; the same call continues it."
    return _run_dict(summary) | {"stopped": stopped if was_stopped else ""}


def _run_dict(summary: RunSummary) -> dict[str, Any]:
    """Return the id, the means by method and the recommendation of a run."""
    from core.evaluation.reports.recommendation import recommendation

    rows = []
    for method, figures in summary.table().items():
        means = {name: value.mean for name, value in figures.items() if value.mean is not None}
        rows.append(
            {"method": method, "questions": summary.counts(method)["scored"], "means": means}
        )
    advice = recommendation(summary)
    text = "" if advice is None else " ".join((advice.headline, *advice.details))
    return {"run": summary.run.id, "rows": rows, "recommendation": text}


def advise(
    engine: Engine,
    corpus: str,
    language_model: bool = False,
    minutes: float = 10.0,
    seed: int = 0,
    watch: Watch = NO_WATCH,
) -> dict[str, Any]:
    """Answer whether the documents of a corpus need a graph, by questions made from its texts.

    Search without a graph is compared with four methods on graphs, which are built if they are
    missing. It takes about ten minutes. What is done is saved, and the same call continues.

    Parameters
    ----------
    corpus : name of the corpus.
    language_model : True if a language model writes the questions, which may cost money; False if
        they are made from names in the texts.
    minutes : minutes that it is to take, 1 to 1,440.
    seed : seed of all that is drawn.

    Returns
    -------
    The object that `hopscope corpus advise --json` prints. `answer` has `needed` (yes, no, partly
    or open), `headline` and the figures; `advice` has the question set and the run.
    """
    from core.corpus import open_corpus
    from core.evaluation.advice.advice_state import QUESTIONS_BY_MODEL, QUESTIONS_BY_NAMES
    from core.evaluation.advice.advisor import start_advice
    from core.evaluation.advice.answer import answer
    from core.evaluation.reports.summary import RunSummary
    from core.evaluation.runs.store import Store, evaluations_file

    checked_text(corpus, "corpus", MAX_NAME_LETTERS)
    checked_number(seed, "seed", 0, MAX_SEED)
    if _checked_minutes(minutes) < 1:
        raise BadInput("“minutes” should be at least 1.")
    store = Store(evaluations_file())
    writer = QUESTIONS_BY_MODEL if language_model else QUESTIONS_BY_NAMES
    settings = {"by": writer, "minutes": minutes, "seed": seed}
    job = _follow_job(start_advice(engine, store, open_corpus(corpus), **settings), watch)
    if job.result is None:
        raise HopscopeError(job.error or "It was stopped; the same call continues it.")
    summary = RunSummary(store.run(job.result.run), store.rows(job.result.run))
    return {"answer": asdict(answer(summary, job.result)), "advice": asdict(job.result)}


def build_graph(
    engine: Engine,
    corpus: str,
    graph: str = "rkg",
    extractor: str = "names",
    watch: Watch = NO_WATCH,
) -> dict[str, Any]:
    """Build a graph of a corpus, or open it if it is built already.

    Parameters
    ----------
    corpus : name of the corpus.
    graph : a kind of graph or the id of a build.
    extractor : how entities and relations are extracted; llm asks a language model, which takes
        long and may cost money.

    Returns
    -------
    `build` (its id), the counts `nodes`, `edges` and `chunks`, and `notes`.
    """
    from core.builds import choose_build, run_build
    from core.builds.report import BuildReport
    from core.corpus import open_corpus

    for value, field in ((corpus, "corpus"), (graph, "graph"), (extractor, "extractor")):
        checked_text(value, field, MAX_NAME_LETTERS)
    build_spec = choose_build(graph, extractor)
    report = BuildReport()
    built_graph = run_build(open_corpus(corpus), build_spec, engine.models, watch, report=report)
    chunks = len(built_graph.columns.chunks or ())
    return {
        "build": build_spec.id,
        "nodes": built_graph.n_nodes,
        "edges": built_graph.n_edges,
        "chunks": chunks,
        "notes": list(report.notes),
    }


def bound_reply(value: Any, items: int) -> Any:
    """Return plain data with bounded texts and bounded lists of paths and hits.

    At most `items` paths of a lane, and as many hits of each kind, remain, and never more than
    `SERVING.max_lane_items`. Texts are cut at `SERVING.max_reply_text_characters`. A lane gets
    `left_out`, the number of removed items. A dict with `paths` and `hits` is a lane.

    >>> from core.serving.calls import bound_reply
    >>> bound_reply({"paths": [1, 2, 3], "hits": {"chunk": [4, 5]}}, 2)
    {'paths': [1, 2], 'hits': {'chunk': [4, 5]}, 'left_out': 1}
    """
    limit = max(1, min(items, SERVING.max_lane_items))
    if isinstance(value, str):
        return shorten(value, SERVING.max_reply_text_characters)
    if isinstance(value, list | tuple):
        return [bound_reply(item, items) for item in value]
    if not isinstance(value, Mapping):
        return value
    fields = {key: bound_reply(field, items) for key, field in value.items()}
    if "paths" in fields and "hits" in fields:
        paths, hits = fields["paths"], fields["hits"]
        fields["left_out"] = sum(max(0, len(part) - limit) for part in (paths, *hits.values()))
        fields["paths"] = paths[:limit]
        fields["hits"] = {kind: hits_of_kind[:limit] for kind, hits_of_kind in hits.items()}
    return fields


def _run_comparison(
    engine: Engine,
    question: str,
    methods: Sequence[str],
    graph: str,
    corpus: str,
    entities: Sequence[str],
    answers: Sequence[str],
    gold: Sequence[str],
    model: bool,
    seed: int,
) -> MethodComparison:
    """Check all arguments, and return the comparison once it is done. Raises HopscopeError."""
    checked_text(question, "question", SERVING.max_question_characters)
    for values, field in (
        (methods, "methods"),
        (entities, "entities"),
        (answers, "answers"),
        (gold, "gold"),
    ):
        checked_texts(values, field)
    checked_number(seed, "seed", 0, MAX_SEED)
    source = find_source(graph, corpus)
    chosen = _find_methods(methods or source.default_methods, source)
    source_question = open_question(engine, source, question, entities, answers, gold, model, seed)
    return _wait_for_job(engine.compare(source_question, chosen)).comparison


def _find_methods(specs: Sequence[str], source: AnswerSource) -> list[Method]:
    """Return the methods of ids or lines; for a corpus, their variants for documents."""
    methods = catalogue()
    return [method_for_source(find_method(spec, methods), source, methods) for spec in specs]


def _check_set_names(questions: str) -> None:
    """Raise BadInput for a name that is no question set, such as that of a file."""
    for name in map(str.strip, questions.split(",")):
        if not name.startswith(RUN_PREFIX) and corpus_of_set(name) is None:
            full_set_name(name)


def _checked_minutes(minutes: Any) -> float:
    """Return a number of minutes. Raises BadInput that names the field."""
    is_number = isinstance(minutes, int | float) and not isinstance(minutes, bool)
    if not is_number or not 0 < minutes <= SERVING.max_minutes:
        raise BadInput(f"“minutes” should be above 0 and at most {SERVING.max_minutes:,.0f}.")
    return minutes


def _follow_job(job: Any, watch: Watch, seconds: float = math.inf) -> Any:
    """Wait until a job has ended, and return it. It is stopped after `seconds`.

    Its progress is reported. Raises RunCancelled if the caller cancelled, and stops the job then.
    """
    end = time.monotonic() + seconds
    while not job.wait(SERVING.job_poll_seconds):
        watch.report(job.text, job.fraction)
        if time.monotonic() > end:
            job.stop()
        try:
            watch.check()
        except RunCancelled:
            job.stop()
            raise
    watch.report(job.text, job.fraction)
    return job


def _wait_for_job(job: Any) -> Any:
    """Wait until a job has ended and return it. Raises HopscopeError if it failed."""
    _follow_job(job, NO_WATCH)
    if job.error:
        raise HopscopeError(job.error)
    return job
