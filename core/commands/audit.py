"""Command `audit`: find faults of a question set, and decide on them."""

from __future__ import annotations

from pathlib import Path

from core.commands.terminal import (
    EXIT_FAILED,
    EXIT_OK,
    TerminalBar,
    add_count,
    add_list,
    add_switch,
    add_text,
    check_writable,
    local_path,
    print_json,
    warn,
    write_text,
)
from core.errors import BadInput
from core.evaluation.audit.decisions import CORRECT, KEEP, LEAVE_OUT, question_lines
from core.evaluation.audit.findings import FINDING_TITLES
from core.evaluation.audit.opened_audit import AuditSettings, OpenedAudit, audit_set
from core.evaluation.runs.store import Store, evaluations_file
from core.lines.text import split_at_commas

MAX_PRINTED_FINDINGS = 10  # of each kind, unless --all is given
CORRECTION_HELP = "ID=ANSWER|ANSWER"
AUDIT_EPILOG = """Decisions are saved in SET.audit.json beside a file of questions, else in the audits of your
Hopscope folder. They hold for the next version of the set as long as the content of a question is the same.
With --strict the exit code is 1 where a question with a likely fault is undecided."""


def add_command(subparsers) -> None:
    """Add the command and its options."""
    audit = subparsers.add_parser(
        "audit",
        description="Which keys look wrong, which gold is missing, which questions are asked twice, "
        "and how small a difference the set can show. No language model is asked.",
        epilog=AUDIT_EPILOG,
    )
    audit.add_argument("set", metavar="SET", help="a question set, or a file of questions")
    add_text(audit, "--graph", "NAME", "the graph that a file of questions is about")
    add_text(audit, "--build", "BUILD", "search the names of this graph of the documents too")
    add_count(audit, "--evaluation", 0, "use this evaluation (default: the newest finished one)", 0)
    add_count(audit, "--sample", 0, "audit the first N questions (0: all)", low=0)
    add_switch(audit, "--no-vectors", "compare questions by words alone, without the encoder")
    add_list(audit, "--keep", "IDS", "questions to keep as they are, separated by commas")
    add_list(audit, "--leave-out", "IDS", "questions to leave out")
    audit.add_argument(
        "--correct",
        action="append",
        default=[],
        metavar=CORRECTION_HELP,
        help="the correct answers of a question; may be given several times",
    )
    add_list(audit, "--undo", "IDS", "questions whose decision is removed")
    audit.add_argument("--out", metavar="FILE", help="write the set after the decisions (JSONL)")
    add_switch(audit, "--all", "print every finding")
    add_switch(audit, "--json", "print one JSON object")
    add_switch(audit, "--strict", "exit with 1 if an undecided question has a likely fault")
    audit.set_defaults(run=run)


def run(options) -> int:
    """Audit the set, save and apply decisions, print the findings, and return the exit code."""
    if options.out:
        check_writable(Path(options.out))
    settings = AuditSettings(
        graph=options.graph,
        build=options.build,
        evaluation=options.evaluation,
        sample=options.sample,
        vectors=not options.no_vectors,
    )
    with TerminalBar("Opening the set") as watch:
        opened = audit_set(
            options.engine(), Store(evaluations_file()), local_path(options.set), settings, watch
        )
    _decide(opened, options)
    revised = opened.revised
    if options.out:
        write_text(Path(options.out), question_lines(revised.questions))
    left = opened.open_findings()
    if options.json:
        print_json({**left.to_dict(), "decisions": _decision_counts(opened)})
    else:
        _print(opened, options.all)
    return EXIT_FAILED if options.strict and left.suspect else EXIT_OK


def _decide(opened: OpenedAudit, options) -> None:
    """Save the decisions of the options, if there are any. Raises BadInput for unknown ids."""
    questions = {question.id: question for question in opened.questions}
    removed = split_at_commas(",".join(options.undo))
    for id in removed:
        opened.decisions.forget(id)
    requests = [(id, KEEP, "") for id in split_at_commas(",".join(options.keep))]
    requests += [(id, LEAVE_OUT, "") for id in split_at_commas(",".join(options.leave_out))]
    for text in options.correct:
        id, _, answers = text.partition("=")
        requests.append((id, CORRECT, answers))
    for id, action, answers in requests:
        if id not in questions:
            raise BadInput(f"The set has no question “{id}”.")
        names = tuple(filter(None, map(str.strip, answers.split("|"))))
        opened.decisions.decide(questions[id], action, names if action == CORRECT else None)
    if requests or removed:
        opened.decisions.save(opened.file)


def _decision_counts(opened: OpenedAudit) -> dict[str, int]:
    revised = opened.revised
    return {
        "kept": len(revised.confirmed),
        "corrected": len(revised.corrected),
        "left_out": len(revised.left_out),
        "changed_since": len(revised.changed),
    }


def _print(opened: OpenedAudit, all_findings: bool) -> None:
    """Print the findings on undecided questions, by kind, and what the set can decide."""
    left = opened.open_findings()
    n_suspect = len(left.suspect)
    print(f"{opened.name}: {len(left.questions):,} questions, {n_suspect:,} with a likely fault")
    texts = {question.id: question for question in left.questions}
    for kind, count in left.counts.items():
        print(f"\n{FINDING_TITLES[kind]}: {count:,}")
        findings = [finding for finding in left.findings if finding.kind == kind]
        shown = findings if all_findings else findings[:MAX_PRINTED_FINDINGS]
        for finding in shown:
            print(f"  {finding.question}: {texts[finding.question].text}")
            print(f"    {finding.text}")
        if len(findings) > len(shown):
            print(f"  and {len(findings) - len(shown):,} more (--all)")
    difference, assumption = left.smallest_difference
    print(f"\nSmallest difference that the set can show: {difference:.1%}, {assumption}.")
    for row in left.order:
        print(
            f"  {row.title}: {row.mean:.1%} (rank {row.rank}); without the suspect questions "
            f"{row.mean_without:.1%} (rank {row.rank_without})"
        )
    counts = ", ".join(
        f"{n:,} {name.replace('_', ' ')}" for name, n in _decision_counts(opened).items()
    )
    if opened.decisions.by_question:
        print(f"Decisions in {opened.file}: {counts}")
    warn(left.notes)
