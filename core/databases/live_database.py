"""Graphs in databases that are queried live.

Nothing is copied beforehand. For each question, the neighbourhood of its entities is fetched into a
graph in memory, with ids and degrees of its own. The settings of such a database are in the file
`live.toml` of the graph's folder.
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
from core.databases.bolt_lookup import BoltLookup
from core.databases.limits import MAX_COPY_BYTES, MAX_COPY_SECONDS, CopyLimits
from core.databases.neighbourhood import (
    START_RELATION,
    DatabaseLookup,
    DatabaseNeighbourhood,
    Id,
    fetch_neighbourhood,
)
from core.databases.sparql_lookup import SparqlLookup
from core.errors import BadInput, StoreError, UnknownEntity, shorten, suggest_name
from core.graph.building.build import arrays_and_names, build_in_memory
from core.graph.names.seeds import check_question, seeds_of
from core.graph.names.word_index import words_of
from core.graph.protocol import FetchedPart
from core.graph.readers.rdf import LITERAL_TRIPLES, check_language, check_literals
from core.graph.store import Graph
from core.io.durable_files import write_whole
from core.languages.spelling import fold, spelling_variants
from core.sharing import shared
from core.types import Direction
from core.watch import NO_WATCH, Watch

LIVE_FILE = "live.toml"
LIVE_NOTE_START = "Asked live: "  # begins the sentences on what was fetched
# Of a database's cache, two for each question; the least recently used are dropped.
MAX_CACHE_ENTRIES = 16
MAX_SPAN_WORDS = 8  # of a span of a question that is looked up as a name
MAX_QUESTION_SPANS = 300  # of a long question, the shortest spans are looked up
# What follows a word up to the next blank: the ! of Mother!
WORD_END = re.compile(r"\S{0,20}")
BRACKETED_NAME = re.compile(r"\[([^\[\]]{1,500})\]")
# The largest values of settings; 1 is the smallest.
SETTING_BOUNDS = {"hops": 6, "each": 10_000, "edges": 500_000, "seconds": 600.0}


@dataclass(frozen=True)
class LiveSettings:
    """Settings of a database that is queried live.

    Raises BadInput for values out of range.

    Parameters
    ----------
    address : address of the database.
    direction : direction in which the edges of the graph are followed.
    key : name of the environment variable with the key; the key itself is in no file.
    language, literals : language of the labels and use of literals, for SPARQL only.
    hops : largest distance from the start nodes.
    each : largest number of edges fetched out of a node, and into it.
    edges : largest number of edges fetched for a question.
    seconds : time for a question after which no request begins.
    """

    address: str
    direction: Direction = "both"
    key: str = ""
    language: str = ""
    literals: str = LITERAL_TRIPLES
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
        for name, highest in SETTING_BOUNDS.items():
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
    def read(cls, file: Path) -> LiveSettings:
        """Read the settings in a file. Raises StoreError if it is damaged."""
        try:
            values = tomllib.loads(file.read_text("utf-8"))
            # The address is required, so it has no default that shows its type.
            types = {field.name: type(field.default) for field in fields(cls)} | {"address": str}
            for name, value in values.items():
                if name not in types:
                    raise BadInput(
                        f"there is no setting “{shorten(name)}”.{suggest_name(name, types)}"
                    )
                is_whole_number = types[name] is float and type(value) is int
                if type(value) is not types[name] and not is_whole_number:
                    raise BadInput(f"{name} cannot be {shorten(repr(value))}.")
            return cls(**values)
        except (OSError, ValueError, TypeError, BadInput) as error:
            raise StoreError(f"{file} cannot be read: {error}") from None


class NamedThing(NamedTuple):
    """A thing, which is a node of the database, and the number of things with its name."""

    name: str
    id: Id
    n_same_name: int


class StartNodes(NamedTuple):
    """The things at which the neighbourhood of a question begins.

    `incomplete_note` is a sentence if the database looked up names or degrees only in part, else
    empty.
    """

    things: tuple[NamedThing, ...]
    incomplete_note: str


class LiveDatabase:
    """A database that is queried live, under the name of a graph. Threads may share it."""

    def __init__(self, name: str, settings: LiveSettings):
        self.name = name
        self.settings = settings
        self.address = address_of(settings.address)
        self._cache: LRUCache[tuple, Any] = LRUCache(MAX_CACHE_ENTRIES)
        self._lock = threading.Lock()

    @property
    def graph(self) -> Graph:
        """The graph before any question: without nodes, and with this object as its `live`."""
        no_ids = np.empty(0, np.int64)
        arrays, names = arrays_and_names([], (no_ids, no_ids, no_ids), 0)
        # Another environment variable with the key does not make another graph.
        identity = json.dumps(["live", self.name, {**asdict(self.settings), "key": ""}])
        digest = hashlib.sha256(identity.encode()).hexdigest()
        parts: dict[str, Any] = {**arrays, "names_utf8": names, "live": self}
        return Graph(self.name, digest, self.settings.direction, (), **parts)

    @property
    def words(self) -> str:
        """A sentence for screens on the address and the limits of a neighbourhood."""
        settings = self.settings
        return (
            f"Asked live at {self.address.title}: of each question {_hops(settings.hops)} around "
            f"its entities, at most {settings.edges:,} triples, {settings.each:,} each way at an "
            "entity."
        )

    def clear_cache(self) -> None:
        """Drop all cached neighbourhoods, so that they are fetched again."""
        with self._lock:
            self._cache.clear()

    def check_connection(self, watch: Watch = NO_WATCH) -> None:
        """Send a minimal query. Raises BadInput if the database does not answer."""
        self._open_lookup(watch.without_reports)  # opening a look-up sends a query

    def fetch_graph(
        self, text: str, entities: Sequence[str] = (), watch: Watch = NO_WATCH
    ) -> Graph:
        """Return the neighbourhood of entities, or of those that a question names.

        The graph's `fetched` has notes on what was fetched and left out. Neighbourhoods are cached.

        Parameters
        ----------
        text : the question, which is not read if entities are given.
        entities : names of entities; empty to find them in the question.
        watch : cancellation and progress.

        Raises
        ------
        UnknownEntity
            If an entity, or any name in the question, is not in the database.
        BadInput
            If the database fails, or has no edges of the entities.
        RunCancelled
            If `watch` cancels.
        """
        names = tuple(dict.fromkeys(" ".join(entity.split()) for entity in entities))
        query = names or check_question(text)
        starts = self._get_or_make(("starts", query), lambda: self._find_starts(query, watch))
        return self._get_or_make(("near", starts), lambda: self._fetch(starts, watch))

    def _get_or_make(self, key: tuple, make: Callable[[], Any]) -> Any:
        """Return the value of a key, and make it if it is not cached."""
        with self._lock:
            if key in self._cache:
                return self._cache[key]
        value = make()
        with self._lock:
            return self._cache.setdefault(key, value)

    def _open_lookup(self, watch: Watch = NO_WATCH) -> DatabaseLookup:
        settings = self.settings
        advice = f"lower the bounds in its {LIVE_FILE}, or ask of an entity with fewer neighbours"
        limits = CopyLimits(
            size=MAX_COPY_BYTES // 4,
            # A request that begins at the end of the settings' time may take as long again.
            seconds=min(MAX_COPY_SECONDS, 2 * settings.seconds),
            watch=watch,
            advice=advice,
        )
        # On a shared server, the key in the file of keys is not used.
        key = self.address.key(settings.key) if settings.key or not shared() else ""
        if self.address.kind == SPARQL:
            return SparqlLookup(
                sparql.SparqlEndpoint(self.address, key, limits),
                settings.language,
                settings.literals,
            )
        return BoltLookup(bolt.BoltDatabase(self.address, key, limits))

    def _find_starts(self, query: str | tuple[str, ...], watch: Watch) -> StartNodes:
        """Return the things that a question or a tuple of names refers to."""
        lookup = self._open_lookup(watch)
        watch.report("Looking for the entities", 0.0)
        if isinstance(query, str):
            return StartNodes(self._find_mentions(lookup, query), lookup.incomplete_note)
        return StartNodes(self._find_named(lookup, query), lookup.incomplete_note)

    def _find_named(self, lookup: DatabaseLookup, names: tuple[str, ...]) -> tuple[NamedThing, ...]:
        """Return the thing of each name, ignoring case if no name is equal.

        Raises UnknownEntity.
        """
        things_by_name = lookup.find_named(names)
        missing = [name for name in names if not things_by_name.get(name)]
        # By the names in the database, which differ from these in case.
        alike = lookup.find_alike(_spellings_with_typography(missing)) if missing else {}
        things_by_folded_name: dict[str, dict[Id, None]] = {}  # sets that keep their order
        for name, things in alike.items():
            things_by_folded_name.setdefault(fold(name), {}).update(dict.fromkeys(things))
        for name in missing:
            if fold(name) not in things_by_folded_name:
                raise UnknownEntity(
                    name,
                    message=f"“{shorten(name)}” was not found by its name at "
                    f"{self.address.title}.{_incomplete_text(lookup.incomplete_note)}",
                )
        named_things = []
        for name in names:
            things = things_by_name.get(name) or things_by_folded_name[fold(name)]
            named_things.append(_choose_thing(lookup, name, things))
        return tuple(named_things)

    def _find_mentions(self, lookup: DatabaseLookup, text: str) -> tuple[NamedThing, ...]:
        """Return the things that a question names.

        Names in square brackets are looked up if there are any. Otherwise spans of the question are
        looked up. Among those that are names, the rules for questions to local graphs choose.
        Raises UnknownEntity if there is none.
        """
        parts = BRACKETED_NAME.findall(text) or list(_name_spans(text))
        spellings: dict[str, None] = {}
        for part in parts:
            spellings |= dict.fromkeys(_capitalisations(part))
        named = lookup.find_named(list(spellings))
        things_by_name = {name: things for name, things in named.items() if things}
        if not things_by_name:
            things_by_name = dict(lookup.find_alike(_spellings_with_typography(parts)))
        if not things_by_name:
            raise UnknownEntity(
                text,
                message=f"No entity of {self.address.title} was found in the question; name one to "
                f"start from.{_incomplete_text(lookup.incomplete_note)}",
            )
        # The question's entities are linked in a graph that has only these names.
        names_graph = build_in_memory([(name, "is", name) for name in things_by_name], self.name)
        return tuple(
            _choose_thing(lookup, name, things_by_name[name])
            for name in names_graph.names(seeds_of(names_graph, text))
        )

    def _fetch(self, start_nodes: StartNodes, watch: Watch) -> Graph:
        """Fetch the neighbourhood of some things, and return it as a graph."""
        lookup = self._open_lookup(watch)
        settings = self.settings
        start_things = start_nodes.things
        starts = list(dict.fromkeys(thing.id for thing in start_things))
        neighbourhood = fetch_neighbourhood(
            lookup, starts, settings.hops, settings.each, settings.edges, settings.seconds
        )
        names = shorten(", ".join(thing.name for thing in start_things))
        if not neighbourhood.edges:
            raise BadInput(f"{self.address.title} has no triples about {names}.")
        with tempfile.TemporaryDirectory() as folder:
            file = lookup.write(Path(folder), neighbourhood.edges.values(), starts)
            triples = list(file.read())
        # The last triples, with START_RELATION, mark the starts under the names that the file's
        # reader gives to them. They are no part of the graph.
        all_start_names = tuple(head for head, relation, _ in triples if relation == START_RELATION)
        graph_triples = triples[: len(triples) - len(all_start_names)]
        graph = build_in_memory(graph_triples, self.name, settings.direction, file.attributes)
        start_names = tuple(name for name in all_start_names if graph.nodes_named(name))
        ambiguous = [thing for thing in start_things if thing.n_same_name > 1]
        notes = list(self._notes(graph, neighbourhood, names, ambiguous))
        missing = ", ".join(name for name in all_start_names if name not in start_names)
        if len(start_names) < len(all_start_names):
            notes.append(f"There are no triples about {shorten(missing)}.")
        if start_nodes.incomplete_note:
            notes.append(_incomplete_text(start_nodes.incomplete_note).strip())
        return replace(graph, fetched=FetchedPart(start_names, tuple(notes)))

    def _notes(
        self, graph: Graph, part: DatabaseNeighbourhood, names: str, ambiguous: Sequence[NamedThing]
    ) -> Iterator[str]:
        """Yield sentences on what was fetched and left out.

        `names` are the names of the starts as a text, and `ambiguous` the starts whose names
        several things have.
        """
        settings = self.settings
        yield (
            f"{LIVE_NOTE_START}{_count_text(graph.n_edges, 'triple')} within "
            f"{_hops(settings.hops)} of {names}, from {self.address.title}."
        )
        if part.cut_things:
            subject_and_verb = "entity has" if len(part.cut_things) == 1 else "entities have"
            yield (
                f"{len(part.cut_things):,} {subject_and_verb} more than {settings.each:,} triples "
                "one way; the rest was left out."
            )
        if part.stop_reason:
            yield (
                f"Not asked for their triples: {part.unrequested_count:,} of the last hop's "
                f"entities, as {part.stop_reason}."
            )
        if part.dead_ends:
            yield (
                f"{_count_text(len(part.dead_ends), 'thing')} without a name of its own, or a "
                "literal, from which nothing more was asked."
            )
        for name, thing, count in ambiguous:
            yield (
                f"{count:,} things are called “{shorten(name)}”; the one with most triples was "
                f"taken: {shorten(thing)}."
            )
        yield "Degrees, and whatever is measured on the whole graph, are those of what was fetched."


def open_live(folder: Path) -> Graph:
    """Open the graph of the database that a folder describes, as `LiveDatabase.graph`.

    Raises StoreError if the description is damaged.
    """
    return LiveDatabase(folder.name, LiveSettings.read(folder / LIVE_FILE)).graph


def save_live(folder: Path, settings: LiveSettings) -> None:
    """Write the description of a database into a folder.

    Raises StoreError if it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(
            folder / LIVE_FILE, lambda temporary: temporary.write_text(settings.text, "utf-8")
        )
    except OSError as error:
        raise StoreError(
            f"The graph cannot be stored in {folder}: {error.strerror or error}."
        ) from None


