"""Numbered edits that a browser component sends until the page has received them.

Each edit is applied once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

LONGEST = 40  # most characters of a sender's name


class Received(NamedTuple):
    """Name of the browser component that sent edits last, and its last received number."""

    who: str = ""
    done: int = 0


def new_edits(
    message: Mapping[str, Any] | None, before: Received
) -> tuple[list[Mapping[str, Any]], Received]:
    """Return the edits of a message that were not received before, in order.

    Parameters
    ----------
    message : `{who, edits: [{n, ...}]}` of the component; None if it sent nothing.
    before : the sender and the number received last.

    Returns
    -------
    The new edits, and the sender and number received with them.

    >>> from pages.parts.shared.edits import Received, new_edits
    >>> sent = {"who": "a", "edits": [{"n": 2, "do": "undo"}, {"n": 1, "do": "set"}]}
    >>> new_edits(sent, Received("a", 1))
    ([{'n': 2, 'do': 'undo'}], Received(who='a', done=2))
    """
    if not message:
        return [], before
    who, edits = str(message.get("who", ""))[:LONGEST], message.get("edits") or ()
    done = before.done if before.who == who else 0
    new = sorted(
        (
            one
            for one in edits
            if isinstance(one, Mapping) and type(one.get("n")) is int and one["n"] > done
        ),
        key=lambda one: one["n"],
    )
    return new, Received(who, new[-1]["n"] if new else done)
