"""Writer of states as plain data that JSON can hold."""

from __future__ import annotations

import json
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

    Shared objects become indices into `tables`, and paths become rows of `paths`. `ids` collects
    the ids that occur. A path is the row of its last hop: the row of the path before it or -1, the
    last node, the last edge or -1, and whether that hop runs along the direction of its triple.
    """

    def __init__(self) -> None:
        self.tables: dict[str, list] = {name: [] for name in SHARED_TABLES.values()}
        self.paths: dict[str, list[int]] = {"before": [], "node": [], "edge": [], "forward": []}
        self.ids: dict[str, set[int]] = {
            kind: set() for kind in ("node", "triple", "relation", "chunk", "community")
        }
        self._rows: dict[tuple, int] = {}
        self._path_rows: dict[int, int] = {}  # row of the last hop of a path, by `id` of the path
        self._table_rows: dict[tuple[str, str], int] = {}
        self._shared_rows: dict[int, int] = {}  # place in its table, by `id` of the object
        self._held: list[Any] = []  # keeps the objects alive, so that no `id` is used again

    def fields(self, carrier: Any) -> dict[str, Any]:
        """Return the fields of an object that are not at their default."""
        if isinstance(carrier, ContextTable | AnswerPoint):
            self.ids[carrier.kind].update(map(int, carrier.items))
        if isinstance(carrier, Excerpt):
            self.ids["chunk"].add(carrier.chunk)
        if isinstance(carrier, State):
            self.ids["node"].update(
                int(node) for name in NODE_FIELDS for node in getattr(carrier, name) or ()
            )
        fields = super().fields(carrier)
        return fields | ({"seconds": round(carrier.seconds, 6)} if "seconds" in fields else {})

    def value(self, value: Any) -> Any:
        """Return the plain form of any field value."""
        if isinstance(value, np.integer):
            return int(value)
        if isinstance(value, float | np.floating):
            return float(value) if np.isfinite(value) else str(float(value))
        if isinstance(value, Path):
            return self._path(value)
        if type(value) in SHARED_TABLES:
            return self._save_shared(value)
        if isinstance(value, np.ndarray):
            return {
                "dtype": str(value.dtype),
                "shape": list(value.shape),
                "values": [self.value(item) for item in value.ravel().tolist()],
            }
        return super().value(value)

    def _save_shared(self, carrier: Any) -> int:
        index = self._shared_rows.get(id(carrier))
        if index is None:
            table = SHARED_TABLES[type(carrier)]
            self._held.append(carrier)
            if table == "subgraphs":
                data = self._subgraph(carrier)
            elif table == "rankings":
                data = self._ranking(carrier)
            else:
                data = self.fields(carrier)
            row = self._table_rows.setdefault((table, json.dumps(data)), len(self.tables[table]))
            if row == len(self.tables[table]):
                self.tables[table].append(data)
            index = self._shared_rows[id(carrier)] = row
        return index

    def _subgraph(self, subgraph: Subgraph) -> dict[str, Any]:
        self.ids["node"].update(subgraph.nodes.tolist())
        self.ids["triple"].update(subgraph.edges.tolist())
        return {
            "nodes": encode_gaps(subgraph.nodes),
            "edges": encode_gaps(subgraph.edges),
            "scores": None
            if subgraph.scores is None
            else [_round_score(score) for score in subgraph.scores.tolist()],
        }

    def _ranking(self, whole: Ranking) -> dict[str, Any]:
        """Return the plain form of a ranking.

        Of very many triples, only those that are listed are written, with the number left out.
        """
        left_out = whole.unlisted if whole.kind == "triple" else whole.left_out
        ranking = whole.listed if whole.kind == "triple" else whole
        if ranking.kind in self.ids and all(
            isinstance(item, int | np.integer) for item in ranking.items
        ):
            self.ids[ranking.kind].update(map(int, ranking.items))
        items = list(map(self._path if ranking.kind == "path" else self.value, ranking.items))
        scores = (
            None if ranking.scores is None else [_round_score(score) for score in ranking.scores]
        )
        return {"kind": ranking.kind, "items": items, "scores": scores} | (
            {"left_out": left_out} if left_out else {}
        )

    def _path(self, path: Path) -> int:
        row = self._path_rows.get(id(path))  # `_held` keeps the object that has the path.
        return self._walk(path) if row is None else row

    def _walk(self, path: Path) -> int:
        rows, start = self._rows, (-1, path.nodes[0], -1, True)
        row = rows.get(start)
        if row is None:
            row = self._add(start)
        for step in zip(path.nodes[1:], path.edges, path.forward):
            step_row = (row, *step)
            row = rows.get(step_row)
            if row is None:
                row = self._add(step_row)
        self._path_rows[id(path)] = row
        return row

    def _add(self, path_row: tuple) -> int:
        """Add a row to the paths and return its index."""
        row = self._rows[path_row] = len(self._rows)
        for column, number in zip(self.paths.values(), path_row):
            column.append(int(number))
        self.ids["node"].add(int(path_row[1]))
        if path_row[2] >= 0:
            self.ids["triple"].add(int(path_row[2]))
        return row


def _round_score(score: float) -> float | str:
    return float(f"{score:.{SCORE_DIGITS}g}") if np.isfinite(score) else str(score)
