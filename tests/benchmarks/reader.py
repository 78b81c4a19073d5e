"""The graph reader with and without the expected type of answer, on MetaQA questions.

    python -m tests.benchmarks reader
    python -m tests.benchmarks.reader --part dev --each 200 --lines lego-1,chain-ranking
        [--wrong 10]

Both variants read the same retrieved paths, without a language model. The first command uses
HOPSCOPE_BENCHMARK_QUESTIONS of each hop count (20), development and test.
"""

from __future__ import annotations

import argparse
import os

import numpy as np

from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.datasets import questions
from core.diagnosis.funnel import gold_nodes
from core.engine import Engine
from core.methods.catalogue import catalogue
from core.operators.base import Context
from core.operators.read import GraphReader
from core.sources import GraphSource

EACH, SEED = int(os.environ.get("HOPSCOPE_BENCHMARK_QUESTIONS", 20)), 17
LINES = ("lego-1", "chain-ranking", "lego-14", "lego-12")
READERS = {"before": GraphReader(asked=False), "minding": GraphReader()}


def run() -> list[dict]:
    """Fraction of right first answers in both variants, with the questions won and lost."""
    return [row for part in ("dev", "test") for row in rows(part, EACH, LINES)]


def rows(part: str, each: int, lines, show: int = 0) -> list[dict]:
    """The rows of these lines on one part of the sets."""
    engine, told = Engine(), []
    graph, known = engine.graph("metaqa"), catalogue()
    for line in lines:
        won = lost = 0
        firsts = {name: [] for name in READERS}
        for hops in (1, 2, 3):
            every = questions(f"metaqa-{hops}hop-{part}")
            for i in np.sort(
                np.random.default_rng(SEED).choice(len(every), each, replace=False)
            ).tolist():
                ask = engine.prepare_question(
                    GraphSource.of(graph), every[i], uses_reader=False, uses_model=False
                )
                lane = LaneRun(ask, known[line].line, engine.environment, PrefixCache())
                lane.retrieve(LaneListener())
                context = Context(graph, engine.environment)
                gold = {node for answer in every[i].answers for node in gold_nodes(graph, answer)}
                names = {
                    name: reader(lane.state, context).reader[:1] for name, reader in READERS.items()
                }
                hits = {name: not gold.isdisjoint(first) for name, first in names.items()}
                for name, hit in hits.items():
                    firsts[name].append((hops, hit))
                won, lost = (
                    won + (hits["minding"] > hits["before"]),
                    lost + (hits["minding"] < hits["before"]),
                )
                if show and hits["minding"] < hits["before"]:
                    show -= 1
                    print(
                        (
                            f"    {line}: {every[i].text} | "
                            f"{ {name: graph.names(first) for name, first in names.items()} }"
                        ),
                        flush=True,
                    )
        for name, found in firsts.items():
            by = " ".join(
                f"{np.mean([hit for hop, hit in found if hop == hops]):.2f}" for hops in (1, 2, 3)
            )
            note = f"of {len(found)}; 1, 2, 3 hops {by}" + (
                f"; {won} won, {lost} lost" if name == "minding" else ""
            )
            told.append(
                {
                    "name": f"reader {part} {line}, {name}",
                    "value": float(np.mean([h for _, h in found])),
                    "unit": "hit@1",
                    "note": note,
                }
            )
    return told


def main() -> None:
    """Print the results of one part, and the questions that were lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.reader")
    parser.add_argument("--part", default="dev")
    parser.add_argument("--each", type=int, default=EACH)
    parser.add_argument("--lines", default=",".join(LINES))
    parser.add_argument("--wrong", type=int, default=0)
    options = parser.parse_args()
    for row in rows(options.part, options.each, options.lines.split(","), options.wrong):
        print(f"{row['name']:44} {row['value']:.3f}  {row['note']}", flush=True)


if __name__ == "__main__":
    main()
