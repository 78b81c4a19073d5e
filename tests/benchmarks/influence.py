"""Agreement of influence with marked evidence, on PathQuestion's paths and corpora's passages.

    python -m tests.benchmarks influence
    python -m tests.benchmarks.influence --model --each 20

The first uses the readers, with HOPSCOPE_BENCHMARK_QUESTIONS of each set (60). The second uses a
language model on passages, with up to 28 requests per question.

Questions count if their answer is right (an excerpt always counts) and some of their items are
marked and others are not. The value is the fraction of questions whose most influential item is
marked, as a mean over ties. The note has the same for the item ranked first, and the marked
fraction of the smallest set.
"""

from __future__ import annotations

import argparse
import gzip
import os
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.diagnosis.influence import gold_items, influence_fault, measure_influence
from core.engine import Engine, MethodLane
from core.errors import BadInput
from core.io.home import ROOT
from core.methods.catalogue import Method, catalogue
from core.operators.text import parse_line
from core.sources import CorpusSource, GraphSource, SourceQuestion
from core.types import Influence

EACH, SEED = int(os.environ.get("HOPSCOPE_BENCHMARK_QUESTIONS", 60)), 23
PATHS = ("pathquestion-2hop", "pathquestion-3hop")
LINES = ("lego-1", "lego-12", "lego-14", "chain-ranking")
CORPORA = ("hotpotqa", "2wikimultihopqa")
PASSAGES = (
    "BuiltGraph() >> EmbedQuery() >> VectorChunks(keep=5) >> AnswerFromPassages(max_tokens=48)"
)


def run() -> list[dict]:
    """The rows of the readers."""
    engine = Engine()
    return [*_paths(engine, EACH), *_passages(engine, EACH, model=False)]


def _paths(engine: Engine, each: int) -> Iterator[dict]:
    known = catalogue()
    for name in PATHS:
        gold, source = _gold_paths(name), GraphSource(name).open(engine)
        for line in LINES:
            found = []
            for question in _drawn_questions(source.questions(name), each):
                lane = _run_lane(engine, source.ask(question, uses_model=False), known[line])
                named = lane.graph.names(lane.state.reader or ())[:1]
                texts = []
                if lane.state.paths:
                    texts = [lane.graph.text(path) for path in lane.state.paths.items]
                if set(named) & set(question.answers):
                    one = measure_influence(lane, engine.environment, by_model=False)
                    found.append(
                        (
                            one,
                            {
                                at
                                for at, _ in enumerate(one.weights)
                                if texts[at] in gold[question.text]
                            },
                        )
                    )
            yield from _rows(f"{name} {known[line].name}", found, each)


def _gold_paths(name: str) -> dict[str, set[str]]:
    """The gold paths of each question of a set, in the notation of the graph."""
    found: dict[str, set[str]] = {}
    with gzip.open(ROOT / "data" / name / "questions.txt.gz", "rt", encoding="utf-8") as lines:
        for text, _, path in (line.rstrip("\n").split("\t") for line in lines):
            found.setdefault(" ".join(text.split()), set()).add(
                " -> ".join(path.split("#<end>")[0].split("#"))
            )
    return found


def _passages(
    engine: Engine, each: int, model: bool, corpora: Sequence[str] = CORPORA
) -> Iterator[dict]:
    method = Method("passages", "5 passages by vectors", parse_line(PASSAGES))
    for name in corpora:
        source = CorpusSource(name).open(engine)
        found = []
        for question in _drawn_questions(
            [one for one in source.questions(next(iter(source.sets))) if one.gold], each
        ):
            lane = _run_lane(engine, source.ask(question, uses_model=model), method)
            if influence_fault(lane, by_model=model):
                continue
            try:
                one = measure_influence(lane, engine.environment, by_model=model)
            except BadInput:
                continue
            right = not model or any(
                answer.lower() in (lane.state.answer or "").lower() for answer in question.answers
            )
            if right:
                found.append((one, gold_items(lane, one, question.gold) or set()))
        yield from _rows(f"{name} {'model' if model else 'nearest sentence'}", found, each)


def _drawn_questions(questions, each: int) -> list:
    size = min(each, len(questions))
    return [
        questions[at]
        for at in np.sort(
            np.random.default_rng(SEED).choice(len(questions), size, replace=False)
        ).tolist()
    ]


def _run_lane(engine: Engine, ask: SourceQuestion, method: Method) -> MethodLane:
    run = LaneRun(ask, method.line, engine.environment, PrefixCache())
    run.retrieve(LaneListener())
    if ask.uses_model:
        run.answer(LaneListener())
    return MethodLane(ask, method, **run.lane_fields)


def _rows(name: str, found: Iterable[tuple[Influence, set[int]]], each: int) -> Iterator[dict]:
    both = [(one, gold) for one, gold in found if gold and len(gold) < len(one.weights)]
    if not both:
        return
    moved = [(one, gold) for one, gold in both if one.smallest]
    firsts, ranked, sets = [], [], []
    for one, gold in both:
        weights = np.array([weight.influence for weight in one.weights])
        firsts.append(np.mean([at in gold for at in np.flatnonzero(weights == weights.max())]))
        ranked.append(0 in gold)
        sets += [len(gold & {*one.smallest}) / len(one.smallest)] if one.smallest else []
    note = (
        f"{len(both)} of {each} questions; the item ranked first {np.mean(ranked):.2f}; in the "
        f"smallest set {np.mean(sets):.2f}"
    )
    note += (
        (
            f" of {np.mean([len(one.smallest) for one, _ in moved]):.1f} items; "
            f"{len(both) - len(moved)} rest on none"
        )
        if moved
        else ""
    )
    yield {
        "name": f"influence {name}",
        "value": float(np.mean(firsts)),
        "unit": "marked",
        "note": note,
    }


def main() -> None:
    """Print the figures of the readers or of a language model."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.influence")
    parser.add_argument("--model", action="store_true")
    parser.add_argument("--each", type=int, default=EACH)
    parser.add_argument("--corpora", default=",".join(CORPORA))
    options = parser.parse_args()
    engine = Engine()
    paths = () if options.model else _paths(engine, options.each)
    for row in (
        *paths,
        *_passages(engine, options.each, options.model, options.corpora.split(",")),
    ):
        print(f"{row['name']:60} {row['value']:.2f}  {row['note']}", flush=True)


if __name__ == "__main__":
    main()
