"""KGP's traversal: neighbours of the retrieved chunks with the evidence that these lack.

The in-depth analysis is the paper "In-depth Analysis of Graph-based RAG in a Unified Framework".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunk_nodes
from core.models.base import Chat, Messages
from core.operators.base import Context, Operator, Recorder
from core.operators.model_replies import fit_prompt, request_reply, skips_model_call
from core.operators.texts.answer.passages import passage_texts
from core.operators.texts.hits import best_hits
from core.operators.texts.merge import score_by_position
from core.operators.texts.sparse import WORD_WEIGHTING_HELP, WORD_WEIGHTINGS, word_search
from core.parameters import param
from core.prompts import make_messages, one_line
from core.types import Ranking, State

ALONE_HELP = (
    "kept: it stays, as in KGP's own code; left: it is left out, as in the in-depth analysis' code."
)


@dataclass(frozen=True, repr=False)
class MissingEvidence(Operator):
    """Each retrieved chunk, followed by neighbours that share rare words with missing evidence.

    KGP: for each chunk a language model writes what evidence it still needs. Question and evidence
    together are the query of a TF-IDF search among the chunk's neighbours in the passage graph, and
    the best `keep` follow it. No chunk is returned twice. If no new neighbour follows a chunk,
    `alone` decides whether that chunk is returned. The in-depth analysis' code loses the neighbours
    and searches all chunks; this operator searches only neighbours. If no language model may be
    asked, the question alone is the query.

    >>> line = "SparseChunks(keep=1) >> MissingEvidence()"
    >>> found = retrieve(line, graph=story, question="the clerk", models=says("a son")).chunks
    >>> # the story's nodes are no chunks, and so have no links among these
    >>> story.columns.chunks.texts("id", found.items)
    ['carol#1']
    """

    stage = "retrieve"
    title = "neighbours with missing evidence"
    plain = "lets the language model say what is missing and looks among the neighbours"
    reads, writes = ("chunks",), ("chunks",)
    without_model = True

    keep: int = param(3, "Neighbours", "How many follow each chunk at most.", low=1, high=1000)
    by: str = param("tf-idf", "Ranked by", WORD_WEIGHTING_HELP, choices=WORD_WEIGHTINGS)
    alone: str = param("kept", "Without a neighbour", ALONE_HELP, choices=("kept", "left"))
    max_tokens: int = param(64, "Longest evidence", "In tokens.", low=8, high=1024)
    role: str = param(
        "answer",
        "Model",
        "The role or name of the chat model that says what is missing.",
        chat=True,
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.chunks is not None
        if skips_model_call(ctx, recorder, "neighbours are sought by the question's words"):
            chat = None
        else:
            chat = ctx.models.chat(self.role)
        find_neighbours = chunk_neighbour_lookup(ctx.graph)
        question = state.question.text
        seeds = state.chunks.items
        listed = set(seeds)
        order: list[int] = []
        for number, row in enumerate(seeds, 1):
            ctx.watch.report(
                f"Looking for what is missing in passage {number} of {len(seeds)}",
                (number - 1) / len(seeds),
            )
            neighbours = [other for other in find_neighbours(row) if other not in listed]
            rows = np.array(neighbours, np.int64)
            best: tuple[int, ...] = ()
            if len(rows):
                query = question
                if chat is not None:
                    query += f" {self._request_missing(row, chat, question, ctx, recorder)}"
                search = word_search(ctx.graph, "chunks", self.by, ctx.watch)
                scores = search(query.strip())[rows]
                best = best_hits("chunk", rows[scores > 0], scores[scores > 0], self.keep).items
            listed.update(best)
            if best or self.alone == "kept":
                order += [row, *best]
        recorder.notes.append(
            f"{len(order):,} chunks, of which {len(listed) - len(set(seeds)):,} are neighbours."
        )
        return state.replace(chunks=score_by_position("chunk", order))

    def _request_missing(
        self, row: int, chat: Chat, question: str, ctx: Context, recorder: Recorder
    ) -> str:
        """Return the evidence that a language model finds missing in a chunk."""
        texts = passage_texts(ctx.graph, Ranking("chunk", (row,)))

        def make_prompt(count: int) -> Messages:
            passages = "".join(texts[:count]) or "(none)"
            return make_messages("passages", "missing", passages=passages, question=question)

        messages, _, _ = fit_prompt(chat, make_prompt, len(texts), self.max_tokens)
        missing = one_line(request_reply(chat, messages, ctx, recorder, self.max_tokens).text)
        recorder.notes.append(f"Missing: {missing or '(nothing was said)'}")
        return missing


def chunk_neighbour_lookup(graph: KnowledgeGraph):
    """Return a function that lists the chunks linked to a chunk.

    The links are those of the passage graph. Chunks are rows of the graph's table of chunks, in
    ascending order. The list is empty for a chunk that is no node of the graph.
    """
    row_by_node: dict[int, int] = graph.derived.get_or_make(
        "rows of nodes", None, lambda: chunk_nodes(graph, range(graph.n_nodes))
    )
    node_by_row = graph.derived.get_or_make(
        "nodes of rows", None, lambda: {row: node for node, row in row_by_node.items()}
    )

    def find_neighbours(row: int) -> list[int]:
        if row not in node_by_row:
            return []
        neighbours = np.unique(graph.steps(node_by_row[row], "both")[0]).tolist()
        linked_rows = {row_by_node[node] for node in neighbours if node in row_by_node}
        return sorted(linked_rows - {row})

    return find_neighbours
