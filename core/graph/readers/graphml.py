"""Reader of triples in GraphML files, parsed by lxml.

Each edge is a triple. Nodes and relations are named by their labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.errors import BadInput, shorten
from core.graph.readers.attributes import EDGE_COLUMN_KEYS, NODE_COLUMN_KEYS
from core.graph.readers.source import Triple, TripleSource
from core.graph.readers.unique_names import Namer
from core.io.files import FileSource, UnpackedBytes, open_unpacked, size_text

if TYPE_CHECKING:
    from lxml.etree import _Element

# Attributes that give a node its name; the first one that exists is used.
NODE_LABELS = ("label", "name", "title")
EDGE_LABELS = (
    "relation",
    "edge label",
    "label",
    "predicate",
    "interaction",
    "shared interaction",
    "type",
    "keywords",
    "name",
)
NODE_ATTRIBUTES_READ = frozenset(name for names in NODE_COLUMN_KEYS.values() for name in names)
EDGE_ATTRIBUTES_READ = frozenset(name for names in EDGE_COLUMN_KEYS.values() for name in names)
# By element: attributes that become columns of the graph, and attributes that may be the label.
ATTRIBUTES_READ = {"node": NODE_ATTRIBUTES_READ, "edge": EDGE_ATTRIBUTES_READ}
LABELS = {"node": NODE_LABELS, "edge": EDGE_LABELS}
# Elements of yEd within data, and the attribute that each replaces.
YED_LABELS = {"NodeLabel": "label", "EdgeLabel": "label"}
MAX_NOTED_ATTRIBUTES = 12  # largest number of attributes in a note
NO_RELATION = "connected_to"  # relation of an edge that has none
MAX_ELEMENT_DEPTH = 64  # largest depth of nested elements
# Largest size in bytes of a name, an attribute, a text or a comment. The parser takes time in
# proportion to the square of their length.
MAX_PIECE_BYTES = 1 << 20
PARSER_OPTIONS = dict(
    resolve_entities=False,
    load_dtd=False,
    no_network=True,
    huge_tree=False,
    remove_comments=True,
    remove_pis=True,
)


def read(source: TripleSource) -> Iterator[Triple]:
    """Yield the edges of a GraphML file, in its order, as (source, relation, target).

    A node is named by its attribute label, name or title, else by its id, without surrounding
    quotation marks (nano-graphrag). Nodes with the same label are distinguished by their ids,
    `Paris (n7)`. The relation of an edge is its attribute relation, edge label (Gephi), label,
    predicate, interaction (Cytoscape), type, keywords (LightRAG) or name, else `connected_to`.
    Labels are also taken from yEd's drawings, and from the places in which Neo4j's APOC writes
    them. Types, descriptions, keywords and weights go to the source's attributes.

    The tally notes which attributes were used and which were not read. An undirected edge is read
    from source to target. The case of attribute names is ignored, and defaults of keys apply. XML
    entities are not expanded: a file that declares some is rejected. All nodes and edges are held
    in memory until the end of the file.

    Raises
    ------
    BadInput
        With file and line, for a file that is not GraphML, hyperedges, and, unless the source
        leaves out bad lines, an edge to an unknown node.
    """
    content = _GraphmlContent(source.name)
    with source.open_raw() as stream:
        _parse(stream, content)
    yield from _triples(source, content)


def read_attributed(
    file: FileSource,
) -> tuple[dict[str, dict[str, str]], list[tuple[str, str, dict[str, str]]]]:
    """Return the nodes and edges of a GraphML file with all their attributes.

    Returns
    -------
    The attributes of each node by id, and the edges as (source, target, attributes). Names of
    attributes are in lower case.

    Raises
    ------
    BadInput
        With file and line, for a file that is not GraphML, and hyperedges.
    """
    content = _GraphmlAttributes(file.name)
    with open_unpacked(file) as stream:
        _parse(stream, content)
    return content.attributes_by_node, content.attributed_edges


def _parse(stream: UnpackedBytes, content: _GraphmlContent) -> None:
    """Pass the beginnings and ends of a file's elements to `content`."""
    from lxml.etree import XMLSyntaxError, iterparse

    try:
        limited_bytes = _LimitedBytes(stream)
        for event, element in iterparse(limited_bytes, ("start", "end"), **PARSER_OPTIONS):
            limited_bytes.bytes_since_element = 0
            if event == "start":
                content.start(element)
            else:
                content.end(element)
    except XMLSyntaxError as error:
        raise BadInput(
            f"{content.file}, line {error.lineno or 1}: not XML "
            f"({shorten(error.msg or 'it is empty')})."
        ) from None


