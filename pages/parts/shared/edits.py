"""What a part of the browser did, each edit with a number: it is sent until the page has received
it, and done once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

LONGEST = 40  # letters of the name of a part


class Received(NamedTuple):
    """Which part of the browser sent edits last, and the number of the last one that was
    received."""

    who: str = ""
    done: int = 0


def new_edits(
    message: Mapping[str, Any] | None, before: Received
) -> tuple[list[Mapping[str, Any]], Received]:
    """The edits of a message, `{who, edits: [{n, ...}]}`, that were not received before, in their
    order; and what is received with them.

    >>> from pages.parts.shared.edits import Received, new_edits
    >>> new_edits({"who": "a", "edits": [{"n": 2, "do": "undo"}, {"n": 1, "do": "set"}]}, Received("a", 1))
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
