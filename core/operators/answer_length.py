"""Maximum length of a language model's answer, for all operators that generate one."""

from __future__ import annotations

from core.types import Question

# An answer to an abstract question may take a quarter of the model's context, at most this.
MAX_ANSWER_TOKENS = 4096
CONTEXT_DIVISOR = 4


def answer_length(question: Question, max_tokens: int, context: int) -> int:
    """Return the maximum length of an answer, in tokens.

    It is `max_tokens`. For an abstract question, which asks for an overview, it is at least a
    quarter of the model's context, but this share has at most 4,096 tokens.

    Parameters
    ----------
    question : the question; `abstract` tells if it asks for an overview.
    max_tokens : the length that the operator's parameter sets.
    context : the size of the model's context in tokens.

    >>> from core.operators.answer_length import answer_length
    >>> from core.types import Question
    >>> overview = Question("What are the main themes?", abstract=True)
    >>> (
    ...     answer_length(overview, 256, 8192),
    ...     answer_length(overview, 256, 131_072),
    ...     answer_length(Question("Who?"), 256, 8192),
    ... )
    (2048, 4096, 256)
    """
    if question.abstract:
        return max(max_tokens, min(MAX_ANSWER_TOKENS, context // CONTEXT_DIVISOR))
    return max_tokens