class _LimitedBytes:
    """The bytes of a file for the parser, limited between elements.

    Reading raises BadInput if more than `MAX_PIECE_BYTES` bytes were read since an element last
    began or ended. `_parse` sets `bytes_since_element` back to 0 each time.
    """

    def __init__(self, source: UnpackedBytes):
        self._source, self.bytes_since_element = source, 0

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size)
        self._source.line += data.count(b"\n")
        self.bytes_since_element += len(data)
        if self.bytes_since_element > MAX_PIECE_BYTES:
            raise BadInput(
                f"{self._source.name}, line {self._source.line + 1}: more than "
                f"{size_text(MAX_PIECE_BYTES)} without the beginning or end of an element; names, "
                "attributes, texts and comments must be shorter."
            )
        return data


@dataclass
class _GraphmlContent:
    """Nodes, edges and attributes of a GraphML file, collected while it is parsed."""

    file: str
    nodes: dict[str, str] = field(default_factory=dict)  # id -> label, may be empty
    # (source, relation, target, line).
    edges: list[tuple[str, str, str, int]] = field(default_factory=list)
    # Id -> attributes of the node for its columns, and the name of the one that is its label.
    node_attributes: dict[str, tuple[dict[str, str], str]] = field(default_factory=dict)
    # Position in `edges` -> attributes of the edge, and the name of the one that is its label.
    edge_attributes: dict[int, tuple[dict[str, str], str]] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)  # key id -> attribute name
    # (node | edge, attribute name) -> value
    defaults: dict[tuple[str, str], str] = field(default_factory=dict)
    # For each open node or edge element, the outermost first: attribute name -> value.
    open_data: list[dict[str, str]] = field(default_factory=list)
    depth: int = 0  # number of open elements
    # For nodes and for edges: number of times that each attribute was used as a label.
    label_counts: dict[str, Counter[str]] = field(
        default_factory=lambda: {"node": Counter(), "edge": Counter()}
    )
    # For nodes and for edges: number of times that each attribute occurred.
    attribute_counts: dict[str, Counter[str]] = field(
        default_factory=lambda: {"node": Counter(), "edge": Counter()}
    )

    def start(self, element: _Element) -> None:
        """Read the XML attributes of an element that begins.

        Raises
        ------
        BadInput
            If the element is not supported.
        """
        name = _tag_name(element)
        if not self.depth:
            self._check_root(element)
        self.depth += 1
        if self.depth > MAX_ELEMENT_DEPTH:
            raise self._fault(element, f"elements are nested more than {MAX_ELEMENT_DEPTH} deep.")
        if name == "hyperedge":
            raise self._fault(
                element, "hyperedges are not read; a triple has one head and one tail."
            )
        if name == "key":
            id = element.get("id", "")
            self.keys[id] = (element.get("attr.name") or id).casefold()
        elif name in ("node", "edge"):
            label = element.get("label", "").strip() if name == "edge" else ""
            self.open_data.append({"label": label} if label else {})

    def end(self, element: _Element) -> None:
        """Read the contents of an element that ends.

        The element and its preceding siblings are then freed.
        """
        name, text = _tag_name(element), " ".join((element.text or "").split())
        self.depth -= 1
        if name == "data" and self.open_data and text:
            key = element.get("key", "")
            self.open_data[-1][self.keys.get(key, key.casefold())] = text
        elif name in YED_LABELS and self.open_data and text:
            self.open_data[-1].setdefault(YED_LABELS[name], text)
        elif name == "default" and text:
            self._set_default(element.getparent(), text)
        elif name == "node":
            self._add_node(element, self.open_data.pop())
        elif name == "edge":
            self._add_edge(element, self.open_data.pop())
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]

    def _check_root(self, element: _Element) -> None:
        dtd = element.getroottree().docinfo.internalDTD
        if dtd is not None and list(dtd.iterentities()):
            raise BadInput(f"{self.file}, line 1: it declares XML entities; those are not read.")
        if _tag_name(element) != "graphml":
            raise BadInput(f"{self.file} is not GraphML; its first element should be <graphml>.")

    def _set_default(self, key: _Element | None, text: str) -> None:
        if key is not None and _tag_name(key) == "key":
            element_kind = key.get("for", "all")
            self.defaults |= {
                (kind, self.keys[key.get("id", "")]): text
                for kind in (("node", "edge") if element_kind == "all" else (element_kind,))
            }

    def _add_node(self, element: _Element, data: dict[str, str]) -> None:
        id = self._attribute(element, "id")
        if id in self.nodes:
            raise self._fault(element, f"there are two nodes “{shorten(id)}”.")
        self.nodes[id], key = self._find_label("node", data)
        if attributes := self._other_attributes("node", data, key):
            self.node_attributes[id] = attributes, key

    def _add_edge(self, element: _Element, data: dict[str, str]) -> None:
        source, target = self._attribute(element, "source"), self._attribute(element, "target")
        label, key = self._find_label("edge", data)
        if attributes := self._other_attributes("edge", data, key):
            self.edge_attributes[len(self.edges)] = attributes, key
        self.edges.append((source, label or NO_RELATION, target, element.sourceline or 0))

    def _other_attributes(self, tag: str, data: dict[str, str], used_name: str) -> dict[str, str]:
        """Return the attributes for columns of a node or edge, including defaults of keys.

        `tag` is node or edge, and `used_name` is the attribute that is the label.
        """
        names = ATTRIBUTES_READ[tag]
        defaults = {
            name: text
            for (kind, name), text in self.defaults.items()
            if kind == tag and name in names
        }
        return {
            name: text
            for name, text in {**defaults, **data}.items()
            if name in names and name != used_name
        }

    def _find_label(self, tag: str, data: dict[str, str]) -> tuple[str, str]:
        """Return the label of a node or edge, and its attribute.

        The second result is the name of the attribute that holds the label. It is the first
        existing attribute in `LABELS`, including defaults of keys. Both are empty if there is none.
        """
        self.attribute_counts[tag].update(data.keys())
        for name in LABELS[tag]:
            value = data.get(name) or self.defaults.get((tag, name))
            if value:
                self.label_counts[tag][name] += 1
                return value, name
        return "", ""

    def ignored_attributes(self, tag: str, is_wanted: bool) -> list[str]:
        """Return the attributes of nodes or edges that are not read, the commonest first.

        `is_wanted` is True if other attributes than labels are read.
        """
        read = ATTRIBUTES_READ[tag] if is_wanted else ()
        return [
            name
            for name, _ in self.attribute_counts[tag].most_common()
            if name not in (*self.label_counts[tag], *read)
        ]

    def sentences(self, is_wanted: bool) -> Iterator[str]:
        """Yield sentences about the attributes used as names and those that were not read.

        `is_wanted` is True if other attributes than labels are read.
        """
        name_texts = {
            tag: " or ".join(f"“{name}”" for name, _ in counts.most_common())
            for tag, counts in self.label_counts.items()
        }
        if self.edges:
            nodes = name_texts["node"] or "their ids"
            relations = name_texts["edge"] or f"no attribute: each is “{NO_RELATION}”"
            yield f"Entities are called by {nodes}, relations by {relations}."
        ignored_names = {tag: self.ignored_attributes(tag, is_wanted) for tag in ("node", "edge")}
        parts = [
            f"of {tag}s "
            f"{', '.join(names[:MAX_NOTED_ATTRIBUTES])}{' …' * (len(names) > MAX_NOTED_ATTRIBUTES)}"
            for tag, names in ignored_names.items()
            if names
        ]
        if parts:
            yield f"Attributes that are not read: {'; '.join(parts)}."

    def _attribute(self, element: _Element, name: str) -> str:
        """Return an XML attribute that an element must have."""
        value = element.get(name)
        if not value:
            raise self._fault(element, f"this {_tag_name(element)} lacks “{name}”.")
        return value

    def _fault(self, element: _Element, why: str) -> BadInput:
        return BadInput(f"{self.file}, line {element.sourceline}: {why}")


