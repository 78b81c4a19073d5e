"""Planted faults of question sets that an audit finds, by kind.

    python -m tests.benchmarks audit [--sets NAME,NAME] [--sample N] [--seed N] [--rounds N] [--list]

Each set is audited by itself, without a language model and without an evaluation. Questions of a
graph are a sample of each set, those of a corpus all of it. With several rounds, each has the next
seed, and the counts are summed. `--list` prints the planted faults.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence

from core.engine import Engine
from core.evaluation.runs.plan import make_plan
from core.methods.catalogue import catalogue
from core.sources import AnswerSource
from core.types import Question
from tests.benchmarks.audit_plants import CorpusNames, GraphNames, Plants, plant

# The sets of the report. Others serve to develop the audit.
SETS = "metaqa-1hop-test,metaqa-2hop-test,metaqa-3hop-test,hotpotqa,scifact"
SEED, SAMPLE = 11, 300


def main(arguments: Sequence[str]) -> None:
    """Plant faults in each set, and print what the audit finds."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks audit")
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args(arguments)
    engine = Engine()
    for name in options.sets.split(","):
        for seed in range(options.seed, options.seed + options.rounds):
            _, plants = planted_set(engine, name, options.sample, seed)
            if options.list:
                print_plants(name, plants)


def planted_set(engine, name: str, sample: int, seed: int) -> tuple[AnswerSource, Plants]:
    """Return the opened source of a set, and its questions with planted faults."""
    method = next(iter(catalogue().values()))
    plan = make_plan([method], name, None, engine.graph)
    source = plan.drawn[0].source.open(engine)
    questions: list[Question] = [drawn.question for drawn in plan.drawn]
    if source.is_corpus:
        return source, plant(questions, CorpusNames(source.corpus), seed)
    questions = random.Random(seed).sample(questions, min(sample, len(questions)))
    return source, plant(questions, GraphNames(source.graph), seed)


def print_plants(name: str, plants: Plants) -> None:
    """Print the planted faults of a set with the changed questions."""
    print(f"{name}: {len(plants.questions):,} questions, {len(plants.kinds):,} planted faults")
    for question in plants.questions:
        if question.id in plants.kinds:
            group, kind = plants.kinds[question.id]
            gold = " | ".join(question.answers or question.gold)
            print(f"  {group}, {kind}: {question.text} -> {gold[:120]}")
