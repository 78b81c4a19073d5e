"""Expressions that name models, in words for headings."""

from __future__ import annotations

from core.models.combine import Call, parse

WORDS = {"choose": "language model", "bm25": "BM25", "tfidf": "TF-IDF", "random": "lot", "late-interaction": "late interaction"}


def short_name(expression: str) -> str:
    """`encoder` as it is; `prefilter(encoder, choose, 32)` as "language model after encoder". Raises BadParameter."""
    return _words(parse(expression))


def _words(part: str | Call) -> str:
    if isinstance(part, str):
        return WORDS.get(part, part)
    first, second = (_words(inner) for inner in part.parts[:2])
    return f"{second} after {first}" if part.name == "prefilter" else f"{first}, filled by {second}"
