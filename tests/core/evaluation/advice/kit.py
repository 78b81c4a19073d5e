"""Texts of a made-up coast, and models for them of which nothing is asked of a language model."""

from __future__ import annotations

from types import SimpleNamespace

from core.corpus import Document
from tests.films import Picker, Table, Written

PEOPLE = (
    "Ann Lee",
    "Tom Reid",
    "Bo Hart",
    "Eve Moss",
    "Ian Fell",
    "Una Gray",
    "Max Bell",
    "Ida Wood",
    "Sam Pike",
    "Liv Dunn",
)
PLACES = ("Oban", "Ayr", "Rome", "Paris", "Leith", "Dundee", "Perth", "Cork", "Bergen", "Lisbon")


def documents(people: int = 10) -> list[Document]:
    """Two texts of each of some people: where they worked, and with whom they lived later."""
    found = []
    for number, (person, place) in enumerate(zip(PEOPLE[:people], PLACES)):
        found.append(
            Document(
                f"work-{number}",
                f"{person} worked for many years at the old harbour of {place}, and everybody knew it.",
            )
        )
        other = PLACES[(number + 3) % len(PLACES)]
        found.append(
            Document(
                f"home-{number}",
                f"In old age {person} moved to a small white house near {other} with two dogs and a boat.",
            )
        )
    return found


class ModelsWithoutChat(Written):
    """The written-down models, without a language model."""

    def __init__(self):
        super().__init__(None, choose=Picker([]), **{"cross-encoder": Table({})})

    def info(self, name):
        return SimpleNamespace(
            present=False, title="no model", how_to_get="There is no model.", backend="none"
        )
