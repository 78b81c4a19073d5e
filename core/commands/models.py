"""`models`: what models there are, and fetching one."""

from __future__ import annotations

import sys

from core.commands.terminal import OK, bar
from core.models.registry import Registry


def add(commands) -> None:
    """The command's grammar."""
    models = commands.add_parser("models", help="list the models, or fetch one")
    models.add_argument("--fetch", metavar="NAME", help="fetch this model's file")
    models.set_defaults(run=run)


def run(options) -> int:
    """Fetch where asked to, then list; the exit code."""
    registry = Registry()
    if options.fetch:
        with bar("Fetching") as advanced:
            registry.fetch(options.fetch, advanced)
    for sentence in registry.faults():
        print(f"hopscope: left out: {sentence}", file=sys.stderr)
    for info in registry.declared():
        print(
            f"{'●' if info.present else '○'} {info.name:20} {info.kind:9} {info.title}" + ("" if info.present else f"  ({info.how_to_get})")
        )
    return OK
