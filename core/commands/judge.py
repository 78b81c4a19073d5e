"""Command `judge`: compare the answers of an evaluation in pairs by a language model."""

from __future__ import annotations

from pathlib import Path

from core.commands.terminal import (
    EXIT_FAILED,
    EXIT_OK,
    add_switch,
    check_writable,
    finish_job,
    print_json,
    warn,
    write_text,
)
from core.errors import BadInput
from core.evaluation.pairwise.html_report import order_agreement_text, tally_html
from core.evaluation.pairwise.pair_judgements import JUDGE_ROLE, start_judging
from core.evaluation.pairwise.tally import PairwiseTally
from core.evaluation.pairwise.verdicts import CRITERIA
from core.evaluation.reports.method_names import MethodName, method_names
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import Store, evaluations_file

JUDGE_EPILOG = """Both orders of every pair are asked, and every reply is saved: the same command \
continues where it stopped. The exit code is 1
where no reply could be read."""


def add_command(subparsers) -> None:
    """Add the command and its options."""
    judge = subparsers.add_parser(
        "judge",
        description="Which of two answers is better, by Comprehensiveness, Diversity, Empowerment "
        "and Overall.",
        epilog=JUDGE_EPILOG,
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
        default=JUDGE_ROLE,
        metavar="NAME",
        help="the role or name of the model that judges (default: judge)",
    )
    add_switch(judge, "--json", "print one JSON object")
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
    summary = RunSummary(store.run(options.evaluation), store.rows(options.evaluation))
    job = start_judging(options.engine(), summary, options.sample, options.judge)
    tally, names = finish_job(job), method_names(summary.run)
    if options.html:
        write_text(Path(options.html), tally_html(tally, names))
    if options.json:
        print_json({"evaluation": options.evaluation, **tally.to_dict()})
    else:
        _print(tally, names)
    return EXIT_OK if tally.readable_matches else EXIT_FAILED


def _print(tally: PairwiseTally, names: dict[str, MethodName]) -> None:
    print(f"{len(tally.matches):,} pairs of answers, each in both orders, judged by {tally.judge}")
    warn(tally.doubts())
    for criterion in CRITERIA if tally.readable_matches else ():
        print(f"{criterion.capitalize()}: {order_agreement_text(tally, criterion)}")
        if not tally.is_informative(criterion):
            print("  win rates that say nothing are left out (--json has them)")
            continue
        for (a, b), wins in tally.win_rates(criterion).items():
            if tally.methods.index(a) < tally.methods.index(b):
                rate = wins.format_with_interval("{:.0%}".format)
                print(f"  {names[a]} over {names[b]}: {rate}, n = {wins.n:,}")
