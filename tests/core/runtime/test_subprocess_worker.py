"""Work in a subprocess: its output, errors, limits, cancellation and end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from core.errors import HopscopeError, RunCancelled
from core.io.home import ROOT
from core.runtime import subprocess_worker
from core.runtime.python_process import python_environment
from core.runtime.subprocess_worker import (
    LIMIT_MEMORY,
    LIMIT_TIME,
    PROCESS_DIED_MESSAGE,
    Worker,
    WorkerEndedError,
    in_subprocess,
)
from core.watch import NO_WATCH, Watch
from tests.core.runtime.subprocess_work import (
    asleep,
    busy,
    busy_for,
    doubled,
    greedy,
    killed,
    printing,
    refused,
    returned,
)


@pytest.fixture(autouse=True, params=[True, False], ids=["limits of the kernel", "looked at"])
def kernel_limits(request, monkeypatch) -> bool:
    """True where the kernel enforces the limits, as on Linux.

    Elsewhere, as on macOS and Windows, the process is polled.
    """
    monkeypatch.setattr(subprocess_worker, "KERNEL", request.param)
    return request.param


def has_ended(pid: int) -> bool:
    for _ in range(200):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return True  # The process is a zombie: dead, but not yet waited for.
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def test_subprocess_reports_and_returns():
    told = []
    number, pid = in_subprocess(doubled, 21, watch=Watch(report=lambda *said: told.append(said)))
    assert (number, told) == (42, [("Doubling", 0.5)]) and pid != os.getpid() and has_ended(pid)


def test_error_in_the_subprocess_is_readable():
    with pytest.raises(HopscopeError, match="That is no number."):
        in_subprocess(refused, watch=NO_WATCH)


def test_death_of_the_subprocess_is_a_readable_error():
    with pytest.raises(HopscopeError, match=PROCESS_DIED_MESSAGE):
        in_subprocess(killed, watch=NO_WATCH)


def test_cancel_ends_the_subprocess():
    pids, cancelled = [], threading.Event()

    def told(text, share):
        pids.append(int(text))
        cancelled.set()

    def check():
        if cancelled.is_set():
            raise RunCancelled()

    with pytest.raises(RunCancelled):
        in_subprocess(asleep, watch=Watch(check, told))
    assert has_ended(pids[0])


def test_subprocess_ends_with_its_parent(kernel_limits):
    code = (
        "from core.runtime import subprocess_worker; from core.runtime.subprocess_worker import "
        "in_subprocess\n"
        "from core.watch import Watch\n"
        "from tests.core.runtime.subprocess_work import asleep\n"
        f"subprocess_worker.KERNEL = {kernel_limits}\n"
        "in_subprocess(asleep, watch=Watch(report=lambda text, share: print(text, flush=True)))"
    )
    asking = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    pid = int(asking.stdout.readline())
    asking.kill()
    asking.communicate()
    assert has_ended(pid)


def test_subprocess_is_reused():
    with Worker() as worker:
        pids = [worker.run(doubled, number, watch=NO_WATCH)[1] for number in range(3)]
        with pytest.raises(HopscopeError, match="no number"):
            worker.run(refused, watch=NO_WATCH)
        assert {*pids, worker.run(doubled, 1, watch=NO_WATCH)[1]} == {pids[0]}
    assert has_ended(pids[0])


@pytest.mark.parametrize(
    "work, limit",
    [(greedy, LIMIT_MEMORY), (busy, LIMIT_TIME), (killed, "")],
    ids=["memory", "time", "killed"],
)
def test_work_beyond_its_limit_ends(work, limit):
    with Worker(memory=1 << 29) as worker:
        with pytest.raises(WorkerEndedError) as ended:
            worker.run(work, watch=NO_WATCH, seconds=1)
        assert ended.value.limit == limit
        assert worker.run(doubled, 21, watch=NO_WATCH, seconds=1)[0] == 42


def test_printed_text_is_no_report(capfd):
    assert in_subprocess(printing, watch=NO_WATCH) != os.getpid()
    assert capfd.readouterr() == ("", "This is no report.\n")


def test_large_data_passes_in_both_directions():
    data = os.urandom(1 << 23)
    assert in_subprocess(returned, data, watch=NO_WATCH) == data


def test_processor_time_is_limited_per_item():
    with Worker() as worker:
        pids = {worker.run(busy_for, 0.4, watch=NO_WATCH, seconds=1) for _ in range(6)}
    assert len(pids) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel counts ticks on Linux alone")
def test_limit_counts_from_the_clock_of_the_kernel(monkeypatch):
    limits = []
    monkeypatch.setattr(
        subprocess_worker.resource, "setrlimit", lambda _, both: limits.append(both)
    )
    monkeypatch.setattr(subprocess_worker.resource, "getrlimit", lambda _: (-1, 5000))
    monkeypatch.setattr(time, "process_time", lambda: 900.0)
    monkeypatch.setattr(time, "clock_gettime", {subprocess_worker.TICKS_CLOCK: 1000.0}.get)
    subprocess_worker._limit_time(7)
    assert limits == [(1007, 5000)]
    monkeypatch.undo()
    started = time.clock_gettime(subprocess_worker.TICKS_CLOCK)
    busy_for(0.3, NO_WATCH)
    assert time.clock_gettime(subprocess_worker.TICKS_CLOCK) > started


@pytest.mark.skipif(sys.platform != "linux", reason="the system sets the limits on Linux alone")
@pytest.mark.parametrize("kernel_limits", [True], indirect=True)
@pytest.mark.parametrize(
    "limit, most, work, told",
    [
        ("CPU", 60, "doubled, 21", "42"),
        ("CPU", 3, "busy", LIMIT_TIME),
        ("AS", 1 << 30, "doubled, 21", "42"),
        ("AS", 1 << 30, "greedy", LIMIT_MEMORY),
    ],
)
def test_limits_of_the_first_caller_hold(limit, most, work, told):
    ended = WorkerEndedError.__name__
    code = (
        "import resource\n"
        f"resource.setrlimit(resource.RLIMIT_{limit}, ({most}, {most}))\n"
        f"from core.runtime.subprocess_worker import {ended}, Worker\n"
        "from tests.core.runtime.subprocess_work import busy, doubled, greedy\n"
        "with Worker(memory=1 << 31) as worker:\n"
        "    try:\n"
        f"        found = worker.run({work}, seconds=120)\n"
        "        print(found[0])\n"
        f"    except {ended} as error:\n"
        "        print(error.limit)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == told, done.stderr


def test_a_process_imports_a_checkout_that_is_on_the_path_as_the_current_folder_alone(monkeypatch):
    monkeypatch.setattr(sys, "path", ["", *(one for one in sys.path if one not in ("", str(ROOT)))])
    assert str(ROOT) in python_environment()["PYTHONPATH"].split(os.pathsep)
