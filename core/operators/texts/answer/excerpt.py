"""The retrieved sentence nearest to the question, without a language model."""

from __future__ import annotations

from dataclasses import dataclass

from core.corpus.sentences import sentence_spans
from core.graph.texts import chunk_nodes, chunk_text
from core.models.base import Task
from core.models.scorers import EncoderScorer, top_k
from core.operators.base import Context, Operator, Recorder
from core.parameters import param
from core.types import Excerpt, State, Usage

MAX_EXCERPT_CHARACTERS = 600  # characters of a sentence that are shown


@dataclass(frozen=True, repr=False)
class NearestSentence(Operator):
    """The sentence of the retrieved chunks that is nearest to the question.

    It is an excerpt, not an answer. Nodes that are chunks count too. This is Hopscope's own reader
    for lines on texts, used if no language model is asked. It compares by the cosine of an
    encoder's vectors; of equal sentences the first of the best chunk is taken.

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
        sentences = [
            (row, sentence) for row in chunks for sentence in _sentences(chunk_text(ctx.graph, row))
        ][: self.most]
        if not sentences:
            recorder.notes.append("No chunk was found, so there is no sentence to show.")
            return state.replace(excerpt=None)
        ctx.watch.report("Looking for the nearest sentence")
        scores = EncoderScorer(ctx.models.encoder(self.encoder)).score(
            Task(state.question.text, "sentence", watch=ctx.watch), [one for _, one in sentences]
        )
        recorder.usage += Usage(texts=len(sentences))
        nearest = int(top_k(scores.round(6), 1)[0])
        row, sentence = sentences[nearest]
        recorder.notes.append(f"The nearest of {len(sentences):,} sentences.")
        return state.replace(
            excerpt=Excerpt(
                sentence[:MAX_EXCERPT_CHARACTERS], row, round(float(scores[nearest]), 6)
            )
        )


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text, each on one line."""
    return [" ".join(text[start:end].split()) for start, end in sentence_spans(text)]
