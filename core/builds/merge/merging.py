"""Stage “merge”: the facts of all chunks put together into one graph."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.builds.asking import side_by_side
from core.builds.base import BuildContext, BuildOperator, Made
from core.builds.facts import Facts, Relation
from core.builds.group.summaries import description_by_model
from core.builds.naming import READINGS, folded
from core.errors import shorten
from core.graph.building.text_graph import assembled
from core.graph.columns import Rows, Table
from core.graph.order import in_name_order
from core.graph.store import Graph
from core.models.chat.replies import estimate
from core.parameters import param

CUT = "descriptions were longer than {} tokens and cut behind the last that fits"
RELATED = "related to"  # the name of a relation that has none
DESCRIBED = 50_000  # nodes or edges that are described together
EVERY = 1000  # chunks between two looks at whether somebody cancelled
Shorten = Callable[[Sequence[tuple[str, Iterable[str]]]], list[str]]  # the description of each that is called so, of its several


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

    by: str = param("pair", "Edges", "One edge for two entities, or one for each relation by name.", choices=("pair", "name"))
    reading: str = param("unicode", "Names", "Whether all letters count in names, or a-z and 0-9 alone as in the code.", choices=READINGS)
    descriptions: bool = param(True, "Descriptions", "Whether entities and relations have descriptions.")
    keywords: bool = param(True, "Keywords", "Whether relations have keywords.")
    longest: int = param(500, "Longest description", "How many tokens the description of a node or an edge may have.", low=1, high=100_000)
    summarise: bool = param(False, "Summarise", "Whether a language model summarises longer descriptions; else they are cut.")
    model: str = param("answer", "Model", "The language model that summarises.", chat=True)

    def models(self) -> tuple[str, ...]:
        return (self.model,) if self.summarise else ()

    def later(self) -> str:
        return "Descriptions that are too long are summed up on top, a call for each" if self.summarise else ""

    def apply(self, made: Made, ctx: BuildContext) -> Made:
        assert made.chunks is not None and made.facts is not None  # a line without them is refused
        merged = Merged(self.by == "name", self.reading, self.descriptions, self.keywords)
        for row, facts in enumerate(made.facts):
            if row % EVERY == 0:
                ctx.check()
                ctx.progress("Merging", row / len(made.facts))
            merged.add(row, facts)
        shorten = described(self.longest, self.model if self.summarise else "", ctx) if self.descriptions else without
        return made.replace(graph=merged.graph(made.corpus.name, made.chunks, shorten))


class Numbered(dict[str, int]):
    """Different texts, each with its number in the order in which they came."""

    def of(self, text: str) -> int:
        """The number of a text."""
        return self.setdefault(text, len(self))


class Merged:
    """Mentions of nodes and edges while facts are added in the order of the chunks, as columns of numbers, so that millions of them have
    room. Nodes go by folded name, edges by their two ends and, where they go by name, their label."""

    def __init__(self, by_name: bool, reading: str, descriptions: bool = True, keywords: bool = True):
        self.by_name, self.reading, self.descriptions, self.keywords = by_name, reading, descriptions, keywords
        self.keys, self.names, self.said = Numbered(), Numbered(), Numbered()  # folded names; spellings, types, labels; descriptions
        self._folded: list[str] = []
        self.spelled, self.typed, self.described = Columns("iii"), Columns("iii"), Columns("ii")  # node, its spelling or type, times
        self.where = Columns("ii")  # node, chunk
        self.edges = Columns("iiiidiii")  # both ends by name, label, spelling, weight, chunk, description, keywords

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

    def graph(self, name: str, chunks: Table, shorten: Shorten) -> Graph:
        """The graph; `shorten([(what, descriptions), ...])` gives the descriptions of nodes or edges called `what`, some thousands at a
        time."""
        words = list(self.names)
        alphabet = np.empty(len(words), np.int64)
        alphabet[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
        there, spelling = most_frequent(self.spelled.arrays(), alphabet)  # a name may have been read without being that of a node
        names, places = in_name_order([words[one] for one in spelling.tolist()])
        n, place = len(names), np.full(len(self.keys), -1, np.int64)
        place[there] = places
        a, b, label, spelling, weight, row, description, keywords = self.edges.arrays()
        edge, (first, second, _) = grouped(a, b, label)
        spelt = [words[one].rpartition("\n") for one in most_frequent((edge, spelling, weight), alphabet)[1].tolist()]
        relations = Numbered()
        relation = np.array([relations.of(label or RELATED) for label, _, _ in spelt], np.int64)
        forward = np.array([way == ">" for _, _, way in spelt], bool)
        relation_names, relation_place = in_name_order(list(relations))
        triples = place[np.where(forward, first, second)], relation_place[relation], place[np.where(forward, second, first)]
        order = np.lexsort((triples[2], triples[1], triples[0]))
        edge_place = np.empty(len(order), np.int64)
        edge_place[order] = np.arange(len(order))
        triples, edge = (triples[0][order], triples[1][order], triples[2][order]), edge_place[edge]
        texts = list(self.said)
        kind = np.full(n, -1, np.int64)
        typed, types = most_frequent(self.typed.arrays(), alphabet)
        kind[place[typed]] = types
        node, of_node = self.described.arrays()
        node_texts = _texts(_several(place[node], of_node, n), texts, names.__getitem__, shorten)
        said = description >= 0
        pair = lambda one: f"{names[triples[0][one]]} - {names[triples[2][one]]}"
        edge_texts = _texts(_several(edge[said], description[said], len(order)), texts, pair, shorten)
        where, chunk = self.where.arrays()
        nodes = {"type": [words[one] if one >= 0 else "" for one in kind.tolist()], "description": node_texts}
        edges: dict[str, Any] = {"description": edge_texts, "keywords": self._keywords(edge, keywords, len(order), texts)}
        edges |= {"weight": np.bincount(edge, weight, len(order)).astype(np.float32)}
        tables = (
            Table.of(**nodes, chunks=_distinct(place[where], chunk, n)),
            Table.of(**edges, chunks=_distinct(edge, row, len(order))),
        )
        return assembled(name, names, relation_names, triples, tables, chunks)

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
        label, forward = " ".join(relation.name.split()) if self.by_name else "", self._folded[head] < self._folded[tail]
        spelling = self.names.of(f"{label}\n{'>' if forward else '<'}")
        ends = (head, tail) if forward else (tail, head)
        description = self.said.of(relation.description) if self.descriptions and relation.description else -1
        keywords = self.said.of(relation.keywords) if self.keywords and relation.keywords else -1
        self.edges.add(*ends, self.names.of(label.casefold()), spelling, relation.weight, row, description, keywords)

    def _keywords(self, edge: np.ndarray, keywords: np.ndarray, n: int, texts: list[str]) -> list[str]:
        """The keywords of each edge, each once, in the order in which they came."""
        given = keywords >= 0
        rows = _several(edge[given], keywords[given], n)
        each = lambda one: (word for text in rows[one].tolist() for word in texts[text].split(","))
        return [", ".join(dict.fromkeys(filter(None, map(str.strip, each(one))))) for one in range(n)]


class Columns:
    """Columns of numbers that grow row by row, of types as `array` has them."""

    def __init__(self, types: str):
        self._columns = [array(type) for type in types]

    def add(self, *row: float) -> None:
        """Add a row."""
        for column, value in zip(self._columns, row):
            column.append(value)  # type: ignore[arg-type]  # ints where the type is one of ints

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The columns, int64 or float64."""
        return tuple(np.array(column, np.float64 if column.typecode == "d" else np.int64) for column in self._columns)


