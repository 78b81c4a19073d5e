"""The tables of docs/figures.md: every available method on unseen questions.

    python -m tests.benchmarks.figures

Each method is a separate run whose results are saved. The command continues where it stopped, and
results of named methods are reused for the whole table.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from core.commands.terminal import finish_job
from core.engine import Engine
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import make_plan
from core.evaluation.runs.store import Store, evaluations_file
from core.methods.catalogue import Method, catalogue
from core.methods.model_needs import missing_models, needed_models
from core.operators.base import Line

SETS = "metaqa-1hop-test,metaqa-2hop-test,metaqa-3hop-test"
STAGES = (
    ("subgraph_recall", "in the subgraph"),
    ("subgraph_hit", "any"),
    ("path_recall", "in the paths"),
    ("path_recall@32", "in the best 32"),
    ("path_hit@32", "any"),
    ("reader_hit@1", "reader's first"),
)
HEAVY = (  # These take many seconds per question, or keep a hundred thousand paths.
    "lego-12-fora lego-12-topppr lego-12-rbs lego-12-leiden lego-12-vector-triples "
    "lego-14-mean lego-v1-16 lego-v1-17 lego-v1-18"
).split()
SLOW = [
    *HEAVY,
    *(
        "lego-12-vectors lego-12-vectors-joined lego-v1-8 lego-v1-10 lego-v1-11 lego-v1-12 kelp "
        "kelp-plain"
    ).split(),
]
READING = ("llm-embeddings",)  # A language model that gives vectors.
# A language model reads for many minutes per question.
LONG = ("lego-13-rounds", "lego-13-llm-embeddings", "lego-v1-19")


@dataclass(frozen=True)
class QuestionSample:
    """A sample: questions per hop count, use of a language model, and use of caches."""

    size: int
    model: bool
    cold: bool


QUALITY, SLOWER = QuestionSample(200, False, False), QuestionSample(20, False, False)
ANSWERS, CHOICES, ONE = (
    QuestionSample(10, True, True),
    QuestionSample(3, True, True),
    QuestionSample(1, True, True),
)


def main() -> None:
    """Compute missing results and print the table as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.figures", description=__doc__)
    parser.add_argument("methods", nargs="*", help="ids of methods (default: all that run here)")
    parser.add_argument("--only", choices=("quality", "answers"), help="one of the two parts")
    parser.add_argument(
        "--questions",
        type=int,
        default=QUALITY.size,
        help="of each hop count, for the stages (%(default)s)",
    )
    options = parser.parse_args()
    engine, stages = Engine(), QuestionSample(options.questions, False, False)
    known = catalogue()
    chosen = [known[name] for name in options.methods] or list(known.values())
    ready = [i for i in chosen if not missing_models(i.line, engine.models)]
    asking = {i.id for i in ready if asks(i, engine.models)}
    quality = [
        (i, SLOWER if i.id in HEAVY else stages)
        for i in ready
        if i.id not in asking and options.only != "answers"
    ]
    few = lambda i: ONE if i.id in LONG else CHOICES if i.id in asking or i.id in SLOW else ANSWERS
    answers = [(i, few(i)) for i in ready if options.only != "quality"]
    found = {(i.id, sample.model): summary(engine, i, sample) for i, sample in quality + answers}
    for line in table(ready, found):
        print(line)


def asks(method: Method, models) -> bool:
    """Return whether a language model is used before the answer."""
    line = Line(tuple(operator for operator in method.line if operator.stage != "generate"))
    return not len(line) or any(
        models.info(name).kind == "chat" or name in READING for name in needed_models(line)
    )


def summary(engine, method: Method, sample: QuestionSample) -> RunSummary:
    """The run of a method over a sample, completed first if necessary."""
    plan = make_plan(
        [method], SETS, sample.size, engine.graph, model=sample.model, cold=sample.cold
    )
    store = Store(evaluations_file())
    job = evaluate(engine, store, plan)
    finish_job(job)
    return RunSummary(store.run(job.number), store.rows(job.number))


def table(methods: list[Method], found: dict[tuple[str, bool], RunSummary]):
    """Lines of a Markdown table: answers alive after each stage at 1, 2 and 3 hops, and more.

    Further columns are Hits@1 and seconds of retrieval.
    """
    yield f"| method | {' | '.join(words for _, words in STAGES)} | n | Hits@1 | n | seconds |"
    yield "|---" + "|---:" * (len(STAGES) + 4) + "|"
    for method in methods:
        answered = found.get((method.id, True))
        run = found.get((method.id, False), answered)
        cells = [by_hops(run, method.id, name) for name, _ in STAGES] + [str(size(run, method.id))]
        if answered:
            cells += [
                by_hops(answered, method.id, "hits@1"),
                str(size(answered, method.id)),
                seconds(answered, method.id),
            ]
        yield f"| `{method.id}` | {' | '.join(cells)} |"


def by_hops(run: RunSummary, method: str, name: str) -> str:
    """Means of a metric, one per hop count."""
    told = [part.table([name])[method][name].mean for part in run.by_hops().values()]
    return " ".join(
        "–" if mean is None else f"{mean:.2f}".replace("0.", ".", 1) if mean < 1 else "1.0"
        for mean in told
    )


def size(run: RunSummary, method: str) -> int:
    """The lowest number of scored questions of any hop count."""
    return min(part.counts(method)["scored"] for part in run.by_hops().values())


def seconds(run: RunSummary, method: str) -> str:
    """Median seconds before the answer is generated."""
    spent = [
        sum(cost.seconds for cost in row.outcome.costs if cost.stage != "generate")
        for row in run.rows_of(method)
        if row.outcome
    ]
    return f"{np.median(spent):.3g}" if spent else "–"


if __name__ == "__main__":
    main()
