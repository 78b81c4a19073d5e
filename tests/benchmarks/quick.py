"""Losses and savings of quick lines compared with exact ones, on unseen questions of every set.

    python -m tests.benchmarks quick

It measures processor time, so that other work on the machine matters little.
`ONEDNN_MAX_CPU_ISA=AVX2` measures as on a processor without bfloat16.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.datasets import datasets
from core.diagnosis.funnel import gold_nodes
from core.engine import Engine
from core.methods.catalogue import catalogue
from core.sources import GraphSource
from core.types import Question, State

PAIRS = (("lego-12", "lego-12-quick"), ("lego-14", "lego-14-quick"))
SETS = (
    *("metaqa-1hop-test", "metaqa-2hop-test", "metaqa-3hop-test", "metaqa-1hop-ntm-test"),
    *(
        "pathquestion-2hop",
        "pathquestion-3hop",
        "webqsp-answerable",
        "cwq-answerable",
        "case-study",
    ),
)
HALVED = (
    "pathquestion-2hop",
    "pathquestion-3hop",
    "webqsp-answerable",
    "cwq-answerable",
)  # Without a development set, the other half serves as one.
BEST_PATHS = 32


@dataclass(frozen=True)
class QuickComparison:
    """Results of one question for an exact line and its quick variant.

    They are the fraction of the exact line's best 32 paths that the quick one has, correctness of
    both first answers (None without known answers), processor seconds, and texts that were read.
    """

    overlap: float
    right: tuple[bool, bool] | None
    seconds: tuple[float, float] | None
    texts: tuple[int, int]


def main(arguments: list[str]) -> None:
    """Print a table with a row for each pair of lines and each set."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks quick", description=__doc__)
    parser.add_argument("--each", type=int, default=40, help="questions of a set (%(default)s)")
    parser.add_argument(
        "--timed",
        type=int,
        default=8,
        help="of these, asked twice of new encoders so that seconds count (%(default)s)",
    )
    parser.add_argument("--sets", default=",".join(SETS))
    options = parser.parse_args(arguments)
    print(
        "| line | set | questions | best 32 | least | right at first | same for quick | texts "
        "| quick | seconds | quick |"
    )
    print("|---" * 2 + "|---:" * 9 + "|", flush=True)
    engine = Engine()
    encoder: Any = engine.models.encoder()
    encoder._files = None  # Saved vectors would otherwise replace reading.
    encoder.encode(["warm"])
    for name in options.sets.split(","):
        for exact, quick in PAIRS:
            print(
                row(
                    exact,
                    name,
                    measure_set(engine, name, exact, quick, options.each, options.timed),
                ),
                flush=True,
            )


def measure_set(
    engine: Engine, name: str, exact: str, quick: str, each: int, timed: int
) -> list[QuickComparison]:
    """A set's questions on both lines.

    For later questions the quick line reuses vectors of the exact one.
    """
    dataset = next(dataset for dataset in datasets().values() if name in dataset.sets)
    found = []
    for number, question in enumerate(
        unseen_questions(dataset.questions(name), name in HALVED, each)
    ):
        graph = dataset.graph_for(name, question)
        lines = (
            (quick, exact) if number < timed and number % 2 else (exact, quick)
        )  # The second line finds more of the graph in memory.
        came = {
            line: run_line(engine, graph, question, line, line == exact or number < timed)
            for line in lines
        }
        first, second = came[exact], came[quick]
        best = [[path for path in state.paths.items[:BEST_PATHS]] for state, _ in (first, second)]  # type: ignore[union-attr]
        overlap = len(set(best[0]) & set(best[1])) / len(best[0]) if best[0] else 1.0
        gold = gold_nodes(
            graph, *(name for answer in question.answers for name in question.answer_names(answer))
        )
        right = (
            tuple(bool(state.reader) and state.reader[0] in gold for state, _ in (first, second))
            if gold
            else None
        )  # type: ignore[index]
        texts = tuple(sum(step.usage.texts for step in state.trace) for state, _ in (first, second))
        found.append(
            QuickComparison(
                overlap, right, (first[1], second[1]) if number < timed else None, texts
            )
        )  # type: ignore[arg-type]
    return found


def unseen_questions(questions, halved: bool, each: int) -> list[Question]:
    """Some of a set's questions in a fixed random order.

    Of a set without a development set only questions at odd positions are used.
    """
    order = np.random.default_rng(11).permutation(len(questions)).tolist()
    return [questions[place] for place in order if not halved or place % 2][:each]


def run_line(
    engine: Engine, graph, question: Question, line: str, anew: bool
) -> tuple[State, float]:
    """Last state of a line, and its processor seconds."""
    lane = LaneRun(
        engine.prepare_question(GraphSource.of(graph), question, uses_model=False),
        catalogue()[line].line,
        engine.environment,
        PrefixCache(),
    )
    if anew:
        engine.models.encoder().forget()
    start = time.process_time()
    lane.retrieve(LaneListener())
    return lane.state, time.process_time() - start


def row(line: str, name: str, pairs: list[QuickComparison]) -> str:
    """A row of the table: means, and medians of texts and seconds."""
    known = [pair.right for pair in pairs if pair.right is not None]
    right = [f"{np.mean([one[place] for one in known]):.2f}" if known else "–" for place in (0, 1)]
    texts = [f"{statistics.median(pair.texts[place] for pair in pairs):,.0f}" for place in (0, 1)]
    timed = [pair.seconds for pair in pairs if pair.seconds is not None]
    seconds = [
        f"{statistics.median(one[place] for one in timed):.2f}" if timed else "–"
        for place in (0, 1)
    ]
    overlaps = [pair.overlap for pair in pairs]
    cells = [
        line,
        name,
        str(len(pairs)),
        f"{np.mean(overlaps):.3f}",
        f"{min(overlaps):.2f}",
        *right,
        *texts,
        *seconds,
    ]
    return f"| {' | '.join(cells)} |"