def _choose_thing(lookup: DatabaseLookup, name: str, things: Collection[Id]) -> NamedThing:
    """Return the thing of a name, and the number of things.

    Among several things, it is the one with the most edges.
    """
    candidates = list(things)
    degrees = lookup.degrees(candidates) if len(candidates) > 1 else {}
    best = max(candidates, key=lambda thing: degrees.get(thing, 0))
    return NamedThing(name, best, len(candidates))


def _count_text(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _incomplete_text(reason: str) -> str:
    """Return a sentence to append to a message. Empty if the look-up was complete."""
    return f" Not all names or degrees could be looked up. {reason}" if reason else ""


def _hops(number: int) -> str:
    return _count_text(number, "hop")


def _name_spans(text: str) -> Iterator[str]:
    """Yield spans of a question that may be names, longest first.

    Each span of words is also yielded up to the next blank, for names such as Mother!
    """
    words = words_of(text)
    spans = []
    for length in range(MAX_SPAN_WORDS, 0, -1):
        for first in range(len(words) - length + 1):
            spans.append((words[first].start, words[first + length - 1].end))
    for start, end in spans[-MAX_QUESTION_SPANS:]:
        blank = WORD_END.match(text, end).end()  # type: ignore[union-attr]
        to_blank = text[start:blank]
        yield from dict.fromkeys((to_blank, to_blank.rstrip("?.,;:"), text[start:end]))


def _spellings_with_typography(names: Iterable[str]) -> list[str]:
    """Return names with straight and with typographic apostrophes and dashes.

    Databases compare characters exactly.
    """
    return list(dict.fromkeys(form for name in names for form in spelling_variants(name)))


def _capitalisations(part: str) -> tuple[str, ...]:
    """Return a span unchanged, with a first capital, and with capitals of all words."""
    return (
        part,
        part[:1].upper() + part[1:],
        " ".join(word[:1].upper() + word[1:] for word in part.split(" ")),
    )
