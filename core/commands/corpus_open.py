"""Command `corpus open`: make a corpus from the index of another GraphRAG tool."""

from __future__ import annotations

from core.builds import build_status, find_build, run_build
from core.builds.report import BuildReport
from core.commands.terminal import EXIT_OK, TerminalBar, add_switch, add_text, warn
from core.corpus.indexes.opened_indexes import open_index, preview_index
from core.corpus.indexes.tools import TOOLS, tool_build


def add_part(parts) -> None:
    """Add this part of `corpus` and its options."""
    parser = parts.add_parser(
        "open",
        help="make a corpus of the index of another tool: its texts, and its graph beside those "
        "that are built here",
        description="Read the folder in which another tool has its index: "
        + "; ".join(f"{tool.title} ({tool.recognised_by})" for tool in TOOLS.values())
        + ". Its documents become a corpus, its chunks, entities, relations, communities and "
        "reports a graph of it. Its vectors are taken where the encoder chosen here makes the "
        "same, else made anew. Pickled files run nothing.",
    )
    parser.add_argument("path", metavar="FOLDER", help="the folder of the index, or a zip of it")
    add_text(
        parser,
        "--name",
        "NAME",
        "the corpus, in small letters, digits and dashes: a new one, or one that has the "
        "same texts, which gets the graph",
    )
    parser.add_argument("--title", default="", help="what the choosers show (default: the name)")
    add_switch(parser, "--dry-run", "say what would be taken and left out, and write nothing")
    parser.set_defaults(run=run)


def run(options) -> int:
    """Open the index, print its contents, and return the exit code.

    Texts without usable vectors are encoded.
    """
    if options.dry_run or not options.name:
        with TerminalBar("Reading the index") as watch:
            opened_index = preview_index(options.path, watch)
        print(opened_index.words())
        warn(opened_index.sentences())
        advice = "." if options.dry_run else "; give --name NAME to make a corpus of it."
        print(f"Nothing was written{advice}")
        return EXIT_OK
    engine = options.engine()
    with TerminalBar("Reading the index") as watch:
        corpus, opened_index = open_index(options.path, options.name, options.title, watch)
    print(opened_index.words())
    warn(opened_index.sentences())
    build_spec, report = find_build(tool_build(opened_index.tool)), BuildReport()
    with TerminalBar("Vectors") as watch:
        run_build(corpus, build_spec, engine.models, watch, report=report)
    warn(note for note in report.notes if note not in opened_index.sentences())
    warn(filter(None, (build_status(corpus, build_spec).uncovered,)))
    print(f"{corpus.name} has the graph {build_spec.id}. To build one of the same texts here:")
    print(
        f"  hopscope corpus build {corpus.name} --graph {build_spec.graph} --extractor noun-phrases"
    )
    return EXIT_OK
