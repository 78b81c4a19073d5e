"""Support of an answer's sentences by the text in the prompt.

Support is measured by an encoder (cosine) or judged by a language model.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.corpus.sentences import sentences
from core.diagnosis.support import supports
from core.errors import BadInput, ModelFailed
from core.models.base import Chat, Encoder
from core.models.chat.json_reply import json_reply
from core.prompts import filled, prompts
from core.types import State
from core.watch import NO_WATCH, Watch

SCHEMA = {
    "type": "object",
    "properties": {"supported": {"type": "boolean"}},
    "required": ["supported"],
    "additionalProperties": False,
}
MAX_SENTENCES = 20  # sentences of an answer that a language model is asked about
# Assumed characters per token of the judge's context. Half of the context is for the prompt's text.
ROOM = 3


@dataclass(frozen=True)
class Supported:
    """Support of each sentence of an answer.

    `cosines` compares each sentence with the nearest sentence of the chunks in the prompt.
    `verdicts` holds a language model's verdict on each sentence, None where its reply could not be
    used. Either field is None if it was not requested or if there is nothing to compare.
    """

    cosines: tuple[float, ...] | None = None
    verdicts: tuple[bool | None, ...] | None = None
    note: str = ""


def by_encoder(graph, state: State, encoder: Encoder, watch: Watch = NO_WATCH) -> Supported | None:
    """Return each answer sentence's cosine with the nearest sentence of the chunks in the prompt.

    Only answers of a language model are compared. Negative cosines count as 0.

    >>> from core.evaluation.metrics.supported import by_encoder
    >>> from tests.films import Bag
    >>> line, reply = (
    ...     "SparseChunks(keep=1) >> AnswerFromTables()",
    ...     "Tiny Tim, the son of Cratchit, who works for Scrooge, was lame.",
    ... )
    >>> state = retrieve(line, graph=story, question="Who was lame?", models=says(reply))
    >>> by_encoder(story, state, Bag()).cosines
    (1.0,)
    """
    found = supports(graph, state, encoder, watch) if state.answer else ()
    return Supported(cosines=tuple(max(0.0, one.score) for one in found)) if found else None


def by_model(state: State, chat: Chat, watch: Watch = NO_WATCH) -> Supported | None:
    """Return a language model's verdict on each of the answer's first 20 sentences.

    The model is asked whether the text in the prompt states the sentence.

    >>> from core.evaluation.metrics.supported import by_model
    >>> line = "SparseChunks(keep=1) >> AnswerFromTables()"
    >>> state = retrieve(
    ...     line, graph=story, question="Who was lame?", models=says("Tiny Tim. The king.")
    ... )
    >>> from tests.films import Parrot
    >>> by_model(state, Parrot('{"supported": true}')).verdicts
    (True, True)
    """
    context = shown(state)
    said = []
    if state.answer:
        said = [state.answer[start:end] for start, end in sentences(state.answer)][:MAX_SENTENCES]
    if not said or not context:
        return None
    verdicts, note = [], ""
    for sentence in said:
        verdict, why = _asked(chat, context, sentence, watch)
        verdicts.append(verdict)
        note = note or why
    return Supported(verdicts=tuple(verdicts), note=note)


def shown(state: State) -> str:
    """Return the text in the prompt without the question.

    It is the prompt's last message without the question's text.
    """
    if state.prompt is None or not state.prompt.messages:
        return ""
    return state.prompt.messages[-1]["content"].replace(state.question.text, " ").strip()


def _asked(
    chat: Chat, context: str, sentence: str, watch: Watch = NO_WATCH
) -> tuple[bool | None, str]:
    prompt = prompts("judge")["supported"]
    given = {"context": context[: ROOM * chat.context // 2], "sentence": " ".join(sentence.split())}
    messages = (
        {"role": "system", "content": prompt["system"]},
        {"role": "user", "content": filled(prompt["user"], **given)},
    )
    try:
        reply = chat.reply(messages, schema=SCHEMA, max_tokens=16, watch=watch)
    except (ModelFailed, BadInput) as error:
        return None, f"The judge could not be asked: {error}"
    verdict = supported(reply.text)
    return (
        verdict,
        "" if verdict is not None else f"The judge's reply could not be used: {reply.excerpt}",
    )


def supported(reply: str) -> bool | None:
    """Return the verdict that a reply contains.

    It is None if the reply is no JSON object with a Boolean field “supported”.

    >>> from core.evaluation.metrics.supported import supported
    >>> supported('{"supported": false}'), supported("maybe")
    (False, None)
    """
    parsed = json_reply(reply, ("supported",))
    found = parsed.value["supported"] if parsed else None
    return found if isinstance(found, bool) else None
