"""Operator of stage “merge” that makes one knowledge graph. It merges the facts of all chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from core.builds.base import BuildContext, BuildState, SampledOperator
from core.builds.fact_collections import NumberColumns, TextIds
from core.builds.facts import ChunkRelation, Facts
from core.builds.group.summaries import (
    BYTES_PER_TOKEN,
    leading_texts,
    summarise_descriptions,
)
from core.builds.merge.columns import (
    collect_all,
    distinct_rows,
    distinct_values,
    group_rows,
    most_frequent,
)
from core.builds.model_requests import map_in_parallel
from core.builds.name_folding import NAME_READINGS, fold_name
from core.errors import shorten
from core.graph.building.text_graph import graph_of_parts
from core.graph.columns import IdLists, Table, concat_texts, join_texts
from core.graph.order import in_name_order
from core.graph.store import Graph
from core.models.chat.token_estimates import estimate_text_tokens
from core.parameters import param
from core.prompts import one_line

CUT_DESCRIPTION_NOTE = "descriptions were longer than {} tokens and cut behind the last that fits"
UNNAMED_RELATION = "related to"  # name of relations without a name
DESCRIPTION_BATCH_ROWS = 50_000  # nodes or edges whose descriptions are joined in one batch
TripleArrays = tuple[np.ndarray, np.ndarray, np.ndarray]  # heads, relations, tails
NamedTexts = tuple[str, list[str]]  # name of a node or edge, and its descriptions
DescriptionShortener = Callable[[Sequence[NamedTexts]], list[str]]  # one description for each


@dataclass(frozen=True, repr=False)
class Merge(SampledOperator):
    """A graph of all facts, with nodes merged by name.

    With `by` “pair” there is one edge for each two related entities, whatever the direction of
    their relations. With “name” there is one for each of their relation names. Weights are summed,
    descriptions joined, and chunks recorded.

    A node has its most frequent spelling and type. If the descriptions of a node or edge together
    have more than `longest` tokens, those that do not fit are left out. With `summarise`, a
    language model summarises all of them instead. The same facts in the same order give the same
    graph.
    """

    stage = "merge"
    title = "merged by name"
    reads, writes = ("chunks", "facts"), ("graph",)

    by: str = param(
        "pair",
        "Edges",
        "One edge per pair of entities, or one per named relation.",
        choices=("pair", "name"),
    )
    reading: str = param(
        "unicode",
        "Names",
        "All letters count in names, or only a-z and 0-9 as in the code.",
        choices=NAME_READINGS,
    )
    descriptions: bool = param(True, "Descriptions", "Give entities and relations descriptions.")
    keywords: bool = param(True, "Keywords", "Give relations keywords.")
    longest: int = param(
        500,
        "Longest description",
        "Most tokens in the description of a node or an edge.",
        low=1,
        high=100_000,
    )
    summarise: bool = param(
        False,
        "Summarise",
        "Summarise longer descriptions with a language model; else cut them.",
    )
    model: str = param("answer", "Model", "The language model that summarises.", chat=True)

    def models(self) -> tuple[str, ...]:
        return (self.model,) if self.summarise else ()

    def later_cost_sentence(self) -> str:
        if self.summarise:
            return "Descriptions that are too long are summarised as well, one call each"
        return ""

    def apply(self, state: BuildState, ctx: BuildContext) -> BuildState:
        # A line without these is refused.
        assert state.chunks is not None and state.facts is not None
        make = partial(Merged, self.by == "name", self.reading, self.descriptions, self.keywords)
        merged = collect_all(state.facts, make, "Merging", ctx)
        shortener = description_shortener(
            self.longest, self.model if self.summarise else "", ctx, **self.sampling
        )
        graph = merged.graph(state.corpus.name, state.chunks, self.longest, shortener)
        return state.replace(graph=graph)


class Merged:
    """Mentions of nodes and edges, collected from facts in the order of the chunks.

    They are columns of numbers, so that millions fit into memory. Nodes are identified by folded
    name, and numbered in the order of their first mention. Edges are identified by their two ends
    and, with `by_name`, their label. The names of the attributes are part of saved runs (see
    `Collector`).

    Parameters
    ----------
    by_name : different labels make different edges.
    reading : how names are folded, as in `fold_name`.
    descriptions : entities and relations have descriptions.
    keywords : relations have keywords.
    """

    def __init__(
        self, by_name: bool, reading: str, descriptions: bool = True, keywords: bool = True
    ):
        self.by_name, self.reading = by_name, reading
        self.descriptions, self.keywords = descriptions, keywords
        self._reset()

    def _reset(self) -> None:
        self.keys = TextIds()  # folded names
        self.names = TextIds()  # spellings, types and labels
        self.said = TextIds()  # descriptions, and keywords separated by commas
        self._folded_names: list[str] = []  # texts of `keys` by number
        self.spelled = NumberColumns("iii")  # node, its spelling, count
        self.typed = NumberColumns("iii")  # node, its type, count
        self.described = NumberColumns("ii")  # node, its description
        self.where = NumberColumns("ii")  # node, row of a chunk that mentions it
        # Mentions of edges: both ends in the order of their folded names, folded label, spelling of
        # label and direction, weight, row of the chunk, description, keywords. The last two are
        # numbers in `said`, -1 for none.
        self.edges = NumberColumns("iiiidiii")

    def include(self, other: Merged, rows: np.ndarray | None = None) -> None:
        """Add the collection of the chunks that follow.

        Parameters
        ----------
        other : a collection with the same settings, over the chunks that follow.
        rows : int64 [chunks of other], the new row of each chunk. None if `other` already has the
            new rows.
        """
        keys = self.keys.include(other.keys)
        names = self.names.include(other.names)
        said = self.said.include(other.said)
        self._folded_names += list(self.keys)[len(self._folded_names) :]
        self.spelled.include(other.spelled, keys, names, None)
        self.typed.include(other.typed, keys, names, None)
        self.described.include(other.described, keys, said)
        self.where.include(other.where, keys, rows)
        self.edges.include(other.edges, keys, keys, names, names, None, rows, said, said)

    def add(self, row: int, facts: Facts) -> None:
        """Add the facts of the chunk in a row.

        Ends of relations become entities too. A relation of an entity with itself is ignored.

        Parameters
        ----------
        row : row of the chunk; calls come in ascending order of rows.
        facts : its facts.
        """
        node_of_name, seen_nodes = dict[str, int](), set[int]()
        for entity in facts.entities:
            node = self._node(entity.name, node_of_name)
            if node >= 0:
                self._mention(node, entity.name, entity.times, row, seen_nodes)
                if entity.type:
                    self.typed.add(node, self.names.id_of(entity.type), entity.times)
                if self.descriptions and entity.description:
                    self.described.add(node, self.said.id_of(entity.description))
        for relation in facts.relations:
            head = self._node(relation.head, node_of_name)
            tail = self._node(relation.tail, node_of_name)
            if head < 0 or tail < 0 or head == tail:
                continue
            for end, name in ((head, relation.head), (tail, relation.tail)):
                if end not in seen_nodes:
                    self._mention(end, name, 1, row, seen_nodes)
            self._edge(head, tail, row, relation)

    def graph(self, name: str, chunks: Table, longest: int, shorten: DescriptionShortener) -> Graph:
        """Return the graph, and clear the collection to free its memory.

        Parameters
        ----------
        name : the name of the graph.
        longest : the most tokens of a description.
        shorten : makes one description from several that together exceed `longest` tokens. It is
            called with a list of (name of node or edge, descriptions).

        Returns
        -------
        A graph with tables of nodes, edges and chunks.
        """
        parts = self._assemble(longest, shorten)
        self._reset()
        return graph_of_parts(name, *parts, chunks)

    def _assemble(
        self, longest: int, shorten: DescriptionShortener
    ) -> tuple[list[str], list[str], TripleArrays, tuple[Table, Table]]:
        """Return node names, relation names, triples, and two tables.

        The tables are those of the nodes and of the relations. Up to here a node is a number in
        `keys`. In the graph, nodes are numbered by their names.
        """
        name_texts, rank_of_text = list(self.names), self.names.sort_ranks()
        # A key has no node if its name occurs only in relations that were ignored.
        named_keys, spelling = most_frequent(self.spelled.arrays(), rank_of_text)
        names, positions = in_name_order([name_texts[number] for number in spelling.tolist()])
        node_of_key = np.full(len(self.keys), -1, np.int64)
        node_of_key[named_keys] = positions
        edge, triples, relation_names = self._triples(name_texts, rank_of_text, node_of_key)
        descriptions = Descriptions(list(self.said), longest, shorten)
        nodes = self._node_table(names, name_texts, node_of_key, descriptions)
        edges = self._edge_table(edge, triples, names, descriptions)
        return names, relation_names, triples, (nodes, edges)

    def _node_table(
        self, names: list[str], name_texts: list[str], node_of_key: np.ndarray, texts: Descriptions
    ) -> Table:
        """Return the table of nodes in the order of `names`."""
        n = len(names)
        type_of_node = np.full(n, -1, np.int64)
        typed_keys, types = most_frequent(self.typed.arrays(), self.names.sort_ranks())
        type_of_node[node_of_key[typed_keys]] = types
        described_key, text = self.described.arrays()
        descriptions = distinct_values(node_of_key[described_key], text, n)
        key, chunk = self.where.arrays()
        return Table.from_columns(
            type=[name_texts[kind] if kind >= 0 else "" for kind in type_of_node.tolist()],
            description=texts.describe(descriptions, names.__getitem__),
            chunks=distinct_rows(node_of_key[key], chunk, n),
        )

    def _edge_table(
        self, edge: np.ndarray, triples: TripleArrays, names: list[str], texts: Descriptions
    ) -> Table:
        """Return the table of edges, given the edge of each mention."""
        *_, weight, row, description, keywords = self.edges.arrays()
        heads, _, tails = triples
        n = len(heads)

        def ends(number: int) -> str:
            return f"{names[heads[number]]} - {names[tails[number]]}"

        has_description, has_keywords = description >= 0, keywords >= 0
        descriptions = distinct_values(edge[has_description], description[has_description], n)
        edge_keywords = distinct_values(edge[has_keywords], keywords[has_keywords], n)
        return Table.from_columns(
            description=texts.describe(descriptions, ends),
            keywords=_keywords(edge_keywords, texts.plain),
            weight=np.bincount(edge, weight, n).astype(np.float32),
            chunks=distinct_rows(edge, row, n),
        )

    def _triples(
        self, name_texts: list[str], rank_of_text: np.ndarray, node_of_key: np.ndarray
    ) -> tuple[np.ndarray, TripleArrays, list[str]]:
        """Return each edge mention's triple number, the triples, and relation names.

        The triples are in ascending order of head, relation and tail.
        """
        a, b, label, spelling, weight, *_ = self.edges.arrays()
        edge, (first, second, _) = group_rows(a, b, label)
        edge_spelling = most_frequent((edge, spelling, weight), rank_of_text)[1]
        relation_names, relations, forward = _relations(edge_spelling, name_texts)
        heads = node_of_key[np.where(forward, first, second)]
        tails = node_of_key[np.where(forward, second, first)]
        order = np.lexsort((tails, relations, heads))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return rank[edge], (heads[order], relations[order], tails[order]), relation_names

    def _node(self, name: str, node_of_name: dict[str, int]) -> int:
        """Return the node of a name.

        The result is -1 for a name that is empty when folded. `node_of_name` holds the nodes of the
        names of this chunk that were looked up before.
        """
        node = node_of_name.get(name)
        if node is None:
            key = fold_name(name, self.reading)
            node = node_of_name[name] = self.keys.id_of(key) if key else -1
            if node == len(self._folded_names):
                self._folded_names.append(key)
        return node

    def _mention(self, node: int, name: str, times: int, row: int, seen_nodes: set[int]) -> None:
        """Add mentions of a node in a chunk. `seen_nodes` holds the nodes of this chunk so far."""
        self.spelled.add(node, self.names.id_of(one_line(name)), times)
        if node not in seen_nodes:
            seen_nodes.add(node)
            self.where.add(node, row)

    def _edge(self, head: int, tail: int, row: int, relation: ChunkRelation) -> None:
        """Add a mention of an edge between two nodes in a chunk."""
        label = one_line(relation.name) if self.by_name else ""
        is_forward = self._folded_names[head] < self._folded_names[tail]
        ends = (head, tail) if is_forward else (tail, head)
        # The spelling ends with the direction of the relation between the two ends.
        spelling = self.names.id_of(f"{label}\n{'>' if is_forward else '<'}")
        description = keywords = -1
        if self.descriptions and relation.description:
            description = self.said.id_of(relation.description)
        if self.keywords and relation.keywords:
            keywords = self.said.id_of(relation.keywords)
        folded_label = self.names.id_of(label.casefold())
        self.edges.add(*ends, folded_label, spelling, relation.weight, row, description, keywords)


def _relations(spelling: np.ndarray, texts: list[str]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the sorted names of relations, and the relation and direction of each edge.

    Both are taken from the spelling of the edge, which is written by `Merged._edge`. The direction
    is True if the relation leads from the first end to the second.
    """
    distinct, index = np.unique(spelling, return_inverse=True)
    parts = [texts[number].rpartition("\n") for number in distinct.tolist()]
    relations = TextIds()
    numbers = np.array(
        [relations.id_of(label or UNNAMED_RELATION) for label, _, _ in parts], np.int64
    )
    names, rank = in_name_order(list(relations))
    is_forward = np.array([mark == ">" for _, _, mark in parts], bool)
    return names, rank[numbers][index], is_forward[index]


