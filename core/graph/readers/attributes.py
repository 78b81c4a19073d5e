"""Attributes of nodes and edges in a file: types, descriptions, keywords and weights."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.graph.columns import NO_TABLES, Columns, Table

NODE_COLUMN_KEYS = {
    "type": ("entity_type", "type", "node_type", ":label", "labels", "category", "~label"),
    "description": ("description", "desc", "definition", "comment", "abstract", "summary"),
}
"""Columns of nodes, with the keys under which files write each.

Of several keys, the first one with a usable value is used.
"""
EDGE_COLUMN_KEYS = {
    "description": ("description", "desc", "definition", "comment", "evidence", "sentence"),
    "keywords": ("keywords", "keyword"),
    "weight": ("weight", "strength"),
}
"""Columns of edges, with the keys under which files write each."""
# The size is `MAX_WHOLE_TEXT_BYTES` of `core.graph.large.sources`.
ONLY_TRIPLES_READ = (
    "Of a file with more than 128 MB of text only the triples are read, as columns are put "
    "together in memory."
)
# Separator between the descriptions of several texts, as LightRAG and nano-graphrag write it.
DESCRIPTION_SEPARATOR = "<SEP>"
# Magnitude from which a number is none, close to the limit of single precision, 3.4e38.
MAX_MAGNITUDE = 3e38


@dataclass
class Attributes:
    """Attributes of nodes and edges, collected while triples are read.

    A reader calls `add_node` for each row on a node. It calls `set_next_edge` before it yields a
    triple. The triple is then counted with these attributes by `count_triple`, or skipped by
    `drop`. At the end, `columns` returns the tables.

    Attributes
    ----------
    is_wanted : True if the graph will have these columns.
    expected : True if the header of a table names some.
    nodes : values of each node by column, by the name of the node.
    taken : number of values by (column, key), for nodes and for edges.
    unusable : number of weights that are no numbers.
    ignored : keys of edges that were used neither as a part of a triple nor as a column.
    count : number of triples that were counted.
    is_too_large : True if the graph will not have columns because the file is too large.
    """

    is_wanted: bool = True
    expected: bool = False
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    taken: dict[str, Counter[tuple[str, str]]] = field(
        default_factory=lambda: {"nodes": Counter(), "edges": Counter()}
    )
    unusable: int = 0
    ignored: list[str] = field(default_factory=list)
    count: int = 0
    _current: dict[str, Any] = field(default_factory=dict)
    # Column -> position of the triple -> text.
    _texts: dict[str, dict[int, str]] = field(default_factory=dict)
    is_too_large: bool = False
    # Weights of the triples up to the last one that has a weight, NaN for those without.
    _weights: array = field(default_factory=lambda: array("d"))

    def has_any(self) -> bool:
        """Return whether there are attributes, or the header of a table names some."""
        return self.expected or bool(self.nodes or self._texts or self._weights or self._current)

    def clear(self) -> None:
        """Remove everything, to read the file again from the beginning."""
        fresh = Attributes(self.is_wanted, is_too_large=self.is_too_large)
        self.__dict__.update(fresh.__dict__)

    def add_node(self, name: str, row: Mapping[str, Any], *used: str) -> None:
        """Add the attributes of a node from a row. Values that the node already has are kept.

        The row's keys are in lower case. The keys in `used` gave the node's name and are left out.
        """
        if self.is_wanted and (values := self._take("nodes", row, used)):
            self.nodes[name] = {**values, **self.nodes.get(name, {})}

    def set_next_edge(self, row: Mapping[str, Any], *used: str) -> None:
        """Set the attributes of the next triple from a row.

        The row's keys are in lower case. The keys in `used` gave the parts of the triple and are
        left out.
        """
        if self.is_wanted:
            self._current = self._take("edges", row, used)

    def count_triple(self) -> None:
        """Count a triple, with the attributes that were set for it."""
        for column, value in self._current.items():
            if column == "weight":
                self._weights.extend([math.nan] * (self.count - len(self._weights)))
                self._weights.append(value)
            else:
                self._texts.setdefault(column, {})[self.count] = value
        self.count += 1
        self._current = {}

    def drop(self) -> None:
        """Discard the attributes of a triple that is skipped."""
        self._current = {}

    def first_rows(self, count: int) -> dict[str, list[Any]]:
        """Return the attributes of the first triples, column by column.

        A missing weight is None. This is for a preview before the graph is built.
        """
        columns: dict[str, list[Any]] = {
            column: [texts.get(row, "") for row in range(count)]
            for column, texts in self._texts.items()
            if min(texts) < count
        }
        if self._weights:
            weights = [None if math.isnan(weight) else weight for weight in self._weights[:count]]
            columns["weight"] = weights + [None] * (count - len(weights))
        return columns

    def columns(self, names: Sequence[str], edges: np.ndarray, n_edges: int) -> Columns:
        """Return the tables of the graph.

        Attributes of a triple that occurs several times are combined: weights are summed, and
        descriptions and keywords are joined, in an order that does not depend on the file. A
        missing weight counts as 1.

        Parameters
        ----------
        names : names of the nodes.
        edges : edge id of each triple, in the order of the file.
        n_edges : number of distinct edges.
        """
        nodes = {
            column: [self.nodes.get(name, {}).get(column, "") for name in names]
            for column in NODE_COLUMN_KEYS
            if any(column in one for one in self.nodes.values())
        }
        nodes = {column: texts for column, texts in nodes.items() if any(texts)}
        edge_columns: dict[str, Sequence[Any]] = {
            column: self._join_texts(self._texts[column], edges, n_edges)
            for column in EDGE_COLUMN_KEYS
            if column in self._texts
        }
        if self._weights:
            edge_columns["weight"] = self._sum_weights(edges, n_edges).tolist()
        if not nodes and not edge_columns:
            return NO_TABLES
        return Columns(
            Table.from_columns(**nodes) if nodes else None,
            Table.from_columns(**edge_columns) if edge_columns else None,
        )

    def sentences(self) -> Iterator[str]:
        """Yield sentences about the columns that were taken, and about weights.

        These are weights that are missing, not numbers, or not above zero.
        """
        parts = []
        for owner, counts in self.taken.items():
            keys: dict[str, list[str]] = {}
            for (column, key), _ in counts.most_common():
                keys.setdefault(column, []).append(f"“{key}”")
            if keys:
                columns = (f"{column} from {' or '.join(names)}" for column, names in keys.items())
                parts.append(f"of {owner}, {', '.join(columns)}")
        if parts:
            yield f"Also taken: {'; '.join(parts)}."
        if self.unusable:
            is_single = self.unusable == 1
            yield (
                f"{_count_noun(self.unusable, 'weight')} that "
                f"{'is no number counts' if is_single else 'are no numbers count'} as 1."
            )
        weights = np.array(self._weights)
        n_unweighted = self.count - int(np.count_nonzero(~np.isnan(weights)))
        n_missing = n_unweighted - self.unusable
        if len(weights) and n_missing > 0:
            verb = "counts" if n_missing == 1 else "count"
            yield f"{_count_noun(n_missing, 'triple')} without a weight {verb} as 1."
        if (weights <= 0).any():
            yield "Weights of zero or less count as next to none."

    def single_relation_warning(self, relation: str) -> str:
        """Return a warning about a graph with only one relation, with other attributes of edges.

        It is empty if edges have no other attributes apart from weights.
        """
        used_keys = [key for column, key in self.taken["edges"] if column != "weight"]
        others = list(dict.fromkeys([*used_keys, *self.ignored]))
        if not others:
            return ""
        keys = f"{', '.join(others[:6])}{' …' * (len(others) > 6)}"
        return (
            f"Every edge has the relation “{relation}”, so methods that go by relations have "
            f"nothing to go by. Edges also have: {keys}."
        )

    def _take(self, owner: str, row: Mapping[str, Any], used: Sequence[str]) -> dict[str, Any]:
        """Return the values of the columns of nodes or edges in a row."""
        values: dict[str, Any] = {}
        column_keys = NODE_COLUMN_KEYS if owner == "nodes" else EDGE_COLUMN_KEYS
        for column, keys in column_keys.items():
            for key in keys:
                if key in used or key not in row:
                    continue
                value = self._value(column, row[key])
                if value is not None:
                    values[column] = value
                    self.taken[owner][column, key] += 1
                    break
        return values

    def _value(self, column: str, value: Any) -> Any:
        if column == "type":
            text = one_line_text(value)
            # :Person:Actor and Person;Actor, as Neo4j writes labels
            parts = text.split(":") if text.startswith(":") else text.split(";")
            return ", ".join(part.strip() for part in parts if part.strip()) or None
        if column != "weight":
            return one_line_text(value) or None
        weight = parse_number(value)
        if weight is None and one_line_text(value):
            self.unusable += 1
        return weight

    def _join_texts(self, texts: Mapping[int, str], edges: np.ndarray, n_edges: int) -> list[str]:
        texts_of_edge: dict[int, set[str]] = {}
        for row, text in texts.items():
            texts_of_edge.setdefault(int(edges[row]), set()).add(text)
        return [
            " ".join(sorted(texts_of_edge[edge])) if edge in texts_of_edge else ""
            for edge in range(n_edges)
        ]

    def _sum_weights(self, edges: np.ndarray, n_edges: int) -> np.ndarray:
        given_weights = np.array(self._weights)
        weights = np.ones(self.count)
        weights[: len(given_weights)] = np.where(np.isnan(given_weights), 1.0, given_weights)
        order = np.lexsort((weights, edges))
        return np.bincount(edges[order], weights[order], n_edges)


def one_line_text(value: Any) -> str:
    """Return a value as a text of one line.

    A list is joined by commas. Surrounding quotation marks (nano-graphrag) and
    `DESCRIPTION_SEPARATOR` are removed.
    """
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, str):
        parts = [" ".join(part.split()) for part in value.split(DESCRIPTION_SEPARATOR)]
        return " ".join(
            part[1:-1].strip() if len(part) > 2 and part[0] == part[-1] == '"' else part
            for part in parts
        )
    if isinstance(value, int | float):
        return str(value) if math.isfinite(value) else ""
    if isinstance(value, Sequence):
        return ", ".join(filter(None, map(one_line_text, value)))
    return ""


def parse_number(value: Any) -> float | None:
    """Return a value as a number, or None if it is none.

    It is also None if it is not finite or its magnitude is `MAX_MAGNITUDE` or more.
    """
    try:
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            number = float(value)
        else:
            number = math.nan
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < MAX_MAGNITUDE else None


def _count_noun(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
