"""Stage “merge”: the facts of all chunks put together into one graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.builds.asking import side_by_side
from core.builds.base import BuildContext, BuildOperator, Made
from core.builds.facts import Facts
from core.builds.group.summaries import description_by_model
from core.builds.naming import READINGS, folded
from core.errors import shorten
from core.graph.building.text_graph import assemble
from core.graph.columns import Table
from core.graph.store import Graph
from core.models.chat.replies import estimate
from core.parameters import param

CUT = "descriptions were longer than {} tokens and cut behind the last that fits"
RELATED = "related to"  # the name of a relation that has none
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
        merged = Merged(self.by == "name", self.reading)
        for row, facts in enumerate(made.facts):
            if row % EVERY == 0:
                ctx.check()
                ctx.progress("Merging", row / len(made.facts))
            merged.add(row, facts)
        shorten = described(self.longest, self.model if self.summarise else "", ctx) if self.descriptions else without
        return made.replace(graph=merged.graph(made.corpus.name, made.chunks, shorten, self.keywords))


@dataclass
class Gathered:
    """A node or an edge as its chunks give it."""

    spellings: dict[str, float] = field(default_factory=dict)  # with how often; of an edge its names and directions, with their weights
    types: Counter[str] = field(default_factory=Counter)
    descriptions: dict[str, None] = field(default_factory=dict)
    keywords: dict[str, None] = field(default_factory=dict)
    chunks: dict[int, None] = field(default_factory=dict)
    weight: float = 0.0

    def spelled(self, spelling: str, weight: float) -> None:
        """Count a spelling."""
        self.spellings[spelling] = self.spellings.get(spelling, 0.0) + weight

    @property
    def type(self) -> str:
        return most_frequent(self.types) if self.types else ""


class Merged:
    """Nodes by folded name and edges by their two ends, while facts are added in the order of the chunks."""

    def __init__(self, by_name: bool, reading: str):
        self.by_name, self.reading = by_name, reading
        self.nodes: dict[str, Gathered] = {}
        self.edges: dict[tuple[str, str, str], Gathered] = {}

    def add(self, row: int, facts: Facts) -> None:
        """Add the facts of the chunk of a row; ends of relations are entities too, and a relation of one entity with itself is none."""
        for entity in facts.entities:
            node = self._node(entity.name, row, entity.times)
            if node:
                node.types.update({entity.type: entity.times} if entity.type else {})
                node.descriptions.update({entity.description: None} if entity.description else {})
        for relation in facts.relations:
            head, tail = folded(relation.head, self.reading), folded(relation.tail, self.reading)
            if not head or not tail or head == tail:
                continue
            for end, name in ((head, relation.head), (tail, relation.tail)):
                if end not in self.nodes or row not in self.nodes[end].chunks:
                    self._node(name, row, 1)
            label = " ".join(relation.name.split()) if self.by_name else ""
            edge = self.edges.setdefault((min(head, tail), label.casefold(), max(head, tail)), Gathered())
            edge.spelled(label + ("\n>" if head < tail else "\n<"), relation.weight)
            edge.chunks[row] = None
            edge.weight += relation.weight
            edge.descriptions.update({relation.description: None} if relation.description else {})
            edge.keywords.update(dict.fromkeys(filter(None, (word.strip() for word in relation.keywords.split(",")))))

    def graph(self, name: str, chunks: Table, shorten: Shorten, keywords: bool) -> Graph:
        """The graph; `shorten([(what, descriptions), ...])` gives the descriptions of nodes or edges called `what`."""
        shown = {key: most_frequent(node.spellings) for key, node in self.nodes.items()}
        triples = [self._triple(key, edge, shown) for key, edge in self.edges.items()]
        nodes, edges = list(self.nodes.values()), list(self.edges.values())
        return assemble(
            name,
            list(shown.values()),
            triples,
            {
                "type": [node.type for node in nodes],
                "description": shorten([(shown[key], node.descriptions) for key, node in self.nodes.items()]),
                "chunks": _chunks(nodes),
            },
            {
                "description": shorten([(f"{head} - {tail}", edge.descriptions) for (head, _, tail), edge in zip(triples, edges)]),
                "keywords": [", ".join(edge.keywords) if keywords else "" for edge in edges],
                "weight": [edge.weight for edge in edges],
                "chunks": _chunks(edges),
            },
            chunks,
        )

    def _node(self, name: str, row: int, times: int) -> Gathered | None:
        key = folded(name, self.reading)
        if not key:
            return None
        node = self.nodes.setdefault(key, Gathered())
        node.spelled(" ".join(name.split()), times)
        node.chunks[row] = None
        return node

    def _triple(self, key: tuple[str, str, str], edge: Gathered, shown: dict[str, str]) -> tuple[str, str, str]:
        """An edge as it was given most often."""
        label, way = most_frequent(edge.spellings).split("\n")
        first, _, second = key
        ends = (first, second) if way == ">" else (second, first)
        return shown[ends[0]], label or RELATED, shown[ends[1]]


def most_frequent(counted: Mapping[str, float]) -> str:
    """What was counted most often; of equals the first by name."""
    return min(counted, key=lambda one: (-counted[one], one))


def without(many: Sequence[tuple[str, Iterable[str]]]) -> list[str]:
    """No descriptions."""
    return [""] * len(many)


def _chunks(gathered: Iterable[Gathered]) -> list[Sequence[int]]:
    return [sorted(one.chunks) for one in gathered]


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
