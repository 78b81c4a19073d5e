"""What programs and agents may ask for, as plain data of bounded size: the same calls over every protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.diagnosis.verdict.verdict_words import explain
from core.errors import BadInput, HopscopeError, shorten
from core.instances.catalogue import catalogue, find, one_for
from core.io.outside import (
    MAX_NAME_LETTERS,
    MAX_SEED,
    checked_number,
    checked_text,
    checked_texts,
)
from core.languages.spelling import holds_words
from core.results import comparison_dict
from core.sources import Ask, GraphSource, Source, source_in, sources
from core.types import Question

if TYPE_CHECKING:
    from core.engine import Comparison, Engine

MAX_ITEMS, MAX_CHARACTERS = 50, 2_000  # of a lane's paths and of each kind of its hits; of a text
MAX_QUESTIONS = 1_000  # of an evaluation
MAX_QUESTION, MAX_SENTENCE = 20_000, 300  # characters of a question, and of a refusal
LOOK = 0.1  # seconds between two looks at how far work is


def refusal(error: HopscopeError) -> str:
    """Return the sentence of a refusal, of at most MAX_SENTENCE characters."""
    return shorten(error, MAX_SENTENCE)


def unfit(where: Iterable[object], kind: str, why: str) -> str:
    """Say what is wrong with a field of a request.

    Parameters
    ----------
    where : the field, and the places within it.
    kind, why : the type and the message of pydantic's error.
    """
    field = ".".join(map(str, where))
    return f"There is no field “{field}”." if kind == "extra_forbidden" else f"“{field}”: {why}."


def source_of(graph: str = "", corpus: str = "") -> Source:
    """What is asked: the graph or the corpus of that name, MetaQA's graph where neither is named. Raises BadInput where both are.

    >>> from core.serving.calls import source_of
    >>> source_of().name, source_of(corpus="hotpotqa").is_corpus
    ('metaqa', True)
    """
    checked_text(graph, "graph", MAX_NAME_LETTERS)
    checked_text(corpus, "corpus", MAX_NAME_LETTERS)
    if graph and corpus:
        raise BadInput("A question is asked of a graph or of a corpus; name one of the two.")
    return source_in({"corpus": corpus, "graph": graph}) or GraphSource("metaqa")


def asked(
    engine: Engine,
    source: Source,
    question: str,
    entities: Sequence[str] = (),
    answers: Sequence[str] = (),
    gold: Sequence[str] = (),
    model: bool = False,
    seed: int = 0,
) -> Ask:
    """The question to a source, opened; one of its sets' own questions brings along what is known of it, unless that is given. Raises as
    `Engine.ask` does."""
    opened = source.open(engine)
    text = " ".join(question.split())
    given: dict[str, Any] = {
        "entities": tuple(entities),
        "answers": tuple(answers),
        "gold": tuple(gold),
    }
    known = replace(
        opened.named(text) or Question(text),
        **{name: values for name, values in given.items() if values},
    )
    return opened.ask(known, seed, model=model)


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
    """The object that `ask --json` prints, with at most `items` paths and hits of each kind in a lane and texts cut at MAX_CHARACTERS;
    `verdict`, what is known of where the right answer was lost, is added. Raises HopscopeError."""
    checked_number(items, "items", 1, MAX_ITEMS)
    comparison = _compared(
        engine, question, methods, graph, corpus, entities, answers, gold, language_model, seed
    )
    found = explain(comparison)
    return bounded(comparison_dict(comparison), items) | {"verdict": found.text}


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
    """What one method retrieves, without a language model's answer: `question, method, items`, each item `kind, id, text, score`, paths
    first, each kind best first. Raises HopscopeError, also where the method fails."""
    checked_number(items, "items", 1, MAX_ITEMS)
    checked_text(method, "method")
    comparison = _compared(
        engine, question, [method] if method else (), graph, corpus, entities, (), (), False, seed
    )
    (lane,) = bounded(comparison_dict(comparison), items)["lanes"]
    if lane["error"]:
        raise HopscopeError(lane["error"])
    found = [
        {"kind": "path", "id": "", "text": path["text"], "score": path["score"]}
        for path in lane["paths"]
    ]
    for kind, hits in lane["hits"].items():
        found += [
            {"kind": kind, "id": hit["id"], "text": hit["text"], "score": hit["score"]}
            for hit in hits
        ]
    return {"question": question, "method": lane["instance"], "items": found}


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
    """Where known answers, or on documents gold passages, were lost: `verdict` for all methods, and for each lane its `method`, `text`,
    the `funnel` of answers alive by stage, the `gold` passages, `error`. Raises HopscopeError, also where nothing is known to be right."""
    comparison = _compared(
        engine, question, methods, graph, corpus, entities, answers, gold, False, seed
    )
    known = comparison.ask.question
    if not (known.answers or known.gold):
        raise BadInput(
            "Nothing is known to be right: give answers, or on documents gold passages, or ask a question of a set."
        )
    found, lanes = explain(comparison), []
    for said, lane in zip(found.lanes, comparison_dict(comparison)["lanes"]):
        part = {
            "method": lane["instance"],
            "text": said.text if said else "",
            "funnel": lane["funnel"],
        }
        lanes.append(part | {"gold": lane["gold"], "error": lane["error"]})
    return {"question": question, "verdict": found.text, "lanes": lanes}


def list_methods(words: str = "") -> list[dict[str, str]]:
    """Methods whose id, title or paper has each of these words: `id, title, paper, asks` (a graph or documents), `line`.

    >>> from core.serving.calls import list_methods
    >>> [method["id"] for method in list_methods("No. 12 one-shot")][:1]
    ['lego-12']
    """
    checked_text(words, "words")
    found = []
    for key, one in catalogue().items():
        if holds_words(f"{key} {one.short} {one.title} {one.method} {one.paper}", words):
            asks = "documents" if one.on_documents else "a graph"
            found.append(
                {
                    "id": key,
                    "title": one.title,
                    "paper": one.paper,
                    "asks": asks,
                    "line": repr(one.line),
                }
            )
    return found


def list_sources() -> list[dict[str, Any]]:
    """What can be asked: `name, kind, title, sets` (of questions, by name)."""
    return [
        {"name": one.name, "kind": one.kind, "title": title, "sets": dict(one.sets)}
        for one, title in sources().items()
    ]


def evaluate(
    engine: Engine,
    questions: str,
    methods: Sequence[str],
    sample: int = 20,
    seed: int = 0,
    language_model: bool = False,
) -> dict[str, Any]:
    """Methods over a sample of a question set, saved as on the page: `run`, `rows` (a method's `means` by metric), `recommendation`. Raises
    HopscopeError."""
    from core.evaluation.reports.recommendation import recommendation
    from core.evaluation.reports.summary import Summary
    from core.evaluation.runs import plan as plans
    from core.evaluation.runs.starting import evaluate as start
    from core.evaluation.runs.store import Store, evaluations_file

    checked_number(sample, "sample", 1, MAX_QUESTIONS)
    checked_number(seed, "seed", 0, MAX_SEED)
    checked_text(questions, "questions", MAX_NAME_LETTERS)
    checked_texts(methods, "methods")
    if "/" in questions or "\\" in questions:
        raise BadInput("Name a question set; files are evaluated by the command line.")
    known, source = catalogue(), plans.source_of(questions)
    instances = [one_for(find(method, known), source, known) for method in methods]
    plan = plans.make_plan(
        instances, questions, sample, engine.graph, seed=seed, model=language_model
    )
    store = Store(evaluations_file())
    job = _ended(start(engine, store, plan))
    summary = Summary(store.run(job.number), store.rows(job.number))
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
    """A graph of a corpus, built or found built: `build, nodes, edges, chunks, notes`. Raises HopscopeError."""
    from core.builds import build, chosen
    from core.builds.report import BuildReport
    from core.corpus import open_corpus

    for value, field in ((corpus, "corpus"), (graph, "graph"), (extractor, "extractor")):
        checked_text(value, field, MAX_NAME_LETTERS)
    one, report = chosen(graph, extractor), BuildReport()
    made = build(open_corpus(corpus), one, engine.models, report=report)
    chunks = len(made.columns.chunks or ())
    return {
        "build": one.id,
        "nodes": made.n_nodes,
        "edges": made.n_edges,
        "chunks": chunks,
        "notes": list(report.notes),
    }


def bounded(value: Any, items: int) -> Any:
    """Plain data with at most `items` of a lane's paths and of each kind of its hits (MAX_ITEMS at most), and texts cut at MAX_CHARACTERS;
    `left_out` in a lane counts what is not there.

    >>> from core.serving.calls import bounded
    >>> bounded({"paths": [1, 2, 3], "hits": {"chunk": [4, 5]}}, 2)
    {'paths': [1, 2], 'hits': {'chunk': [4, 5]}, 'left_out': 1}
    """
    most = max(1, min(items, MAX_ITEMS))
    if isinstance(value, str):
        return shorten(value, MAX_CHARACTERS)
    if isinstance(value, list | tuple):
        return [bounded(one, items) for one in value]
    if not isinstance(value, Mapping):
        return value
    found = {key: bounded(one, items) for key, one in value.items()}
    if "paths" in found and "hits" in found:
        parts = [found["paths"], *found["hits"].values()]
        found["left_out"] = sum(max(0, len(part) - most) for part in parts)
        found["paths"], found["hits"] = (
            found["paths"][:most],
            {kind: hits[:most] for kind, hits in found["hits"].items()},
        )
    return found


def _compared(
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
) -> Comparison:
    checked_text(question, "question", MAX_QUESTION)
    for values, field in (
        (methods, "methods"),
        (entities, "entities"),
        (answers, "answers"),
        (gold, "gold"),
    ):
        checked_texts(values, field)
    checked_number(seed, "seed", 0, MAX_SEED)
    source, known = source_of(graph, corpus), catalogue()
    instances = [
        one_for(find(method, known), source, known) for method in methods or source.usual_methods
    ]
    return _ended(
        engine.compare(
            asked(engine, source, question, entities, answers, gold, model, seed), instances
        )
    ).comparison


def _ended(job: Any) -> Any:
    """The job once it has ended. Raises HopscopeError where it failed."""
    while not job.wait(LOOK):
        pass
    if job.error:
        raise HopscopeError(job.error)
    return job
