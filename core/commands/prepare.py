"""`prepare`: what the first start needs, ahead of it."""

from __future__ import annotations

import sys

from core.commands.terminal import OK, bar
from core.errors import HopscopeError


def add(commands) -> None:
    """The command's grammar."""
    prepare = commands.add_parser("prepare", help="build the shipped graph and fetch the default models, where they are not here yet")
    prepare.set_defaults(run=run)


def run(options) -> int:
    """Build and fetch; a model that cannot be had is named and does not stop the rest. The exit code."""

    engine = options.engine()
    with bar("Building the graph") as advanced:
        engine.graph("metaqa", progress=advanced)
    for info in engine.models.declared():
        if info.roles and info.fetchable and not info.present:
            try:
                with bar(f"Fetching {info.title}") as advanced:
                    engine.models.fetch(info.name, advanced)
            except HopscopeError as error:
                print(f"hopscope: {info.title} is not here: {error} Everything else works without it.", file=sys.stderr)
    return OK
