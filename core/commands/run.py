"""`run`: the app, served on this computer."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
import urllib.request
import webbrowser

from core.commands.terminal import port
from core.io.home import ROOT

HOST, PORT = "127.0.0.1", 8501
STARTING = 60  # seconds that the server may take until the browser is opened


def add(commands) -> None:
    """The command's grammar."""
    run_app = commands.add_parser(
        "run",
        help="open the app: fetch and build what its first question needs, then serve it on 127.0.0.1",
    )
    add_serving(run_app)
    run_app.set_defaults(run=run)


def add_serving(parser) -> None:
    """`--port`, `--host` and `--no-browser`."""
    parser.add_argument(
        "--port", type=port, default=PORT, help=f"where it listens (default: {PORT})"
    )
    parser.add_argument(
        "--host", default=HOST, help=f"on which address (default: {HOST}, this computer alone)"
    )
    parser.add_argument("--no-browser", action="store_true", help="print the address alone")


def run(options) -> int:
    """Prepare, then serve until it is interrupted. The exit code."""
    from core.commands.prepare import run as prepare

    prepare(options)
    return serve(options, "")


def serve(options, page: str) -> int:
    """Serve the app until it ends, with a browser opened at that page of it unless none is wanted. The server's exit code."""
    address = f"http://127.0.0.1:{options.port}"
    where = ["--server.address", options.host, "--server.port", str(options.port)]
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), *where]
    process = subprocess.Popen(command)
    before = signal.signal(
        signal.SIGTERM, lambda *_: process.terminate()
    )  # else the server would go on by itself
    print(f"{address}/{page}", flush=True)
    if not options.no_browser:
        threading.Thread(target=_open, args=[process, address, page], daemon=True).start()
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.wait()  # it was interrupted too
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _open(process: subprocess.Popen, address: str, page: str) -> None:
    until = time.monotonic() + STARTING
    while process.poll() is None and time.monotonic() < until:
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            webbrowser.open(f"{address}/{page}")
            return
