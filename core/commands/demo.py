"""Command `demo`: the app, opened at the shipped comparisons."""

from __future__ import annotations

from core.commands.run import add_server_options, serve


def add_command(subparsers) -> None:
    """Add the command and its options."""
    demo = subparsers.add_parser("demo")
    add_server_options(demo)
    demo.set_defaults(run=run)


def run(options) -> int:
    """Serve the app, opened at its saved cases; return the exit code."""
    return serve(options, "cases")
