"""The carriers that operators hand on: frozen, cheap to copy, arrays inside. Imports nothing of ours."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

Direction = Literal["out", "in", "both"]
Kind = Literal["node", "relation", "triple", "path", "chunk", "community"]


@dataclass(frozen=True)
class Question:
    """A question as a data set or a person gives it; `entities` and `answers` are names, not ids.

    `hops` is the number of steps to the answer where the set tells it, else None. `gold` names the passages of a corpus that
    the answer rests on: documents by their ids, or parts of them (`core.corpus.quoted`). `options` are the answers to choose from, where
    there are any; the text has them as well.
    `aliases` are groups of names of one answer each, the first of which is in `answers`; an answer without a group has one name.
    An `abstract` question asks for an overview rather than for one fact: its answer may be long (`core.operators.length`).
    """

    text: str
    id: str = ""
    entities: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    hops: int | None = None
    gold: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    aliases: tuple[tuple[str, ...], ...] = ()
    abstract: bool = False

    def names(self, answer: str) -> tuple[str, ...]:
        """All names of a known answer, its own first.

        >>> from core.types import Question
        >>> asked = Question("who scored most", answers=("Daei", "Bican"), aliases=(("Daei", "Ali Daei"),))
        >>> asked.names("Daei"), asked.names("Bican")
        (('Daei', 'Ali Daei'), ('Bican',))
        """
        grouped = (name for group in self.aliases if group[0] == answer for name in group)
        return tuple(dict.fromkeys(grouped)) or (answer,)

    @property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        """The parts of the answer, each as its names: a group of aliases counts as often as it is there, any other answer once."""
        groups = tuple(group for group in self.aliases if group[0] in self.answers)
        grouped = {group[0] for group in groups}
        return (
            *groups,
            *((answer,) for answer in dict.fromkeys(self.answers) if answer not in grouped),
        )


@dataclass(frozen=True, order=True, slots=True)
class Path:
    """A walk in the graph: `nodes` (n + 1 ids), `edges` (n ids), and for each step whether it runs along its triple."""

    nodes: tuple[int, ...]
    edges: tuple[int, ...] = ()
    forward: tuple[bool, ...] = ()

    @property
    def start(self) -> int:
        return self.nodes[0]

    @property
    def end(self) -> int:
        return self.nodes[-1]

    def __len__(self) -> int:
        """The number of steps (hops)."""
        return len(self.edges)

    def extended(self, node: int, edge: int, forward: bool) -> Path:
        """This path with one more step."""
        return Path(self.nodes + (node,), self.edges + (edge,), self.forward + (forward,))


@dataclass(frozen=True, eq=False)
class Subgraph:
    """A part of a graph: sorted unique node ids, sorted unique edge ids, and a score for each node (or none)."""

    nodes: np.ndarray  # int64 [m], ascending
    edges: np.ndarray  # int64 [k], ascending
    scores: np.ndarray | None = None  # float64 [m], aligned with nodes

    def __contains__(self, node: int) -> bool:
        return _holds(self.nodes, node)

    def has_edge(self, edge: int) -> bool:
        """Whether the edge is in this part."""
        return _holds(self.edges, edge)


def _holds(ascending: np.ndarray, value: int) -> bool:
    at = int(ascending.searchsorted(value))
    return at < len(ascending) and int(ascending[at]) == value


MOST_HITS = 5_000  # hits of a kind that a board lists, a funnel reads and a case saves: HippoRAG hands on a million of a large graph


@dataclass(frozen=True, eq=False)
class Ranking:
    """Items of one kind, best first. `scores` is aligned with `items`, or None where the order carries no score. Of a saved case,
    `left_out` is how many further items were not saved."""

    kind: Kind
    items: tuple[Any, ...]
    scores: tuple[float, ...] | None = None
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.items)

    def score(self, position: int) -> float | None:
        return None if self.scores is None else self.scores[position]

    @cached_property
    def positions(self) -> Mapping[Any, int]:
        """The position of each item."""
        return {item: i for i, item in enumerate(self.items)}

    @property
    def listed(self) -> Ranking:
        """The best of its items, those that are listed and saved: all, where there are no more than `MOST_HITS`."""
        return self.head(MOST_HITS) if len(self) > MOST_HITS else self

    @property
    def unlisted(self) -> int:
        """How many of its items are beyond those that are listed and saved.

        >>> from core.types import MOST_HITS, Ranking
        >>> Ranking("triple", tuple(range(MOST_HITS + 3))).unlisted, Ranking("triple", (4, 2), None, 7).unlisted
        (3, 7)
        """
        return max(0, len(self) - MOST_HITS) + self.left_out

    def head(self, k: int) -> Ranking:
        """The first `k` items."""
        return Ranking(self.kind, self.items[:k], None if self.scores is None else self.scores[:k])


@dataclass(frozen=True)
class Usage:
    """What model calls cost: calls, tokens read and tokens written. Encoder and scorer texts count as `texts`."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    texts: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.texts + other.texts,
        )


