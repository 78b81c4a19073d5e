"""Messages to a judging language model, and its Boolean replies.

The model gives the replies under a schema.
"""

from __future__ import annotations

from typing import Any

from core.models.chat.json_reply import json_reply
from core.prompts import fill_template, load_prompts


def judge_messages(name: str, **fields: str) -> tuple[dict[str, str], ...]:
    """Return the system and the user message of a prompt of the judge.

    Parameters
    ----------
    name : name of the prompt in the file of the judge's prompts.
    **fields : texts for the placeholders of the user message.

    Returns
    -------
    The two messages.
    """
    prompt = load_prompts("judge")[name]
    return (
        {"role": "system", "content": prompt["system"]},
        {"role": "user", "content": fill_template(prompt["user"], **fields)},
    )


def boolean_schema(field: str) -> dict[str, Any]:
    """Return the JSON schema of an object with one Boolean field."""
    return {
        "type": "object",
        "properties": {field: {"type": "boolean"}},
        "required": [field],
        "additionalProperties": False,
    }


def parse_boolean(reply: str, field: str) -> bool | None:
    """Return the Boolean field of a JSON reply.

    None if the reply has no such field.

    >>> from core.evaluation.metrics.judge_prompts import parse_boolean
    >>> parse_boolean('{"correct": false}', "correct"), parse_boolean("I think so", "correct")
    (False, None)
    """
    parsed = json_reply(reply, (field,))
    value = parsed.value[field] if parsed else None
    return value if isinstance(value, bool) else None
