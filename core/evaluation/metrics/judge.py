"""Judge@1: a language model decides whether an answer is right."""

from __future__ import annotations

import time
from collections.abc import Sequence

from core.errors import BadInput, ModelFailed, shorten
from core.evaluation.metrics.outcome import JudgeVerdict
from core.models.base import Chat
from core.models.chat.json_reply import json_reply
from core.prompts import fill_template, load_prompts
from core.watch import NO_WATCH, Watch

JUDGE_SCHEMA = {
    "type": "object",
    "properties": {"correct": {"type": "boolean"}},
    "required": ["correct"],
    "additionalProperties": False,
}
MAX_KNOWN_ANSWERS = 50  # known answers shown to the judge
MAX_JUDGED_CHARACTERS = 2_000  # characters of the answer shown to the judge


def judge_answer(
    chat: Chat,
    question: str,
    golds: Sequence[str],
    answer: str,
    watch: Watch = NO_WATCH,
) -> JudgeVerdict:
    """Return a language model's verdict on an answer.

    If the model fails or its reply cannot be used, the verdict is None and the note gives the
    reason.

    Parameters
    ----------
    chat : the judging model.
    golds : the known answers.
    answer : the text to be judged.

    Returns
    -------
    The verdict, with its cost.

    Examples
    --------
    >>> from core.evaluation.metrics.judge import judge_answer
    >>> from core.models.base import ChatReply
    >>> class Judge:
    ...     def reply(self, judge_messages, **_):
    ...         return ChatReply('{"correct": true}', tokens_in=90, tokens_out=5)
    >>> judge_answer(Judge(), "Who directed One?", ["Ann"], "It was Ann.").right
    True
    """
    start = time.perf_counter()
    try:
        reply = chat.reply(
            judge_messages(question, golds, answer), schema=JUDGE_SCHEMA, max_tokens=16, watch=watch
        )
    except (ModelFailed, BadInput) as error:
        return JudgeVerdict(
            None, f"The judge could not be asked: {error}", time.perf_counter() - start
        )
    right = parse_verdict(reply.text)
    note = "" if right is not None else f"The judge's reply could not be used: {reply.excerpt}"
    return JudgeVerdict(right, note, time.perf_counter() - start, reply.tokens_in, reply.tokens_out)


def judge_messages(question: str, golds: Sequence[str], answer: str) -> tuple[dict[str, str], ...]:
    """Return the messages for the judge.

    Parameters
    ----------
    question : the question.
    golds : the known answers; at most 50 are shown.
    answer : the answer to judge; its first 2,000 characters are shown.

    Returns
    -------
    The system and the user message.
    """
    prompt = load_prompts("judge")["verdict"]
    names = "; ".join(" ".join(name.split()) for name in golds[:MAX_KNOWN_ANSWERS])
    fields = {
        "question": " ".join(question.split()),
        "known": names,
        "answer": shorten(answer, MAX_JUDGED_CHARACTERS) or "(nothing)",
    }
    return (
        {"role": "system", "content": prompt["system"]},
        {"role": "user", "content": fill_template(prompt["user"], **fields)},
    )


def parse_verdict(reply: str) -> bool | None:
    """Return the verdict that a reply contains.

    It is None if the reply is no JSON object with a Boolean field `correct`.

    >>> from core.evaluation.metrics.judge import parse_verdict
    >>> parse_verdict('{"correct": false}'), parse_verdict("I think so")
    (False, None)
    """
    parsed = json_reply(reply, ("correct",))
    right = parsed.value["correct"] if parsed else None
    return right if isinstance(right, bool) else None
