"""Ownership in an installation that several people share (HOPSCOPE_SHARED=1).

Things belong to the person who made them. Only the owner and the administrator may change them.
A thing without a known owner may be changed by the administrator alone.

Entry points say for whom they work (`asked_of`): the app for the visitor of a page, the command
line for the administrator. A job works for the person who started it (`acting`).
Without sharing there is one person, who may do everything, and no owners are stored.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from string import ascii_lowercase, ascii_uppercase

from core.errors import NotAllowed
from core.io.home import home
from core.io.rows import RowFile, Schema

TABLE = (
    "CREATE TABLE owners (kind TEXT NOT NULL, name TEXT NOT NULL, owner TEXT NOT NULL, "
    "at REAL NOT NULL, PRIMARY KEY (kind, name))"
)
# A file that cannot be read raises an error. Otherwise things would seem to have no owner.
SCHEMA = Schema("the owners", (TABLE,))
# Prefix of the ids of visitors who did not sign in. No email address has a space.
VISIT = "visit "
_EMAIL = re.compile(r"[^\s@]+@[^\s@]+")
# Only ASCII letters: some other letters become equal to a different letter in lower case.
_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)


@dataclass(frozen=True)
class Person:
    """A person who uses Hopscope, known by an email address or by a visit.

    `id` is empty for a person who cannot own a thing.
    """

    id: str = ""
    administrator: bool = False


NOBODY, OPERATOR = Person(), Person(administrator=True)


def shared() -> bool:
    """Return whether several people share this installation."""
    return os.environ.get("HOPSCOPE_SHARED", "0") not in ("", "0")


def signed_in(email: str) -> Person:
    """Return the person with an email address; `NOBODY` if it is no email address.

    Upper and lower case are the same.

    >>> from core.sharing import signed_in
    >>> signed_in("Ann@Example.com") == signed_in("ann@example.com")
    True
    """
    id, named = _small(email), os.environ.get("HOPSCOPE_ADMINS", "").split(",")
    return Person(id, id in {_small(one) for one in named}) if _EMAIL.fullmatch(id) else NOBODY


def visiting(token: str) -> Person:
    """Return the person of a visit without sign-in.

    The person is known by the secret token of the visit.
    """
    return Person(VISIT + sha256(token.encode()).hexdigest()[:16])


def _small(email: str) -> str:
    return email.strip().translate(_SMALL)


_asked: Callable[[], Person] = lambda: NOBODY
_acting: ContextVar[Person | None] = ContextVar("acting", default=None)


def asked_of(who: Callable[[], Person]) -> None:
    """Set the function that returns the current person of this process.

    It is used wherever no block of `acting` is active.
    """
    global _asked
    _asked = who


@contextmanager
def acting(person: Person) -> Iterator[None]:
    """Do the work of a `with` block for that person."""
    token = _acting.set(person)
    try:
        yield
    finally:
        _acting.reset(token)


def who() -> Person:
    """Return the person for whom the current work is done.

    Without sharing it is the one person there is.
    """
    if not shared():
        return OPERATOR
    person = _acting.get()
    return _asked() if person is None else person


def owner(kind: str, name: str) -> str:
    """Return the id of the owner of a thing; empty if it has none. Raises StoreError."""
    if not _rows().file.exists():
        return ""
    found = _rows().query("SELECT owner FROM owners WHERE kind = ? AND name = ?", (kind, name))
    return found[0][0] if found else ""


def made(kind: str, name: str) -> None:
    """Record that a thing was made and belongs to the current person. Raises StoreError."""
    if not shared():
        forget_owner(kind, name)  # An earlier thing of that name may have had an owner.
        return
    with _rows().writing() as database:
        database.execute(
            "INSERT OR REPLACE INTO owners VALUES (?, ?, ?, ?)", (kind, name, who().id, time.time())
        )


def forget_owner(kind: str, name: str) -> None:
    """Remove the owner of a deleted thing.

    A later thing of that name can have another owner.

    Raises StoreError.
    """
    if _rows().file.exists():
        with _rows().writing() as database:
            database.execute("DELETE FROM owners WHERE kind = ? AND name = ?", (kind, name))


def why_not(kind: str, name: str) -> str:
    """Return a sentence why the current person may not change or delete a thing.

    It is empty if the person may. Raises StoreError.
    """
    person = who()
    if person.administrator:
        return ""
    of = owner(kind, name)
    if of and of == person.id:
        return ""
    if not of:
        return f"This {kind} belongs to the administrator, who alone may change or delete it."
    return (
        f"This {kind} belongs to {called(of)}; "
        "only they and the administrator may change or delete it."
    )


def check_may_change(kind: str, name: str) -> None:
    """Raise NotAllowed if the current person may not change or delete a thing.

    Raises StoreError if the owners cannot be read.
    """
    if sentence := why_not(kind, name):
        raise NotAllowed(sentence)


def check_administrator(what: str) -> None:
    """Raise NotAllowed if the current person is not the administrator.

    `what` names the action in the message.
    """
    if not who().administrator:
        raise NotAllowed(f"Where Hopscope is shared, only the administrator may {what}.")


def called(id: str) -> str:
    """Return the words for the owner of that id.

    >>> from core.sharing import called, visiting
    >>> called("ann@example.com"), called(visiting("a").id), called("")
    ('ann@example.com', 'a visitor who did not sign in', 'the administrator')
    """
    return "a visitor who did not sign in" if id.startswith(VISIT) else id or "the administrator"


def _rows() -> RowFile:
    return RowFile(home() / "owners.sqlite", SCHEMA)
