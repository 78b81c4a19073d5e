"""Stage “merge”: the facts of all chunks put together into one graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from core.builds.asking import side_by_side
from core.builds.base import BuildContext, BuildOperator, Made
from core.builds.facts import Facts, Relation
from core.builds.gathered import Columns, Numbered
from core.builds.group.summaries import description_by_model
from core.builds.merge.columns import distinct, gathered, grouped, most_frequent, several
from core.builds.naming import READINGS, folded
from core.errors import shorten
from core.graph.building.text_graph import assembled
from core.graph.columns import Rows, Table, joined, texts_of
from core.graph.order import in_name_order
from core.graph.store import Graph
from core.models.chat.replies import estimate
from core.parameters import param

CUT = "descriptions were longer than {} tokens and cut behind the last that fits"
RELATED = "related to"  # the name of a relation that has none
DESCRIBED = 50_000  # nodes or edges that are described together
Triples = tuple[np.ndarray, np.ndarray, np.ndarray]  # heads, relations, tails
# the description of each that is called so, of its several
Shorten = Callable[[Sequence[tuple[str, list[str]]]], list[str]]


@dataclass(frozen=True, repr=False)
class Merge(BuildOperator):
    """The graph of all facts: a node for each name, an edge for each two entities (or, where edges go by name, for each relation
    between them), whichever is given first; weights are summed, descriptions joined, and chunks remembered.

    A node is shown by its most frequent spelling and has its most frequent type. Descriptions longer than `longest` tokens are cut behind
    the last that fits, or summarised where `summarise` asks for it. The same facts in the same order give the same graph.
    """

    stage = "merge"
    title = "merged by name"
    reads, writes = ("chunks", "facts"), ("graph",)

    by: str = param(
        "pair",
        "Edges",
        "One edge for two entities, or one for each relation by name.",
        choices=("pair", "name"),
    )
    reading: str = param(
        "unicode",
        "Names",
        "Whether all letters count in names, or a-z and 0-9 alone as in the code.",
        choices=READINGS,
    )
    descriptions: bool = param(
        True, "Descriptions", "Whether entities and relations have descriptions."
    )
    keywords: bool = param(True, "Keywords", "Whether relations have keywords.")
    longest: int = param(
        500,
        "Longest description",
        "How many tokens the description of a node or an edge may have.",
        low=1,
        high=100_000,
    )
    summarise: bool = param(
        False,
        "Summarise",
        "Whether a language model summarises longer descriptions; else they are cut.",
    )
    model: str = param("answer", "Model", "The language model that summarises.", chat=True)

    def models(self) -> tuple[str, ...]:
        return (self.model,) if self.summarise else ()

    def later(self) -> str:
        if self.summarise:
            return "Descriptions that are too long are summed up on top, a call for each"
        return ""

    def apply(self, made: Made, ctx: BuildContext) -> Made:
        assert made.chunks is not None and made.facts is not None  # a line without them is refused
        fresh = partial(Merged, self.by == "name", self.reading, self.descriptions, self.keywords)
        merged = gathered(made.facts, fresh, "Merging", ctx)
        shorten = shortened(self.longest, self.model if self.summarise else "", ctx)
        return made.replace(
            graph=merged.graph(made.corpus.name, made.chunks, self.longest, shorten)
        )


class Merged:
    """Mentions of nodes and edges while facts are added in the order of the chunks, as columns of numbers, so that millions of them have
    room. Nodes go by folded name, edges by their two ends and, where they go by name, their label."""

    def __init__(
        self, by_name: bool, reading: str, descriptions: bool = True, keywords: bool = True
    ):
        self.by_name, self.reading, self.descriptions, self.keywords = (
            by_name,
            reading,
            descriptions,
            keywords,
        )
        self._empty()

    def _empty(self) -> None:
        # folded names; spellings, types, labels; descriptions
        self.keys, self.names, self.said = (Numbered(), Numbered(), Numbered())
        self._folded: list[str] = []
        # node, its spelling or type, times
        self.spelled, self.typed, self.described = (Columns("iii"), Columns("iii"), Columns("ii"))
        self.where = Columns("ii")  # node, chunk
        # both ends by name, label, spelling, weight, chunk, description, keywords
        self.edges = Columns("iiiidiii")

    def include(self, later: Merged, rows: np.ndarray | None = None) -> None:
        """Add all that was gathered of chunks that follow, of which `rows` are the rows here where they were counted by themselves."""
        keys, names, said = (
            self.keys.include(later.keys),
            self.names.include(later.names),
            self.said.include(later.said),
        )
        self._folded += list(self.keys)[len(self._folded) :]
        self.spelled.include(later.spelled, keys, names, None)
        self.typed.include(later.typed, keys, names, None)
        self.described.include(later.described, keys, said)
        self.where.include(later.where, keys, rows)
        self.edges.include(later.edges, keys, keys, names, names, None, rows, said, said)

    def add(self, row: int, facts: Facts) -> None:
        """Add the facts of the chunk of a row; ends of relations are entities too, and a relation of one entity with itself is none."""
        known, seen = dict[str, int](), set[int]()
        for entity in facts.entities:
            node = self._node(entity.name, known)
            if node >= 0:
                self._mention(node, entity.name, entity.times, row, seen)
                if entity.type:
                    self.typed.add(node, self.names.of(entity.type), entity.times)
                if self.descriptions and entity.description:
                    self.described.add(node, self.said.of(entity.description))
        for relation in facts.relations:
            head, tail = self._node(relation.head, known), self._node(relation.tail, known)
            if head < 0 or tail < 0 or head == tail:
                continue
            for end, name in ((head, relation.head), (tail, relation.tail)):
                if end not in seen:
                    self._mention(end, name, 1, row, seen)
            self._edge(head, tail, row, relation)

    def graph(self, name: str, chunks: Table, longest: int, shorten: Shorten) -> Graph:
        """The graph; `shorten([(what, descriptions), ...])` gives the descriptions of nodes or edges called `what` of which all together
        have more than `longest` tokens. What was gathered is let go, so that it is asked for once."""
        parts = self._put_together(longest, shorten)
        self._empty()
        return assembled(name, *parts, chunks)

    def _put_together(
        self, longest: int, shorten: Shorten
    ) -> tuple[list[str], list[str], Triples, tuple[Table, Table]]:
        """Names of nodes and of relations, triples, and the tables of nodes and edges."""
        words, alphabet = list(self.names), self.names.alphabet()
        # a name may have been read without being that of a node
        there, spelling = most_frequent(self.spelled.arrays(), alphabet)
        names, places = in_name_order([words[one] for one in spelling.tolist()])
        n, place = len(names), np.full(len(self.keys), -1, np.int64)
        place[there] = places
        edge, triples, relation_names = self._triples(words, alphabet, place)
        kind = np.full(n, -1, np.int64)
        typed, types = most_frequent(self.typed.arrays(), alphabet)
        kind[place[typed]] = types
        texts = Descriptions(list(self.said), longest, shorten)
        node, of_node = self.described.arrays()
        *_, weight, row, description, keywords = self.edges.arrays()
        said, worded, n_edges = description >= 0, keywords >= 0, len(triples[0])
        pair = lambda one: f"{names[triples[0][one]]} - {names[triples[2][one]]}"
        where, chunk = self.where.arrays()
        nodes = Table.of(
            type=[words[one] if one >= 0 else "" for one in kind.tolist()],
            description=texts.of(several(place[node], of_node, n), names.__getitem__),
            chunks=distinct(place[where], chunk, n),
        )
        edges = Table.of(
            description=texts.of(several(edge[said], description[said], n_edges), pair),
            keywords=_keywords(several(edge[worded], keywords[worded], n_edges), texts.plain),
            weight=np.bincount(edge, weight, n_edges).astype(np.float32),
            chunks=distinct(edge, row, n_edges),
        )
        return names, relation_names, triples, (nodes, edges)

    def _triples(
        self, words: list[str], alphabet: np.ndarray, place: np.ndarray
    ) -> tuple[np.ndarray, Triples, list[str]]:
        """For each mention of an edge the number of its triple; the triples, ascending, and the names of their relations."""
        a, b, label, spelling, weight, *_ = self.edges.arrays()
        edge, (first, second, _) = grouped(a, b, label)
        relation_names, relation, forward = _spelt(
            most_frequent((edge, spelling, weight), alphabet)[1], words
        )
        triples = (
            place[np.where(forward, first, second)],
            relation,
            place[np.where(forward, second, first)],
        )
        order = np.lexsort((triples[2], triples[1], triples[0]))
        edge_place = np.empty(len(order), np.int64)
        edge_place[order] = np.arange(len(order))
        return (
            edge_place[edge],
            (triples[0][order], triples[1][order], triples[2][order]),
            relation_names,
        )

    def _node(self, name: str, known: dict[str, int]) -> int:
        """The number of the node of a name, -1 for a name of nothing; `known` are those of this chunk."""
        node = known.get(name)
        if node is None:
            key = folded(name, self.reading)
            node = known[name] = self.keys.of(key) if key else -1
            if node == len(self._folded):
                self._folded.append(key)
        return node

    def _mention(self, node: int, name: str, times: int, row: int, seen: set[int]) -> None:
        self.spelled.add(node, self.names.of(" ".join(name.split())), times)
        if node not in seen:
            seen.add(node)
            self.where.add(node, row)

    def _edge(self, head: int, tail: int, row: int, relation: Relation) -> None:
        label, forward = (
            " ".join(relation.name.split()) if self.by_name else "",
            self._folded[head] < self._folded[tail],
        )
        spelling = self.names.of(f"{label}\n{'>' if forward else '<'}")
        ends = (head, tail) if forward else (tail, head)
        description = (
            self.said.of(relation.description) if self.descriptions and relation.description else -1
        )
        keywords = self.said.of(relation.keywords) if self.keywords and relation.keywords else -1
        self.edges.add(
            *ends,
            self.names.of(label.casefold()),
            spelling,
            relation.weight,
            row,
            description,
            keywords,
        )


def _spelt(spelling: np.ndarray, words: list[str]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The names of relations, sorted; and of each edge, by its spelling, the number of its relation, and whether it runs forward."""
    different, of = np.unique(spelling, return_inverse=True)
    spelt, relations = [words[one].rpartition("\n") for one in different.tolist()], Numbered()
    numbers = np.array([relations.of(label or RELATED) for label, _, _ in spelt], np.int64)
    names, places = in_name_order(list(relations))
    return names, places[numbers][of], np.array([way == ">" for _, _, way in spelt], bool)[of]


