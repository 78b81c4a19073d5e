"""Walks encoded for a paper's rows, and the cost of updating them when the graph changes.

This is section 2.1 of Walk&Retrieve with its footnote 2.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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

CHANGED_TRIPLE_COUNTS = (1, 10, 100, 1000)  # numbers of changed triples
Triple = tuple[str, str, str]


@dataclass(frozen=True)
class UpdateCost:
    """Cost of adding `triples` to the graph, or of removing them if negative.

    `encoded` of `nodes` with walks were encoded again, in `seconds`, which include drawing all
    walks.
    """

    triples: int
    encoded: int
    nodes: int
    seconds: float


def prepare_walks(plan: Plan, engine, watch: Watch = NO_WATCH) -> None:
    """Encode the missing walks that a plan's methods read.

    Only graphs that all questions share are prepared.

    Parameters
    ----------
    plan : the plan of an evaluation.
    engine : opens the graphs and the encoders.
    watch : receives the progress and may raise RunCancelled.

    Raises
    ------
    BadInput : no step leads from any node of a graph.
    """
    for name in filter(None, dict.fromkeys(one.source.graph_name for one in plan.drawn)):
        for operator in (part for method in plan.methods for part in method.line.parts()):
            if isinstance(operator, NodesThenWalks) and operator.verbaliser == TEMPLATE_VERBALISER:
                graph, encoder = engine.graph(name), engine.models.encoder(operator.encoder)
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
    """Return the cost of all walks from scratch, and of each update of the graph.

    The encodings of an update are deleted before the next one, so that none is reused. A node is
    encoded again if the sentences that the encoder reads have changed, because one of its walks
    passes a changed triple.

    Every update begins with the same graph: all triples but those that are drawn to be added.

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
    The cost from scratch, and of each update.
    """
    max_size = min(max(sizes), len(triples) // 2)
    order = rng.permutation(len(triples))
    added_triples = [triples[i] for i in order[:max_size]]
    base_triples = [triples[i] for i in order[max_size:]]

    def measured(content: Sequence[Triple], size: int, keep: bool = False) -> UpdateCost:
        graph = build(content, folder, folder.name, "both")
        walks.walk_folder(graph, encoder, plan)  # loads the encoder before the clock starts
        start = time.monotonic()
        facts = walks.build_walk_corpus(graph, encoder, plan, watch=watch).index.facts
        seconds = time.monotonic() - start
        if not keep:
            walks.forget_walks(graph)
            vectors.delete_vectors(walks.walk_folder(graph, encoder, plan))
        return UpdateCost(size, facts["encoded"], facts["items"], seconds)

    first = measured(base_triples, len(base_triples), keep=True)
    sizes = [size for size in sizes if size <= max_size]
    additions = [measured([*base_triples, *added_triples[:size]], size) for size in sizes]
    removals = [measured(base_triples[size:], -size) for size in sizes if size < len(base_triples)]
    return first, [*additions, *removals]


def update_cost_tables(
    engine,
    sets: dict[str, str],
    rows: dict[str, str],
    size: int | None,
    graph: Callable[[str], str],
    watch: Watch = NO_WATCH,
) -> list[TextTable]:
    """Return for each row the cost of its walks from scratch and of updates.

    The costs are measured on the graph of each set.

    Parameters
    ----------
    engine : opens the graphs and the encoders.
    sets : what is asked, by the paper's name of each question set.
    rows : the paper's name of each row, by method id.
    size : not used; all measurements have it.
    graph : returns the graph that is asked instead of a set's own; empty for its own.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    One table for each set and row.
    """
    tables = []
    for set_name, set_id in sets.items():
        source_graph = engine.graph(
            graph(set_name) or dataset_of_set(set_id.split(",")[0]).name, watch=watch
        )
        triples = list(_triples(source_graph))
        for id, name in rows.items():
            operator = next(
                one for one in published_methods()[id].line if isinstance(one, NodesThenWalks)
            )
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
            head = (
                "change of the graph",
                "nodes encoded anew",
                "of",
                "seconds",
                "of the time from nothing",
            )
            lines = [
                (
                    f"from nothing: {first.triples:,} triples",
                    f"{first.encoded:,}",
                    f"{first.nodes:,}",
                    f"{first.seconds:.1f}",
                    "1",
                )
            ]
            for update_cost in update_costs:
                change_text = (
                    f"{abs(update_cost.triples):,} triple{'s' * (abs(update_cost.triples) > 1)} "
                    f"{'more' if update_cost.triples > 0 else 'fewer'}"
                )
                share = f"{update_cost.seconds / max(first.seconds, 1e-9):.3f}"
                lines.append(
                    (
                        change_text,
                        f"{update_cost.encoded:,}",
                        f"{update_cost.nodes:,}",
                        f"{update_cost.seconds:.1f}",
                        share,
                    )
                )
            note = (
                f"On {source_graph.name}, from nothing in {duration_text(first.seconds)}. Triples "
                "are drawn by "
                "seed 0; the store's time is not in it."
            )
            tables.append(TextTable(f"{set_name}, {name}", head, tuple(lines), (note,)))
    return tables


def _triples(graph: KnowledgeGraph) -> list[Triple]:
    heads, relations, tails = graph.triples(np.arange(graph.n_edges))
    return list(
        zip(
            graph.names(heads),
            (graph.relation_names[int(one)] for one in relations),
            graph.names(tails),
            strict=True,
        )
    )
