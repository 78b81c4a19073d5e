"""Summaries of texts and descriptions.

They are made by a language model or of the most central sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from core.builds.base import BuildContext
from core.builds.model_requests import reply_to
from core.builds.text_vectors import encode_unit_vectors
from core.corpus.sentences import sentence_spans
from core.models.base import Messages
from core.models.chat.token_estimates import estimate_text_tokens
from core.prompts import make_messages, one_line

# Estimates for English texts.
WORDS_PER_TOKEN = 0.75
CUT_SUMMARY_NOTE = "Summaries were cut at {:,} tokens; they have no end."
MAX_SUMMARY_INPUT_TOKENS = 2400  # of the texts in one request
BYTES_PER_TOKEN = 3.5
ENCODED_GROUPS = 256  # whose sentences are encoded together


def summarise_by_model(
    texts: Sequence[str], limit: int, model: str, ctx: BuildContext, **sampling: Any
) -> str:
    """Summarise texts by a language model.

    Long texts are cut so that each has the same share of the prompt.

    Parameters
    ----------
    texts : the texts.
    limit : about how many tokens the summary should have; it is cut at twice as many.
    model : role or name of the language model.
    ctx : the models, the report and the settings of the build.
    sampling : seed and temperature of the language model.

    Returns
    -------
    The summary; empty if the reply is.

    Raises
    ------
    ModelUnavailable, ModelFailed : as the model raises.
    """
    share = MAX_SUMMARY_INPUT_TOKENS // max(1, len(texts))
    body = "\n\n".join(cut_text(one_line(text), share) for text in texts)
    words = str(round(limit * WORDS_PER_TOKEN))
    prompt = make_messages("summaries", "cluster", texts=body, words=words)
    return _ask_for_summary(prompt, limit, model, ctx, **sampling)


def summarise_descriptions(
    name: str,
    descriptions: Sequence[str],
    limit: int,
    model: str,
    ctx: BuildContext,
    **sampling: Any,
) -> str:
    """Summarise several descriptions of an entity or relation by a language model.

    Parameters
    ----------
    name : name of the entity, or of both ends of the relation.
    descriptions : its descriptions; together they are cut to `MAX_SUMMARY_INPUT_TOKENS`.
    limit : about how many tokens the summary has.
    model : role or name of the language model.
    ctx : the models, the report and the settings of the build.
    sampling : seed and temperature of the language model.

    Returns
    -------
    The summary.

    Raises
    ------
    ModelUnavailable, ModelFailed : as the model raises.
    """
    body = cut_text("\n".join(descriptions), MAX_SUMMARY_INPUT_TOKENS)
    words = str(round(limit * WORDS_PER_TOKEN))
    prompt = make_messages("summaries", "description", called=name, descriptions=body, words=words)
    return _ask_for_summary(prompt, limit, model, ctx, **sampling)


def _ask_for_summary(
    prompt: Messages, limit: int, model: str, ctx: BuildContext, **sampling: Any
) -> str:
    """Return the text of a reply of at most twice `limit` tokens.

    A reply that was cut at this length is counted.
    """
    options = {"max_tokens": 2 * limit, **sampling}
    reply = reply_to(prompt, ctx.chat(model), ctx, accept_cut=True, **options)
    if reply.is_cut:
        ctx.report.count(**{"summaries cut": 1})
        ctx.report.note(CUT_SUMMARY_NOTE.format(2 * limit))
    return one_line(reply.text)


def central_sentences(
    groups: Sequence[Sequence[str]], limit: int, encoder: str, ctx: BuildContext
) -> list[str]:
    """Return the sentences nearest to the mean of their vectors, for each group of texts.

    Parameters
    ----------
    groups : the texts of each group.
    limit : largest number of tokens; one sentence is returned in any case.
    encoder : role or name of the encoder.
    ctx : the models and the report of the build.

    Returns
    -------
    Sentences of each group in the order of its texts, without duplicates; empty for texts without
    any.
    """
    summaries: list[str] = []
    for first in range(0, len(groups), ENCODED_GROUPS):
        sentences = [_distinct_sentences(texts) for texts in groups[first : first + ENCODED_GROUPS]]
        vectors = encode_unit_vectors([*chain.from_iterable(sentences)], encoder, ctx)
        bounds = np.cumsum([0, *map(len, sentences)])
        for number, group in enumerate(sentences):
            group_vectors = vectors[bounds[number] : bounds[number + 1]]
            summaries.append(_choose_central(group, group_vectors, limit))
    return summaries


def _distinct_sentences(texts: Sequence[str]) -> list[str]:
    """Return the sentences of texts in their order, each once."""
    distinct: dict[str, None] = {}
    for text in texts:
        spans = sentence_spans(text)
        distinct.update((one_line(text[start:end]), None) for start, end in spans)
    return list(filter(None, distinct))


def _choose_central(sentences: Sequence[str], vectors: np.ndarray, limit: int) -> str:
    """Return the sentences nearest to the mean vector, in their order, up to a limit of tokens."""
    if not sentences:
        return ""
    scores = np.round(vectors @ vectors.mean(axis=0), 6)
    chosen = choose_within(scores, list(map(estimate_text_tokens, sentences)), limit)
    return " ".join(sentences[index] for index in sorted(chosen))


def choose_within(scores: np.ndarray, sizes: Sequence[int], limit: int) -> list[int]:
    """Return the indices of the best scores whose sizes together fit into a limit.

    Parameters
    ----------
    scores : float [n].
    sizes : size of each, for example in tokens.
    limit : largest sum of sizes.

    Returns
    -------
    Indices, ordered by (-score, index), up to the first that does not fit. The best is always
    included.

    Examples
    --------
    >>> import numpy as np
    >>> from core.builds.group.summaries import choose_within
    >>> choose_within(np.array([0.5, 0.9, 0.7]), [5, 5, 5], 10)
    [1, 2]
    """
    chosen: list[int] = []
    for index in np.lexsort((np.arange(len(scores)), -scores)).tolist():
        limit -= sizes[index]
        if chosen and limit < 0:
            break
        chosen.append(index)
    return chosen


def leading_texts(texts: Iterable[str], limit: int) -> list[str]:
    """Return the leading texts that together have at most `limit` tokens.

    Parameters
    ----------
    texts : the texts.
    limit : largest number of tokens.

    Returns
    -------
    Texts; empty if the first one is too long.
    """
    result: list[str] = []
    for text in texts:
        limit -= estimate_text_tokens(text)
        if limit < 0:
            break
        result.append(text)
    return result


def cut_text(text: str, limit: int) -> str:
    """Return the beginning of a text, cut between words.

    Parameters
    ----------
    text : the text.
    limit : about how many tokens the result has.

    Returns
    -------
    The whole text if it fits, else its beginning with an ellipsis.
    """
    if estimate_text_tokens(text) <= limit:
        return text
    beginning = text.encode()[: int(limit * BYTES_PER_TOKEN)].decode("utf-8", "ignore")
    return beginning.rsplit(" ", 1)[0] + " …"
