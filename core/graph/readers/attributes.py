"""Attributes of nodes and edges in a file: types, descriptions, keywords and weights."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.graph.columns import NONE, Columns, Table

NODE_COLUMN_KEYS = {
    "type": ("entity_type", "type", "node_type", ":label", "labels", "category", "~label"),
    "description": ("description", "desc", "definition", "comment", "abstract", "summary"),
}
"""Columns of nodes, with the keys under which files write each.

Of several keys, the first existing one is used.
"""
EDGE_COLUMN_KEYS = {
    "description": ("description", "desc", "definition", "comment", "evidence", "sentence"),
    "keywords": ("keywords", "keyword"),
    "weight": ("weight", "strength"),
}
"""Columns of edges, with the keys under which files write each."""
ONLY_TRIPLES_READ = (
    "Of a file with more than 128 MB of text only the triples are read, as columns are put "
    "together in memory."
)
# Separator between the descriptions of several texts, as LightRAG and nano-graphrag write it.
DESCRIPTION_SEPARATOR = "<SEP>"


@dataclass
class Attributes:
    """Attributes of nodes and edges, collected while triples are read.

    `take_edge` takes those of the next triple, and `add` counts that triple as read. Nodes are
    identified by their names. `wanted` is True if the graph will have these columns. `large` is
    True if it will not because the file is too large. `expected` is True if the header of a table
    names some. `taken` counts the values by (column, key).
    """

    wanted: bool = True
    expected: bool = False
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    taken: dict[str, Counter[tuple[str, str]]] = field(
        default_factory=lambda: {"nodes": Counter(), "edges": Counter()}
    )
    unusable: int = 0  # number of weights that are no numbers
    # Keys of edges that were used neither as a part of a triple nor as a column.
    ignored: list[str] = field(default_factory=list)
    count: int = 0  # number of triples
    _current: dict[str, Any] = field(default_factory=dict)
    # Column -> position of the triple -> text.
    _texts: dict[str, dict[int, str]] = field(default_factory=dict)
    large: bool = False
    # Weights of the triples up to the last one that has a weight, NaN for those without.
    _weights: array = field(default_factory=lambda: array("d"))

    def __bool__(self) -> bool:
        return self.expected or bool(self.nodes or self._texts or self._weights or self._current)

    def clear(self) -> None:
        """Remove everything, to read the file again from the beginning."""
        fresh = Attributes(self.wanted, large=self.large)
        self.__dict__.update(fresh.__dict__)

    def take_node(self, name: str, row: Mapping[str, Any], *used: str) -> None:
        """Take the attributes of a node from a row.

        The row's keys are in lower case. The keys in `used` gave the node's name and are left out.
        """
        if self.wanted and (values := self._take("nodes", row, used)):
            self.nodes[name] = {**values, **self.nodes.get(name, {})}

    def take_edge(self, row: Mapping[str, Any], *used: str) -> None:
        """Take the attributes of the next triple from a row.

        The row's keys are in lower case. The keys in `used` gave the parts of the triple and are
        left out.
        """
        if self.wanted:
            self._current = self._take("edges", row, used)

    def add(self) -> None:
        """Count a triple, with the attributes taken for it."""
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
        descriptions and keywords are joined, in an order that does not depend on the file.

        Parameters
        ----------
        names : names of the nodes.
        edges : edge id of each triple, in the order of the file.
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
            return NONE
        return Columns(
            Table.from_columns(**nodes) if nodes else None,
            Table.from_columns(**edge_columns) if edge_columns else None,
        )

    def sentences(self) -> Iterator[str]:
        """Yield sentences about the columns that were taken and about unusable values."""
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
        if len(weights) and n_unweighted > self.unusable:
            yield (
                f"{_count_noun(n_unweighted - self.unusable, 'triple')} without a weight "
                f"count{'s' * (n_unweighted - self.unusable == 1)} as 1."
            )
        if (weights <= 0).any():
            yield "Weights of zero or less count as next to none."

    def single_relation_warning(self, relation: str) -> str:
        """Return a warning about a graph with only one relation, with other attributes of edges.

        It is empty if edges have no other attributes.
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
        given_weights, weights = np.array(self._weights), np.ones(self.count)
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
    """Return a value as a number, or None.

    Numbers that are not finite in single precision are None, too.
    """
    try:
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            number = float(value)
        else:
            number = math.nan
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < 3e38 else None


def _count_noun(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