def _blocks(rows: IdLists) -> Iterator[tuple[int, IdLists]]:
    """Yield batches of at most `DESCRIPTION_BATCH_ROWS` rows, each with its first row's number."""
    for first in range(0, len(rows), DESCRIPTION_BATCH_ROWS):
        indptr = rows.indptr[first : first + DESCRIPTION_BATCH_ROWS + 1]
        yield first, IdLists(indptr - indptr[0], rows.ids[indptr[0] : indptr[-1]])


class Descriptions:
    """Numbered texts that are joined to descriptions in Arrow, in batches.

    Parameters
    ----------
    texts : the texts, by number; white space is made single.
    longest : largest number of tokens of a description.
    shorten : shortens longer descriptions.
    """

    def __init__(self, texts: list[str], longest: int, shorten: DescriptionShortener):
        self.plain: list[str] = []
        for text in texts:
            plain = one_line(text)
            # Most texts are unchanged, and then stored only once.
            self.plain.append(text if plain == text else plain)
        self.longest, self.shorten = longest, shorten
        self._sizes = np.array([*map(estimate_text_tokens, self.plain)], np.int64)

    def describe(self, rows: IdLists, name_of: Callable[[int], str]) -> Any:
        """Return the description of each item, as an Arrow column.

        Parameters
        ----------
        rows : the numbers of the texts of each item.
        name_of : the name of an item, for shortening its description.

        Returns
        -------
        A column of texts, one for each item.
        """
        return concat_texts(
            self._describe_block(first, part, name_of) for first, part in _blocks(rows)
        )

    def _describe_block(self, first: int, rows: IdLists, name_of: Callable[[int], str]) -> Any:
        """Return the descriptions of a batch of items. `first` is the number of the first item."""
        import pyarrow as pa

        descriptions = join_texts(rows, self.plain, " ")
        item = np.repeat(np.arange(len(rows)), rows.counts)
        tokens = np.bincount(item, self._sizes[rows.ids], len(rows))
        long_rows = np.flatnonzero(tokens > self.longest).tolist()
        if not long_rows:
            return descriptions
        texts = descriptions.to_pylist()
        long_texts = [
            (name_of(first + row), [self.plain[text] for text in rows[row].tolist()])
            for row in long_rows
        ]
        for row, text in zip(long_rows, self.shorten(long_texts)):
            texts[row] = text
        return pa.array(texts, pa.large_string())


