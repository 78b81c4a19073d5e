"""Carriers to plain data that JSON can hold."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from core.graph.storage.excerpt import gaps
from core.io import plain
from core.types import ContextTable, Excerpt, Path, Point, Ranking, State, Step, Subgraph

DIGITS = 7  # of a score: what a float32 model gives
NODE_FIELDS = ("seeds", "reader")  # fields of State whose numbers are nodes
SHARED = {Subgraph: "subgraphs", Ranking: "rankings", Step: "steps"}


class Writer(plain.Writer):
    """Carriers to plain data: shared ones become places in `tables`, paths rows of `paths`; `ids` gathers what is named.

    A path is a row (its beginning's row or -1, last node, last edge or -1, whether that step runs along its triple).
    """

    def __init__(self) -> None:
        self.tables: dict[str, list] = {name: [] for name in SHARED.values()}
        self.paths: dict[str, list[int]] = {"before": [], "node": [], "edge": [], "forward": []}
        self.ids: dict[str, set[int]] = {
            kind: set() for kind in ("node", "triple", "relation", "chunk", "community")
        }
        self._rows: dict[tuple, int] = {}
        self._ends: dict[int, int] = {}  # the rows of paths by identity
        self._places: dict[tuple[str, str], int] = {}
        self._seen: dict[int, int] = {}  # by identity
        self._held: list[Any] = []  # so that the identity of what was seen stays its own

    def fields(self, carrier: Any) -> dict[str, Any]:
        """The fields of a carrier that are not at their default."""
        if isinstance(carrier, ContextTable | Point):
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
        """Any value of a carrier's field."""
        if isinstance(value, np.integer):
            return int(value)
        if isinstance(value, float | np.floating):
            return float(value) if np.isfinite(value) else str(float(value))
        if isinstance(value, Path):
            return self._path(value)
        if type(value) in SHARED:
            return self._shared(value)
        if isinstance(value, np.ndarray):
            return {
                "dtype": str(value.dtype),
                "shape": list(value.shape),
                "values": [self.value(item) for item in value.ravel().tolist()],
            }
        return super().value(value)

    def _shared(self, carrier: Any) -> int:
        known = self._seen.get(id(carrier))
        if known is None:
            table = SHARED[type(carrier)]
            self._held.append(carrier)
            if table == "subgraphs":
                saved = self._subgraph(carrier)
            elif table == "rankings":
                saved = self._ranking(carrier)
            else:
                saved = self.fields(carrier)
            place = self._places.setdefault((table, json.dumps(saved)), len(self.tables[table]))
            if place == len(self.tables[table]):
                self.tables[table].append(saved)
            known = self._seen[id(carrier)] = place
        return known

    def _subgraph(self, subgraph: Subgraph) -> dict[str, Any]:
        self.ids["node"].update(subgraph.nodes.tolist())
        self.ids["triple"].update(subgraph.edges.tolist())
        return {
            "nodes": gaps(subgraph.nodes),
            "edges": gaps(subgraph.edges),
            "scores": None
            if subgraph.scores is None
            else [_short(score) for score in subgraph.scores.tolist()],
        }

    def _ranking(self, whole: Ranking) -> dict[str, Any]:
        """A ranking; of very many relations those that are listed, and how many were left out."""
        left_out = whole.unlisted if whole.kind == "triple" else whole.left_out
        ranking = whole.listed if whole.kind == "triple" else whole
        if ranking.kind in self.ids and all(
            isinstance(item, int | np.integer) for item in ranking.items
        ):
            self.ids[ranking.kind].update(map(int, ranking.items))
        items = list(map(self._path if ranking.kind == "path" else self.value, ranking.items))
        scores = None if ranking.scores is None else [_short(score) for score in ranking.scores]
        return {"kind": ranking.kind, "items": items, "scores": scores} | (
            {"left_out": left_out} if left_out else {}
        )

    def _path(self, path: Path) -> int:
        known = self._ends.get(id(path))  # the carrier that holds it is in _held
        return self._walk(path) if known is None else known

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
        self._ends[id(path)] = row
        return row

    def _add(self, path_row: tuple) -> int:
        """A new row of the paths, and its place."""
        row = self._rows[path_row] = len(self._rows)
        for column, number in zip(self.paths.values(), path_row):
            column.append(int(number))
        self.ids["node"].add(int(path_row[1]))
        if path_row[2] >= 0:
            self.ids["triple"].add(int(path_row[2]))
        return row


def _short(score: float) -> float | str:
    return float(f"{score:.{DIGITS}g}") if np.isfinite(score) else str(score)
