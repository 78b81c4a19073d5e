"""What is prepared for a graph: what of each kind lies on disk, making it, and deleting it."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR

from core.environment import Environment
from core.errors import StoreError
from core.graph.store import Graph
from core.indexes.place import NAMED, being_made, entries, index_folder
from core.indexes.table import KINDS, Kind
from core.io.durations import with_time_left
from core.runtime.jobs import Job, Jobs
from core.sharing import check_administrator, check_may_change, forget_owner, made

READY, PARTLY, OTHER, ABSENT, DAMAGED = (
    "ready",
    "partly there",
    "for another setting",
    "not built",
    "damaged",
)
OWNED_AS = "index"
SETTLED = 600.0  # seconds after which a file that was never put in place is one that a killed process left


@dataclass(frozen=True)
class SavedIndex:
    """An index on disk: its settings by its name, its size in bytes, when it was changed, and whether it is the one that lines read where
    nobody changed a setting."""

    path: Path
    words: str
    size: int
    changed: float
    usual: bool = False


@dataclass(frozen=True)
class Prepared:
    """A kind of index and what of it is there for a graph.

    `parts` is how many of its parts are there and how many there can be, where that is known; `lacks` says why it cannot
    be made here, empty where it can; `damage` why what is there cannot be read, empty where it can.
    """

    kind: Kind
    saved: tuple[SavedIndex, ...]
    parts: tuple[int, int] | None
    lacks: str
    damage: str = ""

    @property
    def state(self) -> str:
        """READY, PARTLY, DAMAGED, OTHER where only what other settings or models read is there, or ABSENT."""
        if self.damage:
            return DAMAGED
        if not any(one.usual for one in self.saved):
            return OTHER if self.saved else ABSENT
        return PARTLY if self.parts is not None and self.parts[0] < self.parts[1] else READY

    @property
    def size(self) -> int:
        return sum(one.size for one in self.saved)

    @property
    def changed(self) -> float | None:
        """When it was last changed, in seconds since 1970."""
        return max((one.changed for one in self.saved), default=None)


@dataclass(frozen=True)
class Leftover:
    """What nothing reads any more: the indexes of an earlier content of the graph, or files that no kind knows."""

    path: Path
    words: str
    size: int
    changed: float
    earlier: bool = False


def prepared(graph: Graph, env: Environment) -> list[Prepared]:
    """Every kind that the graph has anything of with what of it is there, in the order of the table. Raises StoreError."""
    there = entries(index_folder(graph))
    return [_prepared(graph, env, kind, there) for kind in KINDS.values() if kind.fits(graph)]


def stamp(graph: Graph, env: Environment) -> tuple:
    """What changes whenever `prepared` or `leftovers` may give something else, and is quickly had."""
    folder = index_folder(graph)
    there = tuple((path.name, *_weight(path)) for path in entries(folder))
    beside = tuple(path.name for path in entries(folder.parent))
    return graph.digest, there, beside, env.models.signature(), tuple(env.solved(graph.digest))


def _prepared(graph: Graph, env: Environment, kind: Kind, there: Sequence[Path]) -> Prepared:
    absent = [how for role in kind.models if (how := env.models.info(role).how_to_get)]
    usual = "" if absent else kind.usual(graph, env)
    matches = [(path, match) for path in there if (match := kind.match(path.name))]
    saved = tuple(
        SavedIndex(path, kind.words(match), *_weight(path), path.name == usual)
        for path, match in matches
    )
    lacks, parts = kind.lacks(graph, env) or next(iter(absent), ""), None
    try:
        parts = kind.coverage(graph, env) if saved and not absent else None
    except StoreError as error:
        return Prepared(kind, saved, None, lacks, str(error))
    return Prepared(kind, saved, parts, lacks)


def leftovers(graph: Graph) -> list[Leftover]:
    """What lies where the graph's indexes are saved and is read by nothing, the newest first."""
    folder, found = index_folder(graph), []
    for path in entries(folder):
        if any(kind.owns(path.name) for kind in KINDS.values()):
            continue
        size, changed = _weight(path)
        if not path.name.startswith("."):
            found.append(Leftover(path, path.name, size, changed))
        elif time.time() - changed > SETTLED:
            found.append(Leftover(path, "A file that was never finished", size, changed))
    # elsewhere, other graphs' lie beside it
    if graph.folder is not None and folder.parent == graph.folder / "indexes":
        for path in entries(folder.parent):
            if path != folder and re.fullmatch(f"[0-9a-f]{{{NAMED}}}", path.name):
                kinds = [
                    kind.title
                    for kind in KINDS.values()
                    if any(kind.owns(one.name) for one in path.iterdir())
                ]
                found.append(
                    Leftover(path, ", ".join(kinds) or "Nothing", *_weight(path), earlier=True)
                )
    return sorted(found, key=lambda one: (-one.changed, one.path.name))


