"""Ownership in an installation that several people share (HOPSCOPE_SHARED=1).

Graphs, corpora, indexes and similar things belong to the person who made them. Only the owner and
the administrator may change them.
A thing without a known owner may be changed by the administrator alone.

Each entry point sets for whom it works (`set_person_source`): the app for the visitor of a page,
the command line for the administrator. A job works for the person who started it (`acting_as`).
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
from core.io.home import home_folder
from core.io.rows import RowFile, Schema

OWNER_TABLE = (
    "CREATE TABLE owners (kind TEXT NOT NULL, name TEXT NOT NULL, owner TEXT NOT NULL, "
    "at REAL NOT NULL, PRIMARY KEY (kind, name))"
)
# A file that cannot be read raises an error. Otherwise things would seem to have no owner.
OWNER_SCHEMA = Schema("the owners", (OWNER_TABLE,))
# Prefix of the ids of visitors who did not sign in. No email address has a space.
VISIT_PREFIX = "visit "
_EMAIL_PATTERN = re.compile(r"[^\s@]+@[^\s@]+")
# Only ASCII letters: some other letters become equal to a different letter in lower case.
_ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


@dataclass(frozen=True)
class Person:
    """A person who uses Hopscope, known by an email address or by a visit.

    `id` is empty for a person who cannot own a thing.
    """

    id: str = ""
    administrator: bool = False


NO_PERSON = Person()
LOCAL_ADMINISTRATOR = Person(administrator=True)


def shared() -> bool:
    """Return whether several people share this installation."""
    return os.environ.get("HOPSCOPE_SHARED", "0") not in ("", "0")


def person_of_email(email: str) -> Person:
    """Return the person with an email address; `NO_PERSON` if it is no email address.

    Upper and lower case are the same.

    >>> from core.sharing import person_of_email
    >>> person_of_email("Ann@Example.com") == person_of_email("ann@example.com")
    True
    """
    id = _lower_email(email)
    if not _EMAIL_PATTERN.fullmatch(id):
        return NO_PERSON
    admins = os.environ.get("HOPSCOPE_ADMINS", "").split(",")
    return Person(id, id in map(_lower_email, admins))


def person_of_visit(token: str) -> Person:
    """Return the person of a visit without sign-in.

    The person is known by the secret token of the visit.
    """
    return Person(VISIT_PREFIX + sha256(token.encode()).hexdigest()[:16])


def _lower_email(email: str) -> str:
    return email.strip().translate(_ASCII_LOWER)


_person_source: Callable[[], Person] = lambda: NO_PERSON
_acting_person: ContextVar[Person | None] = ContextVar("acting", default=None)


def set_person_source(source: Callable[[], Person]) -> None:
    """Set the function that returns the current person of this process.

    It is used if no block of `acting_as` is active.
    """
    global _person_source
    _person_source = source


@contextmanager
def acting_as(person: Person) -> Iterator[None]:
    """Run a `with` block on behalf of a person."""
    token = _acting_person.set(person)
    try:
        yield
    finally:
        _acting_person.reset(token)


def current_person() -> Person:
    """Return the person for whom the current work is done.

    Without sharing it is the local administrator, who may do everything.
    """
    if not shared():
        return LOCAL_ADMINISTRATOR
    person = _acting_person.get()
    return _person_source() if person is None else person


def owner_of(kind: str, name: str) -> str:
    """Return the id of the owner of a thing; empty if it has none. Raises StoreError."""
    table = _owner_table()
    if not table.file.exists():
        return ""
    rows = table.query("SELECT owner FROM owners WHERE kind = ? AND name = ?", (kind, name))
    return rows[0][0] if rows else ""


def record_owner(kind: str, name: str) -> None:
    """Record the current person as the owner of a new thing. Raises StoreError."""
    if not shared():
        forget_owner(kind, name)  # An earlier thing of that name may have had an owner.
        return
    with _owner_table().open_for_writing() as database:
        database.execute(
            "INSERT OR REPLACE INTO owners VALUES (?, ?, ?, ?)",
            (kind, name, current_person().id, time.time()),
        )


def forget_owner(kind: str, name: str) -> None:
    """Remove the record of a deleted thing's owner. Raises StoreError.

    A later thing of the same name may have another owner.
    """
    table = _owner_table()
    if table.file.exists():
        with table.open_for_writing() as database:
            database.execute("DELETE FROM owners WHERE kind = ? AND name = ?", (kind, name))


def change_refusal(kind: str, name: str) -> str:
    """Return the reason why the current person may not change or delete a thing.

    It is a sentence, or empty if the person may. Raises StoreError.
    """
    person = current_person()
    if person.administrator:
        return ""
    owner_id = owner_of(kind, name)
    if owner_id and owner_id == person.id:
        return ""
    if not owner_id:
        return f"This {kind} belongs to the administrator, who alone may change or delete it."
    return (
        f"This {kind} belongs to {owner_words(owner_id)}; "
        "only they and the administrator may change or delete it."
    )


def check_may_change(kind: str, name: str) -> None:
    """Raise NotAllowed if the current person may not change or delete a thing.

    Raises StoreError if the owners cannot be read.
    """
    reason = change_refusal(kind, name)
    if reason:
        raise NotAllowed(reason)


def check_administrator(action: str) -> None:
    """Raise NotAllowed if the current person is not the administrator.

    `action` is a verb with its object, for the message.
    """
    if not current_person().administrator:
        raise NotAllowed(f"Where Hopscope is shared, only the administrator may {action}.")


def owner_words(id: str) -> str:
    """Return a description of the owner with that id.

    >>> from core.sharing import owner_words, person_of_visit
    >>> owner_words("ann@example.com"), owner_words(person_of_visit("a").id), owner_words("")
    ('ann@example.com', 'a visitor who did not sign in', 'the administrator')
    """
    if id.startswith(VISIT_PREFIX):
        return "a visitor who did not sign in"
    return id or "the administrator"


def _owner_table() -> RowFile:
    return RowFile(home_folder() / "owners.sqlite", OWNER_SCHEMA)
