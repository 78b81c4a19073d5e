"""Interface of a knowledge graph, and the methods that every implementation shares.

`core.graph.store.Graph` implements it on memory-mapped arrays. Retrieval methods take a
`KnowledgeGraph`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, NamedTuple, Protocol

import numpy as np

from core.errors import BadParameter
from core.graph import columns
from core.graph.columns import Columns
from core.runtime.derived_values import DerivedValues
from core.types import Direction, Path


class Steps(NamedTuple):
    """Steps from some nodes to their neighbours, as five arrays of one length.

    Each step has the position of its start node in the input (`rows`), the neighbour that it leads
    to (`nodes`), its edge and the relation of that edge. `forward` is True if the step goes from
    head to tail.
    """

    rows: np.ndarray  # int64
    nodes: np.ndarray  # int64
    edges: np.ndarray  # int64
    relations: np.ndarray  # int64
    forward: np.ndarray  # bool


class Shape(NamedTuple):
    """Counts over a whole graph.

    `node_counts` is the number of nodes of each degree in `degrees`. `relation_counts` is the
    number of triples of each relation. `busiest` are the nodes with the highest degrees, ordered by
    (-degree, id). `n_loops` is the number of self-loops, or None if the graph is too large to count
    them.
    """

    degrees: np.ndarray  # int64 [k], those that occur, ascending
    node_counts: np.ndarray  # int64 [k]
    relation_counts: np.ndarray  # int64 [relations]
    busiest: tuple[int, ...]
    n_loops: int | None


class FetchedPart(NamedTuple):
    """Part of a database that was fetched for a question.

    `starts` are the names of the nodes from which the fetch started. `sentences` tell the user how
    much was fetched and what was left out.
    """

    starts: tuple[str, ...]
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """The sentences as one text."""
        return " ".join(self.sentences)


class KnowledgeGraph(Protocol):
    """A directed multigraph of triples with integer ids for nodes, relations and edges.

    Edge `e` is a triple (head, relation, tail). Edge ids ascend by (head, relation, tail), so the
    same triples have the same edge ids in every store. A store implements the attributes and the
    methods whose body is `...`; the other methods are derived from them.

    Attributes
    ----------
    n_nodes, n_edges, n_relations : numbers of nodes, edges and relations; ids begin at 0.
    """

    name: str
    # SHA-256 of the content, in hex.
    digest: str
    # Direction of the steps of a search, if the search does not set one.
    direction: Direction
    relation_names: tuple[str, ...]
    # Folder of the store; None if the graph is only in memory.
    folder: FilePath | None
    # For an edited graph, the origin of its rows (`core.graph.edits.EditOrigin`); else None.
    edited_from: Any = None
    # For a database from which nothing has been fetched yet, the object that fetches parts of it
    # (`core.databases.live_database`); else None.
    live: Any = None
    # For a graph that was fetched from a database, a description of the fetch; else None.
    fetched: FetchedPart | None = None
    # Tables of nodes, edges, chunks and communities that the graph carries besides its triples.
    columns: Columns = columns.NO_TABLES

    @cached_property
    def derived(self) -> DerivedValues:
        """Cache of values computed from this graph in this process, such as search indexes.

        It lives as long as the graph object.
        """
        return DerivedValues()

    @property
    def n_nodes(self) -> int: ...

    @property
    def n_edges(self) -> int: ...

    def names(self, nodes: Iterable[int]) -> list[str]:
        """Return the names of several nodes, in their order.

        Parameters
        ----------
        nodes : node ids, repetitions allowed.

        Returns
        -------
        One name for each given node.

        Examples
        --------
        >>> toy.names([0, 4])
        ['A', 'E']
        """
        ...

    def nodes_named(self, name: str) -> tuple[int, ...]:
        """Return the ids of the nodes with exactly this name, ascending.

        Parameters
        ----------
        name : the name, letter by letter.

        Returns
        -------
        Several ids if nodes share the name; empty for an unknown name.

        Examples
        --------
        >>> toy.nodes_named("C")
        (2,)
        """
        ...

    def degrees(self, nodes: np.ndarray, direction: str = "both") -> np.ndarray:
        """Return the number of edges at each node, int64.

        With `both`, a self-loop counts twice.

        Parameters
        ----------
        nodes : node ids, int64 [n].
        direction : which edges count: outgoing (out), incoming (in) or both.

        Returns
        -------
        int64 [n], aligned with `nodes`.

        Examples
        --------
        >>> toy.degrees(np.array([0, 3])).tolist()  # A>B A>C C>A E>A; C>D and the loop D>D twice
        [4, 3]
        """
        ...

    def steps_from(self, nodes: np.ndarray, direction: str = "both") -> Steps:
        """Return every step from the nodes.

        Steps from head to tail come first, then those from tail to head. Both parts are ordered by
        position in `nodes`, then by edge id.

        Parameters
        ----------
        nodes : node ids, int64 [n].
        direction : edges are followed from head to tail (out), from tail to head (in) or both.

        Returns
        -------
        The steps as aligned arrays.

        Examples
        --------
        >>> steps = toy.steps_from(np.array([1]))  # B>C, and A>B backward
        >>> steps.nodes.tolist(), steps.edges.tolist(), steps.forward.tolist()
        ([2, 0], [2, 0], [True, False])
        """
        ...

    def triples(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the (heads, relations, tails) of the edges, int64, in their order.

        Parameters
        ----------
        edges : edge ids, int64 [n].

        Returns
        -------
        Heads, relations and tails, each int64 [n].

        Examples
        --------
        >>> [ids.tolist() for ids in toy.triples(np.array([4]))]  # C r4 D
        [[2], [4], [3]]
        """
        ...

    def adjacency(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return (out_indptr, tails, in_indptr, in_heads), the CSR arrays of the whole graph.

        The compiled loops of the graph algorithms take these arrays.

        Returns
        -------
        The tails of the edges out of node v are tails[out_indptr[v] : out_indptr[v + 1]], in the
            order of the edge ids. The heads of the edges into v are in_heads[in_indptr[v] :
            in_indptr[v + 1]]. The pointers are int64 [n_nodes + 1].

        Examples
        --------
        >>> out_indptr, tails, in_indptr, in_heads = toy.adjacency()
        >>> out_indptr.tolist(), tails.tolist()
        ([0, 2, 3, 5, 6, 7], [1, 2, 2, 0, 3, 3, 0])
        """
        ...

    def shape(self) -> Shape:
        """Return counts over the whole graph.

        Returns
        -------
        Its counts of nodes by degree, of triples by relation and of self-loops, and its busiest
            nodes.

        Examples
        --------
        >>> toy.shape().busiest[:2], toy.shape().n_loops
        ((0, 2), 1)
        """
        ...

    @property
    def n_relations(self) -> int:
        return len(self.relation_names)

    def resolve(self, direction: str) -> Direction:
        """Return `direction`, or the graph's own direction if it is "graph".

        Parameters
        ----------
        direction : out, in, both, or graph.

        Returns
        -------
        out, in or both.

        Raises
        ------
        BadParameter
            If the result is not out, in or both.

        Examples
        --------
        >>> toy.resolve("graph"), toy.resolve("out")
        ('both', 'out')
        """
        result = self.direction if direction == "graph" else direction
        if result not in ("out", "in", "both"):
            raise BadParameter(f"A direction is out, in, both or graph, not “{direction}”.")
        return result  # type: ignore[return-value]

    def node_name(self, node: int) -> str:
        """Return the name of a node.

        Parameters
        ----------
        node : node id.

        Returns
        -------
        The name; nodes may share it.

        Examples
        --------
        >>> toy.node_name(3)
        'D'
        """
        return self.names((node,))[0]

    def relation_name(self, edge: int) -> str:
        """Return the name of an edge's relation.

        Parameters
        ----------
        edge : edge id.

        Returns
        -------
        The name of the relation, not of the triple.

        Examples
        --------
        >>> toy.relation_name(6)  # E r5 A comes after D r6 D
        'r5'
        """
        return self.relation_names[int(self.triples(np.array([edge]))[1][0])]

    def degree(self, node: int, direction: str = "both") -> int:
        """Return the number of edges at a node; with `both`, a self-loop counts twice.

        Parameters
        ----------
        node : node id.
        direction : which edges count: outgoing (out), incoming (in) or both.

        Returns
        -------
        The number of edges.

        Examples
        --------
        >>> toy.degree(3), toy.degree(3, "out")
        (3, 1)
        """
        return int(self.degrees(np.array([node]), direction)[0])

    def steps(
        self, node: int, direction: str = "both"
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return every step from a node as (neighbours, edges, forward).

        Steps along out-edges come first, then those along in-edges, both by ascending edge id. With
        `both`, a self-loop is two steps, one forward and one backward.

        Parameters
        ----------
        node : node id.
        direction : edges are followed from head to tail (out), from tail to head (in) or both.

        Returns
        -------
        Aligned arrays: neighbours int64 [k], edges int64 [k], forward bool [k].

        Examples
        --------
        >>> [part.tolist() for part in toy.steps(1)]
        [[2, 0], [2, 0], [True, False]]
        """
        node_steps = self.steps_from(np.array([node]), direction)
        return node_steps.nodes, node_steps.edges, node_steps.forward

    def texts(self, paths: Sequence[Path]) -> list[str]:
        """Return paths as texts, such as `A -> r1 -> B`.

        A backward step is written `A -> r1_reverse -> B`. Each node and edge is looked up once.

        Parameters
        ----------
        paths : any number of paths.

        Returns
        -------
        One text for each path, in their order.

        Notes
        -----
        LEGO-GraphRAG prints paths in this format. The suffix of backward steps is the one of
        Retrieve-Rewrite-Answer.

        Examples
        --------
        >>> from core.types import Path
        >>> toy.texts([Path((0, 2, 1), (1, 2), (True, False))])
        ['A -> r1 -> C -> r2_reverse -> B']
        """
        nodes = list(dict.fromkeys(node for path in paths for node in path.nodes))
        edges = list(dict.fromkeys(edge for path in paths for edge in path.edges))
        node_names = dict(zip(nodes, self.names(nodes)))
        edge_relations = dict(zip(edges, self.triples(np.array(edges, np.int64))[1].tolist()))
        arrows = {}  # of each edge: (backward, forward), so that a bool selects one
        for edge, relation in edge_relations.items():
            name = self.relation_names[relation]
            arrows[edge] = (f" -> {name}_reverse -> ", f" -> {name} -> ")
        return ["".join(_path_parts(path, node_names, arrows)) for path in paths]

    def text(self, path: Path) -> str:
        """Return one path as text, in the format of `texts`.

        Parameters
        ----------
        path : any path of this graph.

        Returns
        -------
        The text; a single name for a path without steps.
        """
        return self.texts((path,))[0]

    def triple_texts(self, edges: Sequence[int] | np.ndarray) -> list[str]:
        """Return triples as texts: `A -> r -> B`.

        Parameters
        ----------
        edges : edge ids.

        Returns
        -------
        One text for each edge, in their order.

        Examples
        --------
        >>> toy.triple_texts([4, 6])
        ['C -> r4 -> D', 'E -> r5 -> A']
        """
        heads, relations, tails = (
            ids.tolist() for ids in self.triples(np.asarray(edges, np.int64))
        )
        nodes = list(dict.fromkeys((*heads, *tails)))
        node_names = dict(zip(nodes, self.names(nodes)))
        return [
            f"{node_names[h]} -> {self.relation_names[r]} -> {node_names[t]}"
            for h, r, t in zip(heads, relations, tails)
        ]

    def triple_text(self, edge: int) -> str:
        """Return one triple as text.

        Parameters
        ----------
        edge : edge id.

        Returns
        -------
        The text, in the format of `triple_texts`.
        """
        return self.triple_texts((edge,))[0]


def _path_parts(
    path: Path, names: dict[int, str], arrows: dict[int, tuple[str, str]]
) -> Iterator[str]:
    """Yield the node names of a path and the arrows between them.

    `arrows` maps each edge to its backward and its forward arrow.
    """
    yield names[path.nodes[0]]
    for node, edge, forward in zip(path.nodes[1:], path.edges, path.forward):
        yield arrows[edge][forward]
        yield names[node]