def key(graph: Graph, kind: Kind) -> str:
    """The key of the job that builds an index of a graph."""
    return f"index-{graph.digest}-{kind.name}"


def start(jobs: Jobs, graph: Graph, kind: Kind, env: Environment, anew: bool = False) -> Job:
    """A job that builds an index, or the one that is at it. `anew` makes from nothing what is otherwise added to. Raises NotAllowed where
    that would make another person's anew; what is not all there may be completed by all."""
    there = any(kind.owns(path.name) for path in entries(index_folder(graph)))
    if there and (anew or not kind.adds):
        check_may_change(OWNED_AS, key(graph, kind))

    def work(job: Job) -> None:
        if not there:
            made(OWNED_AS, key(graph, kind))
        if anew and kind.adds:
            _remove(graph, kind)
        job.report("Beginning")
        assert kind.build is not None  # what comes by itself is never asked for
        kind.build(graph, env, with_time_left(job))

    return jobs.run(key(graph, kind), work, again=True)


def building(jobs: Jobs, graph: Graph, kind: Kind) -> Job | None:
    """The job that builds an index of a graph just now."""
    job = jobs.get(key(graph, kind))
    return job if job is not None and not job.ended else None


def delete(jobs: Jobs, graph: Graph, kind: Kind) -> None:
    """Deletes every file of a kind. Raises StoreError while it is built, here or by another process, or read by a question, and
    NotAllowed where it is another person's."""
    check_may_change(OWNED_AS, key(graph, kind))
    if building(jobs, graph, kind):
        raise StoreError(f"“{kind.title}” is being built; cancel that first.")
    _remove(graph, kind)
    forget_owner(OWNED_AS, key(graph, kind))


def _remove(graph: Graph, kind: Kind) -> None:
    kind.forget(graph)
    for path in entries(index_folder(graph)):
        if kind.owns(path.name):
            if being_made(path):
                raise StoreError(
                    f"“{kind.title}” is being built by another process; delete it when that is done."
                )
            _unlink(path)


def delete_leftover(graph: Graph, leftover: Leftover) -> None:
    """Deletes what nothing reads; what is no leftover of the graph any more stays. Raises StoreError, and NotAllowed where people share
    and this is not the administrator."""
    check_administrator("delete what is left over")
    if leftover.path in {one.path for one in leftovers(graph)}:
        _unlink(leftover.path)


def _unlink(path: Path) -> None:
    try:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be deleted: {error.strerror or error}.") from None


def _weight(path: Path) -> tuple[int, float]:
    """The bytes of a file or of all files in a folder, and when the newest of them was changed."""
    size, changed = 0, 0.0
    for one in [path, *path.rglob("*")]:
        with suppress(FileNotFoundError):  # put in place or deleted while we look
            stat = one.stat()
            size, changed = (
                size + (0 if S_ISDIR(stat.st_mode) else stat.st_size),
                max(changed, stat.st_mtime),
            )
    return size, changed