def grouped(*columns: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """For each row the number of its group, whose rows are the same in all columns, and of each group what it has there.

    >>> import numpy as np
    >>> from core.builds.merge.merging import grouped
    >>> number, (ends,) = grouped(np.array([7, 3, 7]))
    >>> number.tolist(), ends.tolist()
    ([1, 0, 1], [3, 7])
    """
    order = np.lexsort(columns[::-1])
    new = np.zeros(len(order), bool)
    for column in columns:
        new[1:] |= np.diff(column[order]) != 0
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(new)
    new[:1] = True
    return number, tuple(column[order[new]] for column in columns)


def most_frequent(counted: tuple[np.ndarray, ...], alphabet: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The things of rows of thing, what was counted of it, and how often: ascending, and of each what was counted most often; of equals
    the first by `alphabet`, the place of each."""
    of, what, times = counted
    number, (things, whats) = grouped(of, what)
    counts = np.bincount(number, times, len(things))
    order = np.lexsort((alphabet[whats], -counts, things))
    first = np.ones(len(order), bool)
    first[1:] = np.diff(things[order]) != 0
    return things[order[first]], whats[order[first]]


def _several(of: np.ndarray, what: np.ndarray, n: int) -> Rows:
    """For each of `n` things what was said of it, once, in the order in which it came."""
    number, (things, whats) = grouped(of, what)
    came = np.full(len(things), len(of), np.int64)
    np.minimum.at(came, number, np.arange(len(of)))
    order = np.lexsort((came, things))
    return Rows(np.concatenate([[0], np.cumsum(np.bincount(things, minlength=n))]).astype(np.int64), whats[order])


def _distinct(of: np.ndarray, rows: np.ndarray, n: int) -> Rows:
    """For each of `n` things its rows, ascending."""
    things, distinct = grouped(of, rows)[1]
    return Rows(np.concatenate([[0], np.cumsum(np.bincount(things, minlength=n))]).astype(np.int64), distinct)


def _texts(rows: Rows, texts: list[str], called: Callable[[int], str], shorten: Shorten) -> list[str]:
    """The description of each thing, by those that name it."""
    found: list[str] = []
    for first in range(0, len(rows), DESCRIBED):
        some = range(first, min(first + DESCRIBED, len(rows)))
        found += shorten([(called(one), [texts[text] for text in rows[one].tolist()]) for one in some])
    return found


def without(many: Sequence[tuple[str, Iterable[str]]]) -> list[str]:
    """No descriptions."""
    return [""] * len(many)


def described(longest: int, model: str, ctx: BuildContext) -> Shorten:
    """What makes one description of several, of each that is called by a name: joined, and where that is more than `longest` tokens,
    summarised by the language model `model`, many at a time, or where none is named, or it says nothing, cut behind the last that fits."""

    def shortened(several: tuple[str, list[str]]) -> str:
        if model and (summary := description_by_model(*several, longest, model, ctx)):
            ctx.report.count(summarised=1)
            return summary
        ctx.report.count(cut=1)
        ctx.report.note(f"{CUT.format(longest)}.".capitalize())
        return fitting(several[1], longest)

    def joined(many: Sequence[tuple[str, Iterable[str]]]) -> list[str]:
        plain = [(what, [" ".join(one.split()) for one in descriptions]) for what, descriptions in many]
        long = [place for place, (_, several) in enumerate(plain) if sum(map(estimate, several)) > longest]
        if model:
            found = dict(side_by_side(shortened, [plain[place] for place in long], model, ctx))
        else:
            found = {number: shortened(plain[place]) for number, place in enumerate(long)}
        texts = [" ".join(several) for _, several in plain]
        for number, place in enumerate(long):
            texts[place] = found[number]
        return texts

    return joined


def fitting(several: Iterable[str], longest: int) -> str:
    """As many of some texts as fit, in their order; of the first at least the beginning.

    >>> from core.builds.merge.merging import fitting
    >>> fitting(["One two.", "Three four.", "Five."], 7)
    'One two. Three four.'
    """
    taken: list[str] = []
    room = longest
    for text in several:
        room -= estimate(text)
        if room < 0:
            break
        taken.append(text)
    return " ".join(taken) or shorten(next(iter(several), ""), int(longest * 3.5))
