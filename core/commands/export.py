"""Command `export`: write finished comparisons as a static site."""

from __future__ import annotations

import os
import subprocess
import sys

from core.io.home import ROOT


def add_command(subparsers) -> None:
    """Add the command and its options."""
    parser = subparsers.add_parser(
        "export",
        description="Write finished comparisons as a folder of web pages. Any web host serves "
        "them, and they open from disk. They hold everything that the comparisons show.",
    )
    parser.add_argument(
        "cases",
        nargs="+",
        metavar="CASES",
        help="files *.cases.gz, ids of saved cases (hopscope cases list), or shipped",
    )
    parser.add_argument(
        "--site", required=True, metavar="FOLDER", help="the folder, made where there is none"
    )
    parser.set_defaults(run=run)


def run(options) -> int:
    """Start the program that draws the pages, and return its exit code.

    It is a process of its own, because the code that draws is on a floor above the commands.
    """
    program = ROOT / "pages" / "parts" / "cases" / "site.py"
    return subprocess.run(
        [sys.executable, "-P", str(program), options.site, *options.cases],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ).returncode
