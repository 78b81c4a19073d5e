"""Edited copies of a graph, with parts removed, merged or renamed.

They answer what a question would retrieve if the graph were different. The stored graph is not
changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.errors import BadInput, shorten
from core.graph.building.build import edge_arrays
from core.graph.columns import Columns, IdLists, Table, row_offsets
from core.graph.store import Graph, row_entries
from core.graph.texts import n_chunks

# Largest number of edges of a graph that can be edited, since a copy is made for each question.
MAX_EDITED_EDGES = 5_000_000
# Number of names that an edit of each kind takes.
EDIT_NAME_COUNTS = {"node": 1, "edge": 3, "passage": 1, "merge": 2, "rename": 2}


@dataclass(frozen=True)
class Edit:
    """One change of a graph, given by names and not by ids.

    An edit can therefore be applied to every graph of the same source. The kinds and their names
    are:
    - `node`: the name of a node, which is removed with its edges;
    - `edge`: head, relation and tail of an edge, which is removed;
    - `passage`: the id of a document, which is removed with everything that comes from it alone;
    - `merge`: the name of a node, whose edges move to the node of the second name;
    - `rename`: the name of a node and its new name.

    >>> from core.graph.edits import Edit
    >>> Edit.from_text(Edit("edge", ("A", "r0", "B")).to_text()).description
    'without A -> r0 -> B'
    """

    kind: str
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if EDIT_NAME_COUNTS.get(self.kind) != len(self.names) or not all(
            isinstance(name, str) and name for name in self.names
        ):
            raise BadInput(
                f"There is no change {shorten(str((self.kind, *self.names)), 80)} of a graph."
            )

    @property
    def name(self) -> str:
        """Name of the changed part, for display."""
        return " -> ".join(self.names) if self.kind == "edge" else self.names[0]

    @property
    def is_removal(self) -> bool:
        """True if the edit removes something, which a merge and a rename do not."""
        return self.kind not in ("merge", "rename")

    @property
    def description(self) -> str:
        """Description of the edit for display: `without Ann`, `with Ann merged into Bea`."""
        if not self.is_removal:
            return (
                f"with {self.names[0]} {'merged into' if self.kind == 'merge' else 'renamed to'} "
                f"{self.names[1]}"
            )
        return f"without {'the passage ' if self.kind == 'passage' else ''}{self.name}"

    def to_text(self) -> str:
        """Return the edit as JSON text for addresses and files, which `from_text` parses."""
        return json.dumps([self.kind, *self.names], ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> Edit:
        """Parse an edit from its JSON text.

        Raises
        ------
        BadInput
            If the text is no edit.
        """
        try:
            kind, *names = json.loads(text)
        except (ValueError, TypeError):
            raise BadInput(f"“{shorten(text, 80)}” is no change of a graph.") from None
        return cls(str(kind), tuple(names))


@dataclass(frozen=True, eq=False)
class EditOrigin:
    """Origin of the rows of an edited graph.

    `graph` is the original. `nodes`, `edges`, `chunks` and `communities` give, for every row of the
    edited graph, its row in the original. `new_nodes` and `new_edges` mark the rows whose name or
    text differs from the original.
    """

    graph: Graph
    nodes: np.ndarray  # int64 [nodes]
    edges: np.ndarray  # int64 [edges]
    chunks: np.ndarray  # int64 [chunks]
    communities: np.ndarray  # int64 [communities]
    new_nodes: np.ndarray  # bool [nodes]
    new_edges: np.ndarray  # bool [edges]


def path_removals(
    nodes: Sequence[str], relations: Sequence[str], forward: Sequence[bool]
) -> list[Edit]:
    """Return the edits that remove the triples of a path.

    Parameters
    ----------
    nodes, relations : names on the path, in its order.
    forward : for each relation, True if the path follows the direction of its triple.

    >>> from core.graph.edits import path_removals
    >>> [edit.name for edit in path_removals(["A", "B", "C"], ["r", "s"], [True, False])]
    ['A -> r -> B', 'C -> s -> B']
    """
    removals = []
    for relation, start, end, is_forward in zip(relations, nodes, nodes[1:], forward):
        triple = (start, relation, end) if is_forward else (end, relation, start)
        removals.append(Edit("edge", triple))
    return removals


def names_after_edits(names: Iterable[str], edits: Iterable[Edit]) -> tuple[str, ...]:
    """Return the names of some nodes after the edits, without repeats and removed nodes.

    >>> from core.graph.edits import Edit, names_after_edits
    >>> names_after_edits(("A", "B", "C"), (Edit("node", ("B",)), Edit("rename", ("C", "D"))))
    ('A', 'D')
    """
    retained_names = list(names)
    for edit in edits:
        if edit.kind == "node":
            retained_names = [name for name in retained_names if name != edit.names[0]]
        elif not edit.is_removal:
            retained_names = [
                edit.names[1] if name == edit.names[0] else name for name in retained_names
            ]
    return tuple(dict.fromkeys(retained_names))


def edit_graph(graph: Graph, edits: Sequence[Edit]) -> Graph:
    """Return a copy of the graph in memory, with these edits applied in turn.

    If `graph` is an edited graph itself, the edits are applied to its original. An edit is ignored
    if the graph does not have its names. `edited_from` of the result maps its rows to the original.
    Nodes and edges keep their order, so that ties are broken as before.

    Raises
    ------
    BadInput
        If the graph has more than `MAX_EDITED_EDGES` edges.

    >>> from core.graph.edits import Edit, edit_graph
    >>> without = edit_graph(toy, [Edit("node", ("C",))])
    >>> without.names(range(4)), without.triple_texts(range(without.n_edges))
    (['A', 'B', 'D', 'E'], ['A -> r0 -> B', 'D -> r6 -> D', 'E -> r5 -> A'])
    """
    if not edits:
        return graph
    graph = graph if graph.edited_from is None else graph.edited_from.graph
    if graph.n_edges > MAX_EDITED_EDGES:
        raise BadInput(
            f"“{graph.name}” is too large to be changed for one question; at most {MAX_EDITED_EDGES:,} "
            "triples can be."
        )
    return graph.derived.get_or_make(
        "edited", tuple(edits), lambda: _GraphEditor(graph).apply_all(edits)
    )


def unmatched_edits(graph: Graph, edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return the edits whose names the graph does not have.

    The edits are applied one after the other, so an earlier edit may remove a name of a later one.
    """
    all_edits = tuple(edits)

    def find_unmatched() -> tuple[Edit, ...]:
        editor = _GraphEditor(graph)
        return tuple(edit for edit in all_edits if not editor.apply(edit))

    return (
        graph.derived.get_or_make("unmatched edits", all_edits, find_unmatched) if all_edits else ()
    )


