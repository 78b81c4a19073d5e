"""Calls that programs and agents may make, with plain data of bounded size.

They are the same over every protocol.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core.diagnosis.verdict.verdict_words import explain_comparison
from core.errors import BadInput, HopscopeError, shorten
from core.io.input_checks import (
    MAX_NAME_LETTERS,
    MAX_SEED,
    checked_number,
    checked_text,
    checked_texts,
)
from core.languages.spelling import contains_words
from core.methods.catalogue import catalogue, find_method, method_for_source
from core.results import comparison_dict
from core.sources import AnswerSource, GraphSource, SourceQuestion, available_sources, source_in
from core.types import Question

if TYPE_CHECKING:
    from core.engine import Engine, MethodComparison


@dataclass(frozen=True)
class ServingLimits:
    """Bounds of requests and replies of the servers."""

    max_lane_items: int = 50  # paths of a lane, and hits of each kind
    max_reply_text_characters: int = 2_000
    max_sample_questions: int = 1_000  # of an evaluation
    max_question_characters: int = 20_000
    max_error_characters: int = 300
    job_poll_seconds: float = 0.1  # between two checks whether a job has ended


SERVING = ServingLimits()


def refusal(error: HopscopeError) -> str:
    """Return the message of an error, cut to `SERVING.max_error_characters` characters."""
    return shorten(error, SERVING.max_error_characters)


def field_fault(where: Iterable[object], kind: str, why: str) -> str:
    """Describe the fault in a field of a request.

    Parameters
    ----------
    where : the field and the path to the fault within it.
    kind, why : type and message of pydantic's error.
    """
    field = ".".join(map(str, where))
    return f"There is no field “{field}”." if kind == "extra_forbidden" else f"“{field}”: {why}."


def source_of(graph: str = "", corpus: str = "") -> AnswerSource:
    """Return the graph or the corpus of that name.

    If neither is named, it is the graph of MetaQA.

    Raises BadInput if both are named.

    >>> from core.serving.calls import source_of
    >>> source_of().name, source_of(corpus="hotpotqa").is_corpus
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

    A question of one of the source's own sets keeps its known entities, answers and gold documents,
    except those that are given.

    Parameters
    ----------
    entities : entities at which the search starts; empty for those that the question names.
    answers, gold : known answers, and ids of the documents that hold the evidence.
    model : whether a language model answers.
    seed : of all random choices.

    Raises
    ------
    HopscopeError
        As `Engine.ask` does.
    """
    opened = source.open(engine)
    text = " ".join(question.split())
    question_fields: dict[str, Any] = {
        "entities": tuple(entities),
        "answers": tuple(answers),
        "gold": tuple(gold),
    }
    typed_question = replace(
        opened.named(text) or Question(text),
        **{name: values for name, values in question_fields.items() if values},
    )
    return opened.ask(typed_question, seed, model=model)


def compare(
    engine: Engine,
    question: str,
    methods: Sequence[str] = (),
    graph: str = "",
    corpus: str = "",
    entities: Sequence[str] = (),
    answers: Sequence[str] = (),
    gold: Sequence[str] = (),
    language_model: bool = False,
    seed: int = 0,
    items: int = 10,
) -> dict[str, Any]:
    """Compare methods on a question and return the object that `ask --json` prints.

    Parameters
    ----------
    methods : ids of methods or lines of operators; empty for the usual methods of the source.
    graph, corpus : name of the graph or of the corpus; at most one of them.
    entities : entities at which the search starts; empty for those that the question names.
    answers, gold : known answers, and ids of the documents that hold the evidence.
    language_model : whether a language model answers.
    items : most paths and most hits of each kind in a lane, 1 to `SERVING.max_lane_items`.

    Returns
    ------- The comparison, with texts cut at `SERVING.max_reply_text_characters`. `verdict` says
    where the correct answer was lost.

    Raises
    ------
    HopscopeError
        If the question cannot be asked.
    """
    checked_number(items, "items", 1, SERVING.max_lane_items)
    comparison = _run_comparison(
        engine, question, methods, graph, corpus, entities, answers, gold, language_model, seed
    )
    verdict = explain_comparison(comparison)
    return bound_reply(comparison_dict(comparison), items) | {"verdict": verdict.text}


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
    method : id of a method or a line of operators; empty for the usual method of the source.
    graph, corpus : name of the graph or of the corpus; at most one of them.
    entities : entities at which the search starts; empty for those that the question names.
    items : most paths and most hits of each kind, 1 to `SERVING.max_lane_items`.

    Returns
    -------
    `question`, `method` and `items`. An item has `kind`, `id`, `text` and `score`. Paths come
    first, and each kind is sorted best first.

    Raises
    ------
    HopscopeError
        If the question cannot be asked, or the method fails.
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
    """Explain where each method lost the known answers, or on documents the gold passages.

    Parameters
    ----------
    methods : ids of methods or lines of operators; empty for the usual methods of the source.
    graph, corpus : name of the graph or of the corpus; at most one of them.
    answers, gold : known answers, and ids of the documents that hold the evidence; empty for those
        of a question of a set.
    entities : entities at which the search starts; empty for those that the question names.

    Returns
    -------
    `question`, `verdict` for all methods, and `lanes`. A lane has `method`, `text`, `funnel` (the
    answers that are left at each stage), `gold` (the gold passages) and `error`.

    Raises
    ------
    HopscopeError
        If the question cannot be asked, or no answer and no gold passage is known.
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
    explanation, lanes = explain_comparison(comparison), []
    for lane_loss, lane in zip(explanation.lanes, comparison_dict(comparison)["lanes"]):
        part = {
            "method": lane["instance"],
            "text": lane_loss.text if lane_loss else "",
            "funnel": lane["funnel"],
        }
        lanes.append(part | {"gold": lane["gold"], "error": lane["error"]})
    return {"question": question, "verdict": explanation.text, "lanes": lanes}


