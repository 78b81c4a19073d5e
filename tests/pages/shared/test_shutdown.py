"""A server that is told to end does, whatever runs and waits."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from core.io.home import ROOT

APP = """
import time
from core.runtime.jobs import Job
from pages.parts.shared.session import engine

def deaf(job):
    (home_folder() / "began").touch()
    time.sleep(120)

from core.io.home import home_folder
for number in range(20):
    engine().jobs.start(f"deaf-{number}", lambda: Job("deaf", deaf))
"""


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_a_server_with_work_that_hears_nothing_ends_long_before_it(tmp_path, told):
    (tmp_path / "main.py").write_text(APP)
    shutil.copy(ROOT / "app.py", tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [
        "--server.port",
        str(port),
        "--server.headless",
        "true",
        "--server.address",
        "127.0.0.1",
    ]
    environment = {**os.environ, "HOPSCOPE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(tmp_path / "app.py"), *options],
        cwd=ROOT,
        env=environment,
        stderr=subprocess.PIPE,
    )
    try:
        visit(port)
        until(lambda: (tmp_path / "began").exists())
        server.send_signal(told)
        assert server.wait(60) == 0  # of the 120 seconds that the work takes
        assert server.stderr is not None and b"What was saved stays" in server.stderr.read()
    finally:
        server.kill()


def visit(port: int) -> None:
    """Opens the page as a browser does, which runs it once."""
    from websockets.sync.client import connect

    until(
        lambda: (
            urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2).status
            == 200
        )
    )
    from streamlit.proto.BackMsg_pb2 import BackMsg

    with connect(
        f"ws://127.0.0.1:{port}/_stcore/stream", subprotocols=["streamlit"], max_size=None
    ) as stream:
        message = BackMsg()
        message.rerun_script.query_string = ""
        stream.send(message.SerializeToString())
        stream.recv(timeout=60)
        time.sleep(1)


def until(true, seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if true():
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise AssertionError("it did not come to that")
