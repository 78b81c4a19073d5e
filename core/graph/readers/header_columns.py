"""Columns that a header row names: head, relation and tail, and the attributes of edges."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.errors import BadInput
from core.graph.readers.attributes import EDGE_COLUMN_KEYS, ONLY_TRIPLES_READ
from core.graph.readers.source import TripleSource

ColumnNumbers = tuple[int, int, int]  # of head, relation and tail, counted from 1
TRIPLE_PARTS = ("head", "relation", "tail")
FIRST_COLUMNS: ColumnNumbers = (1, 2, 3)

# name:TYPE(space), as in the headers of neo4j-admin.
NEO4J_COLUMN = re.compile(r"([^:]{0,200}):([A-Za-z_]{1,20})(?:\[\])?(?:\(([^()]{0,200})\))?")
# Types of neo4j-admin's columns that hold ids, relations or labels instead of values.
NEO4J_SPECIAL_TYPES = ("id", "start_id", "end_id", "type", "label")
NEO4J_VALUE_TYPES = (
    "string",
    "int",
    "integer",
    "long",
    "float",
    "double",
    "boolean",
    "byte",
    "short",
    "char",
    "date",
    "datetime",
    "localdatetime",
)
END_COLUMN_PAIRS = (
    ("head", "tail"),
    ("subject", "object"),
    ("source", "target"),
    ("from", "to"),
    ("start", "end"),
    ("entity1", "entity2"),
    ("entity_1", "entity_2"),
    ("e1", "e2"),
    ("node1", "node2"),
    ("src", "dst"),
    ("src", "tgt"),
    (":start_id", ":end_id"),
    ("start_id", "end_id"),
    ("head_entity", "tail_entity"),
    ("~from", "~to"),
)
"""Pairs of column names for head and tail, the unambiguous pairs first."""
HEAD_COLUMN_NAMES = tuple(dict.fromkeys(head for head, _ in END_COLUMN_PAIRS))
TAIL_COLUMN_NAMES = tuple(tail for _, tail in END_COLUMN_PAIRS)
RELATION_COLUMN_NAMES = (
    "relation",
    "predicate",
    "rel",
    "relationship",
    "relation_type",
    "edge_label",
    "edge label",
    ":type",
    "interaction",
    "label",
    "verb",
    "property",
    "type",
    "~label",
    "description",
    "keywords",
)
"""Names of the relation column. If a header has several, the first one in this list is used."""


def check_columns(columns: ColumnNumbers | None) -> None:
    """Raise BadInput unless the columns are None or three different numbers from 1."""
    if columns and (len(set(columns)) != 3 or min(columns) < 1):
        raise BadInput(
            "Columns are three different numbers from 1, for head, relation and tail: 1,2,3."
        )


def find_triple_columns(
    names: Sequence[str], rows: Sequence[Sequence[str]] = ()
) -> ColumnNumbers | None:
    """Return the columns of head, relation and tail that a header names, or None.

    If several names of ends occur, those that form a pair are used. If a header of three columns
    names two ends and the third name is unknown, the third column is the relation, provided that it
    begins with a letter in the other rows.

    Parameters
    ----------
    names : the cells of the first row.
    rows : the cells of the other rows.

    Examples
    --------
    >>> from core.graph.readers.header_columns import find_triple_columns
    >>> find_triple_columns(["id", "Source", "Target", "Type", "Label"])
    (2, 5, 3)
    >>> find_triple_columns([":START_ID", ":END_ID", ":TYPE"])
    (1, 3, 2)
    >>> find_triple_columns(["subject", "predicate", "object", "source"])
    (1, 2, 3)
    >>> find_triple_columns(["source", "kind", "target"], [["a", "knows", "b"]])
    (1, 2, 3)
    >>> find_triple_columns(["Ann", "is", "to"]) is None
    True
    """
    keys = [bare_key(name) for name in names]
    end_columns = _find_end_columns(keys)
    if end_columns is None:
        return None
    head_column, tail_column = end_columns
    for name in RELATION_COLUMN_NAMES:
        if keys.count(name) == 1:
            return head_column, keys.index(name) + 1, tail_column
    free_columns = {1, 2, 3} - set(end_columns)
    if len(keys) != 3 or len(free_columns) != 1:
        return None
    relation_column = free_columns.pop()
    values = [row[relation_column - 1].strip() for row in rows if len(row) == 3]
    if not values or not all(value[:1].isalpha() for value in values):
        return None
    return head_column, relation_column, tail_column


def _find_end_columns(keys: Sequence[str]) -> tuple[int, int] | None:
    """Return the columns of both ends, from 1, or None.

    The first known pair of names decides, else the only head and the only tail.
    """
    heads = [name for name in HEAD_COLUMN_NAMES if keys.count(name) == 1]
    tails = [name for name in TAIL_COLUMN_NAMES if keys.count(name) == 1]
    pairs = [(head, tail) for head, tail in END_COLUMN_PAIRS if head in heads and tail in tails]
    if not pairs and len(heads) == len(tails) == 1:
        pairs = [(heads[0], tails[0])]
    if not pairs:
        return None
    head, tail = pairs[0]
    return keys.index(head) + 1, keys.index(tail) + 1


def names_only_ends(row: Sequence[str]) -> bool:
    """Return whether a short row names the columns of both ends.

    The row must have two or three cells.
    """
    return len(row) in (2, 3) and _find_end_columns([name.casefold() for name in row]) is not None


def names_chosen_ends(row: Sequence[str], columns: ColumnNumbers) -> bool:
    """Return whether a row names both ends in the chosen columns.

    `columns` are those that the user chose for the ends.
    """
    if len(row) < max(columns):
        return False
    head_column, _, tail_column = columns
    head = row[head_column - 1].strip().casefold()
    tail = row[tail_column - 1].strip().casefold()
    return head in HEAD_COLUMN_NAMES and tail in TAIL_COLUMN_NAMES


def find_attribute_columns(
    source: TripleSource, names: Sequence[str], columns: ColumnNumbers
) -> dict[int, str]:
    """Map the positions of columns with edge attributes to their keys.

    Positions count from 0. This sets `source.attributes.header_has_attributes`. If attributes are
    not wanted, the result is empty, and the tally notes the columns of a file that is too large for
    them.

    Parameters
    ----------
    source : the file, whose `attributes` say if they are wanted.
    names : the cells of the header.
    columns : the columns of head, relation and tail, which are left out.
    """
    attribute_keys = {name for names in EDGE_COLUMN_KEYS.values() for name in names}
    attribute_columns = {
        index: key
        for index, key in enumerate(map(bare_key, names))
        if key in attribute_keys and index + 1 not in columns
    }
    if not source.attributes.is_wanted:
        if attribute_columns and source.attributes.is_too_large:
            keys = ", ".join(f"“{key}”" for key in attribute_columns.values())
            source.tally.note(f"Not taken: {keys}. {ONLY_TRIPLES_READ}")
        return {}
    source.attributes.header_has_attributes = bool(attribute_columns)
    return attribute_columns


def bare_key(cell: str) -> str:
    """Return a column's name in lower case, without its values' type.

    Neo4j's columns for ids, relations and labels are named by their types alone, such as `:id`.

    >>> from core.graph.readers.header_columns import bare_key
    >>> bare_key(" Weight:float "), bare_key("personId:ID(Person)")
    ('weight', ':id')
    >>> bare_key(":START_ID"), bare_key("rdf:type")
    (':start_id', 'rdf:type')
    """
    name = cell.strip().casefold()
    match = NEO4J_COLUMN.fullmatch(name)
    if match is None:
        return name
    # A name before “:type” is a prefix, as in rdf:type.
    if match[2] in NEO4J_SPECIAL_TYPES and (match[2] not in ("type", "label") or not match[1]):
        return f":{match[2]}"
    column = match[1].strip()
    return column if column and match[2] in NEO4J_VALUE_TYPES else name


def id_space(cell: str) -> str:
    """Return the id space in a column's name.

    An example is “Person” in “:START_ID(Person)”. The id space is “” if there is none.
    """
    match = NEO4J_COLUMN.fullmatch(cell.strip())
    return (match[3] or "").strip() if match else ""