@dataclass(frozen=True, eq=False)
class Frame:
    """One moment of an operator's story: a title and what was kept at that moment, with scores.

    `considered` is how many candidates there were, of which `ranking` holds the kept ones; `before_cut` is all of them
    in the model's order, where it ordered them all.
    """

    title: str
    ranking: Ranking
    considered: int
    before_cut: Ranking | None = None


@dataclass(frozen=True, eq=False)
class Step:
    """What one operator did: its cost, sizes, notes for a person, story, and the full order it cut from.

    `before_cut` holds every candidate in its final order where the operator ranked and kept only the head, so that a
    dropped path can be told apart from one that was never reached.

    `seconds` is what the operator itself took; of these, `ranking` scored candidates and `model` asked a language model. Not in
    them: `waiting` for others' turns, what was `prepared` once for all questions (what, seconds), and `saved`, what remembered
    vectors and replies had cost when they were made. `thoughts` are what language models wrote before their replies, `unusable` how many
    replies were blank, cut, refused or unreadable, and `fault` says so of the last one that was blank or cut. `partly` is how much of what
    is searched was there, as `31 % of the passages so far`; empty where all was. `warnings` are those of the notes without which the
    answer would be read wrongly.
    """

    operator: str
    stage: str
    parameters: Mapping[str, Any]
    seconds: float
    usage: Usage = Usage()
    sizes: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = ()
    before_cut: Ranking | None = None
    ranking: float = 0.0
    model: float = 0.0
    waiting: float = 0.0
    prepared: tuple[tuple[str, float], ...] = ()
    saved: float = 0.0
    thoughts: tuple[str, ...] = ()
    unusable: int = 0
    fault: str = ""
    partly: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Repair:
    """A line changed in one step, and what it was seen to bring: `right` of `of` known answers, by what its lane is counted by.

    `spec` is the canonical text of the line, `label` says the change and what it brings: `Keep 75 nodes → 5 of 5`.
    """

    spec: str
    label: str
    right: int
    of: int


@dataclass(frozen=True)
class Rest:
    """On what a sentence of an answer, from `start` to `end`, most likely rests: the sentence at `place` of the chunk of that id.

    `score` is the cosine of the two by an encoder; `words` tells whether the chunk's sentence holds all words of the answer's.
    """

    start: int
    end: int
    chunk: str
    place: tuple[int, int]
    score: float
    words: bool = False


@dataclass(frozen=True)
class Weight:
    """What leaving out one item of those that an answer was made from changes: `influence` from 0 (nothing) to 1 (nothing of the answer is
    left), and whether the answer `changes`. `place` is the item's among those of its kind, from 0."""

    kind: Kind
    place: int
    influence: float
    changes: bool = False


@dataclass(frozen=True)
class Influence:
    """What an answer rests on, measured: the weight of each item that was left out alone, and the `smallest` set of them, as places in
    `weights`, without which the answer changes; empty where it does not change without all of them.

    `exact` says that no smaller set changes it, as all were tried. `others` items were never left out, and `unusable` replies of the
    language model were blank or cut. `lost` is what it no longer says without the smallest set; empty where most of its words change.
    """

    by_model: bool
    weights: tuple[Weight, ...]
    smallest: tuple[int, ...] = ()
    exact: bool = True
    others: int = 0
    unusable: int = 0
    lost: str = ""


