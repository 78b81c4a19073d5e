"""Command `mcp`: serve tools for agents over the Model Context Protocol."""

from __future__ import annotations

from core.commands.terminal import EXIT_OK, port_number


def add_command(subparsers) -> None:
    """Add the command and its options."""
    mcp = subparsers.add_parser("mcp")
    mcp.add_argument(
        "--http",
        type=port_number,
        metavar="PORT",
        help="serve http://127.0.0.1:PORT/mcp in the place of standard input and output",
    )
    mcp.set_defaults(run=run)


def run(options) -> int:
    """Serve until the client disconnects or the command is interrupted; return the exit code."""
    from core.serving.mcp_server import make_server

    mcp_server = make_server(options.engine())
    if options.http:
        mcp_server.run("streamable-http", port=options.http)
    else:
        mcp_server.run("stdio")
    return EXIT_OK
