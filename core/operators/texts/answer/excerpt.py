"""Operator that returns the retrieved sentence nearest to the question, by an encoder alone."""

from __future__ import annotations

from dataclasses import dataclass

from core.corpus.sentences import sentence_spans
from core.graph.texts import chunk_nodes, chunk_text
from core.models.base import Task
from core.models.scorers import EncoderScorer, top_k
from core.operators.base import Context, Operator, Recorder
from core.parameters import param
from core.prompts import one_line
from core.types import Excerpt, State, Usage

MAX_EXCERPT_CHARACTERS = 600  # a longer sentence is cut


@dataclass(frozen=True, repr=False)
class NearestSentence(Operator):
    """The sentence of the retrieved chunks that is nearest to the question.

    It is an excerpt, not an answer. If there are no chunks, the retrieved nodes that are chunks are
    read. This is Hopscope's own reader for lines on documents, used if no language model is asked.
    Sentences are compared by the cosine of an encoder's vectors. Of sentences with equal scores the
    first of the best chunk is returned.

    >>> line, question = "SparseChunks(keep=1) >> NearestSentence()", "Marley was dead"
    >>> state = retrieve(line, graph=story, question=question, models=scores({}))
    >>> state.excerpt.text, state.excerpt.chunk
    ('Marley was dead, to begin with.', 0)
    """

    stage = "read"
    title = "nearest sentence"
    reads_any, writes = ("chunks", "nodes"), ("excerpt",)

    most: int = param(
        200, "Sentences at most", "Of the best chunks; more are not looked at.", low=1, high=10_000
    )
    encoder: str = param("encoder", "Encoder", "The sentence encoder that compares.", model=True)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        chunk_by_node = chunk_nodes(ctx.graph, state.nodes.items) if state.nodes else {}
        chunks = state.chunks.items if state.chunks else chunk_by_node.values()
        sentences: list[str] = []
        rows: list[int] = []  # the chunk of each sentence
        for row in chunks:
            text = chunk_text(ctx.graph, row)
            for start, end in sentence_spans(text):
                sentences.append(one_line(text[start:end]))
                rows.append(row)
            if len(sentences) >= self.most:
                break
        sentences = sentences[: self.most]
        if not sentences:
            recorder.notes.append("No chunk was found, so there is no sentence to show.")
            return state.replace(excerpt=None)
        ctx.watch.report("Looking for the nearest sentence")
        task = Task(state.question.text, "sentence", watch=ctx.watch)
        scores = EncoderScorer(ctx.models.encoder(self.encoder)).score(task, sentences)
        recorder.usage += Usage(texts=len(sentences))
        # rounded, so that rounding errors do not choose between equal sentences
        nearest = int(top_k(scores.round(6), 1)[0])
        recorder.notes.append(f"The nearest of {len(sentences):,} sentences.")
        text = sentences[nearest][:MAX_EXCERPT_CHARACTERS]
        score = round(float(scores[nearest]), 6)
        return state.replace(excerpt=Excerpt(text, rows[nearest], score))