@dataclass(frozen=True)
class Beside:
    """A lane beside what it was before its graph was edited: whether it had `read` what was changed, what it `said` before, what it no
    longer says and what it says instead, how many known answers it gave and gives (None where none is known), and a sentence on that."""

    read: bool
    lost: tuple[str, ...]
    new: tuple[str, ...]
    right: tuple[int | None, ...]  # before, and now
    text: str
    silent: bool = False  # whether it says nothing, before and now
    said: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether it says what it said."""
        return not self.lost and not self.new


@dataclass(frozen=True)
class Rating:
    """What a person thought of an instance's answer to a question.

    `answers` are the question's known answers, else the entities that the answer names, as far as they are known; `size`
    is the number of nodes of the subgraph that was first extracted; `time` is in seconds since 1970.
    """

    question: str
    digest: str  # of the graph
    line: str
    answer: str
    up: bool
    entities: tuple[str, ...] = ()
    graph: str = ""
    instance: str = ""
    answers: tuple[str, ...] = ()
    size: int | None = None
    hops: int | None = None
    time: float = field(default_factory=lambda: round(time.time(), 3))


@dataclass(frozen=True)
class Report:
    """What a language model wrote about a community: its text, of whose communities it is (names of the question's
    entities), and how many members the community has."""

    title: str
    text: str
    about: tuple[str, ...] = ()
    members: int = 0


@dataclass(frozen=True)
class Keywords:
    """Keywords of a question: `low` are the things that it names, `high` what it is about (LightRAG's two levels)."""

    low: tuple[str, ...] = ()
    high: tuple[str, ...] = ()


@dataclass(frozen=True)
class Excerpt:
    """A sentence of a chunk, unchanged: where no language model answers, what is nearest to the question."""

    text: str
    chunk: int  # its row
    score: float


@dataclass(frozen=True, eq=False)
class ContextTable:
    """One table of a prompt's context: a row of cells for each of `items`, which are hits of one kind, best first.

    `left_out` hits found no room in the table's budget of tokens.
    """

    kind: Kind
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    items: tuple[int, ...]
    left_out: int = 0


@dataclass(frozen=True, eq=False)
class Point:
    """What a language model noted on a part of what was found: a text, how much it helps (1 to 100), and the hits that the part held."""

    score: int
    text: str
    kind: Kind
    items: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Prompt:
    """What a language model is sent: the messages, and how many of the paths, reports and hits (by kind) found a place in them. `source` is
    the paper whose printed prompt it follows, or says that it is a person's own; empty for one of ours."""

    messages: tuple[Mapping[str, str], ...]
    paths: int
    tokens: int | None = None
    reports: int = 0
    hits: Mapping[str, int] = field(default_factory=dict)
    source: str = ""


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """What a re-ranker holds of the question with some nodes before the non-linear part of its last layers: `vectors` float [n, d], aligned
    with `nodes`. `head` are these layers: scores, float64 [n], of such vectors.
    """

    model: str
    nodes: tuple[int, ...]
    vectors: np.ndarray
    head: Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class State:
    """What is known of a question at one point of a line of operators. Operators `replace`, never change.

    On a graph made of texts there is a ranking for each kind of hit: `nodes` holds node ids, `relations` edge ids (a ranking of the
    kind "triple"), `chunks` and `communities` rows of those tables of the graph. `linked` are the nodes that the question's names
    were found to mean, and `waiting` hits that wait to be merged with others.
    """

    question: Question
    seeds: tuple[int, ...] = ()
    hops: int | None = None  # how many steps the answer is thought to be away
    subgraph: Subgraph | None = None
    paths: Ranking | None = None
    reports: tuple[Report, ...] | None = None
    vector: np.ndarray | None = None  # of the question, float32 [d], a unit vector
    names: tuple[str, ...] | None = None  # of entities, as found in the question
    keywords: Keywords | None = None
    nodes: Ranking | None = None
    relations: Ranking | None = None
    chunks: Ranking | None = None
    communities: Ranking | None = None
    linked: Ranking | None = None
    waiting: tuple[Ranking, ...] = ()
    # of the nodes that were read; too large to keep
    hidden: HiddenStates | None = field(default=None, metadata={"saved": False})
    tables: tuple[ContextTable, ...] | None = (
        None  # what the prompt will show, each within its budget
    )
    points: tuple[Point, ...] | None = (
        None  # noted on parts of what was found, in the order of the parts
    )
    excerpt: Excerpt | None = None
    reader: tuple[int, ...] | None = None  # node ids that the graph reader answers
    prompt: Prompt | None = None
    answer: str | None = None
    own_answer: bool = False  # whether the answer came along with what was retrieved, from a program or a file of the user's
    trace: tuple[Step, ...] = ()

    @property
    def ranked(self) -> Mapping[Kind, Ranking]:
        """The rankings that are there by the kind of their items: paths, then hits.

        >>> from core.types import Path, Question, Ranking, State
        >>> list(State(Question("who"), nodes=Ranking("node", (2, 1)), paths=Ranking("path", (Path((2, 1), (0,), (True,)),))).ranked)
        ['path', 'node']
        """
        found = (self.paths, self.nodes, self.relations, self.chunks, self.communities)
        return {ranking.kind: ranking for ranking in found if ranking is not None}

    @property
    def partly(self) -> str:
        """How much of what was searched was there, as the first of the steps says for which that was not all; else empty."""
        return next((step.partly for step in self.trace if step.partly), "")

    @property
    def unanswered(self) -> bool:
        """Whether a language model was asked for the answer and sent nothing that can be used."""
        return not (self.answer or "").strip() and any(
            step.fault for step in self.trace if step.stage == "generate"
        )

    @property
    def hits(self) -> tuple[Ranking, ...]:
        """The rankings of what is no path."""
        return tuple(ranking for kind, ranking in self.ranked.items() if kind != "path")

    def replace(self, **changes: Any) -> State:
        return replace(self, **changes)
