"""Unique readable names for nodes and relations that files know by identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count


class Namer:
    """Assignment of unique names to identifiers.

    Each identifier gets the first of its candidates that no other identifier has.
    """

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}  # name -> identifier of its owner

    def name(self, identifier: str, candidates: Sequence[str]) -> str:
        """Return the first of `candidates` that is free or already belongs to this identifier.

        If all belong to others, a number from 2 is added to the last one. The same identifier gets
        the same name as long as its candidates stay the same.
        """
        for candidate in candidates:
            if self._owners.setdefault(candidate, identifier) == identifier:
                return candidate
        for number in count(2):
            name = f"{candidates[-1]} ({number})"
            if self._owners.setdefault(name, identifier) == identifier:
                break
        return name
