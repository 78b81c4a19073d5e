"""Triples of GraphML files: each edge is one, its nodes and relation called by their labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import NoReturn
from xml.parsers import expat

from core.errors import BadInput, shorten
from core.graph.readers.naming import Namer
from core.io.files import opened

NODE_LABELS = ("label", "name", "title")  # attributes that may call a node, the first that is there
EDGE_LABELS = ("relation", "label", "predicate", "type", "name")
UNTOLD = "connected_to"  # the relation of an edge that tells none
CHUNK, DEEPEST, LONGEST_TEXT = 1 << 16, 64, 1 << 20


def read(path: FilePath, progress: Callable[[float], None] | None = None, most: int | None = None) -> Iterator[tuple[str, str, str]]:
    """The edges of a GraphML file, in its order, as (source, relation, target).

    A node is called by its attribute label, name or title, else by its id; nodes that share a label are told apart by
    their ids, `Paris (n7)`. An edge's relation is its attribute relation, label, predicate, type or name, else
    `connected_to`. An undirected edge is read from source to target. Attribute names count, case aside; defaults of keys
    hold. Entities are not expanded: a file that declares some is refused. Raises BadInput, naming file and line, for what
    is not GraphML, an edge to an unknown node, and hyperedges.
    """
    found = _Found(path.name)
    with opened(path, progress, most) as source:
        parser = found.parser()
        try:
            while data := source.read(CHUNK):
                parser.Parse(data, False)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise BadInput(f"{path.name}, line {error.lineno}: not XML ({expat.ErrorString(error.code)}).") from None
    if not found.is_graphml:
        raise BadInput(f"{path.name} is not GraphML; its first element should be <graphml>.")
    yield from _triples(path.name, found)


@dataclass
class _Found:
    """What a file holds, filled while it is parsed."""

    file: str
    nodes: dict[str, str] = field(default_factory=dict)  # id -> label, or empty
    edges: list[tuple[str, str, str, int]] = field(default_factory=list)  # source, relation, target, line
    is_graphml: bool = False
    _keys: dict[str, tuple[str, str]] = field(default_factory=dict)  # key id -> (node | edge | ..., attribute name)
    _defaults: dict[tuple[str, str], str] = field(default_factory=dict)  # (node | edge, attribute) -> value
    _open: list[str] = field(default_factory=list)  # the elements we are in
    _items: list[tuple[str, dict[str, str], dict[str, str], int]] = field(default_factory=list)  # nodes and edges we are in
    _key: str = ""
    _text: list[str] = field(default_factory=list)

    def parser(self):
        """The parser that fills this."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True

        def refuse(*_: object) -> NoReturn:
            raise BadInput(f"{self.file}, line {parser.CurrentLineNumber}: it declares XML entities; those are not read.")

        parser.EntityDeclHandler = parser.ExternalEntityRefHandler = parser.UnparsedEntityDeclHandler = refuse
        parser.StartElementHandler = lambda name, told: self._start(name.rsplit(" ", 1)[-1], told, parser.CurrentLineNumber)
        parser.EndElementHandler = lambda name: self._end(name.rsplit(" ", 1)[-1])
        parser.CharacterDataHandler = self._characters
        return parser

    def _start(self, name: str, told: dict[str, str], line: int) -> None:
        if not self._open and name == "graphml":
            self.is_graphml = True
        if len(self._open) >= DEEPEST:
            raise BadInput(f"{self.file}, line {line}: elements are nested more than {DEEPEST} deep.")
        self._open.append(name)
        if name == "hyperedge":
            raise BadInput(f"{self.file}, line {line}: hyperedges are not read; a triple has one head and one tail.")
        if name in ("node", "edge"):
            wanted = ("id",) if name == "node" else ("source", "target")
            missing = [key for key in wanted if not told.get(key)]
            if missing:
                raise BadInput(f"{self.file}, line {line}: this {name} lacks “{missing[0]}”.")
            self._items.append((name, told, {}, line))
        elif name == "key":
            self._key = told.get("id", "")
            self._keys[self._key] = (told.get("for", "all"), (told.get("attr.name") or self._key).casefold())
        elif name == "data":
            self._key = told.get("key", "")
        if name in ("data", "default"):
            self._text = []

    def _characters(self, text: str) -> None:
        if self._open and self._open[-1] in ("data", "default"):
            self._text.append(text)
            if sum(map(len, self._text)) > LONGEST_TEXT:
                raise BadInput(f"{self.file}: the value of “{shorten(self._key, 30)}” is too long.")

    def _end(self, name: str) -> None:
        self._open.pop()
        text = " ".join("".join(self._text).split()) if name in ("data", "default") else ""
        if name == "data" and self._items and text:
            self._items[-1][2][self._keys.get(self._key, ("", self._key.casefold()))[1]] = text
        elif name == "default" and self._key in self._keys and text:
            kind, attribute = self._keys[self._key]
            for each in ("node", "edge") if kind == "all" else (kind,):
                self._defaults[each, attribute] = text
        elif name in ("node", "edge"):
            self._close(*self._items.pop())

    def _close(self, kind: str, told: dict[str, str], data: dict[str, str], line: int) -> None:
        """A node or an edge has ended."""
        names = NODE_LABELS if kind == "node" else EDGE_LABELS
        label = next((value for name in names if (value := data.get(name) or self._defaults.get((kind, name)))), "")
        if kind == "node":
            if told["id"] in self.nodes:
                raise BadInput(f"{self.file}, line {line}: there are two nodes “{shorten(told['id'])}”.")
            self.nodes[told["id"]] = label
        else:
            self.edges.append((told["source"], label or UNTOLD, told["target"], line))


def _triples(file: str, found: _Found) -> Iterator[tuple[str, str, str]]:
    namer = Namer()
    names = {id: namer.name(id, (label, f"{label} ({id})") if label else (id, f"{id} (id)")) for id, label in found.nodes.items()}
    for source, relation, target, line in found.edges:
        for end in (source, target):
            if end not in names:
                raise BadInput(f"{file}, line {line}: this edge names the node “{shorten(end)}”, which the file does not hold.")
        yield names[source], relation, names[target]
