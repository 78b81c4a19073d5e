"""Encoding of walks for a paper's rows, and cost of updates.

An update encodes walks again when the graph changes. Walk&Retrieve draws walks from every node,
verbalises them as sentences and encodes the sentences. After a change of the graph, only nodes with
affected walks are encoded again (section 2.1, footnote 2).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from core.datasets.catalogue import dataset_of_set
from core.evaluation.papers.paper_comparison import TextTable
from core.evaluation.runs.plan import Plan
from core.graph.algorithms.walk_corpus import WalkPlan
from core.graph.building.build import build
from core.graph.protocol import KnowledgeGraph
from core.indexes import vectors, walks
from core.io.durations import duration_text, with_time_left
from core.methods.catalogue import published_methods
from core.operators.retrieve.walks import TEMPLATE_VERBALISER, NodesThenWalks
from core.watch import NO_WATCH, Watch

CHANGED_TRIPLE_COUNTS = (1, 10, 100, 1000)  # triples that an update adds or removes
UPDATE_COST_HEAD = (
    "change of the graph",
    "nodes encoded anew",
    "of",
    "seconds",
    "of the time from nothing",
)
Triple = tuple[str, str, str]


@dataclass(frozen=True)
class UpdateCost:
    """Cost of adding triples to the graph or removing them.

    `triples` is their number; it is negative for removed ones. For the cost from scratch, `triples`
    is the number of all triples of the graph. Of the `nodes` with walks, `encoded` were encoded
    again. `seconds` are wall-clock seconds and include drawing all walks.
    """

    triples: int
    encoded: int
    nodes: int
    seconds: float


def prepare_walks(plan: Plan, engine, watch: Watch = NO_WATCH) -> None:
    """Encode the walks that a plan's methods read and that are not encoded yet.

    Only named graphs are prepared, not those of single questions.

    Parameters
    ----------
    plan : the plan of an evaluation.
    engine : opens the graphs and the encoders.
    watch : receives the progress and may raise RunCancelled.

    Raises
    ------
    BadInput : no step leads from any node of a graph.
    """
    for name in filter(None, dict.fromkeys(drawn.source.graph_name for drawn in plan.drawn)):
        for operator in chain.from_iterable(method.line.parts() for method in plan.methods):
            if isinstance(operator, NodesThenWalks) and operator.verbaliser == TEMPLATE_VERBALISER:
                graph = engine.graph(name)
                encoder = engine.models.encoder(operator.encoder)
                walks.build_walk_corpus(
                    graph, encoder, operator.plan, watch=watch, limit=graph.n_nodes
                )


def measure_updates(
    triples: Sequence[Triple],
    folder: Path,
    encoder,
    plan: WalkPlan,
    sizes: Sequence[int],
    rng: np.random.Generator,
    watch: Watch = NO_WATCH,
) -> tuple[UpdateCost, list[UpdateCost]]:
    """Measure the cost of walks from scratch and of each update.

    An update changes the graph. The encodings of an update are deleted before the next one, so that
    none is reused. A node is encoded again if one of its walks passes a changed triple, because its
    sentences then change. Every update begins with the same graph, which lacks the triples that
    updates add.

    Parameters
    ----------
    triples : triples of the graph.
    folder : folder in which graphs are built.
    encoder : the encoder of the walks.
    plan : strategy, number and length of the walks.
    sizes : numbers of triples that an update adds or removes. Those above half of the triples are
        left out.
    rng : draws the triples of the updates.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    The cost from scratch, and the cost of each update: first the additions, then the removals.
    """
    max_size = min(max(sizes), len(triples) // 2)
    order = rng.permutation(len(triples))
    added_triples = [triples[i] for i in order[:max_size]]
    base_triples = [triples[i] for i in order[max_size:]]

    def measure_cost(graph_triples: Sequence[Triple], size: int, keep: bool = False) -> UpdateCost:
        graph = build(graph_triples, folder, folder.name, "both")
        walks.walk_folder(graph, encoder, plan)  # loads the encoder before the clock starts
        start = time.monotonic()
        facts = walks.build_walk_corpus(graph, encoder, plan, watch=watch).index.facts
        seconds = time.monotonic() - start
        if not keep:
            walks.forget_walks(graph)
            vectors.delete_vectors(walks.walk_folder(graph, encoder, plan))
        return UpdateCost(size, facts["encoded"], facts["items"], seconds)

    first = measure_cost(base_triples, len(base_triples), keep=True)
    sizes = [size for size in sizes if size <= max_size]
    updates = [measure_cost([*base_triples, *added_triples[:size]], size) for size in sizes]
    for size in sizes:
        if size < len(base_triples):
            updates.append(measure_cost(base_triples[size:], -size))
    return first, updates


def update_cost_tables(
    engine,
    sets: dict[str, str],
    rows: dict[str, str],
    size: int | None,
    graph_of_set: Callable[[str], str],
    watch: Watch = NO_WATCH,
) -> list[TextTable]:
    """Return for each row the cost of its walks from scratch and of updates.

    The costs are measured on the graph of each set.

    Parameters
    ----------
    engine : opens the graphs and the encoders.
    sets : names of question sets, by the paper's name of each.
    rows : the paper's name of each row, by method id.
    size : not used; part of the common signature of measurements (`Measure`).
    graph_of_set : returns, for the paper's name of a set, the name of the graph to measure; an
        empty name stands for the set's own graph.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    One table for each set and row.
    """
    tables = []
    for set_name, set_id in sets.items():
        graph_name = graph_of_set(set_name) or dataset_of_set(set_id.split(",")[0]).name
        source_graph = engine.graph(graph_name, watch=watch)
        triples = list(_triples(source_graph))
        for id, name in rows.items():
            line = published_methods()[id].line
            operator = next(each for each in line if isinstance(each, NodesThenWalks))
            with tempfile.TemporaryDirectory() as folder:
                encoder = engine.models.encoder(operator.encoder)
                rng = np.random.default_rng(0)
                first, update_costs = measure_updates(
                    triples,
                    Path(folder) / "graph",
                    encoder,
                    operator.plan,
                    CHANGED_TRIPLE_COUNTS,
                    rng,
                    with_time_left(watch),
                )
            lines = [_cost_cells(f"from nothing: {first.triples:,} triples", first, "1")]
            for cost in update_costs:
                count = abs(cost.triples)
                direction = "more" if cost.triples > 0 else "fewer"
                change = f"{count:,} triple{'s' * (count > 1)} {direction}"
                share = f"{cost.seconds / max(first.seconds, 1e-9):.3f}"
                lines.append(_cost_cells(change, cost, share))
            note = (
                f"On {source_graph.name}, from nothing in {duration_text(first.seconds)}. Triples "
                "are drawn by seed 0; the store's time is not in it."
            )
            title = f"{set_name}, {name}"
            tables.append(TextTable(title, UPDATE_COST_HEAD, tuple(lines), (note,)))
    return tables


def _cost_cells(change: str, cost: UpdateCost, share: str) -> tuple[str, ...]:
    return (change, f"{cost.encoded:,}", f"{cost.nodes:,}", f"{cost.seconds:.1f}", share)


def _triples(graph: KnowledgeGraph) -> list[Triple]:
    heads, relations, tails = graph.triples(np.arange(graph.n_edges))
    relation_names = (graph.relation_names[int(relation)] for relation in relations)
    return list(zip(graph.names(heads), relation_names, graph.names(tails), strict=True))
