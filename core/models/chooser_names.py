"""Readable names of chooser expressions such as `prefilter(encoder, choose, 32)`."""

from __future__ import annotations

from core.models.combine import CombinatorCall, parse_chooser

# Names of models in tables; other models keep their own name.
SHORT_MODEL_NAMES = {
    "choose": "language model",
    "bm25": "BM25",
    "tfidf": "TF-IDF",
    "random": "lot",
    "late-interaction": "late interaction",
    "n-gram": "n-gram model",
    "lsa": "LSA",
    "lda": "LDA",
}
# Phrases by combinator, with the arguments of `core.models.combine.COMBINATORS` in their order.
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
    return _shorten_part(parse_chooser(expression))


def _shorten_part(part: str | float | CombinatorCall) -> str:
    if isinstance(part, str):
        return SHORT_MODEL_NAMES.get(part, part)
    if not isinstance(part, CombinatorCall):
        return f"{part:g}"
    return COMBINATOR_PHRASES[part.name].format(*map(_shorten_part, part.arguments))


# Criteria of choosers in everyday words; other models are named as they are.
CHOOSER_WORDS = {
    "random": "lot",
    **dict.fromkeys(("bm25", "tfidf", "n-gram"), "shared words"),
    **dict.fromkeys(("lsa", "lda"), "shared topics"),
    "encoder": "meaning",
    "encoder-finetuned": "meaning, trained",
    "choose": "the language model",
    "chat-finetuned": "the language model, trained",
    **dict.fromkeys(("reranker", "cross-encoder", "late-interaction"), "the re-ranker"),
}


def plain_name(expression: str) -> str:
    """Return the criterion of a chooser in everyday words: `meaning`, `the language model`.

    A prefilter is named by its costly chooser, which picks last. Any other combination is named by
    its first part. Raises BadParameter.

    >>> from core.models.chooser_names import plain_name
    >>> plain_name("encoder"), plain_name("prefilter(encoder, choose, 32)")
    ('meaning', 'the language model')
    """
    node = parse_chooser(expression)
    while isinstance(node, CombinatorCall):
        part = node.arguments[1 if node.name == "prefilter" else 0]
        assert isinstance(part, str | CombinatorCall)  # numbers are never the deciding part
        node = part
    return CHOOSER_WORDS.get(node, node)
