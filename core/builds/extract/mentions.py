"""What a chunk mentions while it is read: each entity by its spellings and types, and which of them share a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from core.builds.facts import Entity

PHRASE = "concept"  # the type of what is no name
TOGETHER = "appears with"
CALLED = "also called"  # the label of two names that the text says are of one
BRACKETED = "in brackets"  # the label of a name in brackets behind another: whether it is its other name is decided over the corpus
LONGEST = 8  # words of a name
NEAR = 10  # entities of a sentence that one is joined with: those that follow it
CROWDED = f"a sentence names more than {NEAR + 1} entities; each was joined with the {NEAR} after it alone"


class Named:
    """An entity of a chunk while its mentions are gathered."""

    def __init__(self, said: str):
        self.said, self.spellings, self.kinds = said, Counter[str](), Counter[str]()

    def add(self, name: str, kind: str) -> None:
        """One mention more."""
        self.spellings[name] += 1
        self.kinds[kind] += 1

    @property
    def entity(self) -> Entity:
        """The entity by its most frequent spelling and type, that of a name before that of a phrase."""
        name = min(self.spellings, key=lambda name: (-self.spellings[name], name))
        kind = min(self.kinds, key=lambda kind: (kind == PHRASE, -self.kinds[kind], kind))
        return Entity(name, kind, self.said, self.spellings.total())


def pairs(named: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each with the `NEAR` after it; of a pair the smaller first."""
    for at, one in enumerate(named):
        for other in named[at + 1 : at + 1 + NEAR]:
            yield (one, other) if one < other else (other, one)
