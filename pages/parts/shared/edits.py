"""Numbered edits that a browser component sends until the page has received them.

A run of the page may be interrupted before it handles a message, so the component sends its edits
again (assets/board/edits.js). By their numbers each edit is applied once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

MAX_SENDER_CHARACTERS = 40  # most characters of a sender's name


class LastEdit(NamedTuple):
    """Sender (`who`) and number (`done`) of the last received edit.

    Both are sent back to the browser under these names.
    """

    who: str = ""
    done: int = 0


def new_edits(
    message: Mapping[str, Any] | None, last_edit: LastEdit
) -> tuple[list[Mapping[str, Any]], LastEdit]:
    """Return the edits of a message that were not received before, in order.

    Parameters
    ----------
    message : `{who, edits: [{n, ...}]}` of the component; None if it sent nothing.
    last_edit : the sender and the number received last.

    Returns
    -------
    The new edits, and the sender and number received with them.

    >>> from pages.parts.shared.edits import LastEdit, new_edits
    >>> sent = {"who": "a", "edits": [{"n": 2, "do": "undo"}, {"n": 1, "do": "set"}]}
    >>> new_edits(sent, LastEdit("a", 1))
    ([{'n': 2, 'do': 'undo'}], LastEdit(who='a', done=2))
    """
    if not message:
        return [], last_edit
    sender = str(message.get("who", ""))[:MAX_SENDER_CHARACTERS]
    n_done = last_edit.done if last_edit.who == sender else 0
    edits = []
    for edit in message.get("edits") or ():
        if isinstance(edit, Mapping) and type(edit.get("n")) is int and edit["n"] > n_done:
            edits.append(edit)
    edits.sort(key=lambda edit: edit["n"])
    return edits, LastEdit(sender, edits[-1]["n"] if edits else n_done)
