"""How long an answer may be."""

from __future__ import annotations

from core.types import Question

# tokens of an answer to an abstract question, and the part of the model's context that it may have: a quarter
MAX_TOKENS, SHARE = (4096, 4)


def longest(question: Question, max_tokens: int, context: int) -> int:
    """The tokens that an answer may have: `max_tokens`; to an abstract question a quarter of the model's context and at most 4,096 where
    that is more, which is the same for every line that is compared.

    >>> from core.operators.length import longest
    >>> from core.types import Question
    >>> overview = Question("What are the main themes?", abstract=True)
    >>> longest(overview, 256, 8192), longest(overview, 256, 131_072), longest(Question("Who?"), 256, 8192)
    (2048, 4096, 256)
    """
    return max(max_tokens, min(MAX_TOKENS, context // SHARE)) if question.abstract else max_tokens
