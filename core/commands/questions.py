"""Command `questions`: save a file of questions as a set of a graph or a corpus."""

from __future__ import annotations

from pathlib import Path

from core.commands.terminal import (
    ENCODING_HELP,
    EXIT_OK,
    TerminalBar,
    add_switch,
    add_text,
    local_path,
    warn,
)
from core.corpus import QuestionImport, import_question_set
from core.datasets import add_question_set, datasets
from core.datasets.question_fit import measure_fit, measure_own_graphs_fit
from core.errors import BadInput


def add_command(subparsers) -> None:
    """Add the command and its options."""
    questions = subparsers.add_parser("questions")
    questions.add_argument(
        "file",
        metavar="FILE",
        help="a table, text, JSON rows, Parquet or Arrow; plain or packed (.gz, .bz2, .zst); or "
        "hf:NAME",
    )
    source = questions.add_mutually_exclusive_group(required=True)
    source.add_argument("--graph", metavar="NAME", help="the graph that the questions are about")
    source.add_argument(
        "--corpus",
        metavar="NAME",
        help="the corpus of your own that they are about; rows may name documents with the "
        "evidence",
    )
    add_text(
        questions,
        "--name",
        "SET",
        "the set's name: letters, digits and dashes (default: the corpus's)",
    )
    questions.add_argument("--title", default="", help="what the choosers show (default: the name)")
    questions.add_argument(
        "--format", default="auto", help="the file's format (default: by its first lines)"
    )
    add_text(
        questions,
        "--columns",
        "NAMES",
        "the columns of a file without a header, in their order: "
        "question,answers,entities,gold,options,id,hops, - for others",
    )
    add_text(questions, "--encoding", "NAME", ENCODING_HELP)
    add_switch(questions, "--own-graphs", "ask each question on the graph of its own row")
    questions.set_defaults(run=run)


def run(options) -> int:
    """Save the file as a set, and return the exit code.

    The number of questions, and those that do not fit, are printed.
    """
    file = local_path(options.file)
    if options.corpus:
        if options.own_graphs:
            raise BadInput(
                "Questions of a corpus are asked of its documents; leave out --own-graphs."
            )
        if any(options.name in dataset.sets for dataset in datasets().values()):
            raise BadInput(
                f"There is already a question set “{options.name}” of a graph; choose another name."
            )
        result = import_question_set(
            options.corpus,
            file,
            options.title,
            set=options.name,
            format=options.format,
            columns=options.columns,
            encoding=options.encoding,
        )
        print_question_import(result)
        return EXIT_OK
    if not options.name:
        raise BadInput("Give the set a name, as in --name my-questions.")
    graphs = "question" if options.own_graphs else "union"
    reading_options = {"format": options.format, "columns": options.columns, "graphs": graphs}
    reading_options |= {"encoding": options.encoding} if options.encoding else {}
    question_set = add_question_set(
        Path(file), options.name, options.title, options.graph, **reading_options
    )
    questions = question_set.questions()
    print(f"{len(questions):,} questions of {options.graph} are saved as {question_set.name}")
    with TerminalBar("Opening the graph") as watch:
        if options.own_graphs:
            misfit = measure_own_graphs_fit(question_set, questions).words("graphs of their own")
        else:
            graph = options.engine().graph(options.graph, watch=watch)
            misfit = measure_fit(graph, questions).words(options.graph)
    warn(filter(None, [question_set.note(), misfit]))
    return EXIT_OK


def print_question_import(result: QuestionImport) -> None:
    """Print how many questions were saved for a corpus.

    The questions that do not fit it are named.
    """
    print(
        f"{result.n_questions:,} questions of {result.corpus.name} are saved as {result.set_name}: "
        f"{result.n_with_answers:,} with answers, {result.n_with_gold:,} with evidence"
    )
    warn(result.notes)