def _blocks(rows: Rows) -> Iterator[tuple[int, Rows]]:
    """Some thousands of rows at a time, each with the number of its first."""
    for first in range(0, len(rows), DESCRIBED):
        indptr = rows.indptr[first : first + DESCRIBED + 1]
        yield first, Rows(indptr - indptr[0], rows.ids[indptr[0] : indptr[-1]])


class Descriptions:
    """Different texts by their number, of which descriptions are joined in Arrow, some thousands at a time: of those that have more than
    `longest` tokens `shorten` makes one."""

    def __init__(self, texts: list[str], longest: int, shorten: Shorten):
        # mostly the same, and once
        self.plain = [
            text if (plain := " ".join(text.split())) == text else plain for text in texts
        ]
        self.longest, self.shorten = longest, shorten
        self._sizes = np.array([*map(estimate, self.plain)], np.int64)

    def of(self, rows: Rows, called: Callable[[int], str]) -> Any:
        """The description of each thing, an Arrow column, by the numbers of those that name it; long ones by what it is `called` too."""
        return texts_of(self._described(first, part, called) for first, part in _blocks(rows))

    def _described(self, first: int, rows: Rows, called: Callable[[int], str]) -> Any:
        import pyarrow as pa

        found = joined(rows, self.plain, " ")
        tokens = np.bincount(
            np.repeat(np.arange(len(rows)), rows.counts), self._sizes[rows.ids], len(rows)
        )
        long = np.flatnonzero(tokens > self.longest).tolist()
        if not long:
            return found
        texts = found.to_pylist()
        shorter = self.shorten(
            [
                (called(first + one), [self.plain[text] for text in rows[one].tolist()])
                for one in long
            ]
        )
        for one, text in zip(long, shorter):
            texts[one] = text
        return pa.array(texts, pa.large_string())


