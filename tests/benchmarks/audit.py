"""Planted faults of question sets that an audit finds, by kind.

    python -m tests.benchmarks audit [--sets NAME,NAME] [--sample N] [--seed N] [--rounds N] [--list]

Each set is audited by itself, without a language model and without an evaluation. Questions of a
graph are a sample of each set, those of a corpus all of it. With several rounds, each has the next
seed, and the counts are summed. `--list` prints the planted faults.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.engine import Engine
from core.evaluation.audit.audit import Audit, audit_questions
from core.evaluation.runs.plan import open_set
from core.sources import AnswerSource
from tests.benchmarks.audit_plants import CorpusNames, GraphNames, Plants, plant

# The sets of the report. Others serve to develop the audit.
SETS = "metaqa-1hop-test,metaqa-2hop-test,metaqa-3hop-test,hotpotqa,scifact"
SEED, SAMPLE = 11, 300


@dataclass(frozen=True, eq=False)
class Result:
    """An audit of a planted set.

    Parameters
    ----------
    audit : the audit.
    found : ids of the planted faults that it flags; of a copy, itself or its original.
    false_alarms : ids of the flagged questions without a planted fault.
    seconds : time of the audit.
    """

    audit: Audit
    found: set[str]
    false_alarms: tuple[str, ...]
    seconds: float


def main(arguments: Sequence[str]) -> None:
    """Plant faults in each set, and print what the audit finds."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks audit")
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--no-vectors", action="store_true")
    options = parser.parse_args(arguments)
    engine = Engine()
    encode = None if options.no_vectors else engine.models.encoder().encode
    for name in options.sets.split(","):
        planted: Counter[str] = Counter()
        found: Counter[str] = Counter()
        n_alarms = seconds = 0
        for seed in range(options.seed, options.seed + options.rounds):
            source, plants = planted_set(engine, name, options.sample, seed)
            if options.list:
                print_plants(name, plants)
            result = measure(source, plants, encode)
            planted.update(f"{group}: {kind}" for group, kind in plants.kinds.values())
            found.update(": ".join(plants.kinds[id]) for id in result.found)
            n_alarms += len(result.false_alarms)
            seconds += result.seconds
            if options.list:
                print_misses(plants, result)
        print_result(name, planted, found, n_alarms, seconds)


def planted_set(engine, name: str, sample: int, seed: int) -> tuple[AnswerSource, Plants]:
    """Return the opened source of a set, and its questions with planted faults."""
    _, questions, unopened, _, _ = open_set(name, engine.graph)
    source = unopened.open(engine)
    if source.is_corpus:
        return source, plant(list(questions), CorpusNames(source.corpus), seed)
    questions = random.Random(seed).sample(list(questions), min(sample, len(questions)))
    return source, plant(questions, GraphNames(source.graph), seed)


def print_plants(name: str, plants: Plants) -> None:
    """Print the planted faults of a set with the changed questions."""
    print(f"{name}: {len(plants.questions):,} questions, {len(plants.kinds):,} planted faults")
    for question in plants.questions:
        if question.id in plants.kinds:
            group, kind = plants.kinds[question.id]
            gold = " | ".join(question.answers or question.gold)
            print(f"  {group}, {kind}: {question.text} -> {gold[:120]}")


def measure(source: AnswerSource, plants: Plants, encode) -> Result:
    """Audit a planted set, and count the planted faults and other questions that it flags."""
    start = time.perf_counter()
    audit = audit_questions(plants.questions, source, encode=encode)
    seconds = time.perf_counter() - start
    flagged = set(audit.suspect)
    copied = {id: other for id, other in plants.originals.items()}
    found = {id for id in plants.kinds if id in flagged or (id in copied and copied[id] in flagged)}
    accounted = set(plants.kinds) | {copied[id] for id in found if id in copied}
    false_alarms = tuple(id for id in audit.suspect if id not in accounted)
    return Result(audit, found, false_alarms, seconds)


def print_result(
    name: str, planted: Counter[str], found: Counter[str], n_alarms: int, seconds: float
) -> None:
    """Print the counts of a set, by kind of fault."""
    n_found = found.total()
    print(
        f"{name}: {n_found} of {planted.total()} planted faults flagged "
        f"({n_found / planted.total():.0%}); {n_alarms} of {n_found + n_alarms} flags are not "
        f"planted ({n_alarms / max(1, n_found + n_alarms):.0%}); {seconds:.1f} s"
    )
    for kind in sorted(planted):
        print(f"  {kind:24}{found[kind]:4} of {planted[kind]:3}")


def print_misses(plants: Plants, result: Result) -> None:
    """Print the planted faults that are not flagged, and the flags that are not planted."""
    questions = {question.id: question for question in plants.questions}
    for id, (group, kind) in plants.kinds.items():
        if id not in result.found:
            one = questions[id]
            print(
                f"  MISSED {group}, {kind}: {one.text} -> {' | '.join(one.answers or one.gold)[:200]}"
            )
    for finding in result.audit.findings:
        if finding.question in result.false_alarms and finding.is_fault:
            one = questions[finding.question]
            print(
                f"  ALARM {finding.kind}: {one.text} -> {' | '.join(one.answers)[:150]}: {finding.text[:300]}"
            )
