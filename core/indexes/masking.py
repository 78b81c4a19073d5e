"""Questions with their entities masked, so that questions of one form are alike whatever they ask about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from core.graph.names.lookup import names
from core.graph.names.phrases import PLACEHOLDER
from core.graph.store import Graph


def masked(graph: Graph, text: str, seeds: Sequence[int]) -> str:
    """The question with X for its entities: where they are written as named, else in another case, else where the text mentions them."""
    text = text.replace("[", "").replace("]", "")
    called = sorted(set(graph.names(seeds)), key=lambda name: (-len(name), name))
    for spelt, flags in (
        (called, 0),
        (called, re.IGNORECASE),
        ([name.replace("_", " ") for name in called], re.IGNORECASE),
    ):
        without = _without(text, spelt, flags)
        if without != text:
            return without
    for mention in reversed(names(graph).mentions(text)):
        if mention.node in seeds:
            text = text[: mention.start] + PLACEHOLDER + text[mention.end :]
    return text


def _without(text: str, spelt: Iterable[str], flags: int) -> str:
    for name in spelt:
        if name:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", PLACEHOLDER, text, flags=flags)
    return text