def _keywords(rows: Rows, texts: list[str]) -> Any:
    """The keywords of each edge, each once, in the order in which they came, an Arrow column."""
    used, place = np.unique(rows.ids, return_inverse=True)  # the others are descriptions
    words = Numbered()
    of_text = Rows.of(
        [
            [words.of(word) for word in map(str.strip, texts[one].split(",")) if word]
            for one in used.tolist()
        ]
    )
    spelled, rows = list(words), Rows(rows.indptr, place)

    def column(part: Rows) -> Any:
        edge = np.repeat(np.repeat(np.arange(len(part)), part.counts), of_text.counts[part.ids])
        return joined(several(edge, of_text.joined(part.ids), len(part)), spelled, ", ")

    return texts_of(column(part) for _, part in _blocks(rows))


def shortened(longest: int, model: str, ctx: BuildContext) -> Shorten:
    """What makes one description of several that have more than `longest` tokens, of each that is called by a name: summarised by the
    language model `model`, many at a time, or where none is named, or it says nothing, cut behind the last that fits."""

    def one(what: tuple[str, list[str]]) -> str:
        if model and (summary := description_by_model(*what, longest, model, ctx)):
            ctx.report.count(summarised=1)
            return summary
        ctx.report.count(cut=1)
        ctx.report.note(f"{CUT.format(longest)}.".capitalize())
        return fitting(what[1], longest)

    def all_of(many: Sequence[tuple[str, list[str]]]) -> list[str]:
        if not model:
            return [one(what) for what in many]
        found = dict(side_by_side(one, many, model, ctx))
        return [found[number] for number in range(len(many))]

    return all_of


def fitting(texts: Iterable[str], longest: int) -> str:
    """As many of some texts as fit, in their order; of the first at least the beginning.

    >>> from core.builds.merge.merging import fitting
    >>> fitting(["One two.", "Three four.", "Five."], 7)
    'One two. Three four.'
    """
    taken: list[str] = []
    room = longest
    for text in texts:
        room -= estimate(text)
        if room < 0:
            break
        taken.append(text)
    return " ".join(taken) or shorten(next(iter(texts), ""), int(longest * 3.5))
