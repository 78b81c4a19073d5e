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

from core.datasets.catalogue import owner
from core.evaluation.papers.beside import Measured
from core.evaluation.runs.plan import Plan
from core.graph.algorithms.walk_corpus import WalkPlan
from core.graph.building.build import build
from core.graph.protocol import KnowledgeGraph
from core.indexes import vectors, walks
from core.instances.catalogue import published
from core.io.durations import span, with_time_left
from core.operators.retrieve.walks import TEMPLATE, NodesThenWalks
from core.watch import NO_WATCH, Watch

SIZES = (1, 10, 100, 1000)  # numbers of changed triples
Triple = tuple[str, str, str]


@dataclass(frozen=True)
class Change:
    """Cost of adding `triples` to the graph, or of removing them if negative.

    `encoded` of `nodes` with walks were encoded again, in `seconds`, which include drawing all
    walks.
    """

    triples: int
    encoded: int
    nodes: int
    seconds: float


def prepare_walks(plan: Plan, engine, watch: Watch = NO_WATCH) -> None:
    """Encode the missing walks that a plan's instances read.

    Only graphs that all questions share are prepared. Raises BadInput.
    """
    for name in filter(None, dict.fromkeys(one.source.graph_name for one in plan.drawn)):
        for operator in (part for instance in plan.instances for part in instance.line.parts()):
            if isinstance(operator, NodesThenWalks) and operator.verbaliser == TEMPLATE:
                graph, encoder = engine.graph(name), engine.models.encoder(operator.encoder)
                walks.build(graph, encoder, operator.plan, watch=watch, limit=graph.n_nodes)


def changes(
    triples: Sequence[Triple],
    folder: Path,
    encoder,
    plan: WalkPlan,
    sizes: Sequence[int],
    rng: np.random.Generator,
    watch: Watch = NO_WATCH,
) -> tuple[Change, list[Change]]:
    """Return the cost of all walks from scratch, and of each update of the graph.

    An update adds or removes as many triples as one of `sizes` says. Every update begins with the
    same graph: all `triples` but those that are drawn to be added. The encodings of an update are
    deleted before the next one, so that none is reused. A node is encoded again if the sentences
    that the encoder reads have changed, because one of its walks passes a changed triple.
    """
    most = min(max(sizes), len(triples) // 2)
    drawn = rng.permutation(len(triples))
    ahead, rest = [triples[i] for i in drawn[:most]], [triples[i] for i in drawn[most:]]

    def measured(content: Sequence[Triple], size: int, keep: bool = False) -> Change:
        graph = build(content, folder, folder.name, "both")
        walks.place(graph, encoder, plan)  # loads the encoder before the clock starts
        start = time.monotonic()
        facts = walks.build(graph, encoder, plan, watch=watch).index.facts
        seconds = time.monotonic() - start
        if not keep:
            walks.forget(graph)
            vectors.delete(walks.place(graph, encoder, plan))
        return Change(size, facts["encoded"], facts["items"], seconds)

    first = measured(rest, len(rest), keep=True)
    sizes = [size for size in sizes if size <= most]
    more = [measured([*rest, *ahead[:size]], size) for size in sizes]
    fewer = [measured(rest[size:], -size) for size in sizes if size < len(rest)]
    return first, [*more, *fewer]


def updates(
    engine,
    sets: dict[str, str],
    rows: dict[str, str],
    size: int | None,
    graph: Callable[[str], str],
    watch: Watch = NO_WATCH,
) -> list[Measured]:
    """Return for each row the cost of its walks from scratch and of updates.

    The costs are measured on the graph of each set.
    """
    found = []
    for set_name, asked in sets.items():
        opened = engine.graph(graph(set_name) or owner(asked.split(",")[0]).name, watch=watch)
        triples = list(_triples(opened))
        for id, name in rows.items():
            operator = next(one for one in published()[id].line if isinstance(one, NodesThenWalks))
            with tempfile.TemporaryDirectory() as folder:
                encoder = engine.models.encoder(operator.encoder)
                rng = np.random.default_rng(0)
                first, others = changes(
                    triples,
                    Path(folder) / "graph",
                    encoder,
                    operator.plan,
                    SIZES,
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
            for one in others:
                what = (
                    f"{abs(one.triples):,} triple{'s' * (abs(one.triples) > 1)} "
                    f"{'more' if one.triples > 0 else 'fewer'}"
                )
                share = f"{one.seconds / max(first.seconds, 1e-9):.3f}"
                lines.append(
                    (what, f"{one.encoded:,}", f"{one.nodes:,}", f"{one.seconds:.1f}", share)
                )
            note = (
                f"On {opened.name}, from nothing in {span(first.seconds)}. Triples are drawn by "
                "seed 0; the store's time is not in it."
            )
            found.append(Measured(f"{set_name}, {name}", head, tuple(lines), (note,)))
    return found


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
