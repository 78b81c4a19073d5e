"""Descriptions of one entity or relation from several chunks, made one that is not too long."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from core.builds.base import BuildContext
from core.builds.group.summaries import description_by_model
from core.errors import shorten
from core.models.chat.replies import estimate

CUT = "descriptions were longer than {} tokens and cut behind the last that fits"


def described(longest: int, model: str, ctx: BuildContext) -> Callable[[str, Iterable[str]], str]:
    """What makes one description of several, of what is called by the first argument: joined, and where that is more than `longest`
    tokens, summarised by the language model `model`, or where none is named, or it says nothing, cut behind the last that fits."""

    def joined(what: str, descriptions: Iterable[str]) -> str:
        several = [" ".join(one.split()) for one in descriptions]
        if sum(map(estimate, several)) <= longest:
            return " ".join(several)
        if model and (told := description_by_model(what, several, longest, model, ctx)):
            ctx.report.count(summarised=1)
            return told
        ctx.report.count(cut=1)
        ctx.report.note(f"{CUT.format(longest)}.".capitalize())
        return fitting(several, longest)

    return joined


def fitting(several: Iterable[str], longest: int) -> str:
    """As many of some texts as fit, in their order; of the first at least the beginning.

    >>> from core.builds.merge.descriptions import fitting
    >>> fitting(["One two.", "Three four.", "Five."], 7)
    'One two. Three four.'
    """
    kept: list[str] = []
    room = longest
    for text in several:
        room -= estimate(text)
        if room < 0:
            break
        kept.append(text)
    return " ".join(kept) or shorten(next(iter(several), ""), int(longest * 3.5))
