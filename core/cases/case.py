"""Description of a saved comparison (a case), and the compression of its data."""

from __future__ import annotations

import json
import time
import uuid
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.comparison.lane import MethodComparison
from core.errors import BadInput, shorten
from core.io.json_text import json_text
from core.languages.spelling import contains_words
from core.methods.catalogue import published_methods


@dataclass(frozen=True)
class CaseLimits:
    """Bounds of a saved case."""

    max_bytes: int = 16_000_000  # of the comparison as JSON, before compression
    max_tags: int = 20
    max_tag_characters: int = 40
    max_notes_characters: int = 20_000
    max_link_characters: int = 20_000  # of the link as JSON


CASE_LIMITS = CaseLimits()


@dataclass(frozen=True)
class Case:
    """Description of a saved comparison, which can be read without the comparison.

    Parameters
    ----------
    id : 12 hexadecimal digits, or for an example `example-` with its file and number.
    question : text of the question.
    entities : names of the seed entities.
    answers : the known answers.
    graph : name of the graph.
    digest : digest of the graph, for an edited one that of its original.
    methods : names of the methods, one for each lane.
    link : query parameters of the page that asks the same question again.
    created, changed : seconds since 1970.
    example : True for a case that ships with Hopscope.
    """

    id: str
    question: str
    entities: tuple[str, ...]
    answers: tuple[str, ...]
    graph: str
    digest: str
    methods: tuple[str, ...]
    link: Mapping[str, Any]
    notes: str = ""
    tags: tuple[str, ...] = ()
    created: float = 0.0
    changed: float = 0.0
    example: bool = False

    @property
    def method_labels(self) -> tuple[str, ...]:
        """Labels of the methods, as in the headings of their lanes.

        A method that does not ship has the name under which it was saved.
        """
        return tuple(_labels().get(name, name) for name in self.methods)

    def has_words(self, words: Iterable[str]) -> bool:
        """Return whether every word occurs in the description of the case.

        Question, notes, tags, entities, graph, and names and labels of methods are searched,
        without regard to upper and lower case.
        """
        lists = (*self.tags, *self.entities, *self.methods, *self.method_labels)
        text = "\n".join((self.question, self.notes, self.graph, *lists))
        return contains_words(text, " ".join(words))


@lru_cache(maxsize=1)
def _labels() -> dict[str, str]:
    """Return the label of each shipped method by its name.

    If two methods share a name, the first one counts: in reversed order it comes last.
    """
    return {method.name: method.label for method in reversed(published_methods().values())}


def describe_case(comparison: MethodComparison) -> Case:
    """Return the description of a comparison, with a new id and the present time."""
    ask = comparison.ask
    graph = comparison.graph
    now_seconds = round(time.time(), 3)
    return Case(
        id=uuid.uuid4().hex[:12],
        question=ask.question.text,
        entities=tuple(graph.names(ask.seeds)),
        answers=ask.question.answers,
        graph=graph.name,
        digest=getattr(graph, "origin", graph.digest),
        methods=tuple(lane.method.name for lane in comparison.lanes),
        link={},
        created=now_seconds,
        changed=now_seconds,
    )


def pack(comparison: Mapping[str, Any]) -> bytes:
    """Return the data of a comparison as compressed JSON.

    Raises BadInput if the JSON is larger than `CASE_LIMITS` allows, or if a text has a lone
    surrogate (half a character).
    """
    try:
        text = json_text(comparison, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise BadInput(
            "This comparison holds text that is not Unicode; it cannot be kept."
        ) from None
    if len(text) > CASE_LIMITS.max_bytes:
        raise BadInput(
            f"This comparison is too large to keep ({len(text) / 1e6:.0f} MB; at most "
            f"{CASE_LIMITS.max_bytes / 1e6:.0f} MB). Keep fewer nodes or paths, or fewer methods."
        )
    return zlib.compress(text, 9)


def unpack(packed: bytes) -> dict[str, Any]:
    """Return the data that `pack` compressed. Raises BadInput if it is damaged."""
    try:
        unpacker = zlib.decompressobj()
        # Bounded, as a small file may unpack to a huge text.
        text = unpacker.decompress(packed, CASE_LIMITS.max_bytes)
        if unpacker.unconsumed_tail:
            raise ValueError("it is too large")
        return json.loads(text)
    except (zlib.error, ValueError, RecursionError) as error:
        raise BadInput(f"This saved comparison is damaged ({shorten(str(error))}).") from None


def check_notes(notes: str) -> str:
    """Check the length of notes, and return them without surrounding white space.

    Raises BadInput if they are too long.
    """
    if len(notes) > CASE_LIMITS.max_notes_characters:
        raise BadInput(f"Notes of at most {CASE_LIMITS.max_notes_characters:,} characters, please.")
    return notes.strip()


def check_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Check the tags of a case, and return them without duplicates and extra spaces.

    Raises BadInput if there are too many tags, or one is too long.
    """
    unique_tags = tuple(filter(None, dict.fromkeys(" ".join(tag.split()) for tag in tags)))
    if len(unique_tags) > CASE_LIMITS.max_tags or any(
        len(tag) > CASE_LIMITS.max_tag_characters for tag in unique_tags
    ):
        raise BadInput(
            f"At most {CASE_LIMITS.max_tags} tags of at most {CASE_LIMITS.max_tag_characters} "
            "characters, please."
        )
    return unique_tags
