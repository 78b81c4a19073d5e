"""Stage “merge”: a passage graph, in which chunks are joined by the entities that they share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from core.builds.base import BuildContext, BuildOperator, Made
from core.builds.facts import Facts
from core.builds.gathered import Columns, Numbered
from core.builds.merge.columns import distinct, gathered, most_frequent
from core.builds.naming import READINGS, folded
from core.graph.building.text_graph import assembled
from core.graph.columns import Rows, Table, joined, texts_of
from core.graph.order import in_name_order
from core.parameters import param

SHARES = "shares entity"
SHOWN = 10  # shared entities that an edge names
LOOKED_AT = 1 << 20  # rows of chunks that are looked at together for pairs


@dataclass(frozen=True, repr=False)
class PassageGraph(BuildOperator):
    """A node for each chunk, called by its id, and an edge between two that share at least `min_shared` entities; its weight is how many,
    its description their names (KGP's graph).

    An entity that is in more than `common` chunks joins none, so that one which is everywhere does not join everything. The in-depth
    analysis sets no such bound (its passage graphs join chunks that share enough entities, whichever): `passage-paper` has 1,000.
    """

    stage = "merge"
    title = "passages that share entities"
    reads, writes = ("chunks", "facts"), ("graph",)

    min_shared: int = param(
        1, "Shared entities", "How many entities two chunks share at least.", low=1, high=1000
    )
    common: int = param(
        50, "Too common", "An entity in more chunks than this joins none.", low=2, high=1000
    )
    reading: str = param(
        "unicode",
        "Names",
        "Whether all letters count in names, or a-z and 0-9 alone as in the code.",
        choices=READINGS,
    )

    def apply(self, made: Made, ctx: BuildContext) -> Made:
        assert made.chunks is not None and made.facts is not None  # a line without them is refused
        named = gathered(made.facts, partial(Mentions, self.reading), "Gathering names", ctx)
        ids, place = in_name_order(made.chunks.texts("id"))
        sharing = Sharing.of(*self._joining(named, ctx), place, self.min_shared)
        del named
        numbers = list[tuple[np.ndarray, ...]]()

        def descriptions() -> Iterator[Any]:
            for done, pairs in sharing.pairs():
                ctx.watch.check()
                ctx.watch.report("Joining passages", done / len(ids))
                numbers.append((pairs.heads, pairs.tails, pairs.shared))
                yield joined(pairs.names.head(SHOWN), sharing.names, ", ")

        described = texts_of(descriptions())
        heads, tails, shared = (
            (np.concatenate(parts) for parts in zip(*numbers))
            if numbers
            else [np.empty(0, np.int32)] * 3
        )
        row_of, n = np.argsort(place), len(ids)
        ends = np.column_stack([row_of[heads], row_of[tails]])
        nodes = Table.of(
            type=["chunk"] * n,
            description=[""] * n,
            level=np.zeros(n, np.int32),
            chunks=Rows(np.arange(n + 1), row_of.astype(np.int64)),
        )
        edges = Table.of(
            description=described,
            weight=shared.astype(np.float32),
            chunks=Rows(2 * np.arange(len(ends) + 1), ends.astype(np.int64).ravel()),
        )
        triples = heads, np.zeros(len(heads), np.int32), tails
        return made.replace(
            graph=assembled(
                made.corpus.name,
                ids,
                [SHARES] if len(heads) else [],
                triples,
                (nodes, edges),
                made.chunks,
            )
        )

    def words(self) -> str:
        return f"passages that share {self.min_shared} {'entity' if self.min_shared == 1 else 'entities'}"

    def _joining(self, named: Mentions, ctx: BuildContext) -> tuple[list[str], Rows]:
        """The names of the entities that may join chunks, sorted as they are folded, and the rows of each; those that are in too many are
        reported."""
        words, spelled = (
            list(named.names),
            most_frequent(named.spelled.arrays(), named.names.alphabet())[1],
        )
        key, row = named.where.arrays()
        rows = distinct(key, row, len(named.keys))
        shown = [words[spelling] for spelling in spelled.tolist()]
        everywhere = np.flatnonzero(rows.counts > self.common).tolist()
        if everywhere:
            listed = sorted(everywhere, key=lambda key: (-rows.counts[key], shown[key]))[:SHOWN]
            names = ", ".join(shown[key] for key in listed)
            ctx.report.note(
                f"{len(everywhere):,} entities are in more than {self.common} chunks and join none: {names}."
            )
        order = np.argsort(named.keys.alphabet())
        order = order[(rows.counts[order] > 1) & (rows.counts[order] <= self.common)]
        return [shown[key] for key in order.tolist()], rows.taken(order)


class Mentions:
    """Which names are in which chunks, while facts are added in the order of the chunks."""

    def __init__(self, reading: str):
        self.reading = reading
        self.keys, self.names = Numbered(), Numbered()  # folded names, and their spellings
        # name, its spelling, times; name, chunk
        self.spelled, self.where = (Columns("iii"), Columns("ii"))

    def add(self, row: int, facts: Facts) -> None:
        """Add the entities of the chunk of a row."""
        for entity in facts.entities:
            if folding := folded(entity.name, self.reading):
                key = self.keys.of(folding)
                self.spelled.add(key, self.names.of(entity.name), entity.times)
                self.where.add(key, row)

    def include(self, later: Mentions, rows: np.ndarray | None = None) -> None:
        """Add all that was gathered of chunks that follow, of which `rows` are the rows here where they were counted by themselves."""
        keys, names = self.keys.include(later.keys), self.names.include(later.names)
        self.spelled.include(later.spelled, keys, names, None)
        self.where.include(later.where, keys, rows)


class Pairs(NamedTuple):
    """Pairs of chunks that share entities: the nodes of each, how many they share, and which."""

    heads: np.ndarray
    tails: np.ndarray
    shared: np.ndarray
    names: Rows


@dataclass(frozen=True, eq=False)
class Sharing:
    """Entities by the order of their names, the rows of chunks in which each is, the entities of each row, and the node of each row;
    chunks with `least` entities in common and more are joined."""

    names: list[str]
    rows: Rows
    entities: Rows
    node_of: np.ndarray
    least: int

    @classmethod
    def of(cls, names: list[str], rows: Rows, node_of: np.ndarray, least: int) -> Sharing:
        """Those of some entities."""
        return cls(names, rows, rows.inverse(len(node_of)), node_of, least)

    def pairs(self) -> Iterator[tuple[int, Pairs]]:
        """The joined pairs, each from the earlier row to the later one, ascending by their nodes; some million rows are looked at together.
        With each block comes how many nodes are done."""
        row_of = np.argsort(self.node_of)
        looked = np.concatenate([[0], np.cumsum(self.rows.counts[self.entities.ids])])
        # rows that are looked at for the nodes up to each
        upto = np.cumsum(np.diff(looked[self.entities.indptr])[row_of])
        first = 0
        while first < len(row_of):
            before = upto[first - 1] if first else 0
            end = max(first + 1, int(np.searchsorted(upto, before + LOOKED_AT, side="right")))
            yield end, self._of(row_of[first:end])
            first = end

    def _of(self, heads: np.ndarray) -> Pairs:
        """The pairs of some rows, given in the order of their nodes, with all later ones."""
        entity = self.entities.joined(heads)
        row = np.repeat(heads, self.entities.counts[heads])
        other, counts = self.rows.joined(entity), self.rows.counts[entity]
        row, entity = np.repeat(row, counts), np.repeat(entity, counts)
        later = other > row
        head, tail, entity = self.node_of[row[later]], self.node_of[other[later]], entity[later]
        order = np.lexsort((entity, tail, head))
        head, tail, entity = head[order], tail[order], entity[order]
        new = np.ones(len(head), bool)
        new[1:] = (np.diff(head) != 0) | (np.diff(tail) != 0)
        starts = np.flatnonzero(new)
        names = Rows(np.append(starts, len(head)), entity)
        enough = np.flatnonzero(names.counts >= self.least)
        heads, tails = head[starts[enough]].astype(np.int32), tail[starts[enough]].astype(np.int32)
        return Pairs(heads, tails, names.counts[enough].astype(np.int32), names.taken(enough))
