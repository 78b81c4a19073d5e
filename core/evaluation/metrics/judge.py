"""Judge@1: a language model decides whether an answer is right."""

from __future__ import annotations

import time
from collections.abc import Sequence

from core.errors import BadInput, ModelFailed, shorten
from core.evaluation.metrics.outcome import Judged
from core.models.base import Chat
from core.models.chat.json_reply import json_reply
from core.prompts import filled, prompts
from core.watch import NO_WATCH, Watch

SCHEMA = {
    "type": "object",
    "properties": {"correct": {"type": "boolean"}},
    "required": ["correct"],
    "additionalProperties": False,
}
MAX_KNOWN = 50  # known answers shown to the judge
LONGEST = 2_000  # characters of the answer shown to the judge


def judge(
    chat: Chat,
    question: str,
    known: Sequence[str],
    answer: str,
    watch: Watch = NO_WATCH,
) -> Judged:
    """Return a language model's verdict on an answer.

    If the model fails or its reply cannot be used, the verdict is None and the note gives the
    reason.

    Parameters
    ----------
    chat : the judging model.
    known : the known answers.
    answer : the text to be judged.

    Examples
    --------
    >>> from core.evaluation.metrics.judge import judge
    >>> from core.models.base import Reply
    >>> class Judge:
    ...     def reply(self, messages, **_):
    ...         return Reply('{"correct": true}', tokens_in=90, tokens_out=5)
    >>> judge(Judge(), "Who directed One?", ["Ann"], "It was Ann.").right
    True
    """
    start = time.perf_counter()
    try:
        reply = chat.reply(
            messages(question, known, answer), schema=SCHEMA, max_tokens=16, watch=watch
        )
    except (ModelFailed, BadInput) as error:
        return Judged(None, f"The judge could not be asked: {error}", time.perf_counter() - start)
    right = verdict(reply.text)
    note = "" if right is not None else f"The judge's reply could not be used: {reply.excerpt}"
    return Judged(right, note, time.perf_counter() - start, reply.tokens_in, reply.tokens_out)


def messages(question: str, known: Sequence[str], answer: str) -> tuple[dict[str, str], ...]:
    """Return the messages for the judge.

    They show at most 50 known answers and the first 2,000 characters of the answer.
    """
    prompt = prompts("judge")["verdict"]
    names = "; ".join(" ".join(name.split()) for name in known[:MAX_KNOWN])
    given = {
        "question": " ".join(question.split()),
        "known": names,
        "answer": shorten(answer, LONGEST) or "(nothing)",
    }
    return (
        {"role": "system", "content": prompt["system"]},
        {"role": "user", "content": filled(prompt["user"], **given)},
    )


def verdict(reply: str) -> bool | None:
    """Return the verdict that a reply contains.

    It is None if the reply is no JSON object with a Boolean field `correct`.

    >>> from core.evaluation.metrics.judge import verdict
    >>> verdict('{"correct": false}'), verdict("I think so")
    (False, None)
    """
    parsed = json_reply(reply, ("correct",))
    right = parsed.value["correct"] if parsed else None
    return right if isinstance(right, bool) else None
