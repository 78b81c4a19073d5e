"""Command `build`: build a graph from files of triples or from a database."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from core.commands.terminal import (
    ENCODING_HELP,
    EXIT_OK,
    TerminalBar,
    add_list,
    add_switch,
    add_text,
    local_path,
    whole_number,
)
from core.databases.address import address_of, is_address
from core.databases.graph_copy import copy_graph
from core.databases.limits import MAX_COPY_TRIPLES, CopyLimits
from core.databases.live_database import LiveSettings
from core.datasets.graph_files import open_graph_files
from core.datasets.own_graphs import add_live, free_graph_name, own_folder
from core.errors import BadInput
from core.graph.building.build import build
from core.graph.building.ladybug_graphs import convert_ladybug_graph
from core.graph.readers.formats import AUTO_TRIPLE_FORMAT, format_list
from core.graph.readers.header import WITH_HEADER, WITHOUT_HEADER
from core.graph.readers.rdf import (
    LITERAL_TRIPLES,
    LITERAL_USES,
    MAX_LABEL_SEARCH_BYTES,
    check_language,
)
from core.graph.readers.triple_file import TripleFile, parse_column_numbers, parse_memory
from core.graph.readers.triple_summary import summarise_triples
from core.graph.store import LADYBUG_PACKAGE, Graph

DRY_RUN_PRINTED_TRIPLES = 10  # triples that a dry run prints
DRY_RUN_READ_TRIPLES = 100_000  # triples of a large file that a dry run reads
DRY_RUN_COPIED_TRIPLES = 1_000  # triples that a dry run copies from a database
BUILD_EPILOG = """A file of up to 128 MB of text is read at once, some 10 MB a second: after a kill the \
same command starts over. A larger one, or
one with --memory, is built in steps: after a kill the same command continues where it stopped."""


def add_command(subparsers) -> None:
    """Add the command and its options."""
    parser = subparsers.add_parser("build", epilog=BUILD_EPILOG)
    parser.add_argument(
        "triples",
        metavar="FILE",
        nargs="*",
        help="a file of triples, in one of the formats below; plain, .gz, .bz2 or .zst; hf:NAME, "
        "whose rows bring graphs; or the address of a database, such as "
        "sparql+https://example.org/sparql or bolt://localhost:7687. Of several files, or of a "
        "zip of them, those with ids and labels but no edges are tables of nodes",
    )
    add_list(
        parser,
        "--nodes",
        "FILE",
        "a table of nodes: their ids in the edges, labels, types, descriptions",
    )
    parser.add_argument("--out", metavar="DIR", help="the folder of the graph")
    add_switch(
        parser,
        "--dry-run",
        "build nothing: print the first triples, and what of the file is taken how",
    )
    parser.add_argument("--name", help="the graph's name (default: that of the folder)")
    parser.add_argument(
        "--direction",
        choices=("out", "in", "both"),
        default="both",
        help="the way searches run by default",
    )
    parser.add_argument(
        "--format",
        default=AUTO_TRIPLE_FORMAT,
        help=f"{format_list()}; {AUTO_TRIPLE_FORMAT} decides by the file's name and first lines",
    )
    parser.add_argument(
        "--columns",
        metavar="1,2,3",
        help="the columns of head, relation and tail, from 1, where lines of text hold more than "
        "three",
    )
    parser.add_argument(
        "--header",
        choices=(WITH_HEADER, WITHOUT_HEADER),
        default="",
        help="whether the first row of lines of text names the columns (default: by what is in it)",
    )
    add_text(parser, "--encoding", "NAME", ENCODING_HELP)
    parser.add_argument(
        "--carry-over",
        metavar="NAME",
        help=(
            "read no file: turn a graph of an earlier version's --store cypher into arrays, by "
            "its name or folder; needs "
        )
        + LADYBUG_PACKAGE,
    )
    parser.add_argument(
        "--memory",
        metavar="2GiB",
        help="how much a large build may take (default: a quarter of the machine's)",
    )
    add_switch(
        parser,
        "--skip-bad",
        "leave out lines that are no triples and say which, instead of stopping",
    )
    add_switch(
        parser, "--integers", "nodes and relations are numbers, as they are; no names are stored"
    )
    add_text(
        parser,
        "--drop-relations",
        "PATTERN,...",
        "leave out relations by prefix (common.*), keyword (*sameAs*) or name",
    )
    add_text(
        parser,
        "--language",
        "TAG",
        "of RDF: the language of the labels that things are called by (default: en); none: "
        "no labels",
    )
    parser.add_argument(
        "--labels", metavar="FILE", help="of RDF: another file that has labels, such as Wikidata's"
    )
    parser.add_argument(
        "--literals",
        choices=LITERAL_USES,
        default=LITERAL_TRIPLES,
        help="of RDF: literals that are no labels are entities of triples (default), said in the "
        "descriptions of their things, or left out",
    )
    databases = parser.add_argument_group("of a database")
    databases.add_argument(
        "--limit",
        metavar="TRIPLES",
        type=whole_number(1),
        default=MAX_COPY_TRIPLES,
        help="copy at most so many (default: %(default)s)",
    )
    add_text(
        databases,
        "--query",
        "TEXT",
        "what to copy: SELECT of three variables or CONSTRUCT in SPARQL, RETURN of "
        "relationships in Cypher",
    )
    add_text(
        databases,
        "--key",
        "HOPSCOPE_KEY_...",
        "the environment variable with its address, a space, and name:password or a token",
    )
    add_switch(
        databases,
        "--live",
        "copy nothing: of each question the neighbourhood of its entities is fetched when it "
        "is asked; needs --name",
    )
    defaults = LiveSettings("sparql+https://example.org/sparql")
    for name, metavar, text in (
        ("hops", "N", "live: how far from a question's entities"),
        ("each", "N", "live: triples of an entity that are fetched at most, each way"),
        ("edges", "N", "live: triples that are fetched for a question at most"),
        ("seconds", "S", "live: after which no more is asked for"),
    ):
        kind = type(getattr(defaults, name))
        databases.add_argument(
            f"--{name}",
            metavar=metavar,
            type=kind,
            default=getattr(defaults, name),
            help=f"{text} (default: %(default)s)",
        )
    parser.set_defaults(run=run)


def run(options) -> int:
    """Build the graph, print its size and return the exit code."""
    if options.carry_over:
        return _convert_ladybug(options)
    if not options.triples:
        raise BadInput("Name a file of triples, or the address of a database.")
    if options.live:
        return _add_live_database(options)
    if not (options.dry_run or options.out):
        raise BadInput(
            "Name the folder of the graph with --out, or look at the triples with --dry-run."
        )
    with tempfile.TemporaryDirectory() as folder:
        if is_address(options.triples[0]):
            source = _copy_database(options, Path(folder))
        else:
            source = _source_of_files(options, Path(folder))
        return _preview(source, options.integers) if options.dry_run else _build(source, options)


def _convert_ladybug(options) -> int:
    """Convert a graph in a Ladybug database to arrays."""
    if options.triples or options.out:
        raise BadInput("A graph is carried over where it is, without files and --out.")
    graph = convert_ladybug_graph(own_folder(options.carry_over) or Path(options.carry_over))
    print(_counts(graph, graph.folder))
    return EXIT_OK


def _counts(graph: Graph, folder: object) -> str:
    entities, relations = f"{graph.n_nodes:,} entities", f"{graph.n_relations:,} relations"
    return f"{entities}, {graph.n_edges:,} triples, {relations} in {folder}"


def _add_live_database(options) -> int:
    """Add a database that is queried live."""
    if not is_address(options.triples[0]) or len(options.triples) > 1 or not options.name:
        raise BadInput(
            "A database is asked live by its address and a --name, such as bolt://localhost:7687 "
            "--live --name films."
        )
    if options.out or options.query or options.dry_run:
        raise BadInput(
            "Nothing is copied of a database that is asked live, so --out, --query and --dry-run "
            "do not go with --live."
        )
    bounds = {name: getattr(options, name) for name in ("hops", "each", "edges", "seconds")}
    settings = LiveSettings(
        options.triples[0],
        options.direction,
        options.key,
        options.language,
        options.literals,
        **bounds,
    )
    graph = add_live(settings, free_graph_name(options.name))
    print(f"The graph {graph.name} is ready. {graph.live.words}")
    print(f'Ask it: hopscope ask "..." --graph {graph.name}')
    return EXIT_OK


def _copy_database(options, folder: Path) -> TripleFile:
    """Copy the triples of a database into a file. Raises BadInput, also for options of files."""
    if (
        len(options.triples) > 1
        or options.nodes
        or options.columns
        or options.integers
        or options.labels
        or options.header
        or options.encoding
        or options.format != AUTO_TRIPLE_FORMAT
    ):
        raise BadInput(
            "A graph is copied from one database, without files, --format, --columns, --header, "
            "--encoding, --integers and --labels beside it."
        )
    address = address_of(options.triples[0])
    check_language(options.language)
    limit = min(options.limit, DRY_RUN_COPIED_TRIPLES) if options.dry_run else options.limit
    with TerminalBar(f"Copying from {address.title}") as watch:
        limits = CopyLimits(limit, watch=watch)
        file = copy_graph(
            address,
            folder,
            limits,
            address.key(options.key),
            options.query,
            options.language,
            options.literals,
        )
    return replace(file, drop=_dropped_relations(options), skips=options.skip_bad)


def _dropped_relations(options) -> tuple[str, ...]:
    """Return the patterns of the relations that are left out."""
    return tuple(filter(None, map(str.strip, options.drop_relations.split(","))))


def _source_of_files(options, folder: Path) -> TripleFile:
    return open_graph_files(
        [Path(local_path(file)) for file in options.triples],
        folder,
        nodes=[Path(file) for file in options.nodes],
        format=options.format,
        columns=parse_column_numbers(options.columns) if options.columns else None,
        drop=_dropped_relations(options),
        skips=options.skip_bad,
        numbered=options.integers,
        memory=parse_memory(options.memory) if options.memory else None,
        language=options.language,
        labels=Path(options.labels) if options.labels else None,
        literals=options.literals,
        header=options.header,
        encoding=options.encoding,
    )


def _preview(source: TripleFile, numbers: bool) -> int:
    """Print the first triples, their number, and how the files are read.

    `numbers` is true if nodes and relations are numbers without names. Of a large file only the first `DRY_RUN_READ_TRIPLES` triples are read.
    """
    try:
        is_small = source.path.stat().st_size <= MAX_LABEL_SEARCH_BYTES
    except OSError as error:
        raise BadInput(f"{source.path} cannot be read: {error.strerror or error}.") from None
    triples = source.read() if is_small else islice(source.read(), DRY_RUN_READ_TRIPLES)
    first_triples = list(islice(triples, DRY_RUN_PRINTED_TRIPLES))
    for triple in first_triples:
        print(" -> ".join(triple))
    summary = summarise_triples(chain(first_triples, triples), is_small, numbers)
    print("\n".join([*summary, *source.tally.sentences()]))
    return EXIT_OK


def _build(source: TripleFile, options) -> int:
    with TerminalBar("Reading triples") as watch:
        name = options.name or Path(options.out).resolve().name
        graph = build(source, options.out, name, options.direction, watch=watch)
    print(_counts(graph, options.out))
    for line in source.tally.sentences():
        print(line)
    return EXIT_OK
