"""Support of an answer's sentences by the text in the prompt.

Support is measured by an encoder (cosine), or judged by a language model. It shows if an answer
rests on the retrieved text rather than on what the answering model knew before.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.corpus.sentences import sentence_spans
from core.diagnosis.prompt_items import context_text
from core.diagnosis.support import find_supports
from core.errors import BadInput, ModelFailed
from core.evaluation.metrics.judge_prompts import boolean_schema, judge_messages, parse_boolean
from core.models.base import Chat, Encoder
from core.types import State
from core.watch import NO_WATCH, Watch

SUPPORT_SCHEMA = boolean_schema("supported")
MAX_JUDGED_SENTENCES = 20  # sentences of an answer that a language model is asked about
# Assumed characters per token of the judge's context. Half of the context is for the prompt's text.
CONTEXT_CHARACTERS_PER_TOKEN = 3


@dataclass(frozen=True)
class AnswerSupport:
    """Support of each sentence of an answer.

    `cosines` holds, for each sentence, the cosine with the nearest sentence of the chunks in the
    prompt. `verdicts` holds a language model's verdict on each sentence: True if supported, None if
    its reply could not be used. Either field is None if the measurement was not requested or if
    there is nothing to compare. `note` gives the first reason why a verdict is None.
    """

    cosines: tuple[float, ...] | None = None
    verdicts: tuple[bool | None, ...] | None = None
    note: str = ""


def support_by_encoder(
    graph, state: State, encoder: Encoder, watch: Watch = NO_WATCH
) -> AnswerSupport | None:
    """Return the cosine of each answer sentence with its nearest sentence.

    The nearest sentence is one of the chunks in the prompt.

    Parameters
    ----------
    graph : the graph whose chunks the prompt shows.
    state : the last state of a method.
    encoder : encodes the sentences.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    One cosine for each sentence, with negative cosines as 0. None without an answer of a language
        model or without chunks.

    Examples
    --------
    >>> from core.evaluation.metrics.answer_support import support_by_encoder
    >>> from tests.films import Bag
    >>> line, reply = (
    ...     "SparseChunks(keep=1) >> AnswerFromTables()",
    ...     "Tiny Tim, the son of Cratchit, who works for Scrooge, was lame.",
    ... )
    >>> state = retrieve(line, graph=story, question="Who was lame?", models=says(reply))
    >>> support_by_encoder(story, state, Bag()).cosines
    (1.0,)
    """
    hits = find_supports(graph, state, encoder, watch) if state.answer else ()
    return AnswerSupport(cosines=tuple(max(0.0, hit.score) for hit in hits)) if hits else None


def support_by_model(state: State, chat: Chat, watch: Watch = NO_WATCH) -> AnswerSupport | None:
    """Return a language model's verdict on each of the answer's first 20 sentences.

    The model is asked whether the text in the prompt states the sentence.

    Parameters
    ----------
    state : the last state of a method.
    chat : the judging language model.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    One verdict for each sentence, None for an unreadable reply. None instead of verdicts if there
        is no answer or no text in the prompt.

    Examples
    --------
    >>> from core.evaluation.metrics.answer_support import support_by_model
    >>> line = "SparseChunks(keep=1) >> AnswerFromTables()"
    >>> state = retrieve(
    ...     line, graph=story, question="Who was lame?", models=says("Tiny Tim. The king.")
    ... )
    >>> from tests.films import Parrot
    >>> support_by_model(state, Parrot('{"supported": true}')).verdicts
    (True, True)
    """
    context = context_text(state.prompt, state.question.text).strip()
    spans = list(sentence_spans(state.answer or ""))[:MAX_JUDGED_SENTENCES]
    if not state.answer or not spans or not context:
        return None
    verdicts = []
    note = ""  # the first fault
    for start, end in spans:
        verdict, fault = _ask_support(chat, context, state.answer[start:end], watch)
        verdicts.append(verdict)
        note = note or fault
    return AnswerSupport(verdicts=tuple(verdicts), note=note)


def _ask_support(
    chat: Chat, context: str, sentence: str, watch: Watch = NO_WATCH
) -> tuple[bool | None, str]:
    """Return the judge's verdict on a sentence, and the reason if it is None."""
    messages = judge_messages(
        "supported",
        context=context[: CONTEXT_CHARACTERS_PER_TOKEN * chat.context // 2],
        sentence=" ".join(sentence.split()),
    )
    try:
        reply = chat.reply(messages, schema=SUPPORT_SCHEMA, max_tokens=16, watch=watch)
    except (ModelFailed, BadInput) as error:
        return None, f"The judge could not be asked: {error}"
    verdict = parse_boolean(reply.text, "supported")
    if verdict is None:
        return None, f"The judge's reply could not be used: {reply.excerpt}"
    return verdict, ""
