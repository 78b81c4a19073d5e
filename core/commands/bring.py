"""Command `bring`: recognise a file, folder, zip or database, and run the command for its kind."""

from __future__ import annotations

import argparse
import importlib
import shlex
from dataclasses import replace
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
from core.datasets.own_graphs import free_graph_name
from core.datasets.own_sets import clean_name
from core.errors import BadInput
from core.importing import IMPORT_KINDS, Recognition, importers_named, recognise_together
from core.importing.importer import KindName

MAX_ALTERNATIVES = 4  # other formats of a file that are named
TITLED_COMMANDS = ("corpus", "questions")  # commands that have the option --title
KINDS_WITHOUT_ENCODING = (KindName.INDEX, KindName.RUN, KindName.CASES, KindName.DATABASE)


def add_command(subparsers) -> None:
    """Add the command and its options."""
    bring = subparsers.add_parser(
        "bring",
        epilog="It runs the command that it names, which has more options. Formats: "
        "docs/formats.md.",
    )
    bring.add_argument(
        "paths", nargs="+", metavar="PATH", help="files, a folder, a zip, an address, or hf:NAME"
    )
    bring.add_argument(
        "--as",
        dest="form",
        default="",
        metavar="KIND",
        help=f"what it is, where it may be several things: {', '.join(IMPORT_KINDS)}, or with a "
        "format: graph/turtle",
    )
    bring.add_argument(
        "--name",
        default="",
        help="of the graph, corpus or question set that is made (default: the file's)",
    )
    bring.add_argument("--title", default="", help="what the choosers show (default: the name)")
    source = bring.add_mutually_exclusive_group()
    add_text(source, "--graph", "NAME", "that questions or a run are of")
    add_text(source, "--corpus", "NAME", "that they are of")
    add_text(bring, "--encoding", "NAME", ENCODING_HELP)
    add_switch(bring, "--dry-run", "only say what it is, what of it is taken, and how")
    bring.set_defaults(run=run)


def run(options) -> int:
    """Recognise the files, import them and return the exit code."""
    paths = [local_path(path) for path in options.paths]
    recognition, alternatives = _choose_importer(paths, options)
    print(f"{recognition.importer.title} ({recognition.importer.key}): {recognition.reason}.")
    if alternatives:
        others = ", ".join(f"{one.importer.key} ({one.importer.title})" for one in alternatives)
        print(f"It may also be brought --as {others}.")
    if options.dry_run:
        return _preview(recognition, options)
    kind = recognition.importer.kind
    name = options.name or clean_name(Path(paths[0]).name.split(".")[0])
    if kind in (KindName.GRAPH, KindName.DATABASE):
        name = free_graph_name(name)
    words = recognition.arguments(name, _source_option(recognition, options))
    if options.title and words[0] in TITLED_COMMANDS:
        words += ["--title", options.title]
    if options.encoding and kind not in KINDS_WITHOUT_ENCODING:
        words += ["--encoding", options.encoding]
    print(f"hopscope {shlex.join(words)}")
    return _run_command(words, options)


def _choose_importer(paths: list[str], options) -> tuple[Recognition, list[Recognition]]:
    """Return the recognition chosen for the files, and the alternatives. Raises BadInput.

    The option `--as` names a kind (graph) or a kind with its format (graph/turtle). A named format
    is used even if the files do not look like it.
    """
    if not options.form:
        recognitions = recognise_together(paths, options.encoding)
        return recognitions[0], recognitions[1 : MAX_ALTERNATIVES + 1]
    importers_by_key = {one.key: one for one in importers_named(options.form)}
    is_chosen = "/" in options.form
    try:
        recognitions = recognise_together(paths, options.encoding)
    except BadInput:
        if not is_chosen:
            raise
        recognitions = []
    fitting = [one for one in recognitions if one.importer.key in importers_by_key]
    if fitting:
        return replace(fitting[0], is_chosen=is_chosen), []
    if not is_chosen:
        raise BadInput(
            f"Nothing here can be brought as {options.form}; it looks like "
            f"{recognitions[0].importer.key}."
        )
    importer = importers_by_key[options.form]
    return Recognition(importer, 0.0, "as you say", tuple(paths), True), []


def _source_option(choice: Recognition, options) -> tuple[str, str]:
    """Return the option that names the graph or corpus of questions or a run.

    Raises BadInput if it is needed and not given.
    """
    if choice.needs_source and not (options.graph or options.corpus):
        raise BadInput("Say which graph or corpus this is of, with --graph NAME or --corpus NAME.")
    return ("--corpus", options.corpus) if options.corpus else ("--graph", options.graph)


def _preview(choice: Recognition, options) -> int:
    """Read the files, and print what would be imported."""
    if choice.importer.kind != KindName.DATABASE:
        with TerminalBar("Reading") as watch:
            read = choice.importer.read_file(*choice.paths, watch=watch, encoding=options.encoding)
        print(read.words)
        warn(read.notes)
    print(f"Nothing was written. To bring it: {choice.command}")
    return EXIT_OK


def _run_command(words: list[str], options) -> int:
    """Run another command and return its exit code."""
    parser = argparse.ArgumentParser(prog="hopscope")
    importlib.import_module(f"{__package__}.{words[0]}").add_command(parser.add_subparsers())
    arguments = parser.parse_args(words)
    arguments.engine = options.engine
    return arguments.run(arguments)
