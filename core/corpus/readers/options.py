"""Options that all readers of files take.

The module also has words for the readers' notes to the user.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.io.encoding import Note as Note  # imported from here by the readers

Columns = Mapping[str, str]  # column or field by its role: text, title or id


@dataclass(frozen=True)
class ReadingOptions:
    """A person's options for reading files.

    Parameters
    ----------
    columns : the columns of tables that hold text, title and id; empty to guess them.
    encoding : the encoding of texts that are not UTF-8; empty to detect it.
    """

    columns: Columns = field(default_factory=dict)
    encoding: str = ""


DEFAULT_OPTIONS = ReadingOptions()


def list_text(parts: list[str]) -> str:
    """Return a list in words: `a, b and c`."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def count_with_noun(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: “1 comment”, “2 comments”.

    Parameters
    ----------
    number : the number.
    noun : the noun in the singular.
    plural : its plural; empty to add an s.

    Returns
    -------
    The number with commas, and the noun.
    """
    if number != 1:
        noun = plural or f"{noun}s"
    return f"{number:,} {noun}"


def verb_of_number(number: int) -> str:
    """Return “is” for 1, else “are”."""
    return "is" if number == 1 else "are"
