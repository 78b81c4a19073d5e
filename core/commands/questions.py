"""`questions`: keep a file of questions as a set of a graph."""

from __future__ import annotations

from pathlib import Path

from core.commands.terminal import OK, bar, warn
from core.datasets import keep_set
from core.datasets.fit import fit, own_fit


def add(commands) -> None:
    """The command's grammar."""
    questions = commands.add_parser("questions", help="keep a file of questions as a set, which evaluate, ask and the pages then know")
    questions.add_argument("file", metavar="FILE", help="a table, text or JSON rows; plain or .gz")
    questions.add_argument("--graph", required=True, metavar="NAME", help="the graph that the questions are about")
    questions.add_argument("--name", required=True, metavar="SET", help="the set's name: letters, digits and dashes")
    questions.add_argument("--title", default="", help="what the choosers show (default: the name)")
    questions.add_argument("--format", default="auto", help="the file's format (default: by its first lines)")
    questions.add_argument(
        "--columns",
        default="",
        metavar="NAMES",
        help="the columns of a file without a header, in their order: question,answers,entities,id,hops, - for others",
    )
    questions.add_argument("--own-graphs", action="store_true", help="ask each question on the graph of its own row")
    questions.set_defaults(run=run)


def run(options) -> int:
    """Keep the file, and say how many questions it holds and what of them does not fit the graph; the exit code."""
    graphs = "question" if options.own_graphs else "union"
    how = {"format": options.format, "columns": options.columns, "graphs": graphs}
    known = keep_set(Path(options.file), options.name, options.title, options.graph, **how)
    found = known.questions()
    print(f"{len(found):,} questions of {options.graph} are kept as {known.name}")
    with bar("Opening the graph") as advanced:
        if options.own_graphs:
            misfit = own_fit(known, found).words("graphs of their own")
        else:
            misfit = fit(options.engine().graph(options.graph, progress=advanced), found).words(options.graph)
    warn([misfit] if misfit else [])
    return OK
