"""Operator that writes the retrieved hits as prompt tables.

Each table stays within a budget of tokens.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.graph.columns import Table
from core.graph.protocol import KnowledgeGraph
from core.graph.texts import (
    chunk_text,
    community_text,
    edge_weights,
    hit_names,
    node_texts,
    relation_names,
    relation_texts,
)
from core.operators.base import HIT_FIELDS, Context, Operator, Recorder
from core.operators.texts.hits import count_fitting_texts
from core.parameters import param
from core.types import ContextTable, Ranking, State

# titles of the tables by kind of hit, in the order of the prompt
TABLE_TITLES = {
    "node": "Entities",
    "triple": "Relationships",
    "community": "Reports",
    "chunk": "Sources",
}
TABLE_BUDGET_HELP = "How many tokens this table may have; 0: no limit, -1: left out."
Rows = list[tuple[str, ...]]  # the cells of each row


@dataclass(frozen=True, repr=False)
class ContextTables(Operator):
    """The hits as tables for the prompt: Entities, Relationships, Reports, Sources.

    Each table lists the best hits first and has its own budget of tokens. The budgets of reports,
    relations and chunks are those of nano-graphrag's local search, which LGraphRAG and VGraphRAG
    follow. nano-graphrag gives entities no budget. The tokens of whole rows with names and titles
    are counted. A column without any value, such as types, is left out.

    >>> (table,) = retrieve(
    ...     "SparseChunks(keep=1) >> ContextTables()", graph=story, question="the clerk"
    ... ).tables
    >>> table.header, table.rows[0][0], table.items
    (('source', 'text'), 'carol#1', (1,))
    """

    stage = "refine"
    title = "context tables"
    plain = ""
    reads_any, writes = HIT_FIELDS, ("tables",)

    entities: int = param(4000, "Tokens of entities", TABLE_BUDGET_HELP, low=-1, high=1_000_000)
    relations: int = param(4800, "Tokens of relations", TABLE_BUDGET_HELP, low=-1, high=1_000_000)
    reports: int = param(3200, "Tokens of reports", TABLE_BUDGET_HELP, low=-1, high=1_000_000)
    sources: int = param(4000, "Tokens of chunks", TABLE_BUDGET_HELP, low=-1, high=1_000_000)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        budgets = {
            "node": self.entities,
            "triple": self.relations,
            "community": self.reports,
            "chunk": self.sources,
        }
        tables = tables_of(ctx.graph, state, budgets)
        recorder.notes += [
            f"{len(table.items):,} of {len(table.items) + table.left_out:,} have room among the "
            f"{TABLE_TITLES[table.kind].lower()}."
            for table in tables
            if table.left_out
        ]
        recorder.sizes |= {TABLE_TITLES[table.kind].lower(): len(table.items) for table in tables}
        return state.replace(tables=tables)


def tables_of(
    graph: KnowledgeGraph, state: State, budgets: dict[str, int]
) -> tuple[ContextTable, ...]:
    """Return a table for each kind of hit, in the order of `TABLE_TITLES`.

    `budgets` gives the tokens of each kind of hit: 0 means no limit, -1 no table. A kind without a
    budget has no limit. Kinds without hits have no table.
    """
    hits_by_kind: dict[str, Ranking] = {hits.kind: hits for hits in state.hits if len(hits)}
    return tuple(
        _table(graph, hits_by_kind[kind], budgets.get(kind, 0))
        for kind in TABLE_TITLES
        if kind in hits_by_kind and budgets.get(kind, 0) >= 0
    )


def row_texts(graph: KnowledgeGraph, kind: str, ids: Sequence[int]) -> list[str]:
    """Return the table row of each hit as text, to count its tokens."""
    return [" ".join(row) for row in _ROWS_BY_KIND[kind](graph, ids)[1]]


def _table(graph: KnowledgeGraph, hits: Ranking, budget: int) -> ContextTable:
    """Return the table of the first hits that fit.

    Columns that are empty in all rows are left out.
    """
    header, rows = _ROWS_BY_KIND[hits.kind](graph, hits.items)
    n_shown = count_fitting_texts([" ".join(row) for row in rows], budget)
    columns = [column for column in range(len(header)) if any(row[column] for row in rows)]
    return ContextTable(
        hits.kind,
        header=tuple(header[column] for column in columns),
        rows=tuple(tuple(row[column] for column in columns) for row in rows[:n_shown]),
        items=hits.items[:n_shown],
        left_out=len(rows) - n_shown,
    )


def _column_texts(table: Table | None, name: str, ids: Sequence[int]) -> list[str]:
    """Return a column of a graph's table.

    Its texts are empty if the graph has no such table.
    """
    return [""] * len(ids) if table is None else table.texts(name, ids)


def _node_rows(graph: KnowledgeGraph, ids: Sequence[int]) -> tuple[tuple[str, ...], Rows]:
    types = _column_texts(graph.columns.nodes, "type", ids)
    rows = zip(graph.names(ids), types, node_texts(graph, ids))
    return ("entity", "type", "description"), list(rows)


def _relation_rows(graph: KnowledgeGraph, ids: Sequence[int]) -> tuple[tuple[str, ...], Rows]:
    heads, _, tails = graph.triples(np.asarray(ids, np.int64))
    keywords = _column_texts(graph.columns.edges, "keywords", ids)
    weights = edge_weights(graph)
    weight_texts = [""] * len(ids) if weights is None else [f"{weights[edge]:g}" for edge in ids]
    rows = zip(
        graph.names(heads),
        relation_names(graph, ids),
        graph.names(tails),
        keywords,
        relation_texts(graph, ids),
        weight_texts,
    )
    return ("source", "relation", "target", "keywords", "description", "weight"), list(rows)


def _community_rows(graph: KnowledgeGraph, ids: Sequence[int]) -> tuple[tuple[str, ...], Rows]:
    reports = [community_text(graph, row) for row in ids]
    return ("community", "report"), list(zip(hit_names(graph, "community", ids), reports))


def _chunk_rows(graph: KnowledgeGraph, ids: Sequence[int]) -> tuple[tuple[str, ...], Rows]:
    titles = _column_texts(graph.columns.chunks, "title", ids)
    rows = zip(hit_names(graph, "chunk", ids), titles, [chunk_text(graph, row) for row in ids])
    return ("source", "title", "text"), list(rows)


# functions that return the header and the rows of hits, by kind of hit
_ROWS_BY_KIND = {
    "node": _node_rows,
    "triple": _relation_rows,
    "community": _community_rows,
    "chunk": _chunk_rows,
}


def text_of_tables(tables: Sequence[ContextTable]) -> str:
    """Return the tables as text for a prompt: headings and comma-separated rows.

    >>> from core.operators.texts.tables import text_of_tables
    >>> from core.types import ContextTable
    >>> table = ContextTable("node", ("entity", "type"), (("Marley, Jacob", "person"),), (0,))
    >>> print(text_of_tables([table]))
    Entities
    entity,type
    "Marley, Jacob",person
    """
    sections = []
    for table in tables:
        if table.rows:
            stream = io.StringIO()
            csv.writer(stream, lineterminator="\n").writerows([table.header, *table.rows])
            sections.append(f"{TABLE_TITLES[table.kind]}\n{stream.getvalue().rstrip()}")
    return "\n\n".join(sections)
