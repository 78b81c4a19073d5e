"""Work in a process of its own that a fault test kills.

    python -m tests.benchmarks.fault_work KIND FOLDER TIMES

It prints `ready`, works, prints `ok WHAT` for everything that is saved from then on, and `done
DIGEST` at the end. FOLDER holds its inputs and is also the user folder.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

TRIPLES, WORDS = (
    30_000,
    (
        "river",
        "tower",
        "harbour",
        "garden",
        "bridge",
        "market",
        "library",
        "station",
        "island",
        "forest",
    ),
)
QUESTIONS, SAVES, DOCUMENTS = 30, 25, 12
LINES = ("EgoNetwork(hops=2) >> ShortestPaths()", "EgoNetwork(hops=1) >> ShortestPaths()")
EXTRACT = (
    "TokenChunks(size=60, overlap=6) >> NounPhrases() >> Merge(by='name', descriptions=False, "
    "keywords=False)"
)


def inputs(kind: str, folder: Path) -> None:
    """Write the inputs of the work: files, and for builds an older graph at the target."""
    from core.corpus import Document, write_corpus
    from core.graph.building.build import build

    folder.mkdir(parents=True, exist_ok=True)
    if kind in ("build", "steps"):
        lines = (
            f"node {n * 7919 % 9973}\tr{n % 13}\tnode {n * 104729 % 9967}\n" for n in range(TRIPLES)
        )
        (folder / "triples.tsv").write_text("".join(lines))
        build([("an", "earlier", "one")], folder / "graph", "graph")
    if kind in ("index", "evaluate"):
        build(
            [(f"node {n}", f"r{n % 3}", f"node {(n * 17 + 1) % 400}") for n in range(1200)],
            folder / "graph",
            "graph",
        )
        (folder / "asked.txt").write_text(
            "".join(f"what of [node {n}]\tnode {(n * 17 + 1) % 400}\n" for n in range(QUESTIONS))
        )
    if kind == "text":
        write_corpus(
            folder / "corpora" / "told",
            (Document(f"d{n:02}", _synthetic_text(n)) for n in range(DOCUMENTS)),
        )


def _synthetic_text(number: int) -> str:
    """A text in which names occur together."""
    names = [
        (
            f"the old {WORDS[(number * k + k) % len(WORDS)]} of "
            f"{WORDS[(number + k) % len(WORDS)].title()}ville"
        )
        for k in range(1, 7)
    ]
    return " ".join(
        f"In the year {1800 + number}, {a} was seen from {b}." for a, b in zip(names, names[1:])
    )


def _build(folder: Path, times: int) -> Iterator[str]:
    from core.graph.building.build import build

    yield "ready"
    yield f"done {build(folder / 'triples.tsv', folder / 'graph', 'graph').digest}"


def _steps(folder: Path, times: int) -> Iterator[str]:
    from core.graph.building.build import build
    from core.graph.readers.triple_file import TripleFile

    yield "ready"
    yield f"done {build(TripleFile(folder / 'triples.tsv', memory=8 << 20), folder / 'graph', 'graph').digest}"


def _index(folder: Path, times: int) -> Iterator[str]:
    import numpy as np

    from core.graph.store import Graph
    from core.indexes import vector_blocks, vectors
    from tests.films import Bag

    vector_blocks.BLOCK_TEXTS = 8
    graph = Graph.open(folder / "graph")
    yield "ready"
    found = vectors.build_vectors(graph, Bag(), "nodes")
    yield f"done {hashlib.sha256(found.vectors_of(np.arange(len(found))).tobytes()).hexdigest()}"


def _evaluate(folder: Path, times: int) -> Iterator[str]:
    from core.cli import main
    from core.evaluation.runs.store import Store, evaluations_file

    parts = [
        "--set",
        str(folder / "asked.txt"),
        "--sample",
        "all",
        "--graph",
        str(folder / "graph"),
        "--no-llm",
        "--json",
    ]
    yield "ready"
    if code := main(["evaluate", "--methods", ", ".join(LINES), *parts]):
        sys.exit(code)
    store = Store(evaluations_file())
    yield f"done {outcomes(store, store.runs()[0].id)}"


def outcomes(store, run: int) -> str:
    """A digest of a run's results without its times."""
    rows = sorted(
        (row.method, row.question.id, str(row.error), _but_for_seconds(row.outcome))
        for row in store.rows(run)
    )
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def _but_for_seconds(outcome) -> str:
    facts = {} if outcome is None else outcome.to_dict()
    return repr(
        sorted(
            (name, value)
            for name, value in facts.items()
            if "second" not in name and name not in ("costs", "built")
        )
    )


def _cases(folder: Path, times: int) -> Iterator[str]:
    from core.cases import comparison_of_case, save
    from core.cases.examples import demo

    saved = comparison_of_case(demo()[0].id)
    yield "ready"
    for number in range(times):
        yield f"ok {save(saved, notes=f'number {number}').id}"
    yield "done"


def _methods(folder: Path, times: int) -> Iterator[str]:
    from core.methods.catalogue import save_method
    from core.operators.text import parse_line

    yield "ready"
    for number in range(times):
        yield f"ok {save_method(f'of {folder.stat().st_ino} {number} {_unique_letters()}', parse_line(LINES[number % 2])).id}"
    yield "done"


def _unique_letters() -> str:
    """Letters that no other process has."""
    import uuid

    return uuid.uuid4().hex[:8]


def _text(folder: Path, times: int) -> Iterator[str]:
    from core.builds import run_build
    from core.builds.extract.noun_phrases import read_phrases
    from core.corpus import Corpus
    from core.models.registry import Registry

    read_phrases(["Loaded ahead."])
    corpus = Corpus.open(folder / "corpora" / "told")
    yield "ready"
    yield f"done {run_build(corpus, EXTRACT, Registry()).digest}"


WORK: dict[str, Callable[[Path, int], Iterator[str]]] = {
    "build": _build,
    "steps": _steps,
    "index": _index,
    "evaluate": _evaluate,
    "cases": _cases,
    "instances": _methods,
    "text": _text,
}


def main() -> int:
    """Do the work named on the command line; return 2 with an error message where it fails."""
    from core.errors import HopscopeError

    kind, folder, times = sys.argv[1:]
    try:
        for word in WORK[kind](Path(folder), int(times)):
            print(word, flush=True)
    except HopscopeError as error:
        print(f"hopscope: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
