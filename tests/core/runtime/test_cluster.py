"""Work distributed by Ray, tested in a separate process.

Ray ends the process that uses it when its own processes die, as they may on a busy computer. Here
that would be the process that runs all other tests.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.io.home import ROOT

TESTS = Path(__file__).with_name("on_ray.py")
ENDED = re.compile(r"\d+ (passed|failed|error|skipped)")


# Ray runs its workers at niceness 15, so on a busy computer they would hardly run at all.
NO_NICENESS = {"RAY_worker_niceness": "0"}


@pytest.mark.timeout(1300)
def test_ray_distributes_work():
    for _ in range(2):  # The run is repeated once if the process was ended from outside.
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:xdist",
            "-p",
            "no:cacheprovider",
            "-o",
            "addopts=-ra",
            str(TESTS),
        ]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | NO_NICENESS,
            capture_output=True,
            text=True,
            timeout=600,
        )
        if ENDED.search(done.stdout):
            break
    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr[-2_000:]
