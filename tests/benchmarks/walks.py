"""Walk&Retrieve and its baselines on unseen questions of a graph, as Markdown tables.

    python -m tests.benchmarks walks [--sample 100] [--llm]

The tables have right, wrong and withheld answers, contents of the context, tokens and seconds, with
intervals and paired tests. Each row is a separate run whose results are saved: the command
continues where it stopped. Rows whose walks are not encoded yet are left out, with the command that
encodes them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from core.engine import Engine
from core.errors import HopscopeError
from core.evaluation.metrics.catalogue import metric
from core.evaluation.reports.export import format_figure
from core.evaluation.reports.summary import RunSummary
from core.indexes import vectors, walks
from core.methods.catalogue import Method, catalogue
from core.operators.retrieve.walks import NodesThenWalks
from tests.benchmarks.methods import asks, summary
from tests.benchmarks.paired_tests import against

ROWS = (
    "vanilla-triples",
    "walk-retrieve-bfs",
    "walk-retrieve-rw",
    "subgraph-rag",
    "lego-12",
    "chain-ranking",
    "language-model-or-decline",
)
BASE = ROWS[0]  # The others are tested against this row.
CONTEXT = ("path_hit@32", "path_recall@32")
READ = ("reader_hit@1", "reader_f1")
ANSWERED = ("accurate", "hallucination", "missing", "truthfulness")
TESTED = ("truthfulness", "accurate", "path_hit@32")


def main(arguments: Sequence[str]) -> None:
    """Compute missing results and print the tables."""
    options = _options(arguments)
    engine = Engine()
    found: dict[str, RunSummary] = {}
    left_out: dict[str, str] = {}
    for method in (catalogue()[name] for name in options.methods or ROWS):
        why = _absent(engine, method, options)
        if why:
            left_out[method.id] = why
        else:
            found[method.id] = summary(engine, method, options.sets, options.sample, options.llm)
    for line in report_lines(found, left_out, options.llm):
        print(line)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks walks", description=__doc__)
    parser.add_argument("methods", nargs="*", help=f"ids of methods (default: {', '.join(ROWS)})")
    parser.add_argument("--graph", default="metaqa")
    parser.add_argument(
        "--sets",
        default="metaqa-1hop,metaqa-2hop,metaqa-3hop",
        help="question sets, with commas (%(default)s)",
    )
    parser.add_argument(
        "--sample", type=int, default=100, help="questions of each set (%(default)s)"
    )
    parser.add_argument(
        "--llm", action="store_true", help="a language model answers; else the graph reader does"
    )
    return parser.parse_args(arguments)


def _absent(engine: Engine, method: Method, options: argparse.Namespace) -> str:
    """Reason why a row cannot run, or an empty text."""
    operators = [part for operator in method.line for part in operator.parts()]
    if not options.llm and (
        asks(method, engine.models) or not any("paths" in one.writes for one in operators)
    ):
        return "it needs a language model"
    graph = engine.graph(options.graph)
    for one in (one for one in operators if isinstance(one, NodesThenWalks)):
        try:
            folder = walks.walk_folder(graph, engine.models.encoder(one.encoder), one.plan)
            if (
                vectors.open_vectors(folder) is None
                and len(walks.nodes_with_walks(graph, one.plan)) > walks.MAX_NODES_IN_QUESTION
            ):
                return f"its walks are not encoded; do it with `{walks.walks_command(graph, one.plan)}`"
        except HopscopeError as error:
            return str(error)
    return ""


def report_lines(
    found: dict[str, RunSummary], left_out: dict[str, str], llm: bool
) -> Iterator[str]:
    """The lines of the tables: all questions, then those of each hop count."""
    names = (*ANSWERED, *(() if llm else READ), *CONTEXT, *(("tokens",) if llm else ()), "seconds")
    if found:
        sizes = sorted({one.run.spec["sample"] for one in found.values()})
        yield (
            f"{' or '.join(map(str, sizes))} questions; "
            f"{'a language model answers' if llm else 'the graph reader answers'}."
        )
        yield (
            "Mean and 95 % bootstrap interval over the questions; seconds of a question as if it "
            "were the first."
        )
        yield from _table("All", found, names)
        hops = sorted({hop for one in found.values() for hop in one.by_hops() if hop})
        for hop in hops:
            yield from _table(
                f"{hop} hop{'s' * (hop > 1)}",
                {key: one.by_hops()[hop] for key, one in found.items()},
                names,
                False,
            )
    yield ""
    for key, one in found.items():
        if sentence := one.failure_text(key):
            yield f"- `{key}`: {sentence}"
    for key, why in left_out.items():
        yield f"- `{key}` is left out: {why}."
    yield from against(found, BASE, TESTED)


def _table(
    title: str, found: dict[str, RunSummary], names: Sequence[str], intervals: bool = True
) -> Iterator[str]:
    yield ""
    yield f"| {title} | n | {' | '.join(metric(name).describe()['title'] for name in names)} |"
    yield "|---" + "|---:" * (len(names) + 1) + "|"
    for key, one in found.items():
        table = one.table(names)[key]
        cells = []
        for name in names:
            value = table[name]
            cell = "–" if value.mean is None else format_figure(name, value.mean)
            spread = intervals and value.mean is not None and name not in ("tokens", "seconds")
            cells.append(
                f"{cell} [{format_figure(name, value.low)}, {format_figure(name, value.high)}]"
                if spread
                else cell
            )
        yield f"| `{key}` | {one.counts(key)['scored']} | {' | '.join(cells)} |"
