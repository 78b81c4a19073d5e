"""Command `questions`: save a file of questions as a set of a graph or a corpus."""

from __future__ import annotations

from pathlib import Path

from core.commands.terminal import ENCODING_HELP, OK, bar, file_of, warn
from core.corpus import BroughtQuestions, bring_questions
from core.datasets import datasets, keep_set
from core.datasets.fit import fit, own_fit
from core.errors import BadInput


def add(commands) -> None:
    """Add the command and its options."""
    questions = commands.add_parser(
        "questions",
        help="keep a file of questions as a set, which evaluate, ask and the pages then know",
    )
    questions.add_argument(
        "file",
        metavar="FILE",
        help="a table, text, JSON rows, Parquet or Arrow; plain or packed (.gz, .bz2, .zst); or "
        "hf:NAME",
    )
    about = questions.add_mutually_exclusive_group(required=True)
    about.add_argument("--graph", metavar="NAME", help="the graph that the questions are about")
    about.add_argument(
        "--corpus",
        metavar="NAME",
        help="the corpus of your own that they are about; rows may name gold documents",
    )
    questions.add_argument(
        "--name",
        default="",
        metavar="SET",
        help="the set's name: letters, digits and dashes (default: the corpus's)",
    )
    questions.add_argument("--title", default="", help="what the choosers show (default: the name)")
    questions.add_argument(
        "--format", default="auto", help="the file's format (default: by its first lines)"
    )
    questions.add_argument(
        "--columns",
        default="",
        metavar="NAMES",
        help="the columns of a file without a header, in their order: "
        "question,answers,entities,gold,options,id,hops, - for others",
    )
    questions.add_argument("--encoding", metavar="NAME", default="", help=ENCODING_HELP)
    questions.add_argument(
        "--own-graphs", action="store_true", help="ask each question on the graph of its own row"
    )
    questions.set_defaults(run=run)


def run(options) -> int:
    """Save the file as a set, and return the exit code.

    The number of questions, and those that do not fit, are printed.
    """
    file = file_of(options.file)
    if options.corpus:
        if options.own_graphs:
            raise BadInput(
                "Questions of a corpus are asked of its documents; leave out --own-graphs."
            )
        if any(options.name in known.sets for known in datasets().values()):
            raise BadInput(
                f"There is already a question set “{options.name}” of a graph; choose another name."
            )
        how = {"set": options.name, "format": options.format, "columns": options.columns}
        how["encoding"] = options.encoding
        print_brought(bring_questions(options.corpus, file, options.title, **how))
        return OK
    if not options.name:
        raise BadInput("Give the set a name, as in --name my-questions.")
    graphs = "question" if options.own_graphs else "union"
    how = {"format": options.format, "columns": options.columns, "graphs": graphs}
    how |= {"encoding": options.encoding} if options.encoding else {}
    known = keep_set(Path(file), options.name, options.title, options.graph, **how)
    found = known.questions()
    print(f"{len(found):,} questions of {options.graph} are saved as {known.name}")
    with bar("Opening the graph") as watch:
        if options.own_graphs:
            misfit = own_fit(known, found).words("graphs of their own")
        else:
            misfit = fit(options.engine().graph(options.graph, watch=watch), found).words(
                options.graph
            )
    warn(filter(None, [known.note(), misfit]))
    return OK


def print_brought(brought: BroughtQuestions) -> None:
    """Print how many questions a corpus got, and which do not fit it."""
    print(
        f"{brought.number:,} questions of {brought.corpus.name} are saved as {brought.set}: "
        f"{brought.answered:,} with answers, {brought.gold:,} with gold documents"
    )
    warn(brought.notes)
