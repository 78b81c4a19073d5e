"""Case memory compared with chain ranking on every shipped set, without a language model.

Solved questions have similar or different wordings. The weight of chain ranking's own score
(`CaseMemory.ranking`) was chosen on the questions whose text has an even MD5. These are also the
solved questions, except on MetaQA, which has development questions. The others are asked.
HOPSCOPE_BENCHMARK_QUESTIONS and HOPSCOPE_BENCHMARK_SEED set the sample of each set.
HOPSCOPE_BENCHMARK_RANKING=0,0.85,0.92 tries these values on the half on which the weight was
chosen.

Wordings differ where solved questions come from another set, or where those with a cosine above .9
or .75 to the question may not vote.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.datasets import datasets, questions
from core.engine import Engine
from core.errors import HopscopeError
from core.evaluation.metrics.statistics import holm, paired_test
from core.indexes.cases import Cases
from core.operators.base import Line
from core.operators.retrieve.cases import CaseMemory
from core.operators.retrieve.chains import ChainRanking
from core.sources import GraphSource, SourceQuestion
from core.types import Question
from tests.benchmarks.chains import EACH, PLAIN, SEED, _right

TRIED = tuple(
    float(value) for value in os.environ.get("HOPSCOPE_BENCHMARK_RANKING", "").split(",") if value
)
DEVELOPMENT, HELD_OUT = 0, 1  # Parity of the text's MD5: even and odd.
ANY = 1.0
LIKE = ((100, ANY), (1000, ANY), (1000, 0.9), (1000, 0.75))
METAQA = [(f"metaqa-{hops}hop-test", PLAIN, *how) for hops in (1, 2, 3) for how in LIKE]
REWORDED = [("metaqa-1hop-ntm-test", PLAIN, size, ANY) for size in (100, 1000)]
OTHERS = ("pathquestion-2hop", "pathquestion-3hop", "webqsp-answerable", "cwq-answerable")
OWN = [(name, name, 100_000, most) for name in OTHERS for most in (ANY, 0.9, 0.75)]
CROSSED = [
    ("webqsp-answerable", "cwq-answerable", 100_000, ANY),
    ("cwq-answerable", "webqsp-answerable", 100_000, ANY),
]
# Set to ask, solved questions, their number per set, and the highest cosine that may vote.
CONDITIONS = (*METAQA, *REWORDED, *OWN, *CROSSED)


def run() -> list[dict]:
    """Fraction of right first answers per condition, compared with chain ranking."""
    engine, rows, tests = Engine(), [], []
    half, values = (DEVELOPMENT, TRIED) if TRIED else (HELD_OUT, (0.0, CaseMemory().ranking))
    with tempfile.TemporaryDirectory() as folder:
        for name, solved, size, most in CONDITIONS:
            source = solved if solved == PLAIN else str(_file_of_cases(solved, Path(folder)))
            here = list(asks(engine, name, half))
            alone = _answers(engine, here, ChainRanking())
            told = f"{name} by {'its own' if solved == name else solved if solved != PLAIN else f'{size:,} a set'}"
            told += f", none above {most}" if most < ANY else ""
            for value in values:
                with _hide_similar_cases(most):
                    right = _answers(engine, here, CaseMemory(source, size, ranking=value))
                tests.append(paired_test("hit@1", "memory", "chains", right, alone))
                won, lost = int((right > alone).sum()), int((right < alone).sum())
                note = (
                    f"{len(here)} questions, chain ranking {alone.mean():.3f}: {won} won, {lost} "
                    f"lost"
                )
                rows.append(
                    {
                        "name": f"{told}, ranking {value:g}",
                        "value": float(right.mean()),
                        "unit": "hit@1",
                        "note": note,
                    }
                )
    # Corrected over all conditions.
    corrected = [
        p for at in range(len(values)) for p in holm([test.p for test in tests[at :: len(values)]])
    ]
    ordered = [at for start in range(len(values)) for at in range(start, len(rows), len(values))]
    for at, p in zip(ordered, corrected, strict=True):
        row, test = rows[at], tests[at]
        row["note"] += (
            f"; {test.difference:+.3f} [{test.low:+.3f}, {test.high:+.3f}], p = {test.p:.2g}, "
            f"corrected {p:.2g}"
        )
    return rows


def _half(question: Question) -> int:
    return int(hashlib.md5(question.text.encode()).hexdigest(), 16) % 2


def asks(engine, name: str, half: int) -> Iterator[SourceQuestion]:
    """`EACH` questions of one half of a set, the same in every run."""
    dataset = next(dataset for dataset in datasets().values() if name in dataset.sets)
    fit = [question for question in questions(name) if question.answers and _half(question) == half]
    for row in np.random.default_rng(SEED).choice(len(fit), min(EACH, len(fit)), replace=False):
        try:
            yield engine.prepare_question(
                GraphSource.of(engine.graph(dataset.name)), fit[int(row)], uses_model=False
            )
        except HopscopeError:  # The graph lacks an entity.
            continue


def _file_of_cases(name: str, folder: Path) -> Path:
    """The development half of a set as a file of solved questions."""
    file = folder / f"{name}.jsonl"
    known = [
        question
        for question in questions(name)
        if question.answers and _half(question) == DEVELOPMENT
    ]
    told = [
        {"question": one.text, "entities": list(one.entities), "answers": list(one.answers)}
        for one in known
    ]
    file.write_text("".join(json.dumps(one) + "\n" for one in told), "utf-8")
    return file


@contextmanager
def _hide_similar_cases(most: float) -> Iterator[None]:
    """Hide solved questions whose cosine to the question is above `most`."""
    nearest = Cases.rank_cases
    Cases.rank_cases = lambda self, vector: [
        (place, cosine) for place, cosine in nearest(self, vector) if most == ANY or cosine <= most
    ]
    try:
        yield
    finally:
        Cases.rank_cases = nearest


def _answers(engine, asks: list[SourceQuestion], operator) -> np.ndarray:
    """Float64 flags of the questions whose first answer by the graph reader is right."""
    lanes = [LaneRun(ask, Line((operator,)), engine.environment, PrefixCache()) for ask in asks]
    for lane in lanes:
        lane.retrieve(LaneListener())
    return np.array([_right(lane.ask.source.graph, lane.state) for lane in lanes], float)
