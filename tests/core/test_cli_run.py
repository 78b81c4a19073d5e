"""`run` and `demo`: the server ends with the command that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from argparse import Namespace
from unittest.mock import MagicMock

import pytest

from core.commands import prepare, run

STARTED = """
import subprocess, sys
from argparse import Namespace
from core.commands import run

started = subprocess.Popen

def sleeper(command, env):  # in the place of the server
    process = started([sys.executable, "-c", "import time; time.sleep(60)"])
    print(process.pid, flush=True)
    return process

subprocess.Popen = sleeper
raise SystemExit(run.serve(Namespace(port=8, host="127.0.0.1", no_browser=True), "cases") != 0)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_command_that_is_ended_ends_its_server():
    command = subprocess.Popen([sys.executable, "-c", STARTED], stdout=subprocess.PIPE, text=True)
    server = int(command.stdout.readline())
    assert command.stdout.readline() == "http://127.0.0.1:8/cases\n"
    command.send_signal(signal.SIGTERM)
    assert command.wait(30) == 1  # what the server ended with is no success
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)


def test_prepare_compiles_ahead_and_run_leaves_that_to_the_app(monkeypatch):
    engine = MagicMock()
    options = Namespace(engine=lambda: engine)
    engine.models.list_models.return_value = []
    monkeypatch.setattr(run, "serve", lambda options, page: 0)
    assert run.run(options) == 0 and engine.graph.called and not engine.preload.called
    assert prepare.run(options) == 0 and engine.preload.called
