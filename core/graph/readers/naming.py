"""Readable names for things known by longer identifiers; two things never share a name."""

from __future__ import annotations

from collections.abc import Sequence


class Namer:
    """Gives each thing the first of its names that no other thing took before."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}  # name -> the identifier of what bears it

    def name(self, identifier: str, candidates: Sequence[str]) -> str:
        """The first of `candidates` that is free or already this identifier's, else the last one with a number; the same
        for the same identifier as long as its candidates stay the same."""
        for candidate in candidates:
            if self._owners.setdefault(candidate, identifier) == identifier:
                return candidate
        number = 2
        while (
            self._owners.setdefault(name := f"{candidates[-1]} ({number})", identifier)
            != identifier
        ):
            number += 1
        return name
