"""A subgraph as tables for a prompt."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import count_fitting_texts, count_tokens_roughly
from core.operators.texts.tables import TABLE_TITLES, tables_of
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
        whole_table = tables_of(
            ctx.graph,
            State(state.question, nodes=Ranking("node", nodes), relations=Ranking("triple", edges)),
            {},
        )
        tables, tokens_left = list[ContextTable](), self.budget
        for table in whole_table:
            rows = [" ".join(row) for row in table.rows]
            room = count_fitting_texts(rows, tokens_left) if tokens_left or not self.budget else 0
            tokens_left = (
                max(0, tokens_left - sum(map(count_tokens_roughly, rows))) if self.budget else 0
            )
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
                    f"{room:,} of {len(rows):,} {TABLE_TITLES[table.kind].lower()} have room in "
                    f"{self.budget:,} tokens."
                )
        return state.replace(tables=tuple(tables))
