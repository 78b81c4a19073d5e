"""Command `export`: write finished comparisons as a static site, or a run as a claim."""

from __future__ import annotations

import subprocess
from pathlib import Path

from core.commands.terminal import EXIT_OK, warn
from core.errors import BadInput
from core.evaluation.exchange.claims import write_claim
from core.evaluation.runs.store import Store, evaluations_file
from core.io.home import ROOT
from core.runtime.python_process import python_command, python_environment


def add_command(subparsers) -> None:
    """Add the command and its options."""
    parser = subparsers.add_parser(
        "export",
        description="Write finished comparisons as a folder of web pages. Any web host serves "
        "them, and they open from disk. They hold everything that the comparisons show. Or write "
        "an evaluation as a folder that another person can check (hopscope verify).",
    )
    parser.add_argument(
        "cases",
        nargs="+",
        metavar="CASES",
        help="files *.cases.gz, ids of saved cases (hopscope cases list), or shipped; with "
        "--claim the number of an evaluation",
    )
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument(
        "--site", metavar="FOLDER", help="write web pages into it, made where there is none"
    )
    target.add_argument("--claim", metavar="FOLDER", help="write a claim into this new folder")
    parser.set_defaults(run=run)


def run(options) -> int:
    """Write the claim or the pages, and return the exit code.

    The program that draws pages is a process of its own, because its code is on a floor above the
    commands.
    """
    if options.claim:
        return _write_claim(options)
    program = ROOT / "pages" / "parts" / "cases" / "site.py"
    return subprocess.run(
        python_command(str(program), options.site, *options.cases), env=python_environment()
    ).returncode


def _write_claim(options) -> int:
    """Write the claim folder of an evaluation, and say what it lacks. Raises BadInput."""
    number, *others = options.cases
    if others or not number.isdecimal():
        raise BadInput("--claim takes the number of one evaluation (hopscope evaluate prints it).")
    store = Store(evaluations_file())
    run_row = store.run(int(number))
    sentences = write_claim(options.engine(), store, run_row, Path(options.claim))
    print(f"Written to {options.claim}; check it by: hopscope verify {options.claim}")
    warn(sentences)
    return EXIT_OK
