"""Command `cases`: list, export and import saved comparisons, and rebuild the shipped ones."""

from __future__ import annotations

import hashlib
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.cases import cases, export, load, save
from core.cases.case import describe_case
from core.cases.comparison_data import freeze
from core.cases.examples import DEMO_NAME, EXAMPLE_FOLDER
from core.cases.file import write_cases
from core.commands.terminal import (
    EXIT_OK,
    JOB_POLL_SECONDS,
    TerminalBar,
    add_switch,
    check_writable,
    follow_job,
    print_json,
)
from core.comparison.lane import MethodComparison
from core.corpus import open_corpus
from core.datasets import datasets
from core.diagnosis.verdict.verdict_words import explain_comparison
from core.errors import BadInput, HopscopeError, ModelFailed
from core.methods.catalogue import find_method
from core.sources import AnswerSource, CorpusSource, GraphSource, SourceQuestion
from core.types import Question

# Fields of a case that `list --json` prints.
PRINTED_FIELDS = (
    "id",
    "question",
    "entities",
    "answers",
    "graph",
    "notes",
    "tags",
    "created",
    "example",
)


def add_command(subparsers) -> None:
    """Add the command and its options."""
    cases = subparsers.add_parser("cases")
    parts = cases.add_subparsers(required=True, metavar="WHAT")

    list_parser = parts.add_parser("list", help="the saved comparisons and the examples")
    list_parser.add_argument(
        "words", nargs="*", help="words of a question, note, tag, entity or method"
    )
    add_switch(list_parser, "--json", "print a JSON array")
    list_parser.set_defaults(run=_list)

    export_parser = parts.add_parser("export", help="write cases into one file")
    export_parser.add_argument(
        "ids", nargs="*", metavar="ID", help="which cases (default: all of your own)"
    )
    export_parser.add_argument("--out", required=True, metavar="FILE")
    export_parser.set_defaults(run=_export)

    import_parser = parts.add_parser("import", help="add the cases of a file")
    import_parser.add_argument("file", metavar="FILE")
    import_parser.set_defaults(run=_import)

    study = parts.add_parser("study", help="run the papers' case study, save it and export it")
    study.add_argument("--out", required=True, metavar="FILE")
    study.set_defaults(run=_study)

    demo = parts.add_parser(
        "demo",
        help="make comparisons that ship again, such as those that the first page opens with",
    )
    demo.add_argument(
        "--list", default=DEMO_NAME, metavar="NAME", help="a list in data/cases (default: demo)"
    )
    demo.add_argument("--out", required=True, metavar="FILE")
    demo.set_defaults(run=_demo)


def _list(options) -> int:
    matching_cases = cases(" ".join(options.words))
    if options.json:
        print_json(
            [
                {name: getattr(case, name) for name in PRINTED_FIELDS} | {"instances": case.methods}
                for case in matching_cases
            ]
        )
    else:
        for case in matching_cases:
            print(f"{case.id:24} {case.question}  ({', '.join(case.methods)})")
    return EXIT_OK


def _export(options) -> int:
    keys = options.ids or [case.id for case in cases() if not case.example]
    if not keys:
        raise BadInput("There are no cases of your own to export.")
    _write(options.out, export(keys))
    print(f"{len(set(keys)):,} cases in {options.out}")
    return EXIT_OK


def _import(options) -> int:
    try:
        data = Path(options.file).read_bytes()
    except OSError as error:
        raise BadInput(f"{options.file} cannot be read: {error.strerror or error}.") from None
    imported = load(data)
    print(f"{len(imported.added):,} added, {imported.n_known:,} were here already")
    return EXIT_OK


