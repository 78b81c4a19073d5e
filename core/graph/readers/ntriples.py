"""Terms of N-Triples, and readable names for them: IRIs by their ends, literals by their texts. Parsed by pyoxigraph.

An IRI is called by what follows its last `#` or `/` (percent escapes decoded), a literal by its text, a blank node by its label (`_:b0`).
Where two different terms would bear the same name, the first keeps it and the others are told apart: an IRI by itself in brackets,
`Paris (http://example.org/b/Paris)`, a literal by its language or type, `Paris (@fr)`. Relations are named apart from nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from core.errors import BadInput
from core.io.files import LONGEST_LINE, Unpacked, size_text

STRING = "http://www.w3.org/2001/XMLSchema#string"
PLACE = re.compile(r"^Parser error (?:at|between) .*?: ")
ABOUT_TRIPLES = "Triples about triples (RDF-star) are not read; leave them out of the file."
REMEMBERED = 1 << 16  # names of terms kept ready, as heads and relations repeat
NESTED, MAX_NESTED = re.compile(rb"<<\(|\)>>"), 500  # of triples within each other


def statements(line: bytes) -> Iterator[tuple[str, str, str]]:
    """The terms of the statements of one line as the file would have them in canonical form. Raises SyntaxError for what is not
    N-Triples, BadInput for triples about triples."""
    from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse

    if line.count(b"<<(") > MAX_NESTED:
        raise BadInput(ABOUT_TRIPLES)
    for statement in parse(line, format=RdfFormat.N_TRIPLES):
        terms = (statement.subject, statement.predicate, statement.object)
        if not all(isinstance(term, (NamedNode, BlankNode, Literal)) for term in terms):
            raise BadInput(ABOUT_TRIPLES)
        yield str(terms[0]), str(terms[1]), str(terms[2])


def fault_of(name: str, line: int | None, error: SyntaxError) -> BadInput:
    """What is wrong with a line that is not N-Triples."""
    return BadInput(f"{name}, line {line}: not N-Triples ({PLACE.sub('', error.msg)}).")


def term_of(text: str):
    """The term that a text in canonical form stands for."""
    from pyoxigraph import RdfFormat, parse

    return next(iter(parse(f"<a:a> <a:a> {text} .", format=RdfFormat.N_TRIPLES))).object


def candidates(term) -> tuple[str, ...]:
    """What a term may be called, the readable end first. Raises BadInput for a triple."""
    from pyoxigraph import BlankNode, Literal, NamedNode

    if isinstance(term, NamedNode):
        iri, local = term.value, local_name(term.value)
        return local, f"{local} ({iri})", f"<{iri}>"
    if isinstance(term, BlankNode):
        return (str(term),)
    if isinstance(term, Literal):
        return _literal_names(term)
    raise BadInput(ABOUT_TRIPLES)


def _literal_names(term) -> tuple[str, ...]:
    """What a literal may be called: its text, its text with language or type, and as it is written in the file."""
    if term.language:
        suffix = f"@{term.language}"
    elif term.datatype.value == STRING:
        suffix = ""
    else:
        suffix = local_name(term.datatype.value)
    named = (f"{term.value} ({suffix})",) if suffix else (f"{term.value} (text)",)
    return (term.value, *named, str(term)) if term.value.strip() else (str(term),)


def local_name(iri: str) -> str:
    """The readable end of an IRI: what follows its last `#` or `/`, else its last `:`, percent escapes decoded; the IRI
    itself where nothing follows."""
    rest = iri.rstrip("/#")
    start = max(rest.rfind("#"), rest.rfind("/"))
    found = rest[(start if start >= 0 else rest.rfind(":")) + 1 :]
    if "%" in found:
        found = unquote(found)
    return found if found.strip() else iri


class shallow:
    """A stream of RDF. Reading raises BadInput for triples nested so deep that the parser dies."""

    def __init__(self, source: Any):
        self._source, self._open, self._end = source, 0, b""

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size)
        marks = NESTED.findall(self._end + data)
        self._end = (self._end + data)[-2:]
        for mark in marks:
            self._open = max(0, self._open + (1 if mark == b"<<(" else -1))
            if self._open > MAX_NESTED:
                raise BadInput(ABOUT_TRIPLES)
        return data


class checked_lines:
    """A file's bytes. Reading raises BadInput for a line that is too long."""

    def __init__(self, source: Unpacked):
        self._source, self._since = source, 0

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size)
        ended = data.rfind(b"\n")
        self._since = len(data) - ended - 1 if ended >= 0 else self._since + len(data)
        if self._since > LONGEST_LINE:
            raise BadInput(
                f"{self._source.name}: a line of more than {size_text(LONGEST_LINE)} is too long."
            )
        return data
