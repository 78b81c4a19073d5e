"""Command `judge`: compare the answers of an evaluation in pairs by a language model."""

from __future__ import annotations

from pathlib import Path

from core.commands.terminal import FAILED, OK, check_writable, finish, warn, write_text
from core.errors import BadInput
from core.evaluation.pairwise.judging import ROLE, start
from core.evaluation.pairwise.page import orders, page_html
from core.evaluation.pairwise.tally import Tally
from core.evaluation.pairwise.verdicts import CRITERIA
from core.evaluation.reports.naming import Called, called
from core.evaluation.reports.summary import Summary
from core.evaluation.runs.store import Store, evaluations_file
from core.io.json_text import json_text

EPILOG = """Both orders of every pair are asked, and every reply is saved: the same command \
continues where it stopped. The exit code is 1
where no reply could be read."""


def add(commands) -> None:
    """Add the command and its options."""
    judge = commands.add_parser(
        "judge",
        help="let a language model compare the answers of an evaluation in pairs (abstract "
        "questions)",
        description="Which of two answers is better, by Comprehensiveness, Diversity, Empowerment "
        "and Overall.",
        epilog=EPILOG,
    )
    judge.add_argument(
        "evaluation",
        type=int,
        metavar="NUMBER",
        help="the number of an evaluation with answers of a language model",
    )
    judge.add_argument(
        "--sample", type=int, metavar="N", help="its first N questions (default: all)"
    )
    judge.add_argument(
        "--judge",
        default=ROLE,
        metavar="NAME",
        help="the role or name of the model that judges (default: judge)",
    )
    judge.add_argument("--json", action="store_true", help="print one JSON object")
    judge.add_argument(
        "--html",
        metavar="FILE",
        help="write the win rates as a page that opens in a browser, without a network",
    )
    judge.set_defaults(run=run)


def run(options) -> int:
    """Judge the answers, print the win rates, and return the exit code."""
    if options.sample is not None and options.sample < 1:
        raise BadInput("A sample needs at least one question.")
    if options.html:
        check_writable(Path(options.html))
    store = Store(evaluations_file())
    summary = Summary(store.run(options.evaluation), store.rows(options.evaluation))
    job = start(options.engine(), summary, options.sample, options.judge)
    tally, names = finish(job), called(summary.run)
    if options.html:
        write_text(Path(options.html), page_html(tally, names))
    if options.json:
        print(json_text({"evaluation": options.evaluation, **tally.plain()}, indent=2))
    else:
        _print(tally, names)
    return OK if tally.read else FAILED


def _print(tally: Tally, names: dict[str, Called]) -> None:
    print(f"{len(tally.matches):,} pairs of answers, each in both orders, judged by {tally.judge}")
    warn(tally.doubts())
    for criterion in CRITERIA if tally.read else ():
        print(f"{criterion.capitalize()}: {orders(tally, criterion)}")
        if not tally.decides(criterion):
            print("  win rates that say nothing are left out (--json has them)")
            continue
        for (a, b), one in tally.wins(criterion).items():
            if tally.instances.index(a) < tally.instances.index(b):
                won = one.text("{:.0%}".format)
                print(f"  {names[a]} over {names[b]}: {won}, n = {one.n:,}")
