"""Command `index`: make, list and delete the data that is prepared for a graph."""

from __future__ import annotations

from typing import get_args

from core.commands.spread import add_workers, workers_of
from core.commands.terminal import OK, add_count, bar
from core.errors import BadInput, BadParameter, nearest
from core.graph.algorithms.walk_corpus import STRATEGIES, WalkPlan
from core.indexes import walks as walk_index
from core.indexes.encoded import Of, spread
from core.indexes.prepared import KINDS, delete, leftovers, prepared
from core.indexes.vectors import LIMIT, build
from core.io.durations import span, with_time_left
from core.operators.base import DIRECTIONS
from core.watch import NO_WATCH


def add(commands) -> None:
    """Add the command and its parts with their options."""
    index = commands.add_parser(
        "index", help="what is prepared ahead for a graph: encode vectors, list, delete"
    )
    parts = index.add_subparsers(required=True, metavar="WHAT")
    vectors = parts.add_parser(
        "vectors",
        help="encode the names of a graph's entities, or its triples",
        description="Encode the names of a graph's entities, or its triples, and make them "
        "searchable (for lego-12-vectors and its neighbours); of a graph made of documents also "
        "chunks, relations and communities. Every block is saved as it is done; after Ctrl-C or a "
        "crash the same command continues from there. What an earlier content of the graph had is "
        "not encoded again.",
    )
    vectors.add_argument(
        "--of", choices=get_args(Of), default="nodes", help="what is encoded (default: nodes)"
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
        choices=STRATEGIES,
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
    add_count(walks, "--seed", 0, "of random walks", least=0)
    walks.add_argument(
        "--unique", action="store_true", help="a random walk drawn twice counts once"
    )
    walks.add_argument(
        "--limit",
        type=int,
        default=walk_index.LIMIT,
        metavar="N",
        help="of graphs of up to N nodes (default: %(default)s)",
    )
    walks.add_argument(
        "--model",
        default="encoder",
        metavar="NAME",
        help="the role or name of the encoder (default: encoder)",
    )
    listed = parts.add_parser("list", help="what is prepared for a graph, with sizes")
    deleted = parts.add_parser("delete", help="delete one kind of index of a graph")
    deleted.add_argument("kind", metavar="KIND", help="as list names it, such as vectors-nodes")
    for part, run in ((vectors, _vectors), (walks, _walks), (listed, _list), (deleted, _delete)):
        part.add_argument(
            "--graph",
            default="metaqa",
            metavar="NAME",
            help="a graph's name or folder (default: metaqa)",
        )
        part.set_defaults(run=run)


def _vectors(options) -> int:
    """Encode the texts, print how many, and return the exit code."""
    engine, graph = _opened(options)
    encoder, workers = engine.models.encoder(options.model), workers_of(options)
    encode = spread(workers, options.model, NO_WATCH) if workers else None
    limit = LIMIT if options.limit is None else options.limit
    with bar("Encoding") as watch:
        found = build(graph, encoder, options.of, with_time_left(watch), limit, encode)
    facts = found.facts
    print(
        f"{len(found):,} {options.of} of {graph.name} as vectors of {facts['dimension']} numbers, "
        f"searched by faiss {facts['kind']}."
    )
    if found.approximate:
        print(found.approximate)
    print(
        f"Its last build encoded {facts['encoded']:,} and took {facts['reused']:,} from an "
        f"earlier content, in {span(facts['seconds'])}."
    )
    return OK


def _walks(options) -> int:
    """Encode the walks, print how many, and return the exit code."""
    engine, graph = _opened(options)
    plan = WalkPlan(
        options.strategy,
        options.walks,
        options.length,
        options.direction,
        options.unique,
        options.seed,
    )
    with bar("Encoding") as watch:
        encoder = engine.models.encoder(options.model)
        found = walk_index.build(
            graph, encoder, plan, watch=with_time_left(watch), limit=options.limit
        )
    facts = found.index.facts
    print(
        f"The walks of {len(found.nodes):,} nodes of {graph.name} as vectors of "
        f"{facts['dimension']} numbers."
    )
    print(
        f"Its last build encoded {facts['encoded']:,} and took {facts['reused']:,} from an "
        f"earlier content, in {span(facts['seconds'])}."
    )
    return OK


def _list(options) -> int:
    """Print every kind of prepared data, and return the exit code.

    Each is printed with its state and size.
    """
    engine, graph = _opened(options)
    for one in prepared(graph, engine.environment):
        parts = f", {one.parts[0]:,} of {one.parts[1]:,} {one.kind.parts}" if one.parts else ""
        print(f"{one.kind.name:16} {one.state:20} {_size(one.size):>10}  {one.kind.title}{parts}")
    for rest in leftovers(graph):
        print(f"{'left over':16} {'':20} {_size(rest.size):>10}  {rest.words}: {rest.path}")
    return OK


def _delete(options) -> int:
    """Delete the files of one kind and return the exit code."""
    engine, graph = _opened(options)
    if options.kind not in KINDS:
        raise BadParameter(
            f"There is no kind of index “{options.kind}”.{nearest(options.kind, KINDS)}"
        )
    delete(engine.jobs, graph, KINDS[options.kind])
    print(f"{KINDS[options.kind].title} of {graph.name} deleted.")
    return OK


def _opened(options):
    """Return the engine and the graph. Raises BadInput for a graph that is queried live."""

    engine = options.engine()
    with bar("Opening the graph") as watch:
        graph = engine.graph(options.graph, watch=watch)
    if graph.live is not None:
        raise BadInput(
            f"Nothing is prepared of “{graph.name}”, as it is asked live: what a method needs is "
            "made of what was fetched."
        )
    return engine, graph


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size else ""