def _keywords(rows: IdLists, texts: list[str]) -> Any:
    """Return the keywords of each edge without duplicates, as an Arrow column.

    They are in the order of their first occurrence. `rows` holds the numbers of each edge's texts,
    which have keywords separated by commas.
    """
    used, index = np.unique(rows.ids, return_inverse=True)  # other texts are descriptions
    keywords = TextIds()
    numbers: list[list[int]] = []  # of the keywords of each used text
    for text in used.tolist():
        parts = filter(None, map(str.strip, texts[text].split(",")))
        numbers.append(list(map(keywords.id_of, parts)))
    keywords_of_text, all_keywords = IdLists.from_lists(numbers), list(keywords)

    def join_block(block: IdLists) -> Any:
        item = np.repeat(np.arange(len(block)), block.counts)
        edge = np.repeat(item, keywords_of_text.counts[block.ids])
        edge_keywords = distinct_values(edge, keywords_of_text.concat_rows(block.ids), len(block))
        return join_texts(edge_keywords, all_keywords, ", ")

    return concat_texts(join_block(block) for _, block in _blocks(IdLists(rows.indptr, index)))


def description_shortener(
    longest: int, model: str, ctx: BuildContext, **sampling: Any
) -> DescriptionShortener:
    """Return a function that shortens long descriptions.

    The descriptions of a node or edge are summarised by a language model. If no model is named, or
    its summary is empty, those that do not fit are left out.

    Parameters
    ----------
    longest : largest number of tokens of a description.
    model : role or name of the language model; empty for none.
    ctx : the models, the report and the settings of the build.
    sampling : seed and temperature of the language model.

    Returns
    -------
    A function of (name, descriptions) of several nodes or edges, which returns a text for each.
    """

    def shorten_one(item: NamedTexts) -> str:
        name, texts = item
        summary = ""
        if model:
            summary = summarise_descriptions(name, texts, longest, model, ctx, **sampling)
        if summary:
            ctx.report.count(summarised=1)
            return summary
        ctx.report.count(cut=1)
        ctx.report.note(f"{CUT_DESCRIPTION_NOTE.format(longest)}.".capitalize())
        return join_leading_texts(texts, longest)

    def shorten_all(items: Sequence[NamedTexts]) -> list[str]:
        if not model:
            return list(map(shorten_one, items))
        texts = dict(map_in_parallel(shorten_one, items, model, ctx))
        return [texts[number] for number in range(len(items))]

    return shorten_all


def join_leading_texts(texts: Sequence[str], longest: int) -> str:
    """Join as many leading texts as fit, at least the beginning of the first.

    Parameters
    ----------
    texts : the texts.
    longest : largest number of tokens together.

    Returns
    -------
    The texts, joined by spaces.

    Examples
    --------
    >>> from core.builds.merge.fact_merge import join_leading_texts
    >>> join_leading_texts(["One two.", "Three four.", "Five."], 7)
    'One two. Three four.'
    """
    fitting = " ".join(leading_texts(texts, longest))
    return fitting or shorten(next(iter(texts), ""), int(longest * BYTES_PER_TOKEN))
