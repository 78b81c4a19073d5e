"""Graphs in databases that are queried live.

For each question only the neighbourhood of its entities is fetched. Nothing is copied beforehand.
The fetched part becomes a graph in memory with its own ids and degrees.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import threading
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cachetools import LRUCache

from core.databases import bolt, sparql
from core.databases.address import SPARQL, address_of
from core.databases.bolt_reach import BoltReach
from core.databases.limits import BYTES, SECONDS, Limits
from core.databases.neighbourhood import START, Gathered, Id, Reach, gather
from core.databases.sparql_reach import SparqlReach
from core.errors import BadInput, StoreError, UnknownEntity, nearest, shorten
from core.graph.building.build import arrays_and_names, in_memory
from core.graph.names.seeds import check_question, seeds_of
from core.graph.names.word_index import words_of
from core.graph.protocol import Fetched
from core.graph.readers.rdf import TRIPLES, check_language, check_literals
from core.graph.store import Graph
from core.io.durable import write_whole
from core.languages.spelling import fold, written_forms
from core.sharing import shared
from core.types import Direction
from core.watch import NO_WATCH, Watch

FILE = "live.toml"
ASKED_LIVE = "Asked live: "  # begins the sentences on what was fetched
REMEMBERED = 16  # neighbourhoods of a database; the least recently used are dropped
WORDS, SPANS = 8, 300  # words of a name, and spans of a question that are looked up as names
WORD_END = re.compile(r"\S{0,20}")
BRACKETS = re.compile(r"\[([^\[\]]{1,500})\]")
HIGHEST = {"hops": 6, "each": 10_000, "edges": 500_000, "seconds": 600.0}


@dataclass(frozen=True)
class Settings:
    """Settings of a database that is queried live.

    Raises BadInput for values out of range.

    Parameters
    ----------
    key : name of the environment variable with the key; the key itself is in no file.
    language, literals : as for a copy.
    hops : distance from the start nodes.
    each : edges fetched out of a node, and into it.
    edges : edges fetched for a question.
    seconds : time after which no request begins.
    """

    address: str
    direction: Direction = "both"
    key: str = ""
    language: str = ""
    literals: str = TRIPLES
    hops: int = 2
    each: int = 500
    edges: int = 20_000
    seconds: float = 60.0

    def __post_init__(self) -> None:
        address_of(self.address)
        check_language(self.language)
        check_literals(self.literals)
        if self.direction not in ("out", "in", "both"):
            raise BadInput(
                f"A graph's direction is out, in or both, not “{shorten(self.direction)}”."
            )
        for name, highest in HIGHEST.items():
            if not 1 <= getattr(self, name) <= highest:
                raise BadInput(
                    f"{name} is a number from 1 to {highest:,g}, not {getattr(self, name)}."
                )

    @property
    def text(self) -> str:
        """The content of the file that holds these settings."""
        import tomli_w

        return (
            "# A database that is asked live. No secret belongs here: key names an "
            "environment variable.\n\n"
        ) + tomli_w.dumps(asdict(self))

    @classmethod
    def read(cls, file: Path) -> Settings:
        """Read the settings in a file. Raises StoreError if it is damaged."""
        try:
            given = tomllib.loads(file.read_text("utf-8"))
            known = {one.name: one for one in fields(cls)}
            for name, value in given.items():
                if name not in known:
                    raise BadInput(f"there is no setting “{shorten(name)}”.{nearest(name, known)}")
                wanted = str if name == "address" else type(known[name].default)
                if type(value) is not wanted and not (wanted is float and type(value) is int):
                    raise BadInput(f"{name} cannot be {shorten(repr(value))}.")
            return cls(**given)
        except (OSError, ValueError, TypeError, BadInput) as error:
            raise StoreError(f"{file} cannot be read: {error}") from None


class Starts(NamedTuple):
    """The start nodes: the name and id of each, and the number of things with that name.

    `partial` is a sentence if the database looked up names or degrees only in part.
    """

    found: tuple[tuple[str, Id, int], ...]
    partial: str


class Live:
    """A database that is queried live. Threads may share it."""

    def __init__(self, name: str, settings: Settings):
        self.name, self.settings, self.address = name, settings, address_of(settings.address)
        self._known: LRUCache[tuple, Any] = LRUCache(REMEMBERED)
        self._lock = threading.Lock()

    @property
    def graph(self) -> Graph:
        """The graph before any question: without nodes, and with this object as its `live`."""
        none = np.empty(0, np.int64)
        arrays, blob = arrays_and_names([], (none, none, none), 0)
        digest = hashlib.sha256(
            json.dumps(["live", self.name, {**asdict(self.settings), "key": ""}]).encode()
        ).hexdigest()
        parts: dict[str, Any] = {**arrays, "names_utf8": blob, "live": self}
        return Graph(self.name, digest, self.settings.direction, (), **parts)

    @property
    def words(self) -> str:
        """A sentence on its address and on how much is fetched."""
        given = self.settings
        return (
            f"Asked live at {self.address.title}: of each question {_hops(given.hops)} around its "
            f"entities, at most {given.edges:,} "
            f"triples, {given.each:,} each way at an entity."
        )

    def forget(self) -> None:
        """Drop what was fetched, so that it is fetched again."""
        with self._lock:
            self._known.clear()

    def try_it(self, watch: Watch = NO_WATCH) -> None:
        """Send a minimal query. Raises BadInput if the database does not answer."""
        self._reach(watch.quiet)

    def around(self, text: str, entities: Sequence[str] = (), watch: Watch = NO_WATCH) -> Graph:
        """Return the neighbourhood of entities, or of those that the question names.

        The graph's `fetched` describes what was fetched and left out. Each neighbourhood is fetched
        once, while it is remembered. Raises UnknownEntity, BadInput if the database fails, and what
        `watch` raises.
        """
        asked = tuple(
            dict.fromkeys(" ".join(entity.split()) for entity in entities)
        ) or check_question(text)
        starts = self._once(("starts", asked), lambda: self._starts(asked, watch))
        return self._once(("near", starts), lambda: self._near(starts, watch))

    def _once(self, key: tuple, make: Callable[[], Any]) -> Any:
        with self._lock:
            if key in self._known:
                return self._known[key]
        made = make()
        with self._lock:
            return self._known.setdefault(key, made)

    def _reach(self, watch: Watch = NO_WATCH) -> Reach:
        given = self.settings
        less = f"lower the bounds in its {FILE}, or ask of an entity with fewer neighbours"
        limits = Limits(
            size=BYTES // 4, seconds=min(SECONDS, 2 * given.seconds), watch=watch, less=less
        )
        # On a shared server, the key in the file of keys is not used.
        key = self.address.key(given.key) if given.key or not shared() else ""
        if self.address.kind == SPARQL:
            return SparqlReach(
                sparql.Endpoint(self.address, key, limits), given.language, given.literals
            )
        return BoltReach(bolt.Database(self.address, key, limits))

    def _starts(self, asked: str | tuple[str, ...], watch: Watch) -> Starts:
        reach = self._reach(watch)
        watch.report("Looking for the entities", 0.0)
        found = (
            self._mentioned(reach, asked) if isinstance(asked, str) else self._called(reach, asked)
        )
        return Starts(found, reach.partial)

    def _called(self, reach: Reach, asked: tuple[str, ...]) -> tuple[tuple[str, Id, int], ...]:
        """Return the things of these names."""
        found = reach.named(asked)
        missing = [name for name in asked if not found.get(name)]
        alike = {}
        if missing:
            alike = {fold(name): things for name, things in reach.alike(_written(missing)).items()}
        for name in missing:
            if fold(name) not in alike:
                raise UnknownEntity(
                    name,
                    (),
                    (
                        f"“{shorten(name)}” was not found by its name at "
                        f"{self.address.title}.{_part(reach.partial)}"
                    ),
                )
        return tuple(
            self._best(reach, name, found.get(name) or alike[fold(name)]) for name in asked
        )

    def _mentioned(self, reach: Reach, text: str) -> tuple[tuple[str, Id, int], ...]:
        """Return the things that a question names.

        They are chosen among its spans by the rules for names in local graphs.
        """
        marked = BRACKETS.findall(text)
        parts = marked or list(_parts(text))
        found = reach.named(
            list(dict.fromkeys(spelt for part in parts for spelt in _spellings(part)))
        )
        found = {name: things for name, things in found.items() if things} or reach.alike(
            _written(parts)
        )
        if not found:
            raise UnknownEntity(
                text,
                (),
                (
                    f"No entity of {self.address.title} was found in the question; name one to "
                    f"start from.{_part(reach.partial)}"
                ),
            )
        names = in_memory([(name, "is", name) for name in found], self.name)
        return tuple(
            self._best(reach, name, found[name]) for name in names.names(seeds_of(names, text))
        )

    @staticmethod
    def _best(reach: Reach, name: str, things: Collection[Id]) -> tuple[str, Id, int]:
        """Return the thing with the most edges among those of a name."""
        several = list(things)
        counts = reach.degrees(several) if len(several) > 1 else {}
        return name, max(several, key=lambda one: counts.get(one, 0)), len(several)

    def _near(self, looked_up: Starts, watch: Watch) -> Graph:
        reach, given, found = self._reach(watch), self.settings, looked_up.found
        starts = list(dict.fromkeys(thing for _, thing, _ in found))
        near = gather(reach, starts, given.hops, given.each, given.edges, given.seconds)
        names = ", ".join(name for name, _, _ in found)
        if not near.edges:
            raise BadInput(f"{self.address.title} has no triples about {shorten(names)}.")
        with tempfile.TemporaryDirectory() as folder:
            file = reach.write(Path(folder), near.edges.values(), starts)
            triples = list(file.read())
        called = tuple(head for head, relation, _ in triples if relation == START)
        graph = in_memory(
            triples[: len(triples) - len(called)], self.name, given.direction, file.attributes
        )
        here = tuple(name for name in called if graph.nodes_named(name))
        notes = [*self._notes(graph, near, shorten(names), [one for one in found if one[2] > 1])]
        if len(here) < len(called):
            notes.append(
                f"There are no triples about {shorten(', '.join(set(called).difference(here)))}."
            )
        notes += [_part(looked_up.partial).strip()] if looked_up.partial else []
        return replace(graph, fetched=Fetched(here, tuple(notes)))

    def _notes(
        self, graph: Graph, near: Gathered, names: str, several: Sequence[tuple[str, Id, int]]
    ) -> Iterator[str]:
        """Yield sentences on what was fetched and left out."""
        given = self.settings
        yield (
            f"{ASKED_LIVE}{_many(graph.n_edges, 'triple')} within {_hops(given.hops)} of "
            f"{names}, from {self.address.title}."
        )
        if near.full:
            more = "entity has" if len(near.full) == 1 else "entities have"
            yield (
                f"{len(near.full):,} {more} more than {given.each:,} triples one way; the rest "
                "was left out."
            )
        if near.stopped:
            yield (
                f"Not asked for their triples: {near.left:,} of the last hop's entities, as "
                f"{near.stopped}."
            )
        if near.blank:
            yield (
                f"{_many(len(near.blank), 'thing')} without a name of its own, or a literal, "
                "from which nothing more was asked."
            )
        for name, thing, count in several:
            yield (
                f"{count:,} things are called “{shorten(name)}”; the one with most triples was "
                f"taken: {shorten(thing)}."
            )
        yield "Degrees, and whatever is measured on the whole graph, are those of what was fetched."


def open_live(folder: Path) -> Graph:
    """Open the graph of the database that a folder describes, as `Live.graph`.

    Raises StoreError if the description is damaged.
    """
    return Live(folder.name, Settings.read(folder / FILE)).graph


def save_live(folder: Path, settings: Settings) -> None:
    """Write the description of a database into a folder.

    Raises StoreError if it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / FILE, lambda temporary: temporary.write_text(settings.text, "utf-8"))
    except OSError as error:
        raise StoreError(
            f"The graph cannot be stored in {folder}: {error.strerror or error}."
        ) from None


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _part(said: str) -> str:
    """Return a sentence to append on an incomplete look-up; empty if it was complete."""
    return f" Not all names or degrees could be looked up. {said}" if said else ""


def _hops(number: int) -> str:
    return _many(number, "hop")


def _parts(text: str) -> Iterator[str]:
    """Yield spans of a question that may be names, longest first.

    They end at words, and also at blanks for names such as Mother!
    """
    words = words_of(text)
    ends = {
        word.end: WORD_END.match(text, word.end).end()  # type: ignore[union-attr]
        for word in words
    }
    spans = [
        (first, last)
        for length in range(WORDS, 0, -1)
        for first in range(len(words))
        if (last := first + length) <= len(words)
    ]
    for first, last in spans[-SPANS:]:
        start, end = words[first].start, words[last - 1].end
        yield from dict.fromkeys(
            (text[start : ends[end]], text[start : ends[end]].rstrip("?.,;:"), text[start:end])
        )


def _written(names: Iterable[str]) -> list[str]:
    """Return names in the typography of keyboards and of books, which databases do not unify."""
    return list(dict.fromkeys(form for name in names for form in written_forms(name)))


def _spellings(part: str) -> tuple[str, ...]:
    """Return a span of a question as it is, and with initial capitals."""
    return (
        part,
        part[:1].upper() + part[1:],
        " ".join(word[:1].upper() + word[1:] for word in part.split(" ")),
    )