def _study(options) -> int:
    """Run the comparisons of data/case-study/study.toml, save them, and write them into a file.

    The installed methods and models are used.
    """
    check_writable(Path(options.out))
    engine, dataset = options.engine(), datasets()["case-study"]
    with TerminalBar("Opening the graph") as watch:
        source = GraphSource.of(dataset.open(watch))
    questions = {question.id: question for question in dataset.questions("case-study")}
    keys = []
    assert dataset.triples is not None  # The data set is a shipped file of triples.
    for row in tomllib.loads((dataset.triples.parent / "study.toml").read_text("utf-8"))["case"]:
        question = questions[row["question"]]
        methods = [find_method(key) for key in row["instances"]]
        job = engine.compare(engine.prepare_question(source, question), methods)
        follow_job(job)
        _check_lanes(job)
        link = _link(question, row["instances"], source)
        keys.append(save(job.comparison, link, row["notes"], row["tags"]).id)
    _write(options.out, export(keys))
    print(f"{len(keys)} cases in {options.out}")
    return EXIT_OK


def _demo(options) -> int:
    """Run the comparisons of a list in data/cases and write them into a file.

    Each case includes the one-step changes that recover lost answers. The installed models are
    used.
    """
    list_file = EXAMPLE_FOLDER / f"{options.list}.toml"
    if not list_file.is_file():
        names = ", ".join(sorted(file.stem for file in EXAMPLE_FOLDER.glob("*.toml")))
        raise BadInput(f"There is no list “{options.list}”; there are {names}.")
    check_writable(Path(options.out))
    engine, file = options.engine(), tomllib.loads(list_file.read_text("utf-8"))
    source = _open_source(file)
    comparisons = []
    for row in file["case"]:
        methods = row.get("lanes") or file["lanes"]
        questions = source.questions(row["set"])
        question = next(one for one in questions if one.text == row["question"])
        ask = engine.prepare_question(source, question, uses_model=row.get("model", file["model"]))
        comparison = _run_comparison(engine, ask, methods)
        created = float(file["made"])
        case = replace(
            describe_case(comparison),
            id=hashlib.sha256(question.text.encode()).hexdigest()[:12],
            created=created,
            changed=created,
            link=_link(question, methods, source),
            notes=f"{row['title']}. {row['notes'].strip()}",
            tags=(options.list,),
        )
        comparisons.append((case, freeze(comparison)))
    _write(options.out, write_cases(comparisons))
    print(f"{len(comparisons)} cases in {options.out}")
    return EXIT_OK


def _open_source(file: dict[str, Any]) -> AnswerSource:
    """Return the opened corpus or graph that a list of comparisons names."""
    if "corpus" in file:
        return CorpusSource.of(open_corpus(file["corpus"]))
    with TerminalBar("Opening the graph") as watch:
        return GraphSource.of(datasets()[file["graph"]].open(watch))


def _link(question: Question, methods: list[str], source: AnswerSource) -> dict[str, Any]:
    """Return the query parameters of the page Compare for this question and these methods."""
    return {
        "q": question.text,
        "e": list(question.entities),
        "a": list(question.answers),
        "lane": methods,
        **source.parameters,
    }


def _run_comparison(engine, ask: SourceQuestion, methods: list[str]) -> MethodComparison:
    """Run a comparison until it and its repair trials have ended.

    Raises ModelFailed if a lane fails, HopscopeError if the search for repairs does.
    """
    job = engine.compare(ask, [find_method(key) for key in methods], try_repairs=True)
    follow_job(job)
    while job.comparison.is_repairing:
        time.sleep(JOB_POLL_SECONDS)
    _check_lanes(job)
    print(f"{ask.question.text}\n  {explain_comparison(job.comparison).text}")
    return job.comparison


def _check_lanes(job) -> None:
    """Raise ModelFailed if the job or one of its lanes failed.

    Raises HopscopeError if the search for repairs failed.
    """
    for lane in job.comparison.lanes:
        if lane.error or job.error:
            raise ModelFailed(f"{lane.method.name}: {lane.error or job.error}")
    if job.comparison.follow_up_errors:
        raise HopscopeError(" ".join(job.comparison.follow_up_errors))


def _write(file: str, data: bytes) -> None:
    try:
        Path(file).write_bytes(data)
    except OSError as error:
        raise HopscopeError(f"{file} cannot be written: {error.strerror or error}.") from None
