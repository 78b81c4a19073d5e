"""Command `run`: prepare the app, serve it on this computer and open the browser."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.request
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address

import psutil

from core.commands.terminal import add_switch, port_number, warn
from core.errors import BadInput
from core.io.home import ROOT
from core.runtime.python_process import python_command, python_environment

DEFAULT_HOST, DEFAULT_APP_PORT = "127.0.0.1", 8501
MAX_TRIED_PORTS = 20  # ports from the default on that are tried
MAX_START_SECONDS = 60  # most seconds to wait for the server before the browser is opened


def add_command(subparsers) -> None:
    """Add the command and its options."""
    run_app = subparsers.add_parser("run")
    add_server_options(run_app)
    run_app.set_defaults(run=run)


def add_server_options(parser) -> None:
    """Add the options `--port`, `--host` and `--no-browser`."""
    parser.add_argument(
        "--port",
        type=port_number,
        help=f"port to listen on (default: {DEFAULT_APP_PORT}, or the next one that is free)",
    )
    parser.add_argument(
        "--host",
        default=DEFAULT_HOST,
        help=f"address to listen on (default: {DEFAULT_HOST}, this computer alone)",
    )
    add_switch(parser, "--no-browser", "print the address alone")


def run(options) -> int:
    """Prepare the graph and the models, then serve until interrupted; return the exit code."""
    from core.commands.prepare import build_and_fetch

    with _end_on_sigterm(_kill_process_tree):
        build_and_fetch(options.engine())  # the app compiles in the background
    return serve(options, "")


def serve(options, page: str) -> int:
    """Serve the app until it ends.

    A browser is opened unless the options forbid it.

    Parameters
    ----------
    options : options of the command, with `port`, `host` and `no_browser`.
    page : the page at which the browser is opened; empty for the first.

    Returns
    -------
    The server's exit code.

    Raises
    ------
    BadInput
        If the port is taken. A browser would open the page of another program.
    """
    port = _free_port(options.host, options.port)
    address = f"http://{browser_host(options.host)}:{port}"
    server_options = ["--server.address", options.host, "--server.port", str(port)]
    command = python_command("-m", "streamlit", "run", str(ROOT / "app.py"), *server_options)
    process = subprocess.Popen(command, env=python_environment())
    with _end_on_sigterm(process.terminate):  # Otherwise the server would outlive this process.
        print(f"{address}/{page}", flush=True)
        if not options.no_browser:
            threading.Thread(
                target=_open_browser, args=[process, address, page], daemon=True
            ).start()
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.wait()  # Ctrl-C reaches the server too, which ends by itself.
            raise


@contextmanager
def _end_on_sigterm(end: Callable[[], object]) -> Iterator[None]:
    """Call `end` on SIGTERM during a `with` block.

    Without a handler, the first process of a container ignores SIGTERM.
    """
    old_handler = signal.signal(signal.SIGTERM, lambda *_: end())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old_handler)


def _kill_process_tree() -> None:
    """End this process and its children at once.

    The next start continues what was fetched or built so far.
    """
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            child.kill()
    os._exit(128 + signal.SIGTERM)


def _free_port(host: str, port: int | None) -> int:
    """Return the wanted port, or the first free one from the default on.

    Raises BadInput if there is none.
    """
    for number in [port] if port else range(DEFAULT_APP_PORT, DEFAULT_APP_PORT + MAX_TRIED_PORTS):
        if _is_free(host, number):
            if number != (port or DEFAULT_APP_PORT):
                warn([f"Port {DEFAULT_APP_PORT} is taken, so port {number} is used."])
            return number
    ports = (
        f"Port {port} is"
        if port
        else f"Ports {DEFAULT_APP_PORT} to {DEFAULT_APP_PORT + MAX_TRIED_PORTS - 1} are"
    )
    raise BadInput(f"{ports} taken by another program; name a free one with --port.")


def _is_free(host: str, number: int) -> bool:
    """Return whether the port is free.

    Other faults of the address count as free; the server reports them.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, number, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError:
        return True
    with socket.socket(family, kind, protocol) as probe:
        if os.name != "nt":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            return error.errno != errno.EADDRINUSE
    return True


def browser_host(host: str) -> str:
    """Return the host name for a browser on this computer, from the server's address."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "[::1]"
    return host if address.version == 4 else f"[{host}]"


def _open_browser(process: subprocess.Popen, address: str, page: str) -> None:
    """Open the browser once the server answers. The server is asked without a proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + MAX_START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            opener.open(f"{address}/_stcore/health", timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            webbrowser.open(f"{address}/{page}")
            return
