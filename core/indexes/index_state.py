"""Indexes of a graph on disk: their state, their building and their deletion."""

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
from core.indexes.index_kinds import INDEX_KINDS, IndexKind
from core.indexes.index_storage import DIGEST_DIGITS, index_folder, is_being_built, sorted_entries
from core.io.durations import with_time_left
from core.runtime.jobs import Job, Jobs
from core.sharing import check_administrator, check_may_change, forget_owner, record_owner

INDEX_READY = "ready"
INDEX_PARTIAL = "incomplete"
INDEX_OF_OTHER_SETTING = "for another setting"
INDEX_ABSENT = "not built"
INDEX_DAMAGED = "damaged"
INDEX_OWNER_KIND = "index"
# Seconds after which an unfinished file counts as left behind by a killed process.
UNFINISHED_SECONDS = 600.0


@dataclass(frozen=True)
class SavedIndex:
    """An index on disk.

    `description` describes its settings, taken from its name. `size` is in bytes and `changed` in
    seconds since 1970. `is_default` is true for the index that methods with default settings read.
    """

    path: Path
    description: str
    size: int
    changed: float
    is_default: bool = False


@dataclass(frozen=True)
class IndexState:
    """A kind of index and its saved indexes of one graph.

    `coverage` counts the finished parts and all parts, if these are known. `refusal` is the reason why
    the index cannot be built, empty if it can. `damage` is the reason why the saved index cannot be
    read, empty if it can.
    """

    kind: IndexKind
    saved: tuple[SavedIndex, ...]
    coverage: tuple[int, int] | None
    refusal: str
    damage: str = ""

    @property
    def state(self) -> str:
        """State of the index for display, one of the constants of this module.

        `INDEX_OF_OTHER_SETTING` means that only indexes for other settings or models are saved.
        """
        if self.damage:
            return INDEX_DAMAGED
        if not any(one.is_default for one in self.saved):
            return INDEX_OF_OTHER_SETTING if self.saved else INDEX_ABSENT
        if self.coverage is not None and self.coverage[0] < self.coverage[1]:
            return INDEX_PARTIAL
        return INDEX_READY

    @property
    def size(self) -> int:
        """Size of all saved indexes, in bytes."""
        return sum(one.size for one in self.saved)

    @property
    def changed(self) -> float | None:
        """Time of the last change, in seconds since 1970."""
        return max((one.changed for one in self.saved), default=None)


@dataclass(frozen=True)
class Leftover:
    """A file or folder that nothing reads any more.

    It belongs to an earlier content of the graph (`is_earlier_content`), or no kind of index knows
    its name.
    """

    path: Path
    description: str
    size: int
    changed: float
    is_earlier_content: bool = False


def index_states(graph: Graph, env: Environment) -> list[IndexState]:
    """Return the state of every kind of index that fits the graph.

    Parameters
    ----------
    graph : the graph.
    env : the environment, with the models.

    Returns
    -------
    One state for each kind of index, in the order of `INDEX_KINDS`.

    Raises
    ------
    StoreError : an index cannot be read.
    """
    paths = sorted_entries(index_folder(graph))
    return [_state(graph, env, kind, paths) for kind in INDEX_KINDS.values() if kind.fits(graph)]


def index_stamp(graph: Graph, env: Environment) -> tuple:
    """Return a value that changes whenever `index_states` or `leftovers` may change.

    It takes little time to compute.

    Parameters
    ----------
    graph : the graph.
    env : the environment, with the models and the person's solved questions.

    Returns
    -------
    Any value that can be compared.
    """
    folder = index_folder(graph)
    files = tuple((path.name, *_size_and_time(path)) for path in sorted_entries(folder))
    siblings = tuple(path.name for path in sorted_entries(folder.parent))
    return (
        graph.digest,
        files,
        siblings,
        env.models.signature(),
        tuple(env.solved_questions(graph.digest)),
    )


def _state(graph: Graph, env: Environment, kind: IndexKind, paths: Sequence[Path]) -> IndexState:
    advice = [how for role in kind.models if (how := env.models.info(role).how_to_get)]
    has_models = not advice
    default_name = kind.default_name(graph, env) if has_models else ""
    matches = [(path, match) for path in paths if (match := kind.match(path.name))]
    saved = tuple(
        SavedIndex(
            path, kind.describe_settings(match), *_size_and_time(path), path.name == default_name
        )
        for path, match in matches
    )
    refusal = kind.refusal(graph, env) or ("" if has_models else advice[0])
    try:
        coverage = kind.coverage(graph, env) if saved and has_models else None
    except StoreError as error:
        return IndexState(kind, saved, None, refusal, str(error))
    return IndexState(kind, saved, coverage, refusal)


