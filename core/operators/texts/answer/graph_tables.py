"""A subgraph as tables for a prompt."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import fitting, tokens
from core.operators.texts.tables import TITLES, tables_of
from core.parameters import param
from core.types import ContextTable, Ranking, State


@dataclass(frozen=True, repr=False)
class SubgraphTables(Operator):
    """The subgraph as a table of entities and a table of relations.

    Both tables share one budget of tokens. The rows are in the order of the graph. This is
    G-Retriever's textual graph: not ordered by score, cut at 512 tokens. Of a large subgraph the
    relations are therefore cut first.

    >>> line = "NamesInQuestion() >> LinkNames() >> SteinerSubgraph() >> SubgraphTables()"
    >>> state = retrieve(line, graph=story, question="Tim and Scrooge", models=scores({}))
    >>> [(table.kind, len(table.items)) for table in state.tables]
    [('node', 3), ('triple', 2)]
    """

    stage = "refine"
    title = "subgraph as tables"
    plain = ""
    reads, writes = ("subgraph",), ("tables",)

    budget: int = param(
        512, "Tokens", "Of both tables together; 0 is no limit.", low=0, high=1_000_000
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.subgraph is not None
        nodes, edges = (
            tuple(part.tolist()) for part in (state.subgraph.nodes, state.subgraph.edges)
        )
        whole = tables_of(
            ctx.graph,
            State(state.question, nodes=Ranking("node", nodes), relations=Ranking("triple", edges)),
            {},
        )
        tables, left = list[ContextTable](), self.budget
        for table in whole:
            rows = [" ".join(row) for row in table.rows]
            room = fitting(rows, left) if left or not self.budget else 0
            left = max(0, left - sum(map(tokens, rows))) if self.budget else 0
            tables.append(
                replace(
                    table,
                    rows=table.rows[:room],
                    items=table.items[:room],
                    left_out=len(rows) - room,
                )
            )
            if room < len(rows):
                recorder.notes.append(
                    f"{room:,} of {len(rows):,} {TITLES[table.kind].lower()} have room in "
                    f"{self.budget:,} tokens."
                )
        return state.replace(tables=tuple(tables))
