"""Receiver of traces that the command `serve` starts with `--otlp`."""

from __future__ import annotations

import socket
import threading
import time
from functools import partial
from urllib.parse import urlencode

from core.commands.run import DEFAULT_APP_PORT, DEFAULT_HOST, browser_host
from core.commands.terminal import add_switch, add_text, port_number, warn
from core.corpus import corpora
from core.errors import BadInput, HopscopeError, shorten
from core.methods.catalogue import RUN_PREFIX
from core.retrievers.runs.received_traces import TraceCollector
from core.retrievers.runs.run_rows import RunRow
from core.retrievers.runs.saved_runs import FileRun
from core.sources import CorpusSource

QUIET_CHECK_SECONDS = 1.0  # between two checks for traces whose spans have stopped


def add_receiver_options(parser) -> None:
    """Add the options `--otlp`, `--otlp-port`, `--corpus` and `--app`."""
    add_switch(parser, "--otlp", "receive traces of a retriever of your own, as lanes of Compare")
    text = "port for traces (default: 4318)"
    parser.add_argument("--otlp-port", type=port_number, default=4318, metavar="PORT", help=text)
    add_text(parser, "--corpus", "NAME", "with --otlp: the corpus that the retriever searches")
    app = f"http://{DEFAULT_HOST}:{DEFAULT_APP_PORT}"
    text = f"with --otlp: the app's address, in the links to traces (default: {app})"
    parser.add_argument("--app", default=app, metavar="URL", help=text)


def start_receiver(options, key: str) -> None:
    """Receive traces in the background.

    On an address that others reach, requests need the key. Raises BadInput for an unknown corpus or
    a port that cannot be used, HopscopeError if a library is missing.
    """
    try:
        import uvicorn

        from core.serving.otlp_receiver import LOOPBACK_HOSTS, make_receiver
    except ImportError:
        from core.comparison.lane_traces import INSTALL_COMMAND

        raise HopscopeError(f"Receiving traces needs its libraries: {INSTALL_COMMAND}") from None
    if options.corpus not in corpora():
        raise BadInput(f"Name what the retriever searches: --corpus, of {', '.join(corpora())}.")
    collector = TraceCollector(
        CorpusSource(options.corpus),
        partial(_print_answer, options.app.rstrip("/")),
        lambda sentence: warn([sentence]),
    )
    receiver = make_receiver(collector.add, "" if options.host in LOOPBACK_HOSTS else key)
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        listener = socket.create_server((options.host, options.otlp_port), family=family)
    except OSError as error:
        raise BadInput(f"Port {options.otlp_port} cannot be used: {error.strerror}.") from None
    server = uvicorn.Server(uvicorn.Config(receiver, log_level="warning"))
    threading.Thread(target=server.run, args=[[listener]], daemon=True).start()
    threading.Thread(target=_record_quiet, args=[collector], daemon=True).start()
    print(f"http://{browser_host(options.host)}:{options.otlp_port}/v1/traces", flush=True)


def _record_quiet(collector: TraceCollector) -> None:
    """Record the traces without a root, until the process ends."""
    while True:
        time.sleep(QUIET_CHECK_SECONDS)
        try:
            collector.record_quiet()
        except HopscopeError as error:
            warn([str(error)])


def _print_answer(app: str, run: FileRun, row: RunRow) -> None:
    """Print a received question, and the address that shows it beside a published method."""
    lanes = [f"{RUN_PREFIX}{run.name}", *run.source.default_methods]
    query = urlencode({"q": row.question, "lane": lanes, **run.source.parameters}, doseq=True)
    parts = f"documents: {len(row.documents)}, answer: {shorten(row.answer or 'none')}"
    print(f"{run.title}: {shorten(row.question)} ({parts})", flush=True)
    print(f"  {app}/?{query}", flush=True)
