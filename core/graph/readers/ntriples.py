"""Terms of N-Triples, and readable names for the terms of any RDF.

The terms are parsed by pyoxigraph. An IRI is named by the part after its last `#` or `/` (percent
escapes decoded), a literal by its text, a blank node by its label (`_:b0`). If two different terms
would get the same name, the first one gets it, and a suffix is added for the others: the whole IRI,
as in `Paris (http://example.org/b/Paris)`, or a literal's language or type, as in `Paris (@fr)`.
Relations are named independently of nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from core.errors import BadInput
from core.io.files import MAX_LINE_BYTES, UnpackedBytes, size_text

XSD_STRING_IRI = "http://www.w3.org/2001/XMLSchema#string"
# Position at the beginning of pyoxigraph's messages, which counts in the passed text alone.
ERROR_POSITION = re.compile(r"^Parser error (?:at|between) .*?: ")
NESTED_TRIPLES_ERROR = "Triples about triples (RDF-star) are not read; leave them out of the file."
# Number of terms whose names are cached, since heads and relations repeat.
CACHED_TERM_NAMES = 1 << 16
NESTING_BRACKETS = re.compile(rb"<<\(|\)>>")  # of triples about triples (RDF-star)
MAX_NESTING = 500  # largest depth of nested triples; the parser is recursive


def statements(line: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield (head, relation, tail) of the statements in one line.

    All three are terms in canonical form.

    Raises
    ------
    SyntaxError
        If the line is not N-Triples.
    BadInput
        If it has triples about triples.
    """
    from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse

    if line.count(b"<<(") > MAX_NESTING:
        raise BadInput(NESTED_TRIPLES_ERROR)
    for statement in parse(line, format=RdfFormat.N_TRIPLES):
        terms = (statement.subject, statement.predicate, statement.object)
        if not all(isinstance(term, (NamedNode, BlankNode, Literal)) for term in terms):
            raise BadInput(NESTED_TRIPLES_ERROR)
        yield str(terms[0]), str(terms[1]), str(terms[2])


def syntax_fault(name: str, line: int | None, error: SyntaxError) -> BadInput:
    """Return the error for a line of the file `name` that is not N-Triples."""
    return BadInput(f"{name}, line {line}: not N-Triples ({ERROR_POSITION.sub('', error.msg)}).")


def term_of(text: str):
    """Return the term of pyoxigraph with this canonical form."""
    from pyoxigraph import RdfFormat, parse

    # pyoxigraph parses whole statements only.
    return next(iter(parse(f"<a:a> <a:a> {text} .", format=RdfFormat.N_TRIPLES))).object


def name_candidates(term) -> tuple[str, ...]:
    """Return the possible names of a term, the most readable one first.

    Raises
    ------
    BadInput
        If the term is a triple.
    """
    from pyoxigraph import BlankNode, Literal, NamedNode

    if isinstance(term, NamedNode):
        iri, local = term.value, local_name(term.value)
        return local, f"{local} ({iri})", f"<{iri}>"
    if isinstance(term, BlankNode):
        return (str(term),)
    if isinstance(term, Literal):
        return _literal_names(term)
    raise BadInput(NESTED_TRIPLES_ERROR)


def _literal_names(term) -> tuple[str, ...]:
    """Return the possible names of a literal.

    They are its text, its text with language or type, and its canonical form.
    """
    if not term.value.strip():
        return (str(term),)
    if term.language:
        suffix = f"@{term.language}"
    elif term.datatype.value == XSD_STRING_IRI:
        suffix = "text"
    else:
        suffix = local_name(term.datatype.value) or "text"
    return term.value, f"{term.value} ({suffix})", str(term)


def local_name(iri: str) -> str:
    """Return the readable end of an IRI.

    It is the part after the last `#` or `/`, else after the last `:`, with percent escapes decoded.
    If nothing follows, it is the IRI itself.
    """
    stem = iri.rstrip("/#")
    start = max(stem.rfind("#"), stem.rfind("/"))
    local = stem[(start if start >= 0 else stem.rfind(":")) + 1 :]
    if "%" in local:
        local = unquote(local)
    return local if local.strip() else iri


class NestingGuard:
    """A stream of RDF that rejects deeply nested triples.

    Reading raises BadInput for triples that are nested so deep that the parser would crash.
    """

    def __init__(self, source: Any):
        self._source, self._depth, self._tail = source, 0, b""

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size)
        marks = NESTING_BRACKETS.findall(self._tail + data)
        self._tail = (self._tail + data)[-2:]
        for mark in marks:
            self._depth = max(0, self._depth + (1 if mark == b"<<(" else -1))
            if self._depth > MAX_NESTING:
                raise BadInput(NESTED_TRIPLES_ERROR)
        return data


class LineLengthGuard:
    """The bytes of a file, with a limit on the length of lines.

    Reading raises BadInput for a line that is too long.
    """

    def __init__(self, source: UnpackedBytes):
        self._source, self._line_bytes = source, 0

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size)
        newline = data.rfind(b"\n")
        self._line_bytes = len(data) - newline - 1 if newline >= 0 else self._line_bytes + len(data)
        if self._line_bytes > MAX_LINE_BYTES:
            raise BadInput(
                f"{self._source.name}: a line of more than {size_text(MAX_LINE_BYTES)} is too long."
            )
        return data