class _GraphEditor:
    """A graph to which edits are applied one after the other.

    The rows are not moved until the end: masks mark those that remain.
    """

    def __init__(self, graph: Graph):
        self._graph = graph
        self._heads, self._tails = graph.heads.astype(np.int64), graph.tails.astype(np.int64)
        # Masks of the remaining rows.
        self._nodes = np.ones(graph.n_nodes, bool)
        self._edges = np.ones(graph.n_edges, bool)
        self._chunks = np.ones(n_chunks(graph), bool)
        # Masks of the nodes and edges whose name or text has changed.
        self._new_nodes = np.zeros(graph.n_nodes, bool)
        self._new_edges = np.zeros(graph.n_edges, bool)
        self._names: dict[int, str] = {}  # new names of renamed nodes
        self._merged: dict[int, list[int]] = {}  # nodes that were merged into a node

    def apply(self, edit: Edit) -> bool:
        """Apply an edit, and return False if the graph does not have its names."""
        return getattr(self, f"_apply_{edit.kind}")(*edit.names)

    def apply_all(self, edits: Sequence[Edit]) -> Graph:
        """Apply the edits and return the resulting graph."""
        for edit in edits:
            self.apply(edit)
        content = json.dumps([self._graph.digest, *(edit.to_text() for edit in edits)])
        return self._build_graph(hashlib.sha256(content.encode()).hexdigest())

    def _find_nodes(self, name: str) -> list[int]:
        """Return the remaining nodes with a name, first those that always had it."""
        nodes = [node for node in self._graph.nodes_named(name) if node not in self._names]
        nodes += [node for node, new_name in self._names.items() if new_name == name]
        return [node for node in nodes if self._nodes[node]]

    def _apply_node(self, name: str) -> bool:
        nodes = self._find_nodes(name)
        self._drop_nodes(np.array(nodes, np.int64))
        return bool(nodes)

    def _drop_nodes(self, nodes: np.ndarray) -> None:
        self._nodes[nodes] = False
        self._edges &= self._nodes[self._heads] & self._nodes[self._tails]

    def _apply_edge(self, head: str, relation: str, tail: str) -> bool:
        graph = self._graph
        heads, tails = self._find_nodes(head), self._find_nodes(tail)
        if relation not in graph.relation_names or not heads or not tails:
            return False
        matching = self._edges & np.isin(self._heads, heads) & np.isin(self._tails, tails)
        matching &= graph.relations == graph.relation_names.index(relation)
        self._edges[matching] = False
        return bool(matching.any())

    def _apply_passage(self, document: str) -> bool:
        columns = self._graph.columns
        if columns.chunks is None:
            return False
        documents = enumerate(columns.chunks.texts("document"))
        rows = [row for row, id in documents if id == document and self._chunks[row]]
        if not rows:
            return False
        self._chunks[rows] = False
        if columns.edges is not None and columns.edges.has_column("chunks"):
            self._edges &= ~self._mark_orphans(columns.edges.id_lists("chunks"))
        if columns.nodes is not None and columns.nodes.has_column("chunks"):
            orphans = self._mark_orphans(columns.nodes.id_lists("chunks"))
            self._drop_nodes(np.flatnonzero(self._nodes & orphans))
        return True

    def _mark_orphans(self, rows: IdLists) -> np.ndarray:
        """Mark the rows of which all chunks have been removed, bool [rows].

        Rows without chunks are not marked. `rows` are the chunks of each row.
        """
        sums = row_offsets(self._chunks[rows.ids])
        return (np.diff(rows.indptr) > 0) & (sums[rows.indptr[1:]] == sums[rows.indptr[:-1]])

    def _apply_merge(self, name: str, into: str) -> bool:
        from_nodes, target_nodes = self._find_nodes(name), self._find_nodes(into)
        if not from_nodes or not target_nodes or name == into:
            return False
        target = target_nodes[0]
        for column in (self._heads, self._tails):
            mask = np.isin(column, from_nodes)
            self._new_edges |= mask
            column[mask] = target
        self._new_nodes[target] = True
        self._merged.setdefault(target, []).extend(from_nodes)
        self._nodes[from_nodes] = False
        return True

    def _apply_rename(self, name: str, new_name: str) -> bool:
        nodes = self._find_nodes(name)
        for node in nodes:
            self._names[node] = new_name
            self._new_nodes[node] = True
            self._new_edges |= (self._heads == node) | (self._tails == node)
        return bool(nodes)

    def _build_graph(self, digest: str) -> Graph:
        graph, nodes = self._graph, np.flatnonzero(self._nodes)
        retained_edges = np.flatnonzero(self._edges)
        new_node = np.cumsum(self._nodes, dtype=np.int64) - 1
        heads = new_node[self._heads[retained_edges]]
        relations = graph.relations[retained_edges].astype(np.int64)
        tails = new_node[self._tails[retained_edges]]
        order = np.lexsort((retained_edges, tails, relations, heads))
        triples = np.stack([heads, relations, tails])[:, order]
        is_first = np.ones(len(order), bool)
        is_first[1:] = (np.diff(triples) != 0).any(0)
        # A merge can make edges equal. Only the first of equal edges stays.
        edges = retained_edges[order][is_first]
        columns, communities = self._build_tables(nodes, edges)
        rows = nodes, edges, np.flatnonzero(self._chunks), communities
        arrays: dict[str, Any] = {
            **edge_arrays((heads, relations, tails), len(nodes), graph.n_relations),
            **self._name_columns(nodes),
        }
        return replace(
            graph,
            digest=digest,
            columns=columns,
            edited_from=EditOrigin(graph, *rows, self._new_nodes[nodes], self._new_edges[edges]),
            folder=None,
            data=None,
            digest_check=None,
            stored_degree_bytes=None,
            **arrays,
        )

    def _name_columns(self, nodes: np.ndarray) -> dict[str, np.ndarray]:
        """Return the arrays of the names of the remaining nodes and of their order."""
        graph = self._graph
        if not graph.numbered and not self._names:
            rows, bytes_of_names = row_entries(graph.name_offsets, nodes)
            order = (np.cumsum(self._nodes) - 1)[graph.name_order[self._nodes[graph.name_order]]]
            return _name_arrays(
                np.bincount(rows, minlength=len(nodes)), graph.names_utf8[bytes_of_names], order
            )
        names = [
            self._names.get(node, graph.node_name(node)).encode("utf-8", "surrogatepass")
            for node in nodes.tolist()
        ]
        order = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
        return _name_arrays(
            np.array([len(name) for name in names], np.int64),
            np.frombuffer(b"".join(names), np.uint8),
            order,
        )

    def _build_tables(self, nodes: np.ndarray, edges: np.ndarray) -> tuple[Columns, np.ndarray]:
        """Return the tables of the edited graph.

        The second result holds the rows of its communities in the original. `nodes` and `edges` are
        the remaining rows. Communities without members are dropped.
        """
        columns, tables = self._graph.columns, dict[str, Table | None]()
        for name, rows in {"nodes": nodes, "edges": edges}.items():
            table = getattr(columns, name)
            tables[name] = None if table is None else self._without_chunks(table.take(rows))
        if tables["nodes"] is not None and self._merged:
            tables["nodes"] = self._merge_columns(tables["nodes"], nodes)
        if columns.chunks is not None:
            tables["chunks"] = columns.chunks.take(np.flatnonzero(self._chunks))
        if columns.communities is None:
            return Columns(**tables), np.empty(0, np.int64)
        members = columns.communities.id_lists("members").filter_ids(self._nodes)
        not_empty = members.counts > 0
        retained_communities = np.flatnonzero(not_empty)
        table = columns.communities.take(retained_communities).replace_ids(
            "members", IdLists(row_offsets(members.counts[not_empty]), members.ids)
        )
        if table.has_column("parent"):
            # -1 marks a community without a parent, or one whose parent was dropped.
            new_rows = np.where(not_empty, np.cumsum(not_empty) - 1, -1)
            parents = table.numbers("parent")
            table = table.with_columns(parent=np.where(parents >= 0, new_rows[parents], -1))
        return Columns(**tables, communities=table), retained_communities

    def _without_chunks(self, table: Table) -> Table:
        if table.has_column("chunks"):
            return table.replace_ids("chunks", table.id_lists("chunks").filter_ids(self._chunks))
        return table

    def _merge_columns(self, table: Table, nodes: np.ndarray) -> Table:
        """Add the chunks and descriptions of merged nodes to their targets.

        The target of a node is the one it was merged into. `nodes` are the remaining nodes, the
        rows of `table`.
        """
        source, new_columns = self._graph.columns.nodes, dict[str, list[Any]]()
        assert source is not None  # `table` is a part of it
        groups = {
            row: [node, *self._merged[node]]
            for row, node in enumerate(nodes.tolist())
            if node in self._merged
        }
        if table.has_column("chunks"):
            chunks = source.id_lists("chunks").filter_ids(self._chunks)
            new_columns["chunks"] = table.id_lists("chunks").to_lists()
            for row, group in groups.items():
                new_columns["chunks"][row] = np.unique(chunks.concat_rows(np.array(group))).tolist()
        if table.has_column("description"):
            new_columns["description"] = table.texts("description")
            for row, group in groups.items():
                descriptions = dict.fromkeys(source.texts("description", group))
                new_columns["description"][row] = " ".join(filter(None, descriptions))
        return table.with_columns(**new_columns)


def _name_arrays(
    lengths: np.ndarray, names_utf8: np.ndarray, order: np.ndarray
) -> dict[str, np.ndarray]:
    offsets = row_offsets(lengths)
    return {"names_utf8": names_utf8, "name_offsets": offsets, "name_order": order.astype(np.int32)}
