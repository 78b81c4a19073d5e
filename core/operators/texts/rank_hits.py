"""Reranking of hits by a model that reads them with the question."""

from __future__ import annotations

from dataclasses import dataclass

from core.graph.texts import node_chunks
from core.indexes.encoded import texts
from core.models.base import Task
from core.models.combine import uses_chat
from core.models.words import plain_name, short_name
from core.operators.asking import unasked
from core.operators.base import HITS, Context, Operator, Recorder
from core.operators.refine import ItemRanking
from core.operators.texts.hits import KIND_OF
from core.parameters import param
from core.types import Ranking, State


@dataclass(frozen=True, repr=False)
class RankHits(Operator):
    """The best `keep` of the hits of one kind, by a model.

    The model reads question and hits once. This is a re-ranker for the hits of any search. Each hit
    is read as the encoder reads it for search. With the encoder it orders passages as LightRAG does
    today. A language model may name fewer; they stay in the order in which it named them. If no
    language model may be asked, the order stays and is cut.

    >>> models = picks("Tiny Tim, the son of Cratchit, who works for Scrooge, was lame.")
    >>> line = "SparseChunks(keep=2) >> RankHits(keep=1, model='x')"
    >>> state = retrieve(line, graph=story, question="the clerk Cratchit", models=models)
    >>> story.columns.chunks.texts("id", state.chunks.items)
    ['carol#2']
    """

    stage = "refine"
    title = "hits ranked anew"
    without_model = True

    of: str = param(
        "chunks", "Hits", "Which of the hits are ranked; the others stay as they are.", choices=HITS
    )
    model: str = param(
        "encoder",
        "Model",
        "What ranks or picks: a scorer, a language model, or a combination.",
        model=True,
    )
    keep: int = param(4, "Keep", "How many stay.", low=1, high=100_000)

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return (self.of,)

    @property
    def writes(self) -> tuple[str, ...]:  # type: ignore[override]
        return (self.of,)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        found: Ranking = getattr(state, self.of)
        recorder.before_cut = found
        if not len(found) or (
            uses_chat(self.model, ctx.models.is_chat)
            and unasked(ctx, recorder, "the order stayed as it was")
        ):
            return state.replace(**{self.of: found.head(self.keep)})
        ctx.watch.report(f"Ranking {len(found):,} {self.of}")
        read = texts(ctx.graph, self.of, found.items)  # type: ignore[arg-type]
        unit = "document" if self.of == "nodes" and node_chunks(ctx.graph) else KIND_OF[self.of]
        task = Task(state.question.text, unit, ctx.seed, ctx.watch)
        return ItemRanking(self.of, self.model, self.keep)(state, ctx, recorder, task, read)

    def words(self) -> str:
        return f"best {self.keep:,} {self.of} by {short_name(self.model)}"

    def plain_words(self) -> str:
        what = {"nodes": "entities", "chunks": "passages", "communities": "community reports"}.get(
            self.of, self.of
        )
        return f"retains the {self.keep:,} best {what} by {plain_name(self.model)}"
