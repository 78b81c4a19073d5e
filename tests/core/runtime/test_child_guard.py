"""Commands end with the process that started them, together with their children.

This uses process groups, or the method for Windows, which has no groups.
"""

import subprocess
import sys
import time

import psutil
import pytest

from core.io.home import ROOT

CHILD = (
    "import subprocess, sys, time; a = subprocess.Popen([sys.executable, '-c', 'import time; "
    "time.sleep(600)']); print(a.pid, flush=True); "
)
GROUPS = pytest.mark.parametrize("groups", [True, False], ids=["groups", "no groups"])


def start_guard(groups, code, grace=10.0):
    run = (
        f"import sys, core.runtime.child_guard as guard; guard.HAS_PROCESS_GROUPS = {groups}; "
        f"guard.GRACE_SECONDS = {grace}; sys.exit(guard.run(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", run, sys.executable, "-c", code]
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def has_ended(pid):
    for _ in range(200):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


@GROUPS
@pytest.mark.parametrize(
    "stubborn",
    ["", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "],
    ids=["", "stubborn"],
)
def test_command_and_its_children_end_with_the_parent(groups, stubborn):
    with start_guard(
        groups, CHILD + stubborn + "print('ready', flush=True); time.sleep(600)", grace=1.0
    ) as asked:
        started = int(asked.stdout.readline())
        assert asked.stdout.readline() == "ready\n"
        asked.stdin.close()
        assert asked.wait(60) > 128  # A signal ended the process.
    assert has_ended(started)


@GROUPS
def test_exit_code_is_passed_on(groups):
    with start_guard(groups, "raise SystemExit(7)") as asked:
        assert asked.wait(60) == 7


def test_remaining_children_end_with_the_group():
    with start_guard(True, CHILD) as asked:
        started = int(asked.stdout.readline())
        assert asked.wait(60) == 0
    assert has_ended(started)
