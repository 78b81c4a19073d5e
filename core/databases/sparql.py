"""Statements of a SPARQL endpoint, copied page by page into a file of N-Triples, which is then read as any other."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from core.databases.address import Address
from core.databases.limits import CONNECT, WAIT, Limits
from core.errors import BadInput, shorten
from core.graph.readers.rdf import LABELS, LEAVE_OUT, NO_LABELS, WIKIDATA, languages_of_labels
from core.models.chat.pauses import retry_after

PAGE = 10_000  # rows of a request; a server that gives fewer at a time is asked for the next ones all the same
NAMED_AT_ONCE = 150  # things whose labels one request asks for
MOST_NAMED = 30_000  # things whose labels are asked for at all
BUSY = (429, 502, 503, 504)
TRIES, LONGEST_PAUSE = 4, 30.0
ROWS, TRIPLES = "application/sparql-results+json", "application/n-triples"
IRI = re.compile(r"<[^<>\s]{0,2000}>")
COMMENT = re.compile(r"(?m)#[^\n]{0,2000}$")
FORM = re.compile(
    r"(?<![\w:?$])(SELECT|CONSTRUCT|DESCRIBE|ASK|INSERT|DELETE|LOAD|CLEAR|DROP|CREATE)(?![\w:])",
    re.IGNORECASE,
)
DEFAULT, NAMED = "?s ?p ?o", "GRAPH ?g { ?s ?p ?o }"
NO_LITERALS = " FILTER(!isLiteral(?o))"


class Endpoint:
    """A SPARQL endpoint that queries are sent to, none of which changes it. Methods raise BadInput with a sentence that names it."""

    def __init__(self, address: Address, key: str, limits: Limits):
        import requests

        self.address, self.limits = address, limits
        self._session = requests.Session()
        host = address.title.partition("/")[0].partition(":")[0]
        self._session.trust_env = host not in (
            "localhost",
            "127.0.0.1",
            "[",
        )  # no proxy on the way to this computer
        self._session.headers["User-Agent"] = (
            "Hopscope (graph retrieval; https://www.w3.org/TR/sparql11-protocol/)"
        )
        self._session.auth = _authorised(key)

    def rows(self, query: str, names: tuple[str, ...] = ()) -> Iterator[tuple[Any, ...]]:
        """The values of a SELECT, of the variables of these names, else of its first three; rows without one of them are left out."""
        from pyoxigraph import QueryResultsFormat, QuerySolutions, parse_query_results

        with self._answer(query, ROWS) as body:
            found = self._parsed(lambda: parse_query_results(body, format=QueryResultsFormat.JSON))  # type: ignore[arg-type]
            if not isinstance(found, QuerySolutions):
                raise BadInput(f"{self.address.title} did not answer with rows.")
            variables = [one.value for one in found.variables]
            given = names or tuple(variables[:3])
            if not given or not set(given) <= set(variables):
                raise BadInput(
                    f"{self.address.title} did not answer with the variables {', '.join(given)}."
                )
            while (row := self._parsed(lambda: next(found, None))) is not None:
                yield tuple(row[name] for name in given)

    def triples(self, query: str) -> Iterator[tuple[Any, ...]]:
        """The statements of a CONSTRUCT or DESCRIBE."""
        from pyoxigraph import RdfFormat, parse

        with self._answer(query, f"{TRIPLES}, text/turtle;q=0.9") as body:
            format = RdfFormat.TURTLE if "turtle" in body.type else RdfFormat.N_TRIPLES
            found = self._parsed(lambda: parse(body, format=format, base_iri=self.address.url))  # type: ignore[arg-type]
            while (one := self._parsed(lambda: next(found, None))) is not None:
                yield one.subject, one.predicate, one.object

    def count(self, pattern: str) -> int | None:
        """How many rows a pattern has; None where the endpoint does not say in time."""
        with suppress(BadInput, ValueError, TypeError, AttributeError):
            [(number,)] = self.rows(f"SELECT (COUNT(*) AS ?n) WHERE {{ {pattern} }}", ("n",))
            return int(number.value)
        return None

    def _parsed(self, step: Any) -> Any:
        try:
            return step()
        except (SyntaxError, ValueError) as error:
            raise BadInput(
                f"{self.address.title} answers with what cannot be read: {shorten(str(error))}."
            ) from None

    @contextmanager
    def _answer(self, query: str, accept: str) -> Iterator[_Body]:
        """The reply to a query. Asked again, a few times, where the endpoint is busy."""
        import requests

        who, wait = self.address.title, min(WAIT, self.limits.seconds)
        try:
            for attempt in range(TRIES):
                self.limits.took(0, who)
                response = self._session.post(
                    self.address.url,
                    data={"query": query},
                    headers={"Accept": accept},
                    timeout=(CONNECT, wait),
                    stream=True,
                    allow_redirects=False,
                )
                if response.status_code not in BUSY or attempt == TRIES - 1:
                    break
                response.close()
                named = retry_after(response.headers)
                self._wait(2.0**attempt if named is None else named)
            with response:
                self._check(response)
                yield _Body(response, self.limits, who)
        except requests.exceptions.SSLError:
            raise BadInput(f"{who} has no certificate that this computer trusts.") from None
        except requests.exceptions.Timeout:
            raise BadInput(f"{who} did not answer within {wait:g} s.") from None
        except (requests.exceptions.RequestException, UnicodeError):
            raise BadInput(
                f"{who} cannot be reached, or broke off. Is the address right, and does it run?"
            ) from None

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + min(LONGEST_PAUSE, seconds)
        while time.monotonic() < until:
            self.limits.took(0, self.address.title)
            time.sleep(0.1)

    def _check(self, response: Any) -> None:
        """Raises BadInput where a reply is no result of a query."""
        who, code, kind = (
            self.address.title,
            response.status_code,
            response.headers.get("Content-Type", "").lower(),
        )
        if code in (401, 403):
            raise BadInput(
                f"{who} wants a name and password, or refuses those given: {self.address.wants_key}."
            )
        if code in (301, 302, 303, 307, 308):
            raise BadInput(
                f"{who} sends to another address: {shorten(response.headers.get('Location', ''))}. Use that, if you trust it."
            )
        if code in BUSY:
            raise BadInput(
                f"{who} is busy ({code}), also after {TRIES} tries; try later, or copy less."
            )
        if code != 200:
            said = (
                " ".join(
                    response.raw.read(600, decode_content=True).decode("utf-8", "replace").split()
                )
                if "html" not in kind
                else ""
            )
            raise BadInput(
                f"{who} refuses the query ({code}){': ' + shorten(said) if said else ''}."
            )
        if "html" in kind:
            raise BadInput(
                f"{who} answers with a web page. Is this the address of its SPARQL endpoint?"
            )


def _authorised(key: str) -> Any:
    """What adds a key to a request: `name:password` as such, another as a token; without one nothing, not from ~/.netrc."""
    import base64

    name, parted, _ = key.partition(":")
    value = (
        "Basic " + base64.b64encode(key.encode()).decode() if parted and name else f"Bearer {key}"
    )

    def add(request: Any) -> Any:
        if key:
            request.headers["Authorization"] = value
        return request

    return add


class _Body:
    """The bytes of a reply, counted."""

    def __init__(self, response: Any, limits: Limits, who: str):
        self.type = response.headers.get("Content-Type", "").lower()
        self._pieces, self._limits, self._who, self._rest = (
            response.iter_content(1 << 16),
            limits,
            who,
            b"",
        )

    def read(self, size: int = -1) -> bytes:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._limits.took(len(piece), self._who)
            self._rest = piece
        end = len(self._rest) if size < 0 else size
        data, self._rest = self._rest[:end], self._rest[end:]
        return data


def form_of(query: str) -> str:
    """SELECT, CONSTRUCT or DESCRIBE: what a query is. Raises BadInput for another, such as one that changes something."""
    found = FORM.search(COMMENT.sub("", IRI.sub("<>", query)))
    form = found[1].upper() if found else ""
    if form not in ("SELECT", "CONSTRUCT", "DESCRIBE"):
        raise BadInput(
            "A query for a graph is a SELECT of three variables (head, relation, tail), a CONSTRUCT or a DESCRIBE."
        )
    return form


def copy(
    endpoint: Endpoint, file: Path, query: str = "", language: str = "", literals: str = ""
) -> list[str]:
    """Writes the statements of an endpoint, or of a query to it, and labels of things, as N-Triples; sentences on what was left out.

    Without a query it is the default graph, or all named graphs where that is empty. Literals are not asked for where `literals` says that
    they are left out; labels in the `language` come along, unless that is “none”. Raises BadInput for an endpoint that answers with
    nothing, breaks off or sends too much, and what the limits' `check` raises.
    """
    notes: list[str] = []
    found = Copied(endpoint, file)
    with file.open("wb") as out:
        if query:
            found.own(out, query)
        else:
            found.all(out, NO_LITERALS if literals == LEAVE_OUT else "", notes)
        if language != NO_LABELS:
            found.labels(out, language, notes)
    if not found.written:
        raise BadInput(
            f"{endpoint.address.title} gives no triples{' for this query' if query else ''}."
        )
    return [found.said(), *notes]


def labels_pattern(graphs: str, given: str = "") -> str:
    """The pattern of labels: ?s has the label ?o by the relation ?p, in the `graphs`, which are `DEFAULT` or `NAMED`. What is `given` of ?s
    or ?o is repeated at each relation: servers look up what is bound, and read everything to join what is not."""
    parts = (
        f"{{ {given} {graphs.replace(DEFAULT, f'?s <{one}> ?o')} BIND(<{one}> AS ?p) }}"
        for one in LABELS
    )
    return " UNION ".join(parts)


class Copied:
    """What has been copied of an endpoint."""

    def __init__(self, endpoint: Endpoint, file: Path, graphs: str = DEFAULT):
        self.endpoint, self.limits, self.file, self.graphs = endpoint, endpoint.limits, file, graphs
        self.written, self.odd, self.cut = 0, 0, False
        self.there: int | None = None  # rows of the whole
        self._seen = set[int]()  # hashes of lines
        self._things: dict[str, None] = {}
        self._labelled: set[str] = set()

    def own(self, out: BinaryIO, query: str) -> None:
        rows = self.endpoint.rows if form_of(query) == "SELECT" else self.endpoint.triples
        self.take(out, rows(query))

    def all(self, out: BinaryIO, rest: str, notes: list[str]) -> None:
        """Page by page, until one is empty."""
        pattern = DEFAULT + rest
        if (
            next(
                iter(
                    self.endpoint.rows(
                        f"SELECT ?s ?p ?o WHERE {{ {pattern} }} LIMIT 1", ("s", "p", "o")
                    )
                ),
                None,
            )
            is None
        ):
            pattern = NAMED + rest
            notes.append("Its default graph is empty; all its named graphs are read as one.")
        self.there = self.endpoint.count(pattern)
        offset = pages = 0
        while not self.cut:
            query = f"SELECT ?s ?p ?o WHERE {{ {pattern} }} LIMIT {min(PAGE, self.limits.triples - self.written + 1)} OFFSET {offset}"
            read = self.take(out, self.endpoint.rows(query, ("s", "p", "o")))
            offset, pages = offset + read, pages + 1
            if not read or (self.there is not None and offset >= self.there):
                break
        if pages > 1:
            notes.append(
                f"Read in {pages:,} pages in the order of the server; what it changed meanwhile may be missing."
            )

    def take(self, out: BinaryIO, rows: Iterator[tuple[Any, ...]]) -> int:
        """Writes statements until there are enough; how many rows were read."""
        from pyoxigraph import BlankNode, Literal, NamedNode

        number = 0
        for number, row in enumerate(rows, 1):  # noqa: B007
            subject, predicate, object = row if len(row) == 3 else (None, None, None)
            if not (
                isinstance(subject, NamedNode | BlankNode)
                and isinstance(predicate, NamedNode)
                and isinstance(object, NamedNode | BlankNode | Literal)
            ):
                self.odd += 1
                continue
            line = f"{subject} {predicate} {object} .\n"
            if hash(line) in self._seen:
                continue
            if self.written >= self.limits.triples:
                self.cut = True
                break
            out.write(line.encode())
            self._seen.add(hash(line))
            self._noted(row)
        return number

    def _noted(self, row: tuple[Any, ...]) -> None:
        """Counts a statement that was written, and what it names."""
        from pyoxigraph import Literal, NamedNode

        self.written += 1
        if isinstance(row[2], Literal) and row[1].value in LABELS:
            self._labelled.add(row[0].value)
        self._things.update((term.value, None) for term in row if isinstance(term, NamedNode))
        if not self.written % 1000:
            whole = min(self.limits.triples, self.there or self.limits.triples)
            self.limits.progress(f"{self.written:,} triples", min(0.9, 0.9 * self.written / whole))

    def labels(self, out: BinaryIO, language: str, notes: list[str]) -> None:
        """Labels of what was copied that has none yet: in the language, in all languages at once (“mul”), in English or without one; of
        things that have none of these in any. Where the endpoint fails at it, that is a sentence."""
        wanted = dict.fromkeys(
            one
            for thing in self._things
            if thing not in self._labelled
            for one in (_labelled_as(thing),)
            if one
        )
        asked = [one for one in wanted if one not in self._labelled and IRI.fullmatch(f"<{one}>")][
            :MOST_NAMED
        ]
        if len(wanted) > MOST_NAMED:
            notes.append(
                f"Labels were asked for of {MOST_NAMED:,} of {len(wanted):,} things without one."
            )
        tags = " || ".join(
            f'LANGMATCHES(LANG(?o), "{tag}")' for tag in languages_of_labels(language)
        )
        rules = [f'FILTER(LANG(?o) = "" || {tags})', ""]
        for rule in rules:
            left = [one for one in asked if one not in self._labelled]
            for at in range(0, len(left), NAMED_AT_ONCE):
                self.limits.progress("Labels", 0.9 + 0.1 * at / len(left))
                try:
                    self._label(out, left[at : at + NAMED_AT_ONCE], rule)
                except BadInput as error:
                    notes.append(
                        f"Labels of {len(left) - at:,} things could not be asked for: {error}"
                    )
                    return

    def _label(self, out: BinaryIO, things: Sequence[str], rule: str) -> None:
        from pyoxigraph import Literal, NamedNode

        given = f"VALUES ?s {{ {' '.join(f'<{one}>' for one in things)} }}"
        query = f"SELECT ?s ?p ?o WHERE {{ {labels_pattern(self.graphs, given)} {rule} }}"
        for row in self.endpoint.rows(query, ("s", "p", "o")):
            if (
                isinstance(row[0], NamedNode)
                and isinstance(row[1], NamedNode)
                and isinstance(row[2], Literal)
            ):
                out.write(f"{row[0]} {row[1]} {row[2]} .\n".encode())
                self._labelled.add(row[0].value)

    def said(self) -> str:
        """What was copied, and what was left out of it."""
        whole = (
            f" of {self.there:,}" if self.there is not None and self.there != self.written else ""
        )
        text = f"{self.written:,}{whole} triples copied from {self.endpoint.address.title}"
        if not self.cut and self.there and self.there > self.written + self.odd:
            text += ", the others being the same in another graph, or not given"
        if self.cut:
            text += f", the most that were to be copied{'' if self.there is not None else '; there are more'}"
        return (
            f"{text}; {self.odd:,} rows that are no triples left out." if self.odd else f"{text}."
        )


def _labelled_as(iri: str) -> str:
    """The thing whose label a thing has: itself, or the property of a relation of Wikidata."""
    found = WIKIDATA.fullmatch(iri)
    return f"http://www.wikidata.org/entity/{found[1]}" if found else iri
