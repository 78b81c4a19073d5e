"""Writer of states as the plain data of a snapshot."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from core.graph.storage.excerpt import encode_gaps
from core.io import plain_data
from core.types import AnswerPoint, ContextTable, Excerpt, Path, Ranking, State, Step, Subgraph

SCORE_DIGITS = 7  # significant digits of a score, which is the precision of float32
NODE_FIELDS = ("seeds", "reader")  # fields of State that hold node ids
# Classes whose objects are written once, with the names of their tables.
SHARED_TABLES = {Subgraph: "subgraphs", Ranking: "rankings", Step: "steps"}


class StateWriter(plain_data.PlainWriter):
    """Writer of state objects as plain data.

    Objects of `SHARED_TABLES` become indices of a table, and paths become rows of `paths`, so that
    common beginnings of paths are written once.

    Attributes
    ----------
    tables : the plain data of shared objects, by the names of `SHARED_TABLES`.
    paths : columns with a row for the last hop of each path, and of each beginning of a path.
        `before` is the row of the path without that hop, `node` the last node, `edge` the last
        edge, and `forward` 1 if the hop follows the direction of its triple. For a path of one
        node, `before` and `edge` are -1.
    ids : the ids that occur in the written states, by kind.
    """

    def __init__(self) -> None:
        self.tables: dict[str, list] = {name: [] for name in SHARED_TABLES.values()}
        self.paths: dict[str, list[int]] = {"before": [], "node": [], "edge": [], "forward": []}
        self.ids: dict[str, set[int]] = {
            kind: set() for kind in ("node", "triple", "relation", "chunk", "community")
        }
        self._rows: dict[tuple, int] = {}  # index of each row of `paths`
        self._path_rows: dict[int, int] = {}  # row of the last hop of a path, by `id` of the path
        self._table_rows: dict[tuple[str, str], int] = {}  # index by table and data as JSON
        self._shared_rows: dict[int, int] = {}  # index in its table, by `id` of the object
        # Shared objects that were written. They stay alive here, so that Python gives no other
        # object the same `id`.
        self._written: list[Any] = []

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the fields that are not at their default, and collect ids."""
        if isinstance(instance, ContextTable | AnswerPoint):
            self.ids[instance.kind].update(map(int, instance.items))
        if isinstance(instance, Excerpt):
            self.ids["chunk"].add(instance.chunk)
        if isinstance(instance, State):
            for name in NODE_FIELDS:
                self.ids["node"].update(map(int, getattr(instance, name) or ()))
        fields = super().fields(instance)
        if "seconds" in fields:
            fields["seconds"] = round(instance.seconds, 6)  # to microseconds
        return fields

    def value(self, value: Any) -> Any:
        """Return the plain form of any field value."""
        if isinstance(value, np.integer):
            return int(value)
        if isinstance(value, float | np.floating):
            return float(value) if np.isfinite(value) else str(float(value))
        if isinstance(value, Path):
            return self._path_row(value)
        if type(value) in SHARED_TABLES:
            return self._shared_row(value)
        if isinstance(value, np.ndarray):
            return {
                "dtype": str(value.dtype),
                "shape": list(value.shape),
                "values": [self.value(item) for item in value.ravel().tolist()],
            }
        return super().value(value)

    def _shared_row(self, shared: Any) -> int:
        """Return the index of a shared object in its table. It is added if missing."""
        if id(shared) in self._shared_rows:
            return self._shared_rows[id(shared)]
        self._written.append(shared)
        if isinstance(shared, Subgraph):
            data = self._subgraph(shared)
        elif isinstance(shared, Ranking):
            data = self._ranking(shared)
        else:
            data = self.fields(shared)
        name = SHARED_TABLES[type(shared)]
        table = self.tables[name]
        row = self._table_rows.setdefault((name, json.dumps(data)), len(table))
        if row == len(table):  # no equal object was written before
            table.append(data)
        self._shared_rows[id(shared)] = row
        return row

    def _subgraph(self, subgraph: Subgraph) -> dict[str, Any]:
        self.ids["node"].update(subgraph.nodes.tolist())
        self.ids["triple"].update(subgraph.edges.tolist())
        scores = None if subgraph.scores is None else subgraph.scores.tolist()
        return {
            "nodes": encode_gaps(subgraph.nodes),
            "edges": encode_gaps(subgraph.edges),
            "scores": _round_scores(scores),
        }

    def _ranking(self, ranking: Ranking) -> dict[str, Any]:
        """Return the plain form of a ranking.

        Of a ranking of triples, only those that `Ranking.listed` has are written, and the number of
        the others.
        """
        left_out = ranking.left_out
        if ranking.kind == "triple":
            left_out, ranking = ranking.unlisted, ranking.listed
        if ranking.kind in self.ids and all(
            isinstance(item, int | np.integer) for item in ranking.items
        ):
            self.ids[ranking.kind].update(map(int, ranking.items))
        items = [self.value(item) for item in ranking.items]
        data: dict[str, Any] = {"kind": ranking.kind, "items": items}
        data["scores"] = _round_scores(ranking.scores)
        if left_out:
            data["left_out"] = left_out
        return data

    def _path_row(self, path: Path) -> int:
        """Return the row of a path's last hop. Missing rows are added."""
        # The path stays alive, and its `id` its own, as an object in `_written` has it.
        row = self._path_rows.get(id(path))
        if row is None:
            row = self._row_index((-1, path.nodes[0], -1, True))
            for hop in zip(path.nodes[1:], path.edges, path.forward):
                row = self._row_index((row, *hop))
            self._path_rows[id(path)] = row
        return row

    def _row_index(self, path_row: tuple) -> int:
        """Return the index of a row of `paths`. The row is added if missing."""
        row = self._rows.get(path_row)
        if row is None:
            row = self._rows[path_row] = len(self._rows)
            for column, number in zip(self.paths.values(), path_row):
                column.append(int(number))
            _, node, edge, _ = path_row
            self.ids["node"].add(int(node))
            if edge >= 0:
                self.ids["triple"].add(int(edge))
        return row


def _round_scores(scores: Iterable[float] | None) -> list[float | str] | None:
    """Return scores rounded to `SCORE_DIGITS` significant digits; None for None.

    A score that is not finite becomes a text, as JSON has no such numbers.
    """
    if scores is None:
        return None
    return [
        float(f"{score:.{SCORE_DIGITS}g}") if np.isfinite(score) else str(score) for score in scores
    ]
