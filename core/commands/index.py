"""Command `index`: build vectors or walks of a graph; list or delete indexes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from core.commands.terminal import EXIT_OK, TerminalBar, add_count, add_switch
from core.commands.worker_options import add_workers, workers_of
from core.errors import BadInput, BadParameter, suggest_name
from core.graph.algorithms.walk_corpus import WALK_STRATEGIES, WalkPlan
from core.indexes import walks as walk_index
from core.indexes.index_state import INDEX_KINDS, delete_index, index_states, leftovers
from core.indexes.vector_blocks import ItemKind, encode_over_workers
from core.indexes.vectors import VECTOR_INDEX, build_vectors
from core.io.durations import duration_text, with_time_left
from core.operators.base import DIRECTIONS
from core.watch import NO_WATCH


def add_command(subparsers) -> None:
    """Add the command and its parts with their options."""
    index = subparsers.add_parser("index")
    parts = index.add_subparsers(required=True, metavar="WHAT")
    vectors = parts.add_parser(
        "vectors",
        help="encode the names of a graph's entities, or its triples",
        description="Encode the names of a graph's entities, or its triples, and make them "
        "searchable (for vector-paths-ranked and its neighbours); of a graph made of documents also "
        "chunks, relations and communities. Every block is saved as it is done; after Ctrl-C or a "
        "crash the same command continues from there. What an earlier content of the graph had is "
        "not encoded again.",
    )
    vectors.add_argument(
        "--of", choices=get_args(ItemKind), default="nodes", help="what is encoded (default: nodes)"
    )
    vectors.add_argument(
        "--model",
        default="encoder",
        metavar="NAME",
        help="the role or name of the encoder (default: encoder)",
    )
    vectors.add_argument(
        "--limit",
        type=int,
        metavar="N",
        help="encode up to N (default: 1,000,000); says what more would cost",
    )
    add_workers(vectors)
    walks = parts.add_parser(
        "walks",
        help="encode the walks of a graph's nodes",
        description="Encode the walks of each node, put into words (for walk-retrieve-bfs and its "
        "neighbours). Every block is saved as it is done; after Ctrl-C the same command continues "
        "from there. A node whose walks are what they were is not encoded again.",
    )
    walks.add_argument(
        "--strategy",
        choices=WALK_STRATEGIES,
        default="breadth-first",
        help="how walks are found (default: breadth-first)",
    )
    walks.add_argument(
        "--walks", type=int, default=60, metavar="N", help="walks of a node (default: 60)"
    )
    walks.add_argument(
        "--length", type=int, default=4, metavar="N", help="steps of a walk at most (default: 4)"
    )
    walks.add_argument(
        "--direction",
        choices=DIRECTIONS,
        default="graph",
        help="of the steps (default: the graph's own)",
    )
    add_count(walks, "--seed", 0, "of random walks", low=0)
    add_switch(walks, "--unique", "a random walk drawn twice counts once")
    walks.add_argument(
        "--limit",
        type=int,
        default=walk_index.MAX_WALK_NODES,
        metavar="N",
        help="of graphs of up to N nodes (default: %(default)s)",
    )
    walks.add_argument(
        "--model",
        default="encoder",
        metavar="NAME",
        help="the role or name of the encoder (default: encoder)",
    )
    list_parser = parts.add_parser("list", help="what is prepared for a graph, with sizes")
    delete = parts.add_parser("delete", help="delete one kind of index of a graph")
    delete.add_argument("kind", metavar="KIND", help="as list names it, such as vectors-nodes")
    for part, run in (
        (vectors, _vectors),
        (walks, _walks),
        (list_parser, _list),
        (delete, _delete),
    ):
        part.add_argument(
            "--graph",
            default="metaqa",
            metavar="NAME",
            help="a graph's name or folder (default: metaqa)",
        )
        part.set_defaults(run=run)


def _vectors(options) -> int:
    """Encode texts of a graph, and print how many."""
    engine, graph = _open_graph(options)
    encoder, workers = engine.models.encoder(options.model), workers_of(options)
    encode = encode_over_workers(workers, options.model, NO_WATCH) if workers else None
    limit = VECTOR_INDEX.max_unconfirmed_items if options.limit is None else options.limit
    with TerminalBar("Encoding") as watch:
        vectors = build_vectors(graph, encoder, options.of, with_time_left(watch), limit, encode)
    facts = vectors.facts
    print(
        f"{len(vectors):,} {options.of} of {graph.name} as vectors of {facts['dimension']} "
        f"numbers, searched by faiss {facts['kind']}."
    )
    if vectors.approximation_note:
        print(vectors.approximation_note)
    _print_last_build(facts)
    return EXIT_OK


def _walks(options) -> int:
    """Encode the walks, and print how many nodes have some."""
    engine, graph = _open_graph(options)
    plan = WalkPlan(
        options.strategy,
        options.walks,
        options.length,
        options.direction,
        options.unique,
        options.seed,
    )
    with TerminalBar("Encoding") as watch:
        encoder = engine.models.encoder(options.model)
        walk_vectors = walk_index.build_walk_corpus(
            graph, encoder, plan, watch=with_time_left(watch), limit=options.limit
        )
    facts = walk_vectors.index.facts
    print(
        f"The walks of {len(walk_vectors.nodes):,} nodes of {graph.name} as vectors of "
        f"{facts['dimension']} numbers."
    )
    _print_last_build(facts)
    return EXIT_OK


def _print_last_build(facts: Mapping[str, Any]) -> None:
    """Print how many vectors the last build of an index encoded."""
    print(
        f"Its last build encoded {facts['encoded']:,} and took {facts['reused']:,} from an "
        f"earlier content, in {duration_text(facts['seconds'])}."
    )


def _list(options) -> int:
    """Print the kinds of index with state and size."""
    engine, graph = _open_graph(options)
    for one in index_states(graph, engine.environment):
        kind, coverage = one.kind, ""
        if one.coverage:
            coverage = f", {one.coverage[0]:,} of {one.coverage[1]:,} {kind.coverage_words}"
        print(f"{kind.name:16} {one.state:20} {_size(one.size):>10}  {kind.title}{coverage}")
    for row in leftovers(graph):
        print(f"{'left over':16} {'':20} {_size(row.size):>10}  {row.description}: {row.path}")
    return EXIT_OK


def _delete(options) -> int:
    """Delete the files of one kind."""
    engine, graph = _open_graph(options)
    if options.kind not in INDEX_KINDS:
        raise BadParameter(
            f"There is no kind of index “{options.kind}”.{suggest_name(options.kind, INDEX_KINDS)}"
        )
    delete_index(engine.jobs, graph, INDEX_KINDS[options.kind])
    print(f"{INDEX_KINDS[options.kind].title} of {graph.name} deleted.")
    return EXIT_OK


def _open_graph(options):
    """Return the engine and the graph. Raises BadInput for a graph that is queried live."""
    engine = options.engine()
    with TerminalBar("Opening the graph") as watch:
        graph = engine.graph(options.graph, watch=watch)
    if graph.live is not None:
        raise BadInput(
            f"Nothing is prepared of “{graph.name}”, as it is asked live: what a method needs is "
            "made of what was fetched."
        )
    return engine, graph


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size else ""
