"""Rows of SPARQL results in JSON, read one by one while the reply arrives.

An invalid term is replaced by an `InvalidTerm`, and does not affect the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.errors import BadInput, shorten
from core.io.json_pieces import JsonPieces

PLAIN_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9]*")
XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
NO_ROWS_FAULT = "{server} did not answer with rows."


class InvalidTerm:
    """A value that is no valid RDF term.

    An example is an IRI with a space. `text` is its text for messages, shortened.
    """

    def __init__(self, text: Any):
        self.text = shorten(text)


def result_rows(source: Any, server: str, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the values of each row for some variables.

    Parameters
    ----------
    source : the reply, with `read`; its `name` is the beginning of messages on invalid JSON.
    server : the name of the server.
    names : variables to return; empty for the first three that the reply names.

    Yields
    ------
    A term of pyoxigraph for each variable, None if the row has none, or an `InvalidTerm`.

    Raises
    ------
    BadInput
        If the reply is no JSON, has no rows, or lacks the variables.
    """
    pieces = JsonPieces(source)
    variables = None
    has_results = False
    waiting: list[Any] = []  # rows before `head`, while the variables are unknown
    for key in pieces.keys():
        if key == "head":
            variables = _variables(server, pieces.value(), names)
        elif key == "results" and not has_results:
            has_results = True
            for row in _bindings(server, pieces):
                if variables or names:
                    yield _values(row, variables or names)
                else:
                    waiting.append(row)
        else:
            pieces.value()
    if not has_results or variables is None:
        raise BadInput(NO_ROWS_FAULT.format(server=server))
    if pieces.peek():
        raise BadInput(f"{source.name}: more text follows after its rows have ended.")
    for row in waiting:
        yield _values(row, variables)


def _variables(server: str, head: Any, names: Sequence[str]) -> Sequence[str]:
    """Return the variables whose values are read. Raises BadInput if the reply lacks one."""
    columns = head.get("vars") if isinstance(head, dict) else None
    columns = columns if isinstance(columns, list) else []
    columns = [name for name in columns if isinstance(name, str)]
    required = tuple(names) or tuple(columns[:3])
    if not required or not set(required) <= set(columns):
        raise BadInput(f"{server} did not answer with the variables {', '.join(required)}.")
    return required


def _bindings(server: str, pieces: JsonPieces) -> Iterator[Any]:
    """Yield the rows of the object under `results`."""
    if pieces.peek() != "{":
        raise BadInput(NO_ROWS_FAULT.format(server=server))
    for key in pieces.keys():
        if key == "bindings" and pieces.peek() == "[":
            for _ in pieces.items():
                yield pieces.value()
        else:
            pieces.value()


def _values(row: Any, names: Sequence[str]) -> tuple[Any, ...]:
    """Return the terms of a row for some variables, as `result_rows` yields them."""
    if not isinstance(row, dict):
        return tuple(InvalidTerm(row) for _ in names)
    return tuple(parse_term(row[name]) if name in row else None for name in names)


def parse_term(term: Any) -> Any:
    """Return the term of a row's value, or an `InvalidTerm` if it is none.

    Blank nodes get distinct names that N-Triples allows. A triple as value (RDF-star) is invalid.

    >>> from core.databases.sparql_rows import parse_term
    >>> parse_term({"type": "bnode", "value": "nodeID://b1"}).value
    'nodeID_3a__2f__2f_b1'
    """
    from pyoxigraph import BlankNode, NamedNode

    if not isinstance(term, Mapping):
        return InvalidTerm(term)
    kind = term.get("type")
    value = term.get("value")
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or (kind == "bnode" and not value):
        return InvalidTerm(value)
    try:
        if kind == "bnode" or (kind == "uri" and value.startswith("_:")):
            return BlankNode(_label(value.removeprefix("_:")))
        if kind == "uri":
            return NamedNode(value)
        if kind in ("literal", "typed-literal"):
            return _literal(value, term)
    except ValueError:
        pass  # the caller counts invalid terms
    return InvalidTerm(value)


def _literal(value: str, term: Mapping[str, Any]) -> Any:
    """Return the literal of a term. Raises ValueError if it is invalid."""
    from pyoxigraph import Literal, NamedNode

    language = term.get("xml:lang")
    datatype = term.get("datatype")
    value.encode()  # raises UnicodeEncodeError for half a surrogate pair, which is no text
    if isinstance(language, str) and language:
        return Literal(value, language=language)
    if isinstance(datatype, str) and datatype not in ("", XSD_STRING):
        return Literal(value, datatype=NamedNode(datatype))
    return Literal(value)


def _label(label: str) -> str:
    """Return a blank node's label as N-Triples allows it, distinct for each label."""
    if PLAIN_LABEL.fullmatch(label):
        return label
    first = "" if label[:1].isalpha() and label[:1].isascii() else "_"
    text = re.sub("[^A-Za-z0-9]", lambda sign: f"_{ord(sign[0]):x}_", label)
    return first + text
