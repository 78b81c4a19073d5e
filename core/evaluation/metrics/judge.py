"""Judge@1: a language model decides whether an answer is right."""

from __future__ import annotations

import time
from collections.abc import Sequence

from core.errors import BadInput, ModelFailed, shorten
from core.evaluation.metrics.judge_prompts import boolean_schema, judge_messages, parse_boolean
from core.evaluation.metrics.outcome import JudgeVerdict
from core.models.base import Chat
from core.watch import NO_WATCH, Watch

JUDGE_SCHEMA = boolean_schema("correct")
MAX_KNOWN_ANSWERS = 50  # known answers shown to the judge
MAX_JUDGED_CHARACTERS = 2_000  # characters of the answer shown to the judge


def judge_answer(
    chat: Chat, question: str, golds: Sequence[str], answer: str, watch: Watch = NO_WATCH
) -> JudgeVerdict:
    """Return a language model's verdict on an answer.

    If the model fails or its reply cannot be used, `right` is None and `note` gives the reason.

    Parameters
    ----------
    chat : the judging model.
    question : the question.
    golds : the known answers; at most 50 are shown.
    answer : the text to be judged; its first 2,000 characters are shown.
    watch : may raise RunCancelled.

    Returns
    -------
    The verdict, with its wall-clock seconds and tokens.

    Examples
    --------
    >>> from core.evaluation.metrics.judge import judge_answer
    >>> from core.models.base import ChatReply
    >>> class Judge:
    ...     def reply(self, messages, **_):
    ...         return ChatReply('{"correct": true}', tokens_in=90, tokens_out=5)
    >>> judge_answer(Judge(), "Who directed One?", ["Ann"], "It was Ann.").right
    True
    """
    start = time.perf_counter()
    messages = judge_messages(
        "verdict",
        question=" ".join(question.split()),
        known="; ".join(" ".join(name.split()) for name in golds[:MAX_KNOWN_ANSWERS]),
        answer=shorten(answer, MAX_JUDGED_CHARACTERS) or "(nothing)",
    )
    try:
        reply = chat.reply(messages, schema=JUDGE_SCHEMA, max_tokens=16, watch=watch)
    except (ModelFailed, BadInput) as error:
        return JudgeVerdict(
            None, f"The judge could not be asked: {error}", time.perf_counter() - start
        )
    right = parse_boolean(reply.text, "correct")
    note = "" if right is not None else f"The judge's reply could not be used: {reply.excerpt}"
    return JudgeVerdict(right, note, time.perf_counter() - start, reply.tokens_in, reply.tokens_out)
