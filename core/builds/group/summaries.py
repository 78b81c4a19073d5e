"""Summaries of texts by a language model or by their most central sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.builds.asking import reply_to
from core.builds.base import BuildContext
from core.builds.encoding import encoded
from core.corpus.sentences import sentences
from core.models.base import Messages
from core.models.chat.replies import estimate
from core.prompts import messages, plain

WORDS_A_TOKEN = 0.75
CUT = "Summaries were cut at {:,} tokens; they have no end."
READ = 2400  # most tokens of texts that a language model reads at once


def by_model(texts: Sequence[str], most: int, model: str, ctx: BuildContext) -> str:
    """Summarise texts by a language model in about `most` tokens.

    Long texts are cut so that each has the same share of the prompt.
    """
    room = READ // max(1, len(texts))
    shown = "\n\n".join(cut(plain(text), room) for text in texts)
    return _summary(
        messages("summaries", "cluster", texts=shown, words=str(round(most * WORDS_A_TOKEN))),
        most,
        model,
        ctx,
    )


def description_by_model(
    name: str, descriptions: Sequence[str], most: int, model: str, ctx: BuildContext
) -> str:
    """Summarise several descriptions of an entity or relation by a language model."""
    joined = "\n".join(descriptions)
    asked = messages(
        "summaries",
        "description",
        called=name,
        descriptions=cut(joined, READ),
        words=str(round(most * WORDS_A_TOKEN)),
    )
    return _summary(asked, most, model, ctx)


def _summary(asked: Messages, most: int, model: str, ctx: BuildContext) -> str:
    """Return the text of a reply of at most twice `most` tokens.

    A reply that was cut there is counted.
    """
    reply = reply_to(asked, ctx.chat(model), ctx, cut=True, max_tokens=2 * most)
    if reply.cut:
        ctx.report.count(**{"summaries cut": 1})
        ctx.report.note(CUT.format(2 * most))
    return plain(reply.text)


def central(texts: Sequence[str], most: int, encoder: str, ctx: BuildContext) -> str:
    """Return the sentences of texts that are nearest to the mean of all their vectors.

    There are at least one and at most `most` tokens of them, in the order of the texts, without
    duplicates.
    """
    found = list(dict.fromkeys(plain(text[a:b]) for text in texts for a, b in sentences(text)))
    found = [sentence for sentence in found if sentence]
    if not found:
        return ""
    vectors = encoded(found, encoder, ctx)
    scores = np.round(vectors @ vectors.mean(axis=0), 6)
    return " ".join(
        found[place]
        for place in sorted(chosen(scores, [estimate(sentence) for sentence in found], most))
    )


def chosen(scores: np.ndarray, sizes: Sequence[int], most: int) -> list[int]:
    """Return the indices of the best scores whose sizes together fit into `most`.

    They are ordered by (-score, index). The first is always included.

    >>> import numpy as np
    >>> from core.builds.group.summaries import chosen
    >>> chosen(np.array([0.5, 0.9, 0.7]), [5, 5, 5], 10)
    [1, 2]
    """
    taken: list[int] = []
    for place in np.lexsort((np.arange(len(scores)), -scores)).tolist():
        most -= sizes[place]
        if taken and most < 0:
            break
        taken.append(place)
    return taken


def cut(text: str, most: int) -> str:
    """Return the beginning of a text, about `most` tokens, cut between words."""
    if estimate(text) <= most:
        return text
    return text.encode()[: int(most * 3.5)].decode("utf-8", "ignore").rsplit(" ", 1)[0] + " …"