def list_methods(words: str = "") -> list[dict[str, str]]:
    """Return the methods whose id, title or paper contains each of these words.

    Each has `id`, `title`, `paper`, `asks` (a graph or documents) and `line`.

    >>> from core.serving.calls import list_methods
    >>> [method["id"] for method in list_methods("No. 12 one-shot")][:1]
    ['lego-12']
    """
    checked_text(words, "words")
    rows = []
    for key, method in catalogue().items():
        if contains_words(
            f"{key} {method.short} {method.title} {method.method} {method.paper}", words
        ):
            asks = "documents" if method.on_documents else "a graph"
            rows.append(
                {
                    "id": key,
                    "title": method.title,
                    "paper": method.paper,
                    "asks": asks,
                    "line": repr(method.line),
                }
            )
    return rows


def list_sources() -> list[dict[str, Any]]:
    """Return the graphs and corpora that can be asked.

    Each has `name`, `kind`, `title` and `sets`, its question sets by name.
    """
    return [
        {"name": one.name, "kind": one.kind, "title": title, "sets": dict(one.sets)}
        for one, title in available_sources().items()
    ]


def evaluate(
    engine: Engine,
    questions: str,
    methods: Sequence[str],
    sample: int = 20,
    seed: int = 0,
    language_model: bool = False,
) -> dict[str, Any]:
    """Evaluate methods on a sample of a question set.

    The run is saved as on the page Evaluate.

    Parameters
    ----------
    questions : name of a question set; a file is refused.
    methods : ids of methods or lines of operators.
    sample : number of questions, 1 to `SERVING.max_sample_questions`.
    language_model : whether a language model answers.

    Returns
    -------
    `run` (its id), `rows` (each method's `means` by metric) and `recommendation`.

    Raises
    ------
    HopscopeError
        If the questions or a method cannot be used.
    """
    from core.evaluation.reports.recommendation import recommendation
    from core.evaluation.reports.summary import RunSummary
    from core.evaluation.runs import plan as plans
    from core.evaluation.runs.evaluation_jobs import evaluate as start
    from core.evaluation.runs.store import Store, evaluations_file

    checked_number(sample, "sample", 1, SERVING.max_sample_questions)
    checked_number(seed, "seed", 0, MAX_SEED)
    checked_text(questions, "questions", MAX_NAME_LETTERS)
    checked_texts(methods, "methods")
    if "/" in questions or "\\" in questions:
        raise BadInput("Name a question set; files are evaluated by the command line.")
    all_methods, source = catalogue(), plans.source_of(questions)
    chosen = [
        method_for_source(find_method(spec, all_methods), source, all_methods) for spec in methods
    ]
    plan = plans.make_plan(chosen, questions, sample, engine.graph, seed=seed, model=language_model)
    store = Store(evaluations_file())
    job = _wait_for_job(start(engine, store, plan))
    summary = RunSummary(store.run(job.number), store.rows(job.number))
    advice = recommendation(summary)
    rows = []
    for method, figures in summary.table().items():
        means = {name: one.mean for name, one in figures.items() if one.mean is not None}
        rows.append(
            {"method": method, "questions": summary.counts(method)["scored"], "means": means}
        )
    return {
        "run": summary.run.id,
        "rows": rows,
        "recommendation": "" if advice is None else " ".join((advice.headline, *advice.details)),
    }


