"""A saved comparison: its description, which is read without opening it, and how it is packed."""

from __future__ import annotations

import json
import time
import uuid
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.comparison.lane import Comparison
from core.errors import BadInput, shorten
from core.instances.catalogue import published
from core.io.json_text import json_text
from core.languages.spelling import holds_words

LARGEST = 16_000_000  # bytes of a case's JSON
MAX_TAGS, LONGEST_TAG, LONGEST_NOTES, LONGEST_LINK = 20, 40, 20_000, 20_000


@dataclass(frozen=True)
class Case:
    """The description of a saved comparison, read without opening it. Times are seconds since 1970; `link` is the address that
    asks the same again, as query parameters."""

    id: str
    question: str
    entities: tuple[str, ...]
    answers: tuple[str, ...]
    graph: str
    digest: str
    instances: tuple[str, ...]
    link: Mapping[str, Any]
    notes: str = ""
    tags: tuple[str, ...] = ()
    created: float = 0.0
    changed: float = 0.0
    example: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """The instances in plain words, as the headings of their lanes are; the name of one that does not ship, as it was saved."""
        return tuple(_labels().get(name, name) for name in self.instances)

    def holds(self, words: Iterable[str]) -> bool:
        """Whether every word, in upper or lower case, is in the question, notes, tags, entities, graph, or instance names or labels."""
        said = (
            self.question,
            self.notes,
            self.graph,
            *self.tags,
            *self.entities,
            *self.instances,
            *self.labels,
        )
        return holds_words("\n".join(said), " ".join(words))


@lru_cache(maxsize=1)
def _labels() -> dict[str, str]:
    """The label of each instance that ships, by its name; of a name that two share, the first."""
    return {one.name: one.label for one in reversed(published().values())}


def about(comparison: Comparison) -> Case:
    """The description of a comparison, with a new id and the present time."""
    ask, graph, now = comparison.ask, comparison.graph, round(time.time(), 3)
    question = ask.question
    return Case(
        uuid.uuid4().hex[:12],
        question.text,
        tuple(graph.names(ask.seeds)),
        question.answers,
        graph.name,
        getattr(graph, "origin", graph.digest),
        tuple(lane.instance.name for lane in comparison.lanes),
        {},
        created=now,
        changed=now,
    )


def pack(comparison: Mapping[str, Any]) -> bytes:
    """Plain data compressed. Raises BadInput where it is larger than a case may be, or holds half a character."""
    try:
        text = json_text(comparison, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise BadInput(
            "This comparison holds text that is not Unicode; it cannot be kept."
        ) from None
    if len(text) > LARGEST:
        raise BadInput(
            f"This comparison is too large to keep ({len(text) / 1e6:.0f} MB; at most "
            f"{LARGEST / 1e6:.0f} MB). Keep fewer nodes or paths, or fewer lanes."
        )
    return zlib.compress(text, 9)


def unpack(packed: bytes) -> dict[str, Any]:
    """What `pack` packed. Raises BadInput where it is damaged."""
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(packed, LARGEST)
        if unpacker.unconsumed_tail:
            raise ValueError("it is too large")
        return json.loads(text)
    except (zlib.error, ValueError, RecursionError) as error:
        raise BadInput(f"This saved comparison is damaged ({shorten(str(error))}).") from None


def check_notes(notes: str) -> str:
    """The notes, trimmed. Raises BadInput where they are far too long."""
    if len(notes) > LONGEST_NOTES:
        raise BadInput(f"Notes of at most {LONGEST_NOTES:,} characters, please.")
    return notes.strip()


def check_tags(given: Iterable[str]) -> tuple[str, ...]:
    """The tags, each once, spaces squeezed. Raises BadInput where there are too many or one is too long."""
    found = tuple(dict.fromkeys(tag for tag in (" ".join(tag.split()) for tag in given) if tag))
    if len(found) > MAX_TAGS or any(len(tag) > LONGEST_TAG for tag in found):
        raise BadInput(f"At most {MAX_TAGS} tags of at most {LONGEST_TAG} characters, please.")
    return found
