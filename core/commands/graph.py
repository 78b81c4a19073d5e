"""Command `graph`: export a graph for other tools, set its language, or remove it."""

from __future__ import annotations

from pathlib import Path

from core.builds.run import open_graph
from core.commands.terminal import EXIT_OK, TerminalBar, add_text
from core.corpus import open_corpus
from core.datasets.own_graphs import remove_graph
from core.errors import BadInput
from core.graph.names.language import choose_language, graph_language
from core.graph.writers.exports import (
    EXPORT_FORMATS,
    default_export_name,
    export_graph,
    unwritten_sentences,
)
from core.languages import known_code

AUTO_LANGUAGE = "auto"  # value of the option for the detected language
EXPORT_FORMATS_TEXT = "; ".join(f"{name}: {one.title}" for name, one in EXPORT_FORMATS.items())


def add_command(subparsers) -> None:
    """Add the command and its parts with their options."""
    graph = subparsers.add_parser("graph")
    parts = graph.add_subparsers(required=True, metavar="WHAT")
    export = parts.add_parser(
        "export", help="write a graph as GraphML, Turtle, CSV for Neo4j, or Parquet"
    )
    export.add_argument(
        "name", metavar="NAME", help="a graph's name or folder; with --build the name of a corpus"
    )
    add_text(
        export, "--build", "BUILD", "a graph that was built of the documents of the corpus NAME"
    )
    export.add_argument(
        "--format",
        default="graphml",
        choices=tuple(EXPORT_FORMATS),
        help=f"{EXPORT_FORMATS_TEXT} (default: graphml)",
    )
    export.add_argument(
        "--out",
        metavar="PATH",
        help="the file, or for two tables the folder; it must not be there yet (default: NAME "
        "here)",
    )
    export.set_defaults(run=run)
    language = parts.add_parser(
        "language", help="the language of a graph's names, which decides how questions are read"
    )
    language.add_argument("name", metavar="NAME", help="a graph's name or folder")
    language.add_argument(
        "language",
        nargs="?",
        metavar="CODE",
        help=f"as de or German; {AUTO_LANGUAGE}: as it is found (default: only say it)",
    )
    language.set_defaults(run=_language)
    remove = parts.add_parser("remove", help="remove a graph that you added")
    remove.add_argument("name", metavar="NAME", help="the graph's name")
    remove.set_defaults(run=_remove)


def _language(options) -> int:
    """Set the language of a graph if one is named, and print it."""
    with TerminalBar("Opening the graph"):
        graph = options.engine().graph(options.name)
        if options.language:
            choose_language(
                graph, "" if options.language == AUTO_LANGUAGE else known_code(options.language)
            )
    print(f"Language: {graph_language(graph).words()}")
    return EXIT_OK


def _remove(options) -> int:
    """Remove a graph that the user added."""
    remove_graph(options.name)
    print(f"Removed the graph {options.name}.")
    return EXIT_OK


def run(options) -> int:
    """Export the graph, print the files, and return the exit code."""
    with TerminalBar("Opening the graph") as watch:
        if options.build:
            graph = open_graph(open_corpus(options.name), options.build)
        else:
            graph = options.engine().graph(options.name)
        name = Path(options.name).name if not options.build else f"{options.name}-{options.build}"
        out = Path(options.out or default_export_name(name, options.format))
        if graph.live is not None:
            raise BadInput(
                f"Nothing of “{name}” is here, as it is asked live; copy it with build, and write "
                "the copy."
            )
        if not graph.n_nodes:
            raise BadInput(f"The graph “{name}” is empty; there is nothing to write.")
        files = export_graph(graph, options.format, out, watch)
    print(f"{graph.n_nodes:,} entities, {graph.n_edges:,} triples in {', '.join(map(str, files))}")
    for sentence in unwritten_sentences(graph, options.format):
        print(sentence)
    return EXIT_OK
