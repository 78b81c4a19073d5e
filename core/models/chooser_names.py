"""Readable names of expressions that name models."""

from __future__ import annotations

from core.models.combine import CombinatorCall, parse_chooser

SHORT_MODEL_NAMES = {
    "choose": "language model",
    "bm25": "BM25",
    "tfidf": "TF-IDF",
    "random": "lot",
    "late-interaction": "late interaction",
}
SHORT_MODEL_NAMES |= {"n-gram": "n-gram model", "lsa": "LSA", "lda": "LDA"}
COMBINATOR_PHRASES = {
    "prefilter": "{1} after {0}",
    "supplement": "{0}, filled by {1}",
    "rescore": "{0}, reordered by {1}",
    "rounds": "{0} in rounds of {1}",
    "above": "{0} of at least {1}",
    "prompted": "{0}, prompt {1}",
}


def short_name(expression: str) -> str:
    """Return a short name: "language model after encoder" for `prefilter(encoder, choose, 32)`.

    A plain name such as `encoder` is returned as it is. Raises BadParameter.
    """
    return _words(parse_chooser(expression))


def _words(part: str | CombinatorCall) -> str:
    if isinstance(part, str):
        return SHORT_MODEL_NAMES.get(part, part)
    first, second = (
        _words(inner) if isinstance(inner, str | CombinatorCall) else f"{inner:g}"
        for inner in part.parts[:2]
    )
    return COMBINATOR_PHRASES[part.name].format(first, second)


CHOOSER_WORDS = {
    "random": "lot",
    "bm25": "shared words",
    "tfidf": "shared words",
    "encoder": "meaning",
    "encoder-finetuned": "meaning, trained",
}
CHOOSER_WORDS |= {"n-gram": "shared words", "lsa": "shared topics", "lda": "shared topics"}
CHOOSER_WORDS |= {"choose": "the language model", "chat-finetuned": "the language model, trained"}
CHOOSER_WORDS |= dict.fromkeys(("reranker", "cross-encoder", "late-interaction"), "the re-ranker")


def plain_name(expression: str) -> str:
    """Return the criterion of a chooser in everyday words: `meaning`, `the language model`.

    A combination is named by the part that decides last; if two share the work, by the first.
    Raises BadParameter.

    >>> from core.models.chooser_names import plain_name
    >>> plain_name("encoder"), plain_name("prefilter(encoder, choose, 32)")
    ('meaning', 'the language model')
    """
    node = parse_chooser(expression)
    while isinstance(node, CombinatorCall):
        last = 1 if node.name == "prefilter" else 0
        node = next(
            inner
            for inner in (node.parts[last], *node.parts)
            if isinstance(inner, str | CombinatorCall)
        )
    return CHOOSER_WORDS.get(node, node)
