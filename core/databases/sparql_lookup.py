"""Look-ups of things by label, and of statements about them, in a SPARQL endpoint."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.databases.neighbourhood import START_RELATION, DatabaseEdge, DatabaseLookup
from core.databases.sparql import (
    DEFAULT_GRAPH_PATTERN,
    NAMED_GRAPHS_PATTERN,
    EndpointCopy,
    SparqlEndpoint,
    count_in_term,
    labels_pattern,
)
from core.errors import BadInput, shorten
from core.graph.readers.rdf import LABEL_IRIS, LITERALS_LEFT_OUT, NO_LABELS
from core.graph.readers.triple_file import TripleFile

MAX_NAME_ROWS = 10_000  # rows per look-up of names
THINGS_PER_REQUEST = 16  # in a request for statements
LITERALS_PER_REQUEST = 400  # spellings and languages of names in a request
MAX_ALIKE_THINGS = 50  # things whose IRIs end in a name
# Languages in which a name is always looked up: none, English and, in Wikidata, “mul” for all.
LABEL_LANGUAGES = ("", "en", "mul")
NAME_WITH_IRI = re.compile(r".{1,500} \((https?://[^\s()]{1,2000}|urn:[^\s()]{1,2000})\)")
# Number of a row that each query for statements adds at the end. A reply without it was cut.
LAST_ROW = -1


class SparqlLookup(DatabaseLookup):
    """Look-ups in a SPARQL endpoint. Ids of things are terms of pyoxigraph.

    `language` and `literals` have the meanings of `core.databases.sparql.copy_endpoint`.
    """

    def __init__(self, endpoint: SparqlEndpoint, language: str = "", literals: str = "triples"):
        self.endpoint = endpoint
        self.limits = endpoint.limits
        self.language = language
        self.literals = literals
        in_default = endpoint.has_rows(DEFAULT_GRAPH_PATTERN)
        self._graphs = DEFAULT_GRAPH_PATTERN if in_default else NAMED_GRAPHS_PATTERN
        rules = []
        if language != NO_LABELS:
            rules.append(f"?p NOT IN ({', '.join(f'<{iri}>' for iri in LABEL_IRIS)})")
        if literals == LITERALS_LEFT_OUT:
            rules.append("!isLiteral(?o)")
        # A statement may be in several named graphs, and is then returned once.
        self._select = "SELECT" if in_default else "SELECT DISTINCT"
        self._filter = f" FILTER({' && '.join(rules)})" if rules else ""
        self.things_per_request = THINGS_PER_REQUEST

    def find_named(self, names: Sequence[str]) -> Mapping[str, Collection[Any]]:
        """Return the things with exactly these labels. An IRI is looked up as itself."""
        from pyoxigraph import Literal, NamedNode

        things_by_name: dict[str, dict[Any, None]] = {
            name: {NamedNode(_iri(name)): None} for name in names if _iri(name)
        }
        if self.language == NO_LABELS:
            return things_by_name
        # The empty language stands for labels without a language.
        tags = dict.fromkeys((*LABEL_LANGUAGES, self.language.lower()))
        labels = []
        for name in names:
            if name not in things_by_name:
                labels += [str(Literal(name, language=tag or None)) for tag in tags]
        for start in range(0, len(labels), LITERALS_PER_REQUEST):
            values = f"VALUES ?o {{ {' '.join(labels[start : start + LITERALS_PER_REQUEST])} }}"
            self._add_named(things_by_name, labels_pattern(self._graphs, values))
        return things_by_name

    def find_alike(self, names: Sequence[str]) -> Mapping[str, Collection[Any]]:
        """Return things whose labels differ only in case.

        If there are none, things are returned whose IRIs end in one of the names.
        """
        from pyoxigraph import Literal, NamedNode

        things_by_name: dict[str, dict[Any, None]] = {}
        lower_names = ", ".join(str(Literal(name.lower())) for name in names)
        if self.language != NO_LABELS:
            pattern = f"{labels_pattern(self._graphs)} FILTER(LCASE(STR(?o)) IN ({lower_names}))"
            self._add_named(things_by_name, pattern)
        if not things_by_name:
            rule = f'FILTER(isIRI(?s) && LCASE(REPLACE(STR(?s), "^.*[/#]", "")) IN ({lower_names}))'
            query = (
                f"SELECT DISTINCT ?s WHERE {{ {{ {self._scope('?s ?p ?o')} }} UNION {{ "
                f"{self._scope('?x ?p ?s')} }} {rule} }} LIMIT {MAX_ALIKE_THINGS}"
            )
            for (thing,) in self._look_up(query, ("s",), MAX_ALIKE_THINGS):
                if isinstance(thing, NamedNode):
                    last_part = thing.value.rstrip("/#").replace("#", "/").rpartition("/")[2]
                    things_by_name.setdefault(last_part, {})[thing] = None
        return things_by_name

    def _add_named(self, things: dict[str, dict[Any, None]], pattern: str) -> None:
        """Add the things that a pattern of labels finds, by their labels."""
        from pyoxigraph import Literal, NamedNode

        query = f"SELECT DISTINCT ?s ?o WHERE {{ {pattern} }} LIMIT {MAX_NAME_ROWS}"
        for thing, label in self._look_up(query, ("s", "o"), MAX_NAME_ROWS):
            if isinstance(thing, NamedNode) and isinstance(label, Literal):
                things.setdefault(label.value, {})[thing] = None

    def _look_up(
        self, query: str, names: tuple[str, ...], max_rows: int
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a look-up. `incomplete_note` is set if the server left out some."""
        yield from self.endpoint.rows(query, names, max_rows)
        self.incomplete_note = self.incomplete_note or self.endpoint.incomplete_note

    def degrees(self, things: Sequence[Any]) -> Mapping[Any, int]:
        """Return the number of statements with each thing as subject."""
        values = f"VALUES ?s {{ {' '.join(map(str, things))} }}"
        query = (
            f"SELECT ?s (COUNT(*) AS ?n) WHERE {{ {values} {self._scope('?s ?p ?o')} }} GROUP BY ?s"
        )
        rows = self._look_up(query, ("s", "n"), len(things))
        return {thing: self._number(number) for thing, number in rows}

    def has_requestable_edges(self, thing: Any) -> bool:
        """Return whether the edges of a thing can be requested.

        A blank node has another name in each request. A literal is a node only if literals are read
        as triples.
        """
        from pyoxigraph import BlankNode, Literal

        return not isinstance(thing, BlankNode) and (
            self.literals == "triples" or not isinstance(thing, Literal)
        )

    def edges(self, things: Sequence[Any], max_each: int) -> tuple[list[DatabaseEdge], set[Any]]:
        """Return statements with things as subjects, then as objects.

        If the reply is incomplete, each half of the things is requested again.
        """
        rows = list(self._rows(things, max_each))
        cut_things: set[Any] = set()
        if self.endpoint.has_more_rows:
            cut_things.update(things)  # the server sent too much; whose rows are missing is unknown
        elif LAST_ROW not in [number for number, _ in rows] or self.endpoint.incomplete_note:
            if len(things) > 1:
                middle = len(things) // 2
                first_edges, first_cut = self.edges(things[:middle], max_each)
                other_edges, other_cut = self.edges(things[middle:], max_each)
                return first_edges + other_edges, first_cut | other_cut
            cut_things.add(things[0])  # the server returns fewer rows than requested
        edges: list[DatabaseEdge] = []
        counts: Counter[int] = Counter()
        for number, triple in rows:
            if number == LAST_ROW:
                continue
            counts[number] += 1
            if counts[number] > max_each:
                cut_things.add(things[number // 2])
            else:
                edges.append(DatabaseEdge(triple, triple[0], triple[2], triple))
        return edges, cut_things

    def _rows(
        self, things: Sequence[Any], max_each: int
    ) -> Iterator[tuple[int, tuple[Any, Any, Any]]]:
        """Yield the statements, each with the number of its part of the query.

        The part of statements out of the thing at an index has the number 2 * index, and that of
        statements into it 2 * index + 1. Each part may return one statement more than
        `max_each`, which shows that it is cut. The last row has the number `LAST_ROW`.
        """
        from pyoxigraph import BlankNode, Literal, NamedNode

        parts = []
        for index, thing in enumerate(things):
            for direction, end in enumerate("so"):
                if end == "s" and isinstance(thing, Literal):
                    continue
                values_clause = f"VALUES (?n ?{end}) {{ ({2 * index + direction} {thing}) }}"
                statements = f"{self._scope('?s ?p ?o')}{self._filter}"
                parts.append(
                    f"{{ {self._select} ?n ?s ?p ?o WHERE {{ {values_clause} {statements} }} "
                    f"LIMIT {max_each + 1} }}"
                )
        query = (
            "SELECT ?n ?s ?p ?o WHERE "
            f"{{ {' UNION '.join(parts)} UNION {{ VALUES ?n {{ {LAST_ROW} }} }} }}"
        )
        max_rows = len(parts) * (max_each + 1) + 1
        rows = self.endpoint.rows(query, ("n", "s", "p", "o"), max_rows)
        for number, subject, predicate, object in rows:
            row_number = LAST_ROW if _is_last(number) else self._number(number, 2 * len(things))
            triple = subject, predicate, object
            are_nodes = isinstance(subject, NamedNode | BlankNode) and isinstance(
                object, NamedNode | BlankNode | Literal
            )
            if row_number == LAST_ROW or (are_nodes and isinstance(predicate, NamedNode)):
                yield row_number, triple

    def _number(self, term: Any, below: int | None = None) -> int:
        """Return the number in a term, less than `below`. Raises BadInput if it has none."""
        number = count_in_term(term)
        if number is None or (below is not None and number >= below):
            shown_term = getattr(term, "value", getattr(term, "text", "nothing"))
            raise BadInput(
                f"{self.endpoint.address.title} answers with what was not asked for: "
                f"{shorten(shown_term)}."
            )
        return number

    def _scope(self, pattern: str) -> str:
        """Return a pattern in the default graph. If that is empty, it is in any named graph."""
        return self._graphs.replace(DEFAULT_GRAPH_PATTERN, pattern)

    def write(
        self, folder: Path, edges: Iterable[DatabaseEdge], starts: Sequence[Any]
    ) -> TripleFile:
        """Write the statements, and the labels of things in them, as N-Triples."""
        file = TripleFile(
            folder / "near.nt",
            "ntriples",
            keep=False,
            language=self.language,
            literals=self.literals,
        )
        endpoint_copy = EndpointCopy(self.endpoint, file.path, self._graphs)
        with file.path.open("wb") as out:
            endpoint_copy.write_rows(out, (edge.row for edge in edges))
            if self.language != NO_LABELS:
                endpoint_copy.write_labels(out, self.language, file.tally.notes)
            for start in starts:
                out.write(f"{start} <urn:x:{START_RELATION}> {start} .\n".encode())
        return file


def _is_last(term: Any) -> bool:
    return getattr(term, "value", "") == str(LAST_ROW)


def _iri(name: str) -> str:
    """Return the IRI that a name is or ends in. Empty if there is none.

    Examples are `<http://x/Paris>` and `Paris (http://x/Paris)`.
    """
    iri = name
    match = NAME_WITH_IRI.fullmatch(name)
    if match:
        iri = match[1]
    elif name.startswith("<") and name.endswith(">"):
        iri = name[1:-1]
    is_iri = (
        iri.startswith(("http://", "https://", "urn:"))
        and not any(sign in iri for sign in ' <>"{}|\\^`')
        and iri.isprintable()
    )
    return iri if is_iri else ""