@dataclass
class _GraphmlAttributes(_GraphmlContent):
    """Contents of a GraphML file with all attributes, for `read_attributed`."""

    attributes_by_node: dict[str, dict[str, str]] = field(default_factory=dict)  # by id
    # (source, target, attributes).
    attributed_edges: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    def _add_node(self, element: _Element, data: dict[str, str]) -> None:
        super()._add_node(element, data)
        self.attributes_by_node[self._attribute(element, "id")] = self._with_defaults("node", data)

    def _add_edge(self, element: _Element, data: dict[str, str]) -> None:
        end_ids = self._attribute(element, "source"), self._attribute(element, "target")
        self.attributed_edges.append((*end_ids, self._with_defaults("edge", data)))

    def _with_defaults(self, tag: str, data: dict[str, str]) -> dict[str, str]:
        return {name: value for (kind, name), value in self.defaults.items() if kind == tag} | data


def _tag_name(element: _Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rsplit("}", 1)[-1]


def _triples(source: TripleSource, content: _GraphmlContent) -> Iterator[Triple]:
    """Name the nodes, and yield the edges as triples with their attributes."""
    for sentence in content.sentences(source.attributes.is_wanted):
        source.tally.note(sentence)
    source.attributes.ignored_keys = content.ignored_attributes("edge", source.attributes.is_wanted)
    namer, names = Namer(), dict[str, str]()
    for id, label in content.nodes.items():
        if label:
            candidates = [label, f"{label} ({id})"]
        else:
            is_quoted = len(id) > 2 and id[0] == id[-1] == '"'
            name = id[1:-1] if is_quoted else id
            candidates = [name, f"{name} (id)", id]
        names[id] = namer.name(id, candidates)
    for id, (attributes, label_key) in content.node_attributes.items():
        source.attributes.add_node(names[id], attributes, label_key)
    for edge_number, (head, relation, tail, source.line) in enumerate(content.edges):
        unknown = next((end for end in (head, tail) if end not in names), None)
        if unknown is None:
            if edge_number in content.edge_attributes:
                source.attributes.set_next_edge(*content.edge_attributes[edge_number])
            yield names[head], relation, names[tail]
        else:
            source.report_bad_line(
                "an edge to an unknown node",
                source.line,
                f"this edge names the node “{shorten(unknown)}”, which the file does not hold.",
            )
