"""Attributes of nodes and edges in a file: types, descriptions, keywords and weights.

Readers of triples fill an `Attributes` object. The builder of the graph makes its tables from it.
"""

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
"""Columns of nodes, each with the keys that files use for it.

If a row has several of these keys, the first one with a usable value counts.
"""
EDGE_COLUMN_KEYS = {
    "description": ("description", "desc", "definition", "comment", "evidence", "sentence"),
    "keywords": ("keywords", "keyword"),
    "weight": ("weight", "strength"),
}
"""Columns of edges, each with the keys that files use for it."""
# The size in this note is `MAX_WHOLE_TEXT_BYTES` of `core.graph.large.sources`.
ONLY_TRIPLES_READ = (
    "Of a file with more than 128 MB of text only the triples are read, as columns are put "
    "together in memory."
)
# Separator between the descriptions of several texts, as LightRAG and nano-graphrag write it.
DESCRIPTION_SEPARATOR = "<SEP>"
# Numbers of this magnitude or more are rejected: weights are stored in single precision, whose
# limit is 3.4e38.
MAX_MAGNITUDE = 3e38


@dataclass
class Attributes:
    """Attributes of nodes and edges, collected while triples are read.

    A reader calls `add_node` for each row on a node. It calls `set_next_edge` before it yields a
    triple. The consumer of the triples then calls `count_triple` to accept the triple with these
    attributes, or `discard_edge` to leave it out. At the end, `columns` returns the tables.

    Attributes
    ----------
    is_wanted : True if the graph will have these columns.
    header_has_attributes : True if the header of a table names attribute columns.
    nodes : name of a node -> column -> value.
    value_counts : number of values read, by (column, key), for "nodes" and for "edges".
    n_invalid_weights : number of weights that are not numbers.
    ignored_keys : keys of edges that were used neither as a part of a triple nor as a column.
    n_triples : number of triples accepted by `count_triple`.
    is_too_large : True if the graph will not have columns because the file is too large.
    """

    is_wanted: bool = True
    header_has_attributes: bool = False
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    value_counts: dict[str, Counter[tuple[str, str]]] = field(
        default_factory=lambda: {"nodes": Counter(), "edges": Counter()}
    )
    n_invalid_weights: int = 0
    ignored_keys: list[str] = field(default_factory=list)
    n_triples: int = 0
    # Attributes of the next triple: column -> value.
    _current: dict[str, Any] = field(default_factory=dict)
    # Column -> position of the triple in the file, from 0 -> text.
    _texts: dict[str, dict[int, str]] = field(default_factory=dict)
    is_too_large: bool = False
    # Weights of the triples up to the last one that has a weight, NaN for those without.
    _weights: array = field(default_factory=lambda: array("d"))

    def has_any(self) -> bool:
        """Return whether attributes were read, or the header of a table names attribute columns."""
        return self.header_has_attributes or bool(
            self.nodes or self._texts or self._weights or self._current
        )

    def clear(self) -> None:
        """Remove everything, to read the file again from the beginning."""
        fresh = Attributes(self.is_wanted, is_too_large=self.is_too_large)
        self.__dict__.update(fresh.__dict__)

    def add_node(self, name: str, row: Mapping[str, Any], *used_keys: str) -> None:
        """Add the attributes of a node from a row.

        Values that the node already has stay. The row's keys are in lower case. `used_keys` gave
        the node's name and are left out.
        """
        if self.is_wanted and (values := self._column_values("nodes", row, used_keys)):
            self.nodes[name] = {**values, **self.nodes.get(name, {})}

    def set_next_edge(self, row: Mapping[str, Any], *used_keys: str) -> None:
        """Set the attributes of the next triple from a row.

        The row's keys are in lower case. `used_keys` gave the parts of the triple and are left out.
        """
        if self.is_wanted:
            self._current = self._column_values("edges", row, used_keys)

    def count_triple(self) -> None:
        """Accept a triple, with the attributes from the last `set_next_edge`."""
        for column, value in self._current.items():
            if column == "weight":
                self._weights.extend([math.nan] * (self.n_triples - len(self._weights)))
                self._weights.append(value)
            else:
                self._texts.setdefault(column, {})[self.n_triples] = value
        self.n_triples += 1
        self._current = {}

    def discard_edge(self) -> None:
        """Discard the attributes of a triple that is left out."""
        self._current = {}

    def first_rows(self, count: int) -> dict[str, list[Any]]:
        """Return the attributes of the first `count` triples by column, for a preview.

        A missing text is empty, and a missing weight is None.
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
        """Return the attributes as tables of the graph's nodes and edges.

        Attributes of a triple that occurs several times are combined: weights are summed, and
        descriptions and keywords are joined, in an order that does not depend on the file. A
        missing weight counts as 1.

        Parameters
        ----------
        names : names of the nodes, by id.
        edges : int64 [n_triples], edge id of each triple in the order of the file.
        n_edges : number of distinct edges.
        """
        nodes = {
            column: [self.nodes.get(name, {}).get(column, "") for name in names]
            for column in NODE_COLUMN_KEYS
            if any(column in values for values in self.nodes.values())
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
        """Yield sentences about the columns that were read and about unusual weights.

        A weight is unusual if it is missing, not a number, or not above zero.
        """
        parts = []
        for owner, counts in self.value_counts.items():
            keys: dict[str, list[str]] = {}
            for (column, key), _ in counts.most_common():
                keys.setdefault(column, []).append(f"“{key}”")
            if keys:
                columns = (f"{column} from {' or '.join(names)}" for column, names in keys.items())
                parts.append(f"of {owner}, {', '.join(columns)}")
        if parts:
            yield f"Also taken: {'; '.join(parts)}."
        if self.n_invalid_weights:
            is_single = self.n_invalid_weights == 1
            yield (
                f"{_count_noun(self.n_invalid_weights, 'weight')} that "
                f"{'is no number counts' if is_single else 'are no numbers count'} as 1."
            )
        weights = np.array(self._weights)
        n_unweighted = self.n_triples - int(np.count_nonzero(~np.isnan(weights)))
        n_missing = n_unweighted - self.n_invalid_weights
        if len(weights) and n_missing > 0:
            verb = "counts" if n_missing == 1 else "count"
            yield f"{_count_noun(n_missing, 'triple')} without a weight {verb} as 1."
        if (weights <= 0).any():
            yield "Weights of zero or less count as next to none."

    def single_relation_warning(self, relation: str) -> str:
        """Return a warning that the only relation may be the wrong column.

        The warning names the other attributes of edges. It is empty if there are none except
        weights.
        """
        used_keys = [key for column, key in self.value_counts["edges"] if column != "weight"]
        others = list(dict.fromkeys([*used_keys, *self.ignored_keys]))
        if not others:
            return ""
        keys = f"{', '.join(others[:6])}{' …' * (len(others) > 6)}"
        return (
            f"Every edge has the relation “{relation}”, so methods that go by relations have "
            f"nothing to go by. Edges also have: {keys}."
        )

    def _column_values(
        self, owner: str, row: Mapping[str, Any], used_keys: Sequence[str]
    ) -> dict[str, Any]:
        """Return the values in a row for the columns of "nodes" or "edges" (`owner`)."""
        values: dict[str, Any] = {}
        column_keys = NODE_COLUMN_KEYS if owner == "nodes" else EDGE_COLUMN_KEYS
        for column, keys in column_keys.items():
            for key in keys:
                if key in used_keys or key not in row:
                    continue
                value = self._stored_value(column, row[key])
                if value is not None:
                    values[column] = value
                    self.value_counts[owner][column, key] += 1
                    break
        return values

    def _stored_value(self, column: str, value: Any) -> Any:
        """Return a value as its column stores it.

        The result is None if the value is missing or unusable.
        """
        if column == "type":
            text = one_line_text(value)
            # :Person:Actor and Person;Actor, as Neo4j writes labels
            parts = text.split(":") if text.startswith(":") else text.split(";")
            return ", ".join(part.strip() for part in parts if part.strip()) or None
        if column != "weight":
            return one_line_text(value) or None
        weight = parse_number(value)
        if weight is None and one_line_text(value):
            self.n_invalid_weights += 1
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
        weights = np.ones(self.n_triples)
        weights[: len(given_weights)] = np.where(np.isnan(given_weights), 1.0, given_weights)
        # Sorted, so that rounding of the sums does not depend on the order of the file.
        order = np.lexsort((weights, edges))
        return np.bincount(edges[order], weights[order], n_edges)


def one_line_text(value: Any) -> str:
    """Return a value as a text of one line.

    A list is joined by commas. Surrounding quotation marks (nano-graphrag) and
    `DESCRIPTION_SEPARATOR` are removed. Booleans, None and objects give an empty text.
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
    """Return a value as a number, or None if it is not a number.

    Infinite values and magnitudes of `MAX_MAGNITUDE` or more also give None.
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
