"""`demo`: the app at the comparisons that ship."""

from __future__ import annotations

from core.commands.run import add_serving, serve


def add(commands) -> None:
    """The command's grammar."""
    demo = commands.add_parser(
        "demo",
        help="open the app at the comparisons that ship; no model is needed, and nothing is built "
        "or fetched",
    )
    add_serving(demo)
    demo.set_defaults(run=run)


def run(options) -> int:
    """Serve the app, opened at its cases, until it is interrupted. The exit code."""
    return serve(options, "cases")
