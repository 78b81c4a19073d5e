"""How files are to be read, and who learns what of them was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.io.encoding import Note as Note
from core.io.encoding import ignored as ignored

Columns = Mapping[str, str]


@dataclass(frozen=True)
class Options:
    """What a person says of files: which columns of tables hold the text, title and id, and the encoding of texts that are not UTF-8."""

    columns: Columns = field(default_factory=dict)
    encoding: str = ""


USUAL = Options()


def listed(parts: list[str]) -> str:
    """Some things as a sentence names them: `a, b and c`."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def counted(number: int, thing: str, several: str = "") -> str:
    """How many there are of a thing: `1 comment`, `2 comments`."""
    return f"{number:,} {thing if number == 1 else several or f'{thing}s'}"


def are(number: int) -> str:
    """The verb for so many things."""
    return "is" if number == 1 else "are"
