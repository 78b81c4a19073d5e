"""What data sets there are, and how each is opened."""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path as FilePath

import numpy as np

from core.datasets.questions import read_lines, read_questions
from core.errors import BadInput, StoreError
from core.graph.store import META, Graph
from core.home import ROOT, graphs_folder
from core.types import Direction, Question

DATA = ROOT / "data"
DESCRIPTION = "dataset.toml"
_opening = threading.Lock()


@dataclass(frozen=True)
class QuestionSet:
    """A file of questions; `kinds`, if any, is a file that tells each question's kind, line by line."""

    name: str
    title: str
    file: FilePath
    hops: int | None = None
    kinds: FilePath | None = None


@dataclass(frozen=True)
class Dataset:
    """A graph and the question sets that go with it. `triples` is None for a graph that a person built."""

    name: str
    title: str
    licence: str
    direction: Direction
    triples: FilePath | None
    folder: FilePath  # of the graph store
    sets: Mapping[str, QuestionSet] = field(default_factory=dict)
    source: str = ""

    def open(self, progress: Callable[[str, float], None] | None = None, check: Callable[[], None] | None = None) -> Graph:
        """The graph, built first where its store is absent, damaged or of another state of the file; waits for another
        process that builds it. Raises StoreError or BadInput where that fails."""
        if self.triples is None:
            return _opened(self.folder)
        from core.graph.build import open_or_build

        with _opening:  # the threads of one process build once
            return open_or_build(self.triples, self.folder, self.name, self.direction, progress, check, wait=True)

    def questions(self, set_name: str) -> Sequence[Question]:
        """The questions of one of its sets, read when first asked for. Raises BadInput for an unknown set."""
        known = self._set(set_name)
        return _questions(known.file, known.name, known.hops)

    def kinds(self, set_name: str) -> Sequence[str]:
        """The kind of each question of a set (in MetaQA its chain, `actor_to_movie`), or none where the set tells none."""
        known = self._set(set_name)
        return _lines(known.kinds) if known.kinds else ()

    def draw(self, set_name: str, seed: int) -> Question:
        """One question of a set, the same for the same seed."""
        questions = self.questions(set_name)
        return questions[int(np.random.default_rng(seed).integers(len(questions)))]

    def _set(self, name: str) -> QuestionSet:
        if name not in self.sets:
            raise BadInput(_unknown("question set", name, self.sets))
        return self.sets[name]


def datasets() -> dict[str, Dataset]:
    """All data sets by name: the shipped ones, then the graphs that a person built, each part by name."""
    known = {}
    for path in sorted(DATA.glob(f"*/{DESCRIPTION}")):
        dataset = _shipped(path)
        known[dataset.name] = dataset
    if graphs_folder().is_dir():
        for folder in sorted(graphs_folder().iterdir()):
            if folder.name not in known and (folder / META).is_file():
                try:
                    found = Graph.open(folder)
                except StoreError:
                    continue  # said when somebody opens it by name
                known[folder.name] = Dataset(folder.name, found.name, "", found.direction, None, folder)
    return known


def open_graph(name: str | FilePath, progress: Callable[[str, float], None] | None = None) -> Graph:
    """The graph of a data set by name, or the store in a folder. Raises BadInput naming the known ones, or StoreError."""
    known = datasets()
    if str(name) in known:
        return known[str(name)].open(progress)
    for folder in (FilePath(name), graphs_folder() / str(name)):
        if (folder / META).is_file():
            return _opened(folder)
    raise BadInput(_unknown("graph", str(name), known))


def questions(set_name: str) -> Sequence[Question]:
    """The questions of a set of any data set. Raises BadInput naming the known sets."""
    return _owner(set_name).questions(set_name)


def draw(set_name: str, seed: int) -> Question:
    """One question of a set of any data set, the same for the same seed. Raises BadInput naming the known sets."""
    return _owner(set_name).draw(set_name, seed)


def _owner(set_name: str) -> Dataset:
    owners = {name: dataset for dataset in datasets().values() for name in dataset.sets}
    if set_name not in owners:
        raise BadInput(_unknown("question set", set_name, owners))
    return owners[set_name]


def _unknown(what: str, name: str, known: Mapping) -> str:
    near = get_close_matches(name, known, 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"There is no {what} “{name}”.{hint} Known: {', '.join(known) or 'none'}."


def _shipped(path: FilePath) -> Dataset:
    """The data set that a `dataset.toml` describes. Raises BadInput naming the file and the key that is wrong."""
    try:
        told = tomllib.loads(path.read_text("utf-8"))
        sets = {name: _set_of(name, row, path.parent) for name, row in told.get("questions", {}).items()}
        return Dataset(
            told["name"],
            told["title"],
            told["licence"],
            told["direction"],
            path.parent / told["triples"],
            graphs_folder() / told["name"],
            sets,
            told.get("source", ""),
        )
    except KeyError as error:
        raise BadInput(f"{path.parent.name}/{path.name} lacks {error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, TypeError, AttributeError) as error:
        raise BadInput(f"{path.parent.name}/{path.name} cannot be read: {error}.") from None


def _set_of(name: str, row: Mapping, folder: FilePath) -> QuestionSet:
    kinds = folder / row["kinds"] if "kinds" in row else None
    return QuestionSet(name, row.get("title", name), folder / row["file"], row.get("hops"), kinds)


@lru_cache(maxsize=16)
def _open_store(folder: FilePath, stamp: int) -> Graph:
    return Graph.open(folder)


def _opened(folder: FilePath) -> Graph:
    """The store in a folder, one object as long as it is not built anew."""
    try:
        return _open_store(folder, (folder / META).stat().st_mtime_ns)
    except FileNotFoundError:
        raise StoreError(f"There is no graph in {folder}.") from None


@lru_cache(maxsize=64)
def _questions(file: FilePath, name: str, hops: int | None) -> tuple[Question, ...]:
    return read_questions(file, name, hops)


@lru_cache(maxsize=64)
def _lines(file: FilePath) -> tuple[str, ...]:
    return read_lines(file)
