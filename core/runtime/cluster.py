"""Work spread over worker processes by Ray, on this computer or a cluster."""

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

from core.errors import BadParameter, HopscopeError, shorten, with_command
from core.runtime.jobs import error_sentence
from core.watch import NO_WATCH, Watch

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class ClusterDefaults:
    """Sizes and retries of work on a Ray cluster."""

    # pieces submitted at a time, so that no worker idles while results are yielded in order
    pieces_per_worker: int = 4
    max_piece_retries: int = 1  # retries of a piece whose worker died
    max_ray_starts: int = 3  # attempts to start Ray
    check_seconds: float = 0.2  # between two checks for cancellation
    object_store_bytes: int = 256 * 1024 * 1024  # of Ray's shared memory on this computer


CLUSTER = ClusterDefaults()
WORKER_DIED_MESSAGE = (
    f"The worker process at this piece of work died {CLUSTER.max_piece_retries + 1} times, "
    "perhaps because memory ran out; try it with fewer workers."
)


@dataclass(frozen=True)
class LostResult:
    """Result of a piece of work whose workers died."""

    error: str = WORKER_DIED_MESSAGE


@dataclass(frozen=True)
class Workers:
    """Worker processes, each with one core and an engine of its own.

    Parameters
    ----------
    count : number of workers; 0 for as many as there are cores.
    address : address of a Ray cluster (`ray://HOST:10001`, `HOST:6379`, or “auto”). Its machines
        must see the same checkout and the same Hopscope folder. Without an address, Ray is started
        on this computer for this process alone, and ends with the work.
    """

    count: int = 0
    address: str = ""

    def __post_init__(self) -> None:
        if self.count < 0:
            raise BadParameter(f"The number of workers must be at least 0, not {self.count}.")

    def description(self) -> str:
        """Return a description, such as `2 workers` or `the workers of HOST`."""
        if self.address:
            return f"the workers of {self.address}"
        return f"{self.count or 'all'} workers"

    def run_each(
        self, work: Callable[[Item], Result], items: Iterable[Item], watch: Watch = NO_WATCH
    ) -> Iterator[tuple[Item, Result | LostResult]]:
        """Yield every item with `work(item)`, in the order of the items.

        Only a few items are taken from the iterable in advance. An error of `work` is raised here
        as a HopscopeError with the same message. A piece whose worker died is tried again; if that
        fails too, its result is a `LostResult`. Pieces under way are cancelled if the iterator is
        closed early.

        Raises
        ------
        HopscopeError
            If Ray is missing or its cluster cannot be reached. Errors of `watch` are raised too.
        """
        items = iter(items)
        first_items = list(islice(items, 1))  # without items, Ray is not started
        if not first_items:
            return
        with self.start_ray() as ray:
            work_reference, environment = ray.put(work), _worker_environment()
            task = ray.remote(_run_item).options(num_cpus=1, max_retries=CLUSTER.max_piece_retries)
            max_waiting = CLUSTER.pieces_per_worker * self.count_on(ray)
            waiting: deque[tuple[Item, Any]] = deque()
            try:
                for item in chain(first_items, items):
                    waiting.append((item, task.remote(work_reference, environment, item)))
                    if len(waiting) >= max_waiting:
                        yield waiting[0][0], _wait_for_result(ray, waiting[0][1], watch)
                        waiting.popleft()
                while waiting:
                    yield waiting[0][0], _wait_for_result(ray, waiting[0][1], watch)
                    waiting.popleft()
            finally:
                for _, pending in waiting:
                    ray.cancel(pending)

    def count_on(self, ray: Any) -> int:
        """Return the number of workers on a Ray cluster that is connected."""
        return self.count or max(1, int(ray.cluster_resources().get("CPU", 1)))

    @contextmanager
    def start_ray(self) -> Iterator[Any]:
        """Start Ray or connect to it within the block; nested blocks share it.

        Raises HopscopeError.
        """
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        # Ray reads these variables once, when it is imported. The token keeps other users of
        # this computer from submitting work.
        if not self.address and "ray" not in sys.modules:
            os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        try:
            import ray
        except ImportError:
            raise HopscopeError(
                with_command("Several workers need Ray, which is not installed.", "pip install ray")
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
        """Connect to a cluster, or start Ray for this process alone.

        On a busy computer the start may need more than one attempt.
        """
        local_options = {
            "include_dashboard": False,
            "object_store_memory": CLUSTER.object_store_bytes,
            "_temp_dir": folder,
            "_node_ip_address": "127.0.0.1",
        }
        options: dict[str, Any] = {"address": self.address}
        if not self.address:
            options = {"address": "local", "num_cpus": self.count or None, **local_options}
        for attempt in range(1, CLUSTER.max_ray_starts + 1):
            try:
                ray.init(**options, log_to_driver=False, logging_level="error")
                return
            # Ray raises a bare Exception if its processes take too long to start.
            except Exception as error:
                ray.shutdown()
                is_last = attempt == CLUSTER.max_ray_starts
                if is_last or "timed out during startup" not in str(error):
                    location = f" at {self.address}" if self.address else ""
                    raise HopscopeError(
                        f"Ray cannot be used{location}: {shorten(error, 200)}"
                    ) from None


def cluster_workers() -> Workers | None:
    """Return the workers of the Ray cluster in RAY_ADDRESS.

    The result is None if it is not set. Inside a worker the result is None, so that workers start
    no workers of their own.
    """
    address = os.environ.get("RAY_ADDRESS", "")
    return Workers(address=address) if address else None


def _worker_environment() -> dict[str, str]:
    """Return the environment variables of the workers.

    These are the `HOPSCOPE_*` variables of this process. A worker has one thread unless
    HOPSCOPE_THREADS is set here, and no workers of its own.
    """
    settings = {key: value for key, value in os.environ.items() if key.startswith("HOPSCOPE_")}
    return {"HOPSCOPE_THREADS": "1", "RAY_ADDRESS": "", **settings}


def _run_item(
    work: Callable[[Item], Result], environment: dict[str, str], item: Item
) -> tuple[Result | None, str]:
    """In a worker: return the result of a piece and an error message.

    The message is empty if there is a result, else the result is None.
    """
    os.environ |= environment
    try:
        return work(item), ""
    except Exception as error:
        return None, error_sentence(error)


def _wait_for_result(ray, pending, watch: Watch = NO_WATCH) -> Any:
    """Wait for the result of a piece of work and return it."""
    while not ray.wait([pending], timeout=CLUSTER.check_seconds)[0]:
        watch.check()
    try:
        result, error = ray.get(pending)
    except (
        ray.exceptions.WorkerCrashedError,
        ray.exceptions.OutOfMemoryError,
        ray.exceptions.NodeDiedError,
    ):
        return LostResult()
    if error:
        raise HopscopeError(error)
    return result
