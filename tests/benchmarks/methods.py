"""Markdown tables of the in-depth analysis' methods on a corpus, with costs and paired tests.

    python -m tests.benchmarks methods --corpus hotpotqa --sample all [--no-llm]

Quality is compared with the cost of building and asking. With `--extractor described,noun-phrases`
each method is asked on the graphs of both extractors.

Each method is a separate run whose results are saved: the command continues where it stopped, and
only new methods are asked. Replies of the language model lie in tests/benchmarks/replies: equal
prompts, also on another computer, take their replies and the seconds of these from there. To be
measured, a graph is built once more from nothing, in a separate folder. Saved replies of a language
model are reused, and count with their original tokens and seconds.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from core.builds import build_for, run_build
from core.builds.catalogue import builds_of_kind
from core.builds.report import BuildReport
from core.builds.shipped_data import shipped_replies
from core.commands.terminal import finish_job
from core.comparison.lane_run import build_of
from core.corpus import Corpus, corpora, open_corpus
from core.engine import Engine
from core.errors import BadInput, HopscopeError
from core.evaluation.metrics.catalogue import metric
from core.evaluation.reports.export import format_figure
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import make_plan, models_used
from core.evaluation.runs.store import Store, evaluations_file
from core.io.home import home_folder, models_folder
from core.methods.catalogue import Method, catalogue
from core.models.base import ChatReply
from core.models.chat.client import ChatClient
from core.models.chat.saved_replies import SavedReplies, read_shipped, write_shipped
from core.operators.base import Line
from tests.benchmarks.paired_tests import against

PAPER, GROUP = "In-depth Analysis", "Documents"
REPLIES = Path(__file__).with_name("replies")
BASE = "vanilla-rag"  # The others are tested against this method.
QUALITY = (
    "passage_recall@4",
    "passage_recall@10",
    "context_recall",
    "accuracy",
    "token_recall",
    "token_f1",
)
ASKING = ("calls", "tokens", "seconds")
# Numbers of questions for methods with dozens of requests per question.
SAMPLE_SIZES = {"ggraphrag": 2, "cheaprag": 4, "dalk": 10, "kgp": 10}
TESTED = ("passage_recall@4", "context_recall", "accuracy", "token_recall", "token_f1")


@dataclass(eq=False)
class ReplyTimeReport(BuildReport):
    """A build report that also sums the original seconds of saved replies."""

    replied: float = field(default=0.0)

    def add_usage(self, reply) -> None:
        super().add_usage(reply)
        if reply.cached:
            self.replied += reply.seconds


def main(arguments: Sequence[str], engine: Engine | None = None) -> None:
    """Compute missing results and print the tables."""
    options = _options(arguments)
    engine, corpus = engine or Engine(), open_corpus(options.corpus)
    if options.no_llm:
        return _main(options, engine, corpus)
    file = Path(options.replies or REPLIES / f"{corpus.name}.jsonl.gz")
    noted = Noted(shipped=[file])
    for role in ("answer", "choose"):
        chat = engine.models.chat(role)
        if isinstance(chat, ChatClient):
            chat.save_replies_to(noted, engine.models.weights(role))
    try:
        _main(options, engine, corpus)
    finally:
        noted.write(file)


class Noted(SavedReplies):
    """Saved replies that record which were used, so that they can be written to a shipped file."""

    def __init__(self, **where):
        super().__init__(**where)
        self.noted: dict[str, ChatReply] = {}

    def find(self, key: str, *how: Any, **more: Any) -> ChatReply | None:
        found = super().find(key, *how, **more)
        if found is not None:
            self.noted[key] = found
        return found

    def save(self, key: str, model: str, reply: ChatReply) -> None:
        super().save(key, model, reply)
        self.noted[key] = reply

    def write(self, file: Path) -> None:
        """Add the used replies to a file."""
        if not self.noted:
            return
        known = dict(read_shipped(file)) if file.exists() else {}
        file.parent.mkdir(parents=True, exist_ok=True)
        write_shipped(file, (known | self.noted).items())


def _main(options: argparse.Namespace, engine: Engine, corpus: Corpus) -> None:
    sets = options.set or ",".join(list(corpora()[corpus.name].sets)[:1])
    rows = by_extractors(_rows(options), [name for name in options.extractor.split(",") if name])
    left_out = [one.id for one in rows if options.no_llm and asks(one, engine.models, without=True)]
    found: dict[str, RunSummary] = {}
    for method in (one for one in rows if one.id not in left_out):
        few = not options.no_llm and asks(method, engine.models)
        found[method.id] = summary(
            engine,
            method,
            sets,
            _few(method, options) if few else options.sample,
            not options.no_llm,
        )
    if options.no_builds:
        costs = {}
    else:
        costs = {
            one.id: measure_build(engine.models, corpus, one) for one in rows if one.id in found
        }
    for line in told(corpus, rows, found, costs, left_out, options):
        print(line)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks methods", description=__doc__)
    number = lambda text: None if text == "all" else int(text)
    parser.add_argument(
        "methods",
        nargs="*",
        help="ids of methods (default: every row of the in-depth analysis)",
    )
    parser.add_argument("--corpus", default="hotpotqa")
    parser.add_argument(
        "--set", default="", help="its question sets, with commas (default: its first)"
    )
    parser.add_argument(
        "--sample", type=number, default=None, help="questions of each set, or all (the default)"
    )
    told = ", ".join(f"{name} {most}" for name, most in SAMPLE_SIZES.items())
    parser.add_argument(
        "--few",
        type=int,
        default=0,
        help=f"questions for methods that ask a language model to retrieve (default: {told})",
    )
    parser.add_argument(
        "--no-llm",
        action="store_true",
        help="ask no language model; the nearest sentence stands for the answer",
    )
    parser.add_argument(
        "--extractor",
        default="",
        help="who reads the chunks of the graphs, with commas: described, noun-phrases, llm",
    )
    parser.add_argument(
        "--originals", action="store_true", help="with the rows of the originals' own values"
    )
    parser.add_argument(
        "--replies",
        default="",
        help="the file of replies (default: that of the corpus in tests/benchmarks/replies)",
    )
    parser.add_argument("--no-builds", action="store_true", help="leave out what building costs")
    return parser.parse_args(arguments)


def _few(method: Method, options: argparse.Namespace) -> int | None:
    """Number of questions for methods with a language model before the answer, None for all."""
    sizes = [
        options.few
        or next((most for name, most in SAMPLE_SIZES.items() if method.id.startswith(name)), None),
        options.sample,
    ]
    return min((size for size in sizes if size is not None), default=None)


def _rows(options: argparse.Namespace) -> list[Method]:
    known = catalogue()
    if options.methods:
        return [known[name] for name in options.methods]
    rows = [
        one
        for one in known.values()
        if PAPER in one.paper or (options.originals and one.group == GROUP)
    ]
    return sorted(rows, key=lambda one: one.id != BASE)


def by_extractors(rows: Sequence[Method], extractors: Sequence[str]) -> list[Method]:
    """Each method on its kind of graph by each extractor.

    A method whose graph has no such extractor stays as it is.
    """
    found: list[Method] = []
    for one in rows:
        kind, first = build_of(one.line), one.line.operators[:1]
        graphs = {build.extractor: build for build in builds_of_kind(kind or "")}
        known = [name for name in extractors if name in graphs]
        for name in known:
            line = Line(
                (dataclasses.replace(first[0], build=graphs[name].id), *one.line.operators[1:])
            )
            found.append(dataclasses.replace(one, id=f"{one.id}-{name}", line=line))
        found += [] if known else [one]
    return found


def asks(method: Method, models, without: bool = False) -> bool:
    """True where a language model is used before the answer, or to note points for it.

    With `without`, only where the method cannot run without one.
    """
    operators = [part for one in method.line if one.stage != "generate" for part in one.parts()]
    return any(
        models.is_chat(name)
        for one in operators
        if not (without and one.without_model)
        for name in models_used(one)
    )


def summary(engine, method: Method, sets: str, size: int | None, model: bool) -> RunSummary:
    """The run of a method, completed first if necessary, without results shared by questions."""
    plan = make_plan([method], sets, size, engine.graph, model=model, cold=True)
    store = Store(evaluations_file())
    job = evaluate(engine, store, plan)
    finish_job(job)
    return RunSummary(store.run(job.number), store.rows(job.number))


def measure_build(models, corpus: Corpus, method: Method) -> dict:
    """Cost of a line's graph, built from nothing: seconds, model seconds, calls and tokens.

    The result is saved in a file.
    """
    spec = build_of(method.line)
    if spec is None:
        return {}
    one = build_for(corpus, spec)
    file = home_folder() / "benchmark-builds.json"
    known = json.loads(file.read_text("utf-8")) if file.exists() else {}
    key = f"{corpus.digest[:16]} {one.line!r} {[models.weights(name) for name in _models(one)]}"
    if key not in known:
        known[key] = {"build": one.id, **_measured_build(models, corpus, one)}
        file.write_text(json.dumps(known, indent=1), "utf-8")
    return known[key]


def _models(one) -> list[str]:
    return [name for operator in one.line for name in operator.models()]


def _measured_build(models, corpus: Corpus, one) -> dict:
    """Build in a separate folder with saved replies.

    A build that lacks some replies is not measured, since a language model would run for hours.
    """
    kept, report = (
        SavedReplies(home_folder() / "replies.sqlite", shipped=shipped_replies(corpus)),
        ReplyTimeReport(),
    )
    before = {name: os.environ.get(name) for name in ("HOPSCOPE_HOME", "HOPSCOPE_MODELS")}
    os.environ["HOPSCOPE_MODELS"] = str(models_folder())
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOPSCOPE_HOME"] = folder
        try:
            if not corpus.own:
                again = open_corpus(corpus.name)
            else:
                again = dataclasses.replace(corpus, folder=Path(folder) / "own")
            models.encoder().encode(["loaded before the clock starts"])
            start = time.perf_counter()
            graph = run_build(again, one, _NoNewReplies(models), report=report, saved=kept)
            seconds = time.perf_counter() - start
        except HopscopeError as error:
            return {"error": str(error)}
        finally:
            for name, value in before.items():
                os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)
    usage = report.usage + report.usage_saved
    told = {
        "calls": usage.calls,
        "tokens": usage.tokens_in + usage.tokens_out,
        "chunks": len(graph.columns.chunks or ()),
    }
    return {"seconds": seconds, "model": report.replied, **told}


class _NoNewReplies:
    """Models that raise an error instead of requesting new replies."""

    def __init__(self, models):
        self._models = models

    def __getattr__(self, name):
        return getattr(self._models, name)

    def chat(self, role: str = "answer"):
        def reply(*_, **__):
            raise BadInput("some replies of its language model are not kept here")

        return SimpleNamespace(reply=reply)


def told(
    corpus: Corpus,
    rows: Sequence[Method],
    found: dict[str, RunSummary],
    costs: dict[str, dict],
    left_out,
    options,
) -> Iterator[str]:
    """The lines of the tables and their notes."""
    asked = {one.run.spec["sample"] for one in found.values()}
    answers = "a language model answers"
    if options.no_llm:
        answers = "the sentence nearest to the question stands for the answer"
    yield (
        f"{corpus.title}, {corpus.n_documents:,} documents, "
        f"{' or '.join(f'{n:,}' for n in sorted(asked))} questions; {answers}."
    )
    yield (
        "Mean and 95 % bootstrap interval over the questions; seconds of a question as if it were "
        "the first."
    )
    yield ""
    titles = [metric(name).describe()["title"] for name in (*QUALITY, *ASKING)]
    building = [] if options.no_builds else ["Graph"]
    yield f"| Method | n | {' | '.join([*titles, *building])} |"
    yield "|---" + "|---:" * (len(titles) + len(building) + 1) + "|"
    for one in (one for one in rows if one.id in found):
        yield (
            "| "
            + " | ".join(
                [
                    f"`{one.id}`",
                    *_figures(found[one.id], one.id),
                    *([costs[one.id].get("build", "–")] if building else []),
                ]
            )
            + " |"
        )
    yield ""
    for one in found:
        if sentence := found[one].failure_text(one):
            yield f"- `{one}`: {sentence}"
    if left_out:
        yield (
            f"- Left out, as they cannot retrieve without a language model: "
            f"{', '.join(f'`{one}`' for one in left_out)}."
        )
    yield from _building(costs)
    yield from _notes(costs)
    yield from against(found, BASE, TESTED)


def _figures(one: RunSummary, key: str) -> list[str]:
    table = one.table((*QUALITY, *ASKING))[key]
    cell = lambda name, e: (
        "–"
        if e.mean is None
        else (
            f"{format_figure(name, e.mean)} [{format_figure(name, e.low)}, "
            f"{format_figure(name, e.high)}]"
        )
    )
    return [
        str(one.counts(key)["scored"]),
        *(cell(name, table[name]) for name in QUALITY),
        *(format_figure(n, table[n].mean) for n in ASKING),
    ]


def _building(costs: dict[str, dict]) -> Iterator[str]:
    """The cost of each graph, in all and per 1,000 chunks."""
    builds = {cost["build"]: cost for cost in costs.values() if "seconds" in cost}
    if not builds:
        return
    yield ""
    yield (
        "| Graph | Chunks | Calls | Tokens | Seconds | for 1,000 chunks: calls | tokens | seconds |"
    )
    yield "|---" + "|---:" * 7 + "|"
    for name, cost in builds.items():
        spent = [cost["calls"], cost["tokens"], cost["seconds"] + cost["model"]]
        if cost.get("chunks"):
            each = [f"{1000 * one / cost['chunks']:,.0f}" for one in spent]
        else:
            each = ["–"] * 3
        yield (
            "| "
            + " | ".join(
                [name, f"{cost.get('chunks', 0):,}", *(f"{one:,.0f}" for one in spent), *each]
            )
            + " |"
        )
    yield ""


def _notes(costs: dict[str, dict]) -> Iterator[str]:
    for name, why in dict.fromkeys(
        (cost["build"], cost["error"]) for cost in costs.values() if "error" in cost
    ):
        yield f"- What building {name} costs is not known: {why.rstrip('.')}."
    if any(cost.get("model") for cost in costs.values()):
        told = "those that each took when it was made"
        yield (
            f"- Of a language model's replies the seconds are {told}, by the clock; the rest was "
            f"measured now."
        )
