"""The questions that a knowledge graph answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, NamedTuple, Protocol

import numpy as np

from core.errors import BadParameter
from core.graph import columns
from core.graph.columns import Columns
from core.runtime.derived import Derived
from core.types import Direction, Path


class Steps(NamedTuple):
    """Steps from some nodes: the place of the node each starts at, where it leads, its edge and relation, and whether it
    runs along the triple. Five arrays of one length."""

    rows: np.ndarray  # int64
    nodes: np.ndarray  # int64
    edges: np.ndarray  # int64
    relations: np.ndarray  # int64
    forward: np.ndarray  # bool


class Shape(NamedTuple):
    """Counts of a whole graph: each degree that occurs and at how many nodes, the triples of each relation, the best
    connected nodes by (-degree, id), and the self-loops (None where the graph is too large to count them)."""

    degrees: np.ndarray  # int64, ascending
    nodes: np.ndarray  # int64
    relations: np.ndarray  # int64 [relations]
    busiest: tuple[int, ...]
    loops: int | None


class Fetched(NamedTuple):
    """What was fetched of a database for a question: the names of the nodes that it starts from, and sentences on what is here and what was
    left out."""

    starts: tuple[str, ...]
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """The sentences as one text."""
        return " ".join(self.sentences)


class KnowledgeGraph(Protocol):
    """A directed multigraph of triples with integer ids for nodes, relations and edges.

    Edge `e` is a triple (head, relation, tail); ids ascend by (head, relation, tail), so that a list of edges by id is the
    same in every store of the same triples. What stands first must be given by each store; the rest follows from it.
    """

    name: str
    digest: str  # the sha256 of the content in hex
    direction: Direction  # the way a search should run where an instance leaves it to the graph
    relation_names: tuple[str, ...]
    folder: FilePath | None  # where it lies, None for one in memory only
    edited_from: Any = None  # of one with something taken away where its rows come from (`core.graph.edits.Origin`), else None
    live: Any = None  # of a database of which nothing is here yet what fetches of it (`core.databases.live.Live`), else None
    fetched: Fetched | None = None  # of what was fetched of such a database, else None
    columns: Columns = columns.NONE  # what a graph made of texts carries beside its triples

    @cached_property
    def derived(self) -> Derived:
        """What was derived from this graph in this process: its names made searchable, indexes read, arrangements; gone with it."""
        return Derived()

    @property
    def n_nodes(self) -> int: ...

    @property
    def n_edges(self) -> int: ...

    def names(self, nodes: Iterable[int]) -> list[str]:
        """The names of several nodes, in their order.

        >>> toy.names([0, 4])
        ['A', 'E']
        """
        ...

    def nodes_named(self, name: str) -> tuple[int, ...]:
        """The nodes of this very name, ascending.

        >>> toy.nodes_named("C")
        (2,)
        """
        ...

    def degrees(self, nodes: np.ndarray, direction: str = "both") -> np.ndarray:
        """The number of edges at each node, int64; in `both`, a self-loop counts twice.

        >>> toy.degrees(np.array([0, 3])).tolist()  # A>B A>C C>A E>A; C>D and the loop D>D twice
        [4, 3]
        """
        ...

    def steps_from(self, nodes: np.ndarray, direction: str = "both") -> Steps:
        """Every step from the nodes: those along triples first, node by node as they are given, each by ascending edge.

        >>> steps = toy.steps_from(np.array([1]))  # B>C, and A>B backward
        >>> steps.nodes.tolist(), steps.edges.tolist(), steps.forward.tolist()
        ([2, 0], [2, 0], [True, False])
        """
        ...

    def triples(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(heads, relations, tails) of the edges, int64, in their order.

        >>> [ids.tolist() for ids in toy.triples(np.array([4]))]  # C r4 D
        [[2], [4], [3]]
        """
        ...

    def adjacency(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(out_indptr, tails, in_indptr, in_heads) of the whole graph, for what has to walk all of it.

        >>> out_indptr, tails, in_indptr, in_heads = toy.adjacency()
        >>> out_indptr.tolist(), tails.tolist()
        ([0, 2, 3, 5, 6, 7], [1, 2, 2, 0, 3, 3, 0])
        """
        ...

    def shape(self) -> Shape:
        """Counts of the whole graph.

        >>> toy.shape().busiest[:2], toy.shape().loops
        ((0, 2), 1)
        """
        ...

    @property
    def n_relations(self) -> int:
        return len(self.relation_names)

    def resolve(self, direction: str) -> Direction:
        """`direction`, or this graph's own where it is "graph". Raises BadParameter for another word.

        >>> toy.resolve("graph"), toy.resolve("out")
        ('both', 'out')
        """
        known = self.direction if direction == "graph" else direction
        if known not in ("out", "in", "both"):
            raise BadParameter(f"A direction is out, in, both or graph, not “{direction}”.")
        return known  # type: ignore[return-value]

    def node_name(self, node: int) -> str:
        """The name of a node.

        >>> toy.node_name(3)
        'D'
        """
        return self.names((node,))[0]

    def relation_name(self, edge: int) -> str:
        """The relation of an edge, as a name.

        >>> toy.relation_name(6)  # E r5 A comes after D r6 D
        'r5'
        """
        return self.relation_names[int(self.triples(np.array([edge]))[1][0])]

    def degree(self, node: int, direction: str = "both") -> int:
        """The number of edges at a node; in `both`, a self-loop counts twice.

        >>> toy.degree(3), toy.degree(3, "out")
        (3, 1)
        """
        return int(self.degrees(np.array([node]), direction)[0])

    def steps(
        self, node: int, direction: str = "both"
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Every step from a node: (neighbours, edges, forward), out-edges first, each part by ascending edge id.

        A self-loop is one step forward and, in `both`, one backward.

        >>> [part.tolist() for part in toy.steps(1)]
        [[2, 0], [2, 0], [True, False]]
        """
        found = self.steps_from(np.array([node]), direction)
        return found.nodes, found.edges, found.forward

    def texts(self, paths: Sequence[Path]) -> list[str]:
        """Paths in words: `A -> r1 -> B`, a backward step as `A -> r1_reverse -> B` (paths as LEGO-GraphRAG
        prints them, backward steps with Retrieve-Rewrite-Answer's suffix). Each node and edge is looked up once.

        >>> from core.types import Path
        >>> toy.texts([Path((0, 2, 1), (1, 2), (True, False))])
        ['A -> r1 -> C -> r2_reverse -> B']
        """
        nodes = list(dict.fromkeys(node for path in paths for node in path.nodes))
        edges = list(dict.fromkeys(edge for path in paths for edge in path.edges))
        called = dict(zip(nodes, self.names(nodes)))
        relation_of = dict(zip(edges, self.triples(np.array(edges, np.int64))[1].tolist()))
        arrows = {}
        for edge, relation in relation_of.items():
            name = self.relation_names[relation]
            arrows[edge] = (f" -> {name}_reverse -> ", f" -> {name} -> ")
        return ["".join(_parts(path, called, arrows)) for path in paths]

    def text(self, path: Path) -> str:
        """One path in words, as `texts`."""
        return self.texts((path,))[0]

    def triple_texts(self, edges: Sequence[int] | np.ndarray) -> list[str]:
        """Triples in words: `A -> r -> B`.

        >>> toy.triple_texts([4, 6])
        ['C -> r4 -> D', 'E -> r5 -> A']
        """
        heads, relations, tails = (
            ids.tolist() for ids in self.triples(np.asarray(edges, np.int64))
        )
        nodes = list(dict.fromkeys((*heads, *tails)))
        called = dict(zip(nodes, self.names(nodes)))
        return [
            f"{called[h]} -> {self.relation_names[r]} -> {called[t]}"
            for h, r, t in zip(heads, relations, tails)
        ]

    def triple_text(self, edge: int) -> str:
        """One triple in words."""
        return self.triple_texts((edge,))[0]


def _parts(path: Path, called: dict[int, str], arrows: dict[int, tuple[str, str]]) -> Iterator[str]:
    yield called[path.nodes[0]]
    for node, edge, forward in zip(path.nodes[1:], path.edges, path.forward):
        yield arrows[edge][forward]
        yield called[node]
