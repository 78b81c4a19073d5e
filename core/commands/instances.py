"""`instances`: the catalogue."""

from __future__ import annotations

import sys

from core.commands.terminal import OK
from core.instances.catalogue import catalogue, faults
from core.instances.needs import missing
from core.instances.page import page
from core.io.json_text import json_text
from core.models.registry import Registry


def add(commands) -> None:
    """The command's grammar."""
    instances = commands.add_parser("instances", help="list the instances")
    instances.add_argument("--json", action="store_true")
    instances.add_argument(
        "--page", action="store_true", help="print docs/operators-and-instances.md"
    )
    instances.set_defaults(run=run)


def run(options) -> int:
    """List every instance; the exit code."""
    if options.page:
        print(page(), end="")
        return OK
    registry = Registry()
    rows = [
        {
            "id": i.id,
            "title": i.title,
            "paper": i.paper,
            "group": i.group,
            "line": repr(i.line),
            "missing": missing(i.line, registry),
        }
        for i in catalogue().values()
    ]
    for sentence in (*faults(), *registry.faults()):
        print(f"hopscope: left out: {sentence}", file=sys.stderr)
    if options.json:
        print(json_text(rows, indent=2))
    else:
        for row in rows:
            print(f"{row['id']:24} {row['title']}")
            for sentence in row["missing"]:
                print(f"{'':24} cannot run yet: {sentence}")
    return OK
