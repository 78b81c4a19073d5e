"""Operator that reranks hits by a model.

The model is for example a cross-encoder or a language model.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.graph.texts import has_chunk_nodes
from core.indexes.vector_blocks import texts_of_items
from core.models.base import Task
from core.models.chooser_names import plain_name, short_name
from core.models.combine import uses_chat
from core.operators.base import HIT_FIELDS, Context, Operator, Recorder
from core.operators.model_replies import skips_model_call
from core.operators.refine import ItemRanking
from core.operators.texts.hits import HIT_WORDS, KIND_BY_FIELD
from core.parameters import param
from core.types import Ranking, State


@dataclass(frozen=True, repr=False)
class RankHits(Operator):
    """The best `keep` of the hits of one kind, by a model.

    This is a re-ranker for the hits of any search. The model reads the question and the same text
    of each hit that the encoder reads for a search. With the encoder as model, passages are ordered
    as in LightRAG 1.5. A language model may name fewer than `keep` hits, and these stay in the
    order in which it named them. If no language model may be asked, the first `keep` hits stay.

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
        "chunks",
        "Hits",
        "Which of the hits are ranked; the others stay as they are.",
        choices=HIT_FIELDS,
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
        candidates: Ranking = getattr(state, self.of)
        recorder.before_cut = candidates
        if not len(candidates) or (
            uses_chat(self.model, ctx.models.is_chat)
            and skips_model_call(ctx, recorder, "the order stayed as it was")
        ):
            return state.replace(**{self.of: candidates.head(self.keep)})
        ctx.watch.report(f"Ranking {len(candidates):,} {self.of}")
        texts = texts_of_items(ctx.graph, self.of, candidates.items)  # type: ignore[arg-type]
        is_document = self.of == "nodes" and has_chunk_nodes(ctx.graph)
        unit = "document" if is_document else KIND_BY_FIELD[self.of]
        task = Task(state.question.text, unit, ctx.seed, ctx.watch)
        return ItemRanking(self.of, self.model, self.keep)(state, ctx, recorder, task, texts)

    def words(self) -> str:
        return f"best {self.keep:,} {self.of} by {short_name(self.model)}"

    def plain_words(self) -> str:
        hit_words = HIT_WORDS.get(self.of, self.of)
        return f"retains the {self.keep:,} best {hit_words} by {plain_name(self.model)}"
