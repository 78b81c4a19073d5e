"""Operator that writes a subgraph as prompt tables: G-Retriever's textual graph."""

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
    G-Retriever's textual graph: not ordered by score, cut at 512 tokens. As entities come first,
    the relations of a large subgraph are cut first.

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
        512, "Tokens", "Of both tables together; 0: no limit.", low=0, high=1_000_000
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.subgraph is not None
        hits = State(
            state.question,
            nodes=Ranking("node", tuple(state.subgraph.nodes.tolist())),
            relations=Ranking("triple", tuple(state.subgraph.edges.tolist())),
        )
        tables: list[ContextTable] = []
        tokens_left = self.budget
        for table in tables_of(ctx.graph, hits, {}):
            texts = [" ".join(row) for row in table.rows]
            n_shown = len(texts)
            if self.budget:
                # with a budget of 0, `count_fitting_texts` would set no limit
                n_shown = count_fitting_texts(texts, tokens_left) if tokens_left else 0
                tokens_left = max(0, tokens_left - sum(map(count_tokens_roughly, texts)))
            left_out = len(texts) - n_shown
            tables.append(
                replace(
                    table, rows=table.rows[:n_shown], items=table.items[:n_shown], left_out=left_out
                )
            )
            if left_out:
                recorder.notes.append(
                    f"{n_shown:,} of {len(texts):,} {TABLE_TITLES[table.kind].lower()} have room "
                    f"in {self.budget:,} tokens."
                )
        return state.replace(tables=tuple(tables))
