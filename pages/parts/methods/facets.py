"""Facets of the chooser of methods, with their titles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from core.methods import facets
from core.methods.catalogue import OWN_GROUP, RETRIEVERS_GROUP, RUNS_GROUP, Method
from core.sharing import shared
from core.sources import CorpusSource, GraphSource
from pages.parts.shared.wording import tr

AI_TITLES = {
    facets.AI_NONE: tr("No"),
    facets.AI_SMALL_MODELS: tr("Yes, small models"),
    facets.AI_LANGUAGE_MODEL: tr("Yes, a language model"),
}
SOURCE_TITLES = {GraphSource.kind: tr("Graph"), CorpusSource.kind: tr("Documents")}


def saved_heading() -> str:
    """Return the heading of the methods that users saved."""
    return tr("Saved here") if shared() else tr("Saved by you")


def method_facets(method: Method, models) -> dict[str, list[str]]:
    """Return the values of a method by the name of each facet."""
    return {
        "ai": [facets.ai_need(method, models)],
        "source": facets.source_kinds(method),
        "paper": [paper_title(method)],
    }


def paper_title(method: Method) -> str:
    """Return the paper of a method in `PAPERS`, or what else it comes from."""
    if method.group == OWN_GROUP:
        return saved_heading()
    if method.group in (RETRIEVERS_GROUP, RUNS_GROUP):
        return tr(method.group)
    return facets.named_paper(method) or tr("Others")


def facet_choices(methods_facets: Iterable[dict[str, list[str]]]) -> list[dict[str, Any]]:
    """Return the facets of some methods, with their values in order.

    A facet with a value that all of them have is left out.
    """
    listed = list(methods_facets)
    other_papers = sorted({values["paper"][0] for values in listed} - set(facets.PAPERS))
    titles = {
        "ai": (tr("Needs AI"), AI_TITLES),
        "source": (tr("For"), SOURCE_TITLES),
        "paper": (tr("Paper"), {paper: paper for paper in (*facets.PAPERS, *other_papers)}),
    }
    choices = []
    for name, (title, labels) in titles.items():
        counts = Counter(value for values in listed for value in values[name])
        if len(listed) not in counts.values():
            values = [[value, label] for value, label in labels.items() if value in counts]
            choices.append({"name": name, "title": title, "values": values})
    return choices
