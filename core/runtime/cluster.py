"""Pieces of work spread over worker processes by Ray: on this computer, or on a cluster that is there."""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeVar

from core.errors import BadParameter, HopscopeError, shorten
from core.runtime.jobs import sentence
from core.watch import NO_WATCH, Watch

Item = TypeVar("Item")
Result = TypeVar("Result")
AHEAD = 4  # pieces for each worker that are under way before their turn to be handed out
AGAIN = 1  # times that a piece is tried again after its worker died
STARTS = 3  # tries to start Ray
LOOK = 0.2  # seconds between two looks at whether a person has cancelled
STORE = 256 * 1024 * 1024  # bytes of shared memory for what travels on this computer
DIED = f"The worker process at this piece of work died {AGAIN + 1} times, perhaps for want of memory; try it with fewer workers."


@dataclass(frozen=True)
class Lost:
    """The result of work whose workers died."""

    error: str = DIED


@dataclass(frozen=True)
class Workers:
    """`count` worker processes, each with one core and an engine of its own; 0 means as many as there are cores.

    With an `address` (`ray://HOST:10001`, `HOST:6379`, or `auto`) they belong to that cluster, whose machines see the same checkout
    and the same Hopscope folder. Without one, Ray is started here, for this process alone, and ends with the work.
    """

    count: int = 0
    address: str = ""

    def __post_init__(self) -> None:
        if self.count < 0:
            raise BadParameter(f"The number of workers must be at least 0, not {self.count}.")

    def words(self) -> str:
        """`2 workers`, `the workers of HOST`."""
        return (
            f"the workers of {self.address}" if self.address else f"{self.count or 'all'} workers"
        )

    def each(
        self, work: Callable[[Item], Result], items: Iterable[Item], watch: Watch = NO_WATCH
    ) -> Iterator[tuple[Item, Result | Lost]]:
        """Every item with `work(item)`, in the order of the items, of which few are drawn ahead.

        What `work` raises is raised here as a HopscopeError of the same sentence; a piece whose worker died is tried again, and then
        `Lost`. Raises what `watch` does, and HopscopeError where Ray is missing or its cluster cannot be reached; the work under way
        is then cancelled.
        """
        items = iter(items)
        begun = list(islice(items, 1))
        if not begun:
            return
        with self.started() as ray:
            given, settings = ray.put(work), _settings()
            task = ray.remote(_tried).options(num_cpus=1, max_retries=AGAIN)
            room = AHEAD * (self.count or max(1, int(ray.cluster_resources().get("CPU", 1))))
            waiting: deque[tuple[Item, Any]] = deque()
            try:
                for item in chain(begun, items):
                    waiting.append((item, task.remote(given, settings, item)))
                    if len(waiting) >= room:
                        yield waiting[0][0], _result(ray, waiting[0][1], watch)
                        waiting.popleft()
                while waiting:
                    yield waiting[0][0], _result(ray, waiting[0][1], watch)
                    waiting.popleft()
            finally:
                for _, reply in waiting:
                    ray.cancel(reply)

    @contextmanager
    def started(self) -> Iterator[Any]:
        """Ray, started or connected to, and let go of at the end; what is spread within shares it. Raises HopscopeError."""
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        if not self.address and "ray" not in sys.modules:  # it reads these but once
            # no stranger gives it work
            os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        try:
            import ray
        except ImportError:
            raise HopscopeError(
                "Several workers need Ray, which is not installed; get it with: pip install ray"
            ) from None
        if ray.is_initialized():
            yield ray
            return
        with tempfile.TemporaryDirectory(
            prefix="hopscope-ray-", ignore_cleanup_errors=True
        ) as folder:
            try:
                self._connect(ray, folder)
                yield ray
            finally:
                ray.shutdown()

    def _connect(self, ray, folder: str) -> None:
        """Start Ray for this process alone, which on a busy computer may need more than one try, or connect to a cluster."""
        here = {
            "include_dashboard": False,
            "object_store_memory": STORE,
            "_temp_dir": folder,
            "_node_ip_address": "127.0.0.1",
        }
        options = (
            {"address": self.address}
            if self.address
            else {"address": "local", "num_cpus": self.count or None, **here}
        )
        for tried in range(1, STARTS + 1):
            try:
                ray.init(**options, log_to_driver=False, logging_level="error")
                return
            except (
                Exception
            ) as error:  # Ray raises this very class where its processes take too long to start
                ray.shutdown()
                if "timed out during startup" not in str(error) or tried == STARTS:
                    raise HopscopeError(
                        f"Ray cannot be used{' at ' + self.address if self.address else ''}: {shorten(error, 200)}"
                    ) from None


def _settings() -> dict[str, str]:
    """This process's own settings for its workers; one thread each where none are set."""
    own = {key: value for key, value in os.environ.items() if key.startswith("HOPSCOPE_")}
    return {"HOPSCOPE_THREADS": "1", **own}


def _tried(
    work: Callable[[Item], Result], settings: dict[str, str], item: Item
) -> tuple[Result | None, str]:
    """In a worker: the result, or the sentence that says what went wrong."""
    os.environ |= settings
    try:
        return work(item), ""
    except Exception as error:
        return None, sentence(error)


def _result(ray, reply, watch: Watch = NO_WATCH) -> Any:
    """What a piece came to, once it is there."""
    while not ray.wait([reply], timeout=LOOK)[0]:
        watch.check()
    try:
        result, error = ray.get(reply)
    except (
        ray.exceptions.WorkerCrashedError,
        ray.exceptions.OutOfMemoryError,
        ray.exceptions.NodeDiedError,
    ):
        return Lost()
    if error:
        raise HopscopeError(error)
    return result
