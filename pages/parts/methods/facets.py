"""Facets of the chooser of methods: need of AI, kind of source, and paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from core.errors import BadParameter
from core.methods.catalogue import Method
from core.methods.model_needs import needed_models
from pages.parts.methods.groups import PAPERS, paper_title
from pages.parts.shared.wording import tr

# Models that count words or topics, or draw at random; every other model is AI.
AI_FREE_BACKENDS = frozenset(("bm25", "tfidf", "n-gram", "lsa", "lda", "random"))
AI_NEEDS = {
    "no": tr("No"),
    "small": tr("Yes, small models"),
    "language": tr("Yes, a language model"),
}
SOURCE_KINDS = {"graph": tr("Graph"), "corpus": tr("Documents")}


def ai_need(method: Method, models) -> str:
    """Return the key in `AI_NEEDS` of what a method asks before it answers.

    A method of answering steps alone needs what these ask. A role needs what its model is.
    """
    searching_line = method.line.without_stage("generate")
    need = "no"
    for name in needed_models(searching_line if len(searching_line) else method.line):
        try:
            info = models.info(name)
        except BadParameter:  # a name that no model is declared for
            return "language"
        if info.kind == "chat":
            return "language"
        if info.backend not in AI_FREE_BACKENDS:
            need = "small"
    return need


def source_kinds(method: Method) -> list[str]:
    """Return the kinds of source that a method can be asked of."""
    if reads_no_source(method):
        return list(SOURCE_KINDS)
    return ["corpus" if method.on_documents else "graph"]


def reads_no_source(method: Method) -> bool:
    """Return whether a method reads neither a graph nor a corpus."""
    stages = {operator.stage for operator in method.line.parts()}
    return not method.only_on and stages.isdisjoint(("graph", "extract", "retrieve", "refine"))


def method_facets(method: Method, models) -> dict[str, list[str]]:
    """Return the values of a method by the name of each facet."""
    return {
        "ai": [ai_need(method, models)],
        "source": source_kinds(method),
        "paper": [paper_title(method)],
    }


def facet_choices(facets: Iterable[dict[str, list[str]]]) -> list[dict[str, Any]]:
    """Return the facets of some methods, with their values in order.

    A facet with a value that all of them have is left out.
    """
    listed = list(facets)
    papers = {value for values in listed for value in values["paper"]}
    titles = {
        "ai": (tr("Needs AI"), AI_NEEDS),
        "source": (tr("For"), SOURCE_KINDS),
        "paper": (tr("Paper"), {paper: paper for paper in sorted(papers, key=_paper_rank)}),
    }
    choices = []
    for name, (title, labels) in titles.items():
        counts = Counter(value for values in listed for value in values[name])
        values = [[value, label] for value, label in labels.items() if value in counts]
        if len(listed) not in counts.values():
            choices.append({"name": name, "title": title, "values": values})
    return choices


def _paper_rank(paper: str) -> tuple[int, str]:
    return PAPERS.index(paper) if paper in PAPERS else len(PAPERS), paper
