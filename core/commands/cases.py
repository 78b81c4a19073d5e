"""Command `cases`: list, export and import saved comparisons, and make the shipped ones again."""

from __future__ import annotations

from pathlib import Path

from core.cases import cases, export, load, save
from core.cases.case import describe_case
from core.cases.comparison_data import freeze
from core.cases.examples import DEMO_NAME, EXAMPLE_FOLDER
from core.cases.file import write_cases
from core.commands.terminal import EXIT_OK, TerminalBar, add_switch, check_writable, follow_job
from core.corpus import open_corpus
from core.datasets import datasets
from core.diagnosis.verdict.verdict_words import explain_comparison
from core.errors import BadInput, HopscopeError, ModelFailed
from core.io.json_text import json_text
from core.methods.catalogue import find_method
from core.sources import CorpusSource, GraphSource


def add_command(subparsers) -> None:
    """Add the command and its options."""
    cases = subparsers.add_parser("cases", help="list, export or import saved comparisons")
    parts = cases.add_subparsers(required=True, metavar="WHAT")

    list_parser = parts.add_parser("list", help="the saved comparisons and the examples")
    list_parser.add_argument(
        "words", nargs="*", help="words of a question, note, tag, entity or method"
    )
    add_switch(list_parser, "--json", "print a JSON array")
    list_parser.set_defaults(run=_list)

    out = parts.add_parser("export", help="write cases into one file")
    out.add_argument("ids", nargs="*", metavar="ID", help="which cases (default: all of your own)")
    out.add_argument("--out", required=True, metavar="FILE")
    out.set_defaults(run=_export)

    into = parts.add_parser("import", help="add the cases of a file")
    into.add_argument("file", metavar="FILE")
    into.set_defaults(run=_import)

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
    cases_found = cases(" ".join(options.words))
    if options.json:
        fields = (
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
        print(
            json_text(
                [
                    {name: getattr(case, name) for name in fields} | {"instances": case.methods}
                    for case in cases_found
                ],
                indent=2,
            )
        )
    else:
        for case in cases_found:
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
    print(f"{len(imported.added):,} added, {imported.known:,} were here already")
    return EXIT_OK


def _study(options) -> int:
    """Run the comparisons of data/case-study/study.toml and write them into a file.

    The installed methods and models are used.
    """
    import tomllib

    check_writable(Path(options.out))
    engine, dataset = options.engine(), datasets()["case-study"]
    with TerminalBar("Opening the graph") as watch:
        graph = dataset.open(watch)
    questions = {question.id: question for question in dataset.questions("case-study")}
    keys = []
    assert dataset.triples is not None  # The data set is a shipped file of triples.
    for row in tomllib.loads((dataset.triples.parent / "study.toml").read_text("utf-8"))["case"]:
        job = engine.compare(
            engine.ask(GraphSource.of(graph), questions[row["question"]]),
            [find_method(key) for key in row["instances"]],
        )
        follow_job(job)
        for lane in job.comparison.lanes:
            if lane.error or job.error:
                raise ModelFailed(f"{lane.method.name}: {lane.error or job.error}")
        question = questions[row["question"]]
        link = {
            "q": question.text,
            "e": list(question.entities),
            "a": list(question.answers),
            "lane": row["instances"],
            "graph": dataset.name,
        }
        keys.append(save(job.comparison, link, row["notes"], row["tags"]).id)
    _write(options.out, export(keys))
    print(f"{len(keys)} cases in {options.out}")
    return EXIT_OK


def _demo(options) -> int:
    """Run the comparisons of a list in data/cases and write them into a file.

    Each case includes the one-step changes that recover lost answers. The installed models are
    used.
    """
    import hashlib
    import tomllib
    from dataclasses import replace

    list_file = EXAMPLE_FOLDER / f"{options.list}.toml"
    if not list_file.is_file():
        names = ", ".join(sorted(file.stem for file in EXAMPLE_FOLDER.glob("*.toml")))
        raise BadInput(f"There is no list “{options.list}”; there are {names}.")
    check_writable(Path(options.out))
    engine, file, comparisons = options.engine(), tomllib.loads(list_file.read_text("utf-8")), []
    asker = (
        _asker_of_corpus(engine, file["corpus"])
        if "corpus" in file
        else _asker_of_graph(engine, file["graph"])
    )
    for row in file["case"]:
        lanes = row.get("lanes") or file["lanes"]
        question, ask = asker(row, row.get("model", file["model"]))
        comparison = _run_comparison(engine, ask, lanes)
        source_fields = {"corpus": file["corpus"]} if "corpus" in file else {"graph": file["graph"]}
        link = {
            "q": question.text,
            "e": list(question.entities),
            "a": list(question.answers),
            "lane": lanes,
            **source_fields,
        }
        key = hashlib.sha256(question.text.encode()).hexdigest()[:12]
        notes = f"{row['title']}. {row['notes'].strip()}"
        when = float(file["made"])
        case = replace(
            describe_case(comparison),
            id=key,
            created=when,
            changed=when,
            link=link,
            notes=notes,
            tags=(options.list,),
        )
        comparisons.append((case, freeze(comparison)))
    _write(options.out, write_cases(comparisons))
    print(f"{len(comparisons)} cases in {options.out}")
    return EXIT_OK


def _asker_of_graph(engine, name: str):
    """Return a function that asks a row's question on a graph of triples."""
    dataset = datasets()[name]
    with TerminalBar("Opening the graph") as watch:
        graph = dataset.open(watch)

    def asked(row, model: bool):
        question = next(one for one in dataset.questions(row["set"]) if one.text == row["question"])
        return question, engine.ask(GraphSource.of(graph), question, model=model)

    return asked


def _asker_of_corpus(engine, name: str):
    """Return a function that asks a row's question on documents."""
    corpus = open_corpus(name)

    def asked(row, model: bool):
        question = next(one for one in corpus.questions(row["set"]) if one.text == row["question"])
        return question, engine.ask(CorpusSource.of(corpus), question, model=model)

    return asked


def _run_comparison(engine, ask, lanes):
    """Run a comparison until it and its repair trials have ended. Raises ModelFailed if a lane
    fails.
    """
    import time

    job = engine.compare(ask, [find_method(key) for key in lanes], repairs=True)
    follow_job(job)
    while job.comparison.repairing:
        time.sleep(0.1)
    for lane in job.comparison.lanes:
        if lane.error or job.error:
            raise ModelFailed(f"{lane.method.name}: {lane.error or job.error}")
    print(f"{ask.question.text}\n  {explain_comparison(job.comparison).text}")
    return job.comparison


def _write(file: str, data: bytes) -> None:
    try:
        Path(file).write_bytes(data)
    except OSError as error:
        raise HopscopeError(f"{file} cannot be written: {error.strerror or error}.") from None