def leftovers(graph: Graph) -> list[Leftover]:
    """Return the files and folders among the graph's indexes that nothing reads any more.

    The newest comes first.
    """
    folder, result = index_folder(graph), []
    for path in sorted_entries(folder):
        if any(kind.owns(path.name) for kind in INDEX_KINDS.values()):
            continue
        size, changed = _size_and_time(path)
        if not path.name.startswith("."):
            result.append(Leftover(path, path.name, size, changed))
        elif time.time() - changed > UNFINISHED_SECONDS:
            result.append(Leftover(path, "Unfinished file", size, changed))
    # A folder outside of the graph's own also holds the indexes of other graphs.
    if graph.folder is not None and folder.parent == graph.folder / "indexes":
        for path in sorted_entries(folder.parent):
            if path != folder and re.fullmatch(f"[0-9a-f]{{{DIGEST_DIGITS}}}", path.name):
                kinds = [
                    kind.title
                    for kind in INDEX_KINDS.values()
                    if any(kind.owns(one.name) for one in path.iterdir())
                ]
                words = ", ".join(kinds) or "Nothing"
                result.append(Leftover(path, words, *_size_and_time(path), is_earlier_content=True))
    return sorted(result, key=lambda leftover: (-leftover.changed, leftover.path.name))


def index_job_key(graph: Graph, kind: IndexKind) -> str:
    """Return the key of the job that builds an index of a graph.

    Parameters
    ----------
    graph : the graph.
    kind : the kind of index.

    Returns
    -------
    The same key for graphs of the same content.
    """
    return f"index-{graph.digest}-{kind.name}"


def start_index_job(
    jobs: Jobs, graph: Graph, kind: IndexKind, env: Environment, anew: bool = False
) -> Job:
    """Start a job that builds an index, or return the one that already runs.

    Anyone may complete an index that is unfinished.

    Parameters
    ----------
    anew : delete an index that is otherwise only added to, and build it from the beginning.

    Returns
    -------
    The job.

    Raises
    ------
    NotAllowed : this would rebuild another person's index.
    """
    exists = any(kind.owns(path.name) for path in sorted_entries(index_folder(graph)))
    if exists and (anew or not kind.is_incremental):
        check_may_change(INDEX_OWNER_KIND, index_job_key(graph, kind))

    def work(job: Job) -> None:
        if not exists:
            record_owner(INDEX_OWNER_KIND, index_job_key(graph, kind))
        if anew and kind.is_incremental:
            _remove(graph, kind)
        job.report("Beginning")
        # An index without a build function is never offered for building.
        assert kind.build is not None
        kind.build(graph, env, with_time_left(job))

    return jobs.run(index_job_key(graph, kind), work, again=True)


def running_index_job(jobs: Jobs, graph: Graph, kind: IndexKind) -> Job | None:
    """Return the running job that builds an index of a graph.

    Parameters
    ----------
    jobs : the jobs of this process.
    graph : the graph.
    kind : the kind of index.

    Returns
    -------
    The job; None if no such job runs in this process.
    """
    job = jobs.get(index_job_key(graph, kind))
    return job if job is not None and not job.has_ended else None


def delete_index(jobs: Jobs, graph: Graph, kind: IndexKind) -> None:
    """Delete every file of a kind of index.

    Parameters
    ----------
    jobs : the jobs of this process.
    graph : the graph.
    kind : the kind of index.

    Raises
    ------
    StoreError : the index is being built, here or by another process, or is being read by a
        question.
    NotAllowed : the index belongs to another person.
    """
    check_may_change(INDEX_OWNER_KIND, index_job_key(graph, kind))
    if running_index_job(jobs, graph, kind):
        raise StoreError(f"“{kind.title}” is being built; cancel that first.")
    _remove(graph, kind)
    forget_owner(INDEX_OWNER_KIND, index_job_key(graph, kind))


def _remove(graph: Graph, kind: IndexKind) -> None:
    kind.forget(graph)
    for path in sorted_entries(index_folder(graph)):
        if kind.owns(path.name):
            if is_being_built(path):
                raise StoreError(
                    f"“{kind.title}” is being built by another process; "
                    "delete it when that is done."
                )
            _unlink(path)


def delete_leftover(graph: Graph, leftover: Leftover) -> None:
    """Delete a file or folder that nothing reads.

    Nothing happens if it is no longer among the leftovers of the graph.

    Parameters
    ----------
    graph : the graph.
    leftover : the file or folder.

    Raises
    ------
    StoreError : it cannot be deleted.
    NotAllowed : several people share the installation and this one is not the administrator.
    """
    check_administrator("delete what is left over")
    if leftover.path in {one.path for one in leftovers(graph)}:
        _unlink(leftover.path)


def _unlink(path: Path) -> None:
    try:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be deleted: {error.strerror or error}.") from None


def _size_and_time(path: Path) -> tuple[int, float]:
    """Return the bytes of a file or folder, and its change time.

    The time is that of its newest change.
    """
    size, changed = 0, 0.0
    for entry in [path, *path.rglob("*")]:
        with suppress(FileNotFoundError):  # moved or deleted meanwhile
            stat = entry.stat()
            changed = max(changed, stat.st_mtime)
            if not S_ISDIR(stat.st_mode):
                size += stat.st_size
    return size, changed
