"""Who may change what, where several people share one Hopscope (HOPSCOPE_SHARED=1): things belong to who made them.

Whoever starts says who is asking: the app names the visitor of a page (`asked_of`), the command line is the administrator (`acting`), and
a job works for the one who began it. What nobody is known for may be changed by the administrator alone. Where nothing is shared there is
one person, who may do everything, and nothing is written down.
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

TABLE = "CREATE TABLE owners (kind TEXT NOT NULL, name TEXT NOT NULL, owner TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (kind, name))"
# what cannot be read says so: nobody is taken for an owner unseen
SCHEMA = Schema("the owners", (TABLE,))
VISIT = "visit "  # before the id of somebody who did not sign in; no email address holds a space
_EMAIL = re.compile(r"[^\s@]+@[^\s@]+")
# of other letters some are told apart by their case alone
_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)


@dataclass(frozen=True)
class Person:
    """Somebody who asks: by the email address they signed in with, or by this visit; `id` is empty for nobody who could own a thing."""

    id: str = ""
    administrator: bool = False


NOBODY, OPERATOR = Person(), Person(administrator=True)


def shared() -> bool:
    """Whether several people share this Hopscope."""
    return os.environ.get("HOPSCOPE_SHARED", "0") not in ("", "0")


def signed_in(email: str) -> Person:
    """The person with that email address, in whatever case it is written; nobody where it is none.

    >>> from core.sharing import signed_in
    >>> signed_in("Ann@Example.com") == signed_in("ann@example.com")
    True
    """
    id, named = _small(email), os.environ.get("HOPSCOPE_ADMINS", "").split(",")
    return Person(id, id in {_small(one) for one in named}) if _EMAIL.fullmatch(id) else NOBODY


def visiting(token: str) -> Person:
    """Somebody who did not sign in, known by what this visit alone knows."""
    return Person(VISIT + sha256(token.encode()).hexdigest()[:16])


def _small(email: str) -> str:
    return email.strip().translate(_SMALL)


_asked: Callable[[], Person] = lambda: NOBODY
_acting: ContextVar[Person | None] = ContextVar("acting", default=None)


def asked_of(who: Callable[[], Person]) -> None:
    """From here on `who` says for whom this process works, wherever nobody is `acting`."""
    global _asked
    _asked = who


@contextmanager
def acting(person: Person) -> Iterator[None]:
    """What the block does is done for that person."""
    token = _acting.set(person)
    try:
        yield
    finally:
        _acting.reset(token)


def who() -> Person:
    """For whom this is done; where nothing is shared, for the one person there is."""
    if not shared():
        return OPERATOR
    person = _acting.get()
    return _asked() if person is None else person


def owner(kind: str, name: str) -> str:
    """The id of the person to whom a thing belongs; empty where that is nobody. Raises StoreError."""
    if not _rows().file.exists():
        return ""
    found = _rows().query("SELECT owner FROM owners WHERE kind = ? AND name = ?", (kind, name))
    return found[0][0] if found else ""


def made(kind: str, name: str) -> None:
    """A thing was made, and belongs to who made it. Raises StoreError."""
    if not shared():
        forget_owner(kind, name)  # whoever had one of that name
        return
    with _rows().writing() as database:
        database.execute(
            "INSERT OR REPLACE INTO owners VALUES (?, ?, ?, ?)", (kind, name, who().id, time.time())
        )


def forget_owner(kind: str, name: str) -> None:
    """A thing is no more, so that one of its name that is made later belongs to somebody else. Raises StoreError."""
    if _rows().file.exists():
        with _rows().writing() as database:
            database.execute("DELETE FROM owners WHERE kind = ? AND name = ?", (kind, name))


def why_not(kind: str, name: str) -> str:
    """Why a thing may not be changed or deleted by who asks, in a sentence; empty where it may. Raises StoreError."""
    person = who()
    if person.administrator:
        return ""
    of = owner(kind, name)
    if of and of == person.id:
        return ""
    if not of:
        return f"This {kind} belongs to the administrator, who alone may change or delete it."
    return f"This {kind} belongs to {called(of)}; only they and the administrator may change or delete it."


def check_may_change(kind: str, name: str) -> None:
    """Raises NotAllowed where who asks may not change or delete a thing; StoreError."""
    if sentence := why_not(kind, name):
        raise NotAllowed(sentence)


def check_administrator(what: str) -> None:
    """Raises NotAllowed where who asks is not the administrator, who alone may do `what`."""
    if not who().administrator:
        raise NotAllowed(f"Where Hopscope is shared, only the administrator may {what}.")


def called(id: str) -> str:
    """The words for the owner of that id.

    >>> from core.sharing import called, visiting
    >>> called("ann@example.com"), called(visiting("a").id), called("")
    ('ann@example.com', 'a visitor who did not sign in', 'the administrator')
    """
    return "a visitor who did not sign in" if id.startswith(VISIT) else id or "the administrator"


def _rows() -> RowFile:
    return RowFile(home() / "owners.sqlite", SCHEMA)
