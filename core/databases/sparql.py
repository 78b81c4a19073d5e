"""Queries to SPARQL endpoints, and copies of their statements as N-Triples.

A copy is read page by page, as endpoints limit the rows of a reply. Labels are requested
afterwards.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from core.databases import sparql_rows
from core.databases.address import Address
from core.databases.limits import CONNECT_SECONDS, PIECE_WAIT_SECONDS, CopyLimits
from core.databases.replies import HttpReply, check_packing
from core.databases.sparql_rows import InvalidTerm
from core.errors import BadInput, shorten, strip_markup
from core.graph.readers.ntriples import NestingGuard
from core.graph.readers.rdf import (
    LABEL_IRIS,
    LITERALS_LEFT_OUT,
    NO_LABELS,
    WIKIDATA_PROPERTY,
    languages_of_labels,
)
from core.io.files import MAX_LINE_BYTES
from core.models.chat.pauses import retry_after
from core.models.hosts import bypasses_proxy


@dataclass(frozen=True)
class SparqlLimits:
    """Sizes of requests to a SPARQL endpoint, and tries of each."""

    page_rows: int = 10_000  # per request; a server may return fewer
    max_pages: int = 10_000
    labels_per_request: int = 150
    max_labelled_things: int = 30_000  # things whose labels are requested
    max_request_tries: int = 4  # of a busy endpoint
    max_retry_pause_seconds: float = 30.0
    max_message_characters: int = 200  # shown of a server's message


SPARQL_LIMITS = SparqlLimits()
ENDPOINT_BUSY_STATUSES = (429, 502, 503, 504)
ROWS_MEDIA_TYPE = "application/sparql-results+json"
TRIPLES_MEDIA_TYPE = "application/n-triples"
COUNT_DIGITS = re.compile(r"\d{1,15}", re.ASCII)
IRI = re.compile(r"<[^<>\s]{0,2000}>")
COMMENT = re.compile(r"(?m)#[^\n]{0,2000}$")
QUERY_FORM = re.compile(
    r"(?<![\w:?$])(SELECT|CONSTRUCT|DESCRIBE|ASK|INSERT|DELETE|LOAD|CLEAR|DROP|CREATE)(?![\w:])",
    re.IGNORECASE,
)
PAGES_ADVICE = "Ask for less, with LIMIT and OFFSET, or copy it without a query, page by page."
REPEATED_ROWS_FAULT = (
    "It gives the same rows again whatever OFFSET says, so what is behind the first page is "
    "missing."
)
DEFAULT_GRAPH_PATTERN = "?s ?p ?o"
NAMED_GRAPHS_PATTERN = "GRAPH ?g { ?s ?p ?o }"
NO_LITERALS = " FILTER(!isLiteral(?o))"


class SparqlEndpoint:
    """A SPARQL endpoint to which queries are sent.

    Methods raise BadInput with a sentence that names the endpoint, and the errors of the limits.

    Parameters
    ----------
    address : address of the endpoint.
    key : `name:password` or a token; empty for none.
    limits : limits of all replies together.

    Attributes
    ----------
    incomplete_note : a sentence if the server left out rows of the last reply, else empty.
    has_more_rows : True if the last reply had more rows than were requested.
    """

    def __init__(self, address: Address, key: str, limits: CopyLimits):
        import requests

        self.address = address
        self.limits = limits
        self.incomplete_note = ""
        self.has_more_rows = False
        self._session = requests.Session()
        # The environment names proxies. A server on this computer is requested without one.
        self._session.trust_env = not bypasses_proxy(address.url)
        self._session.headers["User-Agent"] = (
            "Hopscope (graph retrieval; https://www.w3.org/TR/sparql11-protocol/)"
        )
        self._session.auth = _auth_hook(key)

    def rows(
        self, query: str, names: tuple[str, ...] = (), max_rows: int | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a SELECT.

        Afterwards `incomplete_note` is set if the server left out rows, and `has_more_rows` if it
        sent more than `max_rows`.

        Parameters
        ----------
        query : a SELECT.
        names : the variables to return; empty for the first three.
        max_rows : largest number of rows; further rows are ignored.

        Yields
        ------
        Tuples of terms. A value that is no valid term is an `InvalidTerm`, and a missing one None.
        """
        count = 0
        with self._request(query, ROWS_MEDIA_TYPE) as reply:
            for row in sparql_rows.result_rows(reply, self.address.title, names):
                if count == max_rows:
                    self.has_more_rows = True
                    return
                count += 1
                yield row
            self.incomplete_note = _note_left_out(reply.response.headers, count)

    def triples(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Yield the statements of a CONSTRUCT or DESCRIBE. `incomplete_note` is set as in `rows`."""
        from pyoxigraph import RdfFormat, parse

        count = 0
        with self._request(query, f"{TRIPLES_MEDIA_TYPE}, text/turtle;q=0.9") as reply:
            format = RdfFormat.TURTLE if "turtle" in reply.type else RdfFormat.N_TRIPLES
            source: Any = NestingGuard(reply)
            parser = self._parse(lambda: parse(source, format=format, base_iri=self.address.url))
            statement = self._parse(lambda: next(parser, None))
            while statement is not None:
                count += 1
                yield statement.subject, statement.predicate, statement.object
                statement = self._parse(lambda: next(parser, None))
            self.incomplete_note = _note_left_out(reply.response.headers, count)

    def has_rows(self, pattern: str) -> bool:
        """Return whether a pattern has rows. True also if the server did not look at all data."""
        query = f"SELECT ?s ?p ?o WHERE {{ {pattern} }} LIMIT 1"
        return any(True for _ in self.rows(query, ("s", "p", "o"))) or bool(self.incomplete_note)

    def count(self, pattern: str) -> int | None:
        """Return the number of rows of a pattern. None if the endpoint cannot count them."""
        with suppress(BadInput):
            rows = list(self.rows(f"SELECT (COUNT(*) AS ?n) WHERE {{ {pattern} }}", ("n",), 1))
            return None if self.incomplete_note or not rows else count_in_term(rows[0][0])
        return None

    def _parse(self, step: Any) -> Any:
        """Return the result of a step of parsing. Raises BadInput for an invalid reply."""
        try:
            return step()
        except (SyntaxError, ValueError) as error:
            raise BadInput(
                f"{self.address.title} answers with what cannot be read: {shorten(str(error))}."
            ) from None

    @contextmanager
    def _request(self, query: str, accept: str) -> Iterator[HttpReply]:
        """Send a query and yield the reply of media type `accept`.

        A busy endpoint is asked `SPARQL_LIMITS.max_request_tries` times.
        """
        import requests
        import urllib3

        title = self.address.title
        timeout = min(PIECE_WAIT_SECONDS, self.limits.seconds)
        send = partial(self._send, query, accept, timeout)
        self.incomplete_note = ""
        self.has_more_rows = False
        last_attempt = SPARQL_LIMITS.max_request_tries - 1
        try:
            for attempt in range(SPARQL_LIMITS.max_request_tries):
                with HttpReply(send, self.limits, title) as reply:
                    is_busy = reply.response.status_code in ENDPOINT_BUSY_STATUSES
                    if not is_busy or attempt == last_attempt:
                        self._check(reply)
                        yield reply
                        return
                    pause = retry_after(reply.response.headers)
                self._wait(2.0**attempt if pause is None else pause)
        except (requests.exceptions.SSLError, urllib3.exceptions.SSLError):
            raise BadInput(f"{title} has no certificate that this computer trusts.") from None
        except (requests.exceptions.Timeout, urllib3.exceptions.TimeoutError):
            raise BadInput(f"{title} did not answer within {timeout:g} s.") from None
        except (
            requests.exceptions.RequestException,
            urllib3.exceptions.HTTPError,
            OSError,
            UnicodeError,
        ):
            raise BadInput(
                f"{title} cannot be reached, or broke off. Is the address right, and does it run?"
            ) from None

    def _send(self, query: str, accept: str, timeout: float) -> Any:
        return self._session.post(
            self.address.url,
            data={"query": query},
            headers={"Accept": accept, "Accept-Encoding": "gzip, deflate"},
            timeout=(CONNECT_SECONDS, timeout),
            stream=True,
            allow_redirects=False,
        )

    def _wait(self, seconds: float) -> None:
        """Wait before the next try. Raises the errors of the limits."""
        until = time.monotonic() + min(SPARQL_LIMITS.max_retry_pause_seconds, seconds)
        while time.monotonic() < until:
            self.limits.count_bytes(0, self.address.title)
            time.sleep(0.1)

    def _check(self, reply: HttpReply) -> None:
        """Raise BadInput if a reply is an error, a redirection or a web page."""
        response = reply.response
        title = self.address.title
        code = response.status_code
        check_packing(response, title)
        if code in (401, 403):
            raise BadInput(
                f"{title} wants a name and password, or refuses those given: "
                f"{self.address.key_advice}."
            )
        if code in (301, 302, 303, 307, 308):
            target = strip_markup(response.headers.get("Location", ""), 80)
            raise BadInput(
                f"{title} sends to another address: {target}. Use that, if you trust it."
            )
        if code in ENDPOINT_BUSY_STATUSES:
            raise BadInput(
                f"{title} is busy ({code}), also after {SPARQL_LIMITS.max_request_tries} tries; "
                "try later, or copy less."
            )
        if code != 200:
            message = ""  # a page of HTML has no short message
            if "html" not in reply.type:
                message = strip_markup(reply.read_text(600), SPARQL_LIMITS.max_message_characters)
            reason = f": {message}" if message else ""
            raise BadInput(f"{title} refuses the query ({code}){reason}.")
        if "html" in reply.type:
            raise BadInput(
                f"{title} answers with a web page. Is this the address of its SPARQL endpoint?"
            )


def count_in_term(term: Any) -> int | None:
    """Return the count in a term. None for texts, negative numbers and other terms."""
    text = getattr(term, "value", "")
    return int(text) if COUNT_DIGITS.fullmatch(text) else None


def _note_left_out(headers: Mapping[str, str], count: int) -> str:
    """Return a sentence if a header of Virtuoso says that it left out rows."""
    if headers.get("X-SQL-State", "").strip() not in ("", "00000"):
        message = strip_markup(
            headers.get("X-SQL-Message", ""), SPARQL_LIMITS.max_message_characters
        ).rstrip(".")
        reason = f": {message}" if message else ""
        return f"It gave a part of the rows only{reason}."
    max_rows = headers.get("X-SPARQL-MaxRows", "").strip()
    if COUNT_DIGITS.fullmatch(max_rows) and 0 < int(max_rows) <= count:
        return f"It gives {int(max_rows):,} rows of a query at most, so there may be more."
    return ""


def _auth_hook(key: str) -> Any:
    """Return a function that adds a key to a request.

    A key `name:password` is sent as basic authentication, any other as a token. Without a key
    nothing is added, not even from ~/.netrc.
    """
    import base64

    name, colon, _ = key.partition(":")
    value = (
        "Basic " + base64.b64encode(key.encode()).decode() if colon and name else f"Bearer {key}"
    )

    def add_key(request: Any) -> Any:
        if key:
            request.headers["Authorization"] = value
        return request

    return add_key


def query_form(query: str) -> str:
    """Return the form of a query: SELECT, CONSTRUCT or DESCRIBE.

    Raises BadInput for any other, such as one that changes data.
    """
    match = QUERY_FORM.search(COMMENT.sub("", IRI.sub("<>", query)))
    form = match[1].upper() if match else ""
    if form not in ("SELECT", "CONSTRUCT", "DESCRIBE"):
        raise BadInput(
            "A query for a graph is a SELECT of three variables (head, relation, tail), a "
            "CONSTRUCT or a DESCRIBE."
        )
    return form


def copy_endpoint(
    endpoint: SparqlEndpoint, file: Path, query: str = "", language: str = "", literals: str = ""
) -> list[str]:
    """Write the statements of an endpoint or query, and labels, as N-Triples.

    Without a query, the default graph is copied, or all named graphs if it is empty.

    Parameters
    ----------
    endpoint : the endpoint, whose limits bound the copy.
    file : the file to write.
    query : a SELECT of three variables, a CONSTRUCT or a DESCRIBE; empty for all statements.
    language : language of the labels; “none” for no labels.
    literals : with `LITERALS_LEFT_OUT`, statements with literals are not requested.

    Returns
    -------
    Sentences on what was copied and left out.

    Raises
    ------
    BadInput
        If the endpoint has no data, breaks off or sends too much. The errors of the limits' `watch`
        are raised too.
    """
    notes: list[str] = []
    endpoint_copy = EndpointCopy(endpoint, file)
    with file.open("wb") as out:
        if query:
            endpoint_copy.copy_query(out, query, notes)
        else:
            endpoint_copy.copy_pages(
                out, NO_LITERALS if literals == LITERALS_LEFT_OUT else "", notes
            )
        if language != NO_LABELS:
            endpoint_copy.write_labels(out, language, notes)
    if endpoint_copy.missing_labels_note:
        notes.append(f"Some labels are missing. {endpoint_copy.missing_labels_note}")
    if not endpoint_copy.written_count:
        raise BadInput(
            f"{endpoint.address.title} gives no triples{' for this query' if query else ''}."
        )
    return [endpoint_copy.summary(), *notes]


def labels_pattern(graphs: str, values: str = "") -> str:
    """Return a pattern of labels: ?s has the label ?o by the relation ?p.

    Parameters
    ----------
    graphs : `DEFAULT_GRAPH_PATTERN` or `NAMED_GRAPHS_PATTERN`.
    values : a pattern that binds ?s or ?o. It is repeated for each relation, as servers look up
        bound variables, but read everything to join unbound ones.
    """
    parts = []
    for iri in LABEL_IRIS:
        statement = graphs.replace(DEFAULT_GRAPH_PATTERN, f"?s <{iri}> ?o")
        parts.append(f"{{ {values} {statement} BIND(<{iri}> AS ?p) }}")
    return " UNION ".join(parts)


class EndpointCopy:
    """A running copy from an endpoint, with the counts of its rows.

    `graphs` is the pattern from which labels are read: `DEFAULT_GRAPH_PATTERN` or
    `NAMED_GRAPHS_PATTERN`.
    """

    def __init__(self, endpoint: SparqlEndpoint, file: Path, graphs: str = DEFAULT_GRAPH_PATTERN):
        self.endpoint = endpoint
        self.limits = endpoint.limits
        self.file = file
        self.graphs = graphs
        self.written_count = 0  # statements in the file
        self.misfit_count = 0  # rows that are no triples
        self.misfit_example = ""  # the text of the first invalid term
        self.is_cut = False  # True if the limit of triples was reached
        self.missing_labels_note = ""  # a sentence if the server returned only some labels
        self.total_rows: int | None = None  # rows in the endpoint, if it can count them
        # Hashes of the written lines, by which repetitions are found; the lines take more memory.
        self._line_hashes: set[int] = set()
        self._things: dict[str, None] = {}  # IRIs in the statements
        self._labelled_iris: set[str] = set()

    def copy_query(self, out: BinaryIO, query: str, notes: list[str]) -> None:
        """Copy the rows of a query.

        A sentence is added to `notes` if the server returned only some.
        """
        rows = self.endpoint.rows if query_form(query) == "SELECT" else self.endpoint.triples
        self.write_rows(out, rows(query))
        if self.endpoint.incomplete_note and not self.is_cut:
            notes.append(f"Not all is here. {self.endpoint.incomplete_note} {PAGES_ADVICE}")

    def copy_pages(self, out: BinaryIO, suffix: str, notes: list[str]) -> None:
        """Copy all statements page by page, until a page is empty.

        Parameters
        ----------
        out : the file.
        suffix : a filter that is appended to the pattern of statements.
        notes : receives sentences on what may be missing.
        """
        pattern = DEFAULT_GRAPH_PATTERN + suffix
        variables: tuple[str, ...] = ("s", "p", "o")
        if not self.endpoint.has_rows(pattern):
            pattern = NAMED_GRAPHS_PATTERN + suffix
            variables = ("s", "p", "o", "g")
            notes.append("Its default graph is empty; all its named graphs are read as one.")
        self.total_rows = self.endpoint.count(pattern) or None
        select = f"SELECT {' '.join(f'?{name}' for name in variables)} WHERE {{ {pattern} }}"
        offset = pages = 0
        last_page: set[int] = set()  # hashes of its rows
        while not self.is_cut and offset != self.total_rows:
            if pages == SPARQL_LIMITS.max_pages:
                raise BadInput(f"{self.endpoint.address.title} gives too few rows at a time.")
            # One row more than the limit shows that the copy is cut.
            page_size = min(SPARQL_LIMITS.page_rows, self.limits.triples - self.written_count + 1)
            rows = self.endpoint.rows(f"{select} LIMIT {page_size} OFFSET {offset}", variables)
            page: set[int] = set()
            n_read = self.write_rows(out, rows, page)
            if not n_read:
                # A page may be empty because the server's time ran out.
                if self.endpoint.incomplete_note:
                    title = self.endpoint.address.title
                    raise BadInput(f"{title} breaks off. {self.endpoint.incomplete_note}")
                break
            offset += n_read
            pages += 1
            if page <= last_page:
                notes.append(REPEATED_ROWS_FAULT)
                break
            last_page = page
        if pages > 1:
            notes.append(
                f"Read in {pages:,} pages in the order of the server; what it changed "
                "meanwhile may be missing."
            )

    def write_rows(
        self, out: BinaryIO, rows: Iterator[tuple[Any, ...]], page: set[int] | None = None
    ) -> int:
        """Write statements that were not written before, up to the limit of triples.

        Parameters
        ----------
        out : the file.
        rows : subject, predicate and object of each, and further values by which rows differ, such
            as the named graph.
        page : receives a hash of each row; None if no page is compared.

        Returns
        -------
        The number of rows read.
        """
        number = 0
        for number, row in enumerate(rows, 1):  # noqa: B007
            if page is not None:
                page.add(hash(tuple(map(_term_key, row))))
            line = _ntriples_line(row)
            if not line:
                self._count_misfit(row)
                continue
            if hash(line) in self._line_hashes:
                continue
            if self.written_count >= self.limits.triples:
                self.is_cut = True
                break
            out.write(line)
            self._line_hashes.add(hash(line))
            self._count_statement(row)
        return number

    def _count_misfit(self, row: tuple[Any, ...]) -> None:
        """Count a row that is no triple, and keep the first invalid term."""
        self.misfit_count += 1
        misfits = [term.text for term in row if isinstance(term, InvalidTerm)]
        if misfits and not self.misfit_example:
            self.misfit_example = misfits[0]

    def _count_statement(self, row: tuple[Any, ...]) -> None:
        """Count a written statement and the things that it names."""
        from pyoxigraph import Literal, NamedNode

        triple = row[:3]
        subject, predicate, object = triple
        self.written_count += 1
        if isinstance(object, Literal) and predicate.value in LABEL_IRIS:
            self._labelled_iris.add(subject.value)
        self._things.update((term.value, None) for term in triple if isinstance(term, NamedNode))
        if not self.written_count % 1000:
            total = min(self.limits.triples, self.total_rows or self.limits.triples)
            self.limits.watch.report(
                f"{self.written_count:,} triples", min(0.9, 0.9 * self.written_count / total)
            )

    def write_labels(self, out: BinaryIO, language: str, notes: list[str]) -> None:
        """Write labels of copied things that have none yet.

        Labels are requested in `language`, in the language tag “mul” (of all languages), in
        English, and without a language. Things without any of these get labels in any language. If
        the endpoint fails, a sentence is added to `notes`.
        """
        missing: dict[str, None] = {}
        for thing in self._things:
            if thing not in self._labelled_iris:
                missing[_label_owner(thing)] = None
        max_things = SPARQL_LIMITS.max_labelled_things
        batch_size = SPARQL_LIMITS.labels_per_request
        targets = [
            iri for iri in missing if iri not in self._labelled_iris and IRI.fullmatch(f"<{iri}>")
        ][:max_things]
        if len(missing) > max_things:
            notes.append(
                f"Labels were asked for of {max_things:,} of {len(missing):,} things without one."
            )
        tags = " || ".join(
            f'LANGMATCHES(LANG(?o), "{tag}")' for tag in languages_of_labels(language)
        )
        # The second round has no filter, for things that the first one left without a label.
        for rule in (f'FILTER(LANG(?o) = "" || {tags})', ""):
            remaining = [iri for iri in targets if iri not in self._labelled_iris]
            for start in range(0, len(remaining), batch_size):
                self.limits.watch.report("Labels", 0.9 + 0.1 * start / len(remaining))
                try:
                    self._write_labels(out, remaining[start : start + batch_size], rule)
                except BadInput as error:
                    notes.append(
                        f"Labels of {len(remaining) - start:,} things could not be asked for: "
                        f"{error}"
                    )
                    return

    def _write_labels(self, out: BinaryIO, iris: Sequence[str], rule: str) -> None:
        """Write the labels of some things; `rule` is a SPARQL filter of their languages."""
        from pyoxigraph import Literal, NamedNode

        values = f"VALUES ?s {{ {' '.join(f'<{iri}>' for iri in iris)} }}"
        query = f"SELECT ?s ?p ?o WHERE {{ {labels_pattern(self.graphs, values)} {rule} }}"
        for subject, predicate, label in self.endpoint.rows(query, ("s", "p", "o")):
            are_iris = isinstance(subject, NamedNode) and isinstance(predicate, NamedNode)
            if are_iris and isinstance(label, Literal):
                out.write(f"{subject} {predicate} {label} .\n".encode())
                self._labelled_iris.add(subject.value)
        self.missing_labels_note = self.missing_labels_note or self.endpoint.incomplete_note

    def summary(self) -> str:
        """Return a sentence on what was copied and left out."""
        has_other_total = self.total_rows is not None and self.total_rows != self.written_count
        total = f" of {self.total_rows:,}" if has_other_total else ""
        text = f"{self.written_count:,}{total} triples copied from {self.endpoint.address.title}"
        if self.is_cut:
            more = "" if self.total_rows is not None else "; there are more"
            text += f", the most that were to be copied{more}"
        elif self.total_rows and self.total_rows > self.written_count + self.misfit_count:
            text += ", the others being the same in another graph, or not given"
        if not self.misfit_count:
            return f"{text}."
        rows = f"{self.misfit_count:,} rows that are no triples"
        if self.misfit_count == 1:
            rows = "1 row that is no triple"
        example = f", such as one with “{self.misfit_example}”" if self.misfit_example else ""
        return f"{text}; {rows} left out{example}."


def _term_key(term: Any) -> str:
    """Return a text by which the terms of rows are compared."""
    return f"misfit {term.text}" if isinstance(term, InvalidTerm) else str(term)


def _ntriples_line(row: tuple[Any, ...]) -> bytes:
    """Return a row as a line of N-Triples. Empty if it is no triple or too long."""
    from pyoxigraph import BlankNode, Literal, NamedNode

    if len(row) < 3:
        return b""
    subject, predicate, object = row[:3]
    if not (
        isinstance(subject, NamedNode | BlankNode)
        and isinstance(predicate, NamedNode)
        and isinstance(object, NamedNode | BlankNode | Literal)
    ):
        return b""
    line = f"{subject} {predicate} {object} .\n".encode()
    return line if len(line) < MAX_LINE_BYTES else b""


def _label_owner(iri: str) -> str:
    """Return the IRI of the thing with the label: for a relation of Wikidata, its property."""
    match = WIKIDATA_PROPERTY.fullmatch(iri)
    return f"http://www.wikidata.org/entity/{match[1]}" if match else iri
