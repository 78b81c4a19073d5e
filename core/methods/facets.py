"""Facets by which methods are found: need of AI, kind of source, and paper; and the picks."""

from __future__ import annotations

from core.errors import BadParameter
from core.methods.catalogue import Method
from core.methods.model_needs import needed_models
from core.sources import CorpusSource, GraphSource

# Hopscope's picks: the methods compared at first, and the best ones that need less or no AI.
PICKS = (
    *reversed(GraphSource.default_lanes),
    "lego-1",
    *CorpusSource.default_lanes,
    "hybrid",
    "bm25-passages",
)
# Papers by which methods are found, as `Method.paper` names them; the first that it names counts.
PAPERS = (
    "LEGO-GraphRAG v1",
    "LEGO-GraphRAG",
    "Walk&Retrieve",
    "In-depth Analysis of Graph-based RAG",
    "FastInsight",
    "Hopscope",
    "LightRAG",
    "HippoRAG",
)
AI_NONE = "no"
AI_SMALL_MODELS = "small"  # encoders, re-rankers and the like
AI_LANGUAGE_MODEL = "language"
# Models that count words or topics, or draw at random; every other model is AI.
AI_FREE_BACKENDS = frozenset(("bm25", "tfidf", "n-gram", "lsa", "lda", "random"))


def ai_need(method: Method, models) -> str:
    """Return one of the `AI_...` constants: the most that a method asks before it answers.

    A method of answering steps alone needs what these ask. A role needs what its model is.
    """
    searching_line = method.line.without_stage("generate")
    need = AI_NONE
    for name in needed_models(searching_line if len(searching_line) else method.line):
        try:
            info = models.info(name)
        except BadParameter:  # a name that no model is declared for
            return AI_LANGUAGE_MODEL
        if info.kind == "chat":
            return AI_LANGUAGE_MODEL
        if info.backend not in AI_FREE_BACKENDS:
            need = AI_SMALL_MODELS
    return need


def source_kinds(method: Method) -> list[str]:
    """Return the kinds of source that a method can be asked of."""
    if reads_no_source(method):
        return [GraphSource.kind, CorpusSource.kind]
    return [CorpusSource.kind if method.on_documents else GraphSource.kind]


def reads_no_source(method: Method) -> bool:
    """Return whether a method reads neither a graph nor a corpus."""
    stages = {operator.stage for operator in method.line.parts()}
    return not method.only_on and stages.isdisjoint(("graph", "extract", "retrieve", "refine"))


def named_paper(method: Method) -> str:
    """Return the first of `PAPERS` that a method names; empty without one."""
    return next((paper for paper in PAPERS if paper in method.paper), "")