def build_graph(
    engine: Engine, corpus: str, graph: str = "rkg", extractor: str = "names"
) -> dict[str, Any]:
    """Build a graph of a corpus, or open it if it is built already.

    Parameters
    ----------
    corpus : name of the corpus.
    graph : a kind of graph or the id of a build.
    extractor : how entities and relations are extracted.

    Returns
    -------
    `run_build` (its id), the counts `nodes`, `edges` and `chunks`, and `notes`.

    Raises
    ------
    HopscopeError
        If the graph cannot be built.
    """
    from core.builds import choose_build, run_build
    from core.builds.report import BuildReport
    from core.corpus import open_corpus

    for value, field in ((corpus, "corpus"), (graph, "graph"), (extractor, "extractor")):
        checked_text(value, field, MAX_NAME_LETTERS)
    build_spec, report = choose_build(graph, extractor), BuildReport()
    built_graph = run_build(open_corpus(corpus), build_spec, engine.models, report=report)
    chunks = len(built_graph.columns.chunks or ())
    return {
        "build": build_spec.id,
        "nodes": built_graph.n_nodes,
        "edges": built_graph.n_edges,
        "chunks": chunks,
        "notes": list(report.notes),
    }


def bound_reply(value: Any, items: int) -> Any:
    """Return plain data with bounded lists of paths and hits and bounded texts.

    At most `items` paths of a lane and hits of each kind are kept, and never more than
    `SERVING.max_lane_items`. Texts are cut at `SERVING.max_reply_text_characters`. `left_out` in a
    lane counts the items that were removed.

    >>> from core.serving.calls import bound_reply
    >>> bound_reply({"paths": [1, 2, 3], "hits": {"chunk": [4, 5]}}, 2)
    {'paths': [1, 2], 'hits': {'chunk': [4, 5]}, 'left_out': 1}
    """
    limit = max(1, min(items, SERVING.max_lane_items))
    if isinstance(value, str):
        return shorten(value, SERVING.max_reply_text_characters)
    if isinstance(value, list | tuple):
        return [bound_reply(one, items) for one in value]
    if not isinstance(value, Mapping):
        return value
    bounded_fields = {key: bound_reply(one, items) for key, one in value.items()}
    if "paths" in bounded_fields and "hits" in bounded_fields:
        parts = [bounded_fields["paths"], *bounded_fields["hits"].values()]
        bounded_fields["left_out"] = sum(max(0, len(part) - limit) for part in parts)
        bounded_fields["paths"], bounded_fields["hits"] = (
            bounded_fields["paths"][:limit],
            {kind: hits[:limit] for kind, hits in bounded_fields["hits"].items()},
        )
    return bounded_fields


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
    checked_text(question, "question", SERVING.max_question_characters)
    for values, field in (
        (methods, "methods"),
        (entities, "entities"),
        (answers, "answers"),
        (gold, "gold"),
    ):
        checked_texts(values, field)
    checked_number(seed, "seed", 0, MAX_SEED)
    source, all_methods = source_of(graph, corpus), catalogue()
    chosen = [
        method_for_source(find_method(spec, all_methods), source, all_methods)
        for spec in methods or source.usual_methods
    ]
    return _wait_for_job(
        engine.compare(
            open_question(engine, source, question, entities, answers, gold, model, seed), chosen
        )
    ).comparison


def _wait_for_job(job: Any) -> Any:
    """Wait until a job has ended and return it. Raises HopscopeError if it failed."""
    while not job.wait(SERVING.job_poll_seconds):
        pass
    if job.error:
        raise HopscopeError(job.error)
    return job
