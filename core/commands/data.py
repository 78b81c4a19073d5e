"""Command `data`: list the folders of data with their licences, and add one."""

from __future__ import annotations

from pathlib import Path

from core.commands.terminal import EXIT_OK, TerminalBar
from core.datasets.added_data import add_data
from core.errors import BadInput
from core.io.data_folders import listed_data


def add_command(subparsers) -> None:
    """Add the command and its options."""
    data = subparsers.add_parser(
        "data",
        description="List the data sets with their licences, or add one that is not in a wheel.",
    )
    data.add_argument("--add", metavar="NAME", help="add this one to your Hopscope folder")
    data.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="FOLDER",
        help="a checkout of Hopscope that has it (default: its publisher's address)",
    )
    data.set_defaults(run=run)


def run(options) -> int:
    """Add a folder of data as the options say, else list all; return the exit code."""
    if options.source and not options.add:
        raise BadInput("--from needs --add NAME.")
    if options.add:
        with TerminalBar(f"Adding {options.add}") as watch:
            folder = add_data(options.add, options.source, watch)
        print(f"{options.add} is in {folder}; its licence: {listed_data()[options.add].licence}.")
        return EXIT_OK
    for row in listed_data().values():
        place = "its publisher" if row.url else "a checkout: --from FOLDER"
        advice = "" if row.path else f"  (hopscope data --add {row.name}, from {place})"
        print(f"{'●' if row.path else '○'} {row.name:24} {row.licence}{advice}")
    return EXIT_OK
