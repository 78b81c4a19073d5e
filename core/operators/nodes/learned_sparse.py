"""SPLADE over nodes: search by words, including words that a model adds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.errors import BadParameter
from core.indexes.sparse_vectors import sparse_nodes
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import best_names, keep_best_hits
from core.parameters import param
from core.types import Ranking, State, Usage


@dataclass(frozen=True, repr=False)
class LearnedSparseNodes(Operator):
    """The `keep` nodes whose sparse vectors have the largest dot product with the question's.

    SPLADE (Formal et al., SIGIR 2021): a masked language model gives every word of its vocabulary a
    weight for a text, also words that are not in the text. The vectors of nodes are computed for
    the first question and stored. A node that shares no word with the question is no hit.

    >>> from core.models.base import NoModels
    >>> from scipy.sparse import csr_array
    >>> class Vowels(NoModels):
    ...     def chooser(self, name): return self
    ...     def vectors(self, texts, watch=None):
    ...         return csr_array([[float(text.count(vowel)) for vowel in "ou"] for text in texts])
    >>> line = "LearnedSparseNodes(keep=1)"
    >>> found = retrieve(line, graph=story, question="rumour", models=Vowels()).nodes
    >>> story.names(found.items), found.scores  # the question has one o and two u
    (['Cratchit'], (5.0,))
    """

    stage = "retrieve"
    title = "nodes by learned words"
    plain = "takes the {keep:,} nodes closest by learned words"
    writes = ("nodes",)

    keep: int = param(10, "Nodes", "How many are taken.", low=1, high=10_000)
    model: str = param(
        "splade",
        "Model",
        "The sparse encoder: splade, or one of your own with that backend.",
        model=True,
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        model = ctx.models.chooser(self.model)
        if not hasattr(model, "vectors"):
            raise BadParameter(
                f"“{self.model}” gives no sparse vectors; name a model of the backend splade."
            )
        if not ctx.graph.n_nodes:
            return state.replace(nodes=Ranking("node", (), ()))
        index = sparse_nodes(ctx.graph, model, ctx.models.signature(self.model), ctx.watch)
        question = model.vectors([state.question.text], ctx.watch)
        recorder.usage += Usage(texts=1)
        # `index` is a sparse matrix of nodes by words, `question` of one row by words
        scores = np.round(np.asarray((index @ question.T).todense(), np.float64).ravel(), 6)
        ids = np.flatnonzero(scores > 0)
        hits = keep_best_hits(recorder, "node", ids, scores[ids], self.keep)
        recorder.notes.append(
            f"The best: {best_names(ctx.graph, hits) or 'none shares a word with the question'}."
        )
        return state.replace(nodes=hits)

    def words(self) -> str:
        return f"{self.keep:,} nodes by learned words"
