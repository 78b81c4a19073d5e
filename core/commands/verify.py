"""Command `verify`: check the claim folder that `export --claim` wrote."""

from __future__ import annotations

from pathlib import Path

from core.commands.terminal import (
    EXIT_FAILED,
    EXIT_OK,
    TerminalBar,
    add_count,
    add_switch,
    one_line_advice,
    print_json,
)
from core.errors import shorten
from core.evaluation.exchange.claim_checks import DIFFERS, EQUAL, verify_claim

MARKS = {EQUAL: "=", DIFFERS: "≠"}
MAX_LINE_LETTERS = 4_000


def add_command(subparsers) -> None:
    """Add the command and its options."""
    parser = subparsers.add_parser(
        "verify",
        description="Check a claim: its digests, settings and figures, and run its rows again. "
        "The exit code is 1 where anything differs.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of the claim")
    add_count(parser, "--rows", 0, "questions of each method to run again; 0: all", low=0)
    add_switch(parser, "--llm", "run methods again that ask language models")
    add_switch(parser, "--json", "print one JSON object")
    parser.set_defaults(run=run)


def run(options) -> int:
    """Check the folder, print what is equal and what differs, and return the exit code."""
    with TerminalBar("Checking the claim") as watch:
        settings = {"limit": options.rows, "use_models": options.llm, "watch": watch}
        checks = list(verify_claim(options.engine(), options.folder, **settings))
    if options.json:
        print_json({"checks": [vars(check) for check in checks]})
    else:
        for check in checks:
            line = f"{MARKS.get(check.state, '?')} {check.subject}: {one_line_advice(check.text)}"
            print(shorten(line, MAX_LINE_LETTERS))  # another person wrote parts of it
    return EXIT_FAILED if any(check.state == DIFFERS for check in checks) else EXIT_OK
