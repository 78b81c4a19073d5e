"""Command `serve`: serve the HTTP API for programs."""

from __future__ import annotations

import os
import secrets
import sys

from core.commands.receiver import add_receiver_options, start_receiver
from core.commands.run import browser_host
from core.commands.terminal import EXIT_OK, port_number
from core.errors import HopscopeError

KEY_VARIABLE = "HOPSCOPE_API_KEY"  # the environment variable with the key
DEFAULT_API_PORT = 8502


def add_command(subparsers) -> None:
    """Add the command and its options."""
    serve = subparsers.add_parser(
        "serve",
        epilog=f"The key is that of {KEY_VARIABLE}, else a new one that is printed. If others can "
        "reach the port, put a TLS proxy in front of it.",
    )
    serve.add_argument(
        "--port",
        type=port_number,
        default=DEFAULT_API_PORT,
        help=f"port to listen on (default: {DEFAULT_API_PORT})",
    )
    serve.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on (default: 127.0.0.1, this computer alone)",
    )
    add_receiver_options(serve)
    serve.set_defaults(run=run)


def run(options) -> int:
    """Serve until interrupted; return the exit code."""
    try:
        import uvicorn

        from core.serving.http_api import make_api
    except ImportError:
        raise HopscopeError(
            "The HTTP interface needs its libraries: pip install fastapi uvicorn"
        ) from None

    key = os.environ.get(KEY_VARIABLE) or secrets.token_urlsafe(24)
    web_app = make_api(options.engine(), key)
    if not os.environ.get(KEY_VARIABLE):
        print(f"hopscope: the key is {key}", file=sys.stderr)
    if options.otlp:
        start_receiver(options, key)
    print(f"http://{browser_host(options.host)}:{options.port}/docs", flush=True)
    uvicorn.run(web_app, host=options.host, port=options.port, log_level="warning")
    return EXIT_OK
