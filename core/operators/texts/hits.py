"""What operators on texts share: hits in their one order, budgets of tokens, words for the trace."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from core.graph.order import top_k
from core.graph.texts import hit_titles
from core.operators.generate import CHARACTERS_A_TOKEN
from core.types import Kind, Ranking

KIND_OF: dict[str, Kind] = {"nodes": "node", "relations": "triple", "chunks": "chunk", "communities": "community"}
SHOWN_NAMES = 5  # hits that a note names
DIGITS = 12  # of a score; what lies behind is the noise of arithmetic
READ = 128  # texts of hits that are read together
BEFORE_CUT = 1000  # hits that are remembered in the order before the cut


def ranked(kind: Kind, ids: Iterable[int] | np.ndarray, scores: Iterable[float] | np.ndarray, keep: int = 0) -> Ranking:
    """The `keep` best (all where 0) by (-score, id); scores that differ by the noise of arithmetic alone count as equal."""
    items = np.asarray(list(ids) if not isinstance(ids, np.ndarray) else ids, np.int64)
    values = np.round(np.asarray(list(scores) if not isinstance(scores, np.ndarray) else scores, np.float64), DIGITS)
    items, values = top_k(items, values, keep or len(items))
    return Ranking(kind, tuple(items.tolist()), tuple(values.tolist()))


def scores_of(ranking: Ranking, n: int) -> np.ndarray:
    """The score of each of `n` things, float64; 0 for those that are no hit, 1 for every hit of an order without scores."""
    values = np.zeros(n)
    values[list(ranking.items)] = 1.0 if ranking.scores is None else ranking.scores
    return values


def tokens(text: str) -> int:
    """About how many tokens a text has: a letter of another script than the Latin one counts as one.

    >>> from core.operators.texts.hits import tokens
    >>> tokens("fourteen chars"), tokens("圣诞")
    (4, 2)
    """
    plain = len(text) if text.isascii() else sum(char < "\u0250" for char in text)
    return math.ceil(plain / CHARACTERS_A_TOKEN) + len(text) - plain


def fitting(texts: Iterable[str], budget: int) -> int:
    """How many of the first texts fit into a budget of tokens; all where it is 0. The first that does not fit ends it."""
    used = place = 0
    for text in texts:
        used += tokens(text)
        if budget and used > budget:
            return place
        place += 1
    return place


def in_blocks(texts_of: Callable[[Sequence[int]], Sequence[str]], items: Sequence[int]) -> Iterator[str]:
    """The texts of items, a block of them read when it is wanted.

    >>> from core.operators.texts.hits import fitting, in_blocks
    >>> fitting(in_blocks(lambda items: [f"Text {item}." for item in items], range(1000)), 7)  # two tokens each
    3
    """
    for first in range(0, len(items), READ):
        yield from texts_of(items[first : first + READ])


def unreported(graph: Any, found: Ranking) -> list[str]:
    """A note on the communities without a report, for which the names of their members stand; none where each has one."""
    table = graph.columns.communities
    bare = sum(not table.text("report", row) for row in found.items) if table is not None else 0
    return [f"{bare:,} of {len(found):,} without a report; the names of the members stand for it."] if bare else []


def best_names(graph: Any, ranking: Ranking) -> str:
    """The first hits by name with their scores, for a note."""
    items = ranking.items[:SHOWN_NAMES]
    scores = [ranking.score(place) for place in range(len(items))]
    return "; ".join(
        name + ("" if score is None else f" ({score:.2f})") for name, score in zip(hit_titles(graph, ranking.kind, items), scores)
    )
