"""Questions with their entities masked, so that questions of the same form are similar."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from core.graph.names.lookup import name_lookup
from core.graph.names.phrases import ENTITY_PLACEHOLDER
from core.graph.store import Graph


def mask_entities(graph: Graph, text: str, seeds: Sequence[int]) -> str:
    """Replace the entities of a question by X.

    Names are first searched as they are spelled in the graph, then in any case, then with spaces
    for underscores. If none is found, the mentions that entity linking finds in the text are
    replaced.

    Parameters
    ----------
    text : the question.
    seeds : node ids of the question entities.

    Returns
    -------
    The question with X for each name that was found; unchanged if none is.
    """
    text = text.replace("[", "").replace("]", "")
    names = sorted(set(graph.names(seeds)), key=lambda name: (-len(name), name))
    for spelt, flags in (
        (names, 0),
        (names, re.IGNORECASE),
        ([name.replace("_", " ") for name in names], re.IGNORECASE),
    ):
        new_text = _mask_names(text, spelt, flags)
        if new_text != text:
            return new_text
    for mention in reversed(name_lookup(graph).find_mentions(text)):
        if mention.node in seeds:
            text = text[: mention.start] + ENTITY_PLACEHOLDER + text[mention.end :]
    return text


def _mask_names(text: str, names: Iterable[str], flags: int) -> str:
    for name in names:
        if name:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", ENTITY_PLACEHOLDER, text, flags=flags)
    return text
