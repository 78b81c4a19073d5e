"""Data that operators pass on: questions, paths, subgraphs, rankings and states.

All of them are frozen and cheap to copy. The module imports nothing of this project.
"""

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
    """A question of a question set or of a person.

    Attributes
    ----------
    text
        The question itself.
    id
        Its id in the question set.
    entities
        Names of the question entities, not their ids.
    answers
        Names of the correct answers, not their ids.
    hops
        Number of steps to the answer, if the question set gives it.
    gold
        The passages of a corpus that the answer rests on: ids of documents, or of parts of
        documents (`core.corpus.quotations`).
    options
        The answers to choose from, if there are any. The text contains them too.
    aliases
        Groups of names, one group for an answer. The first name of a group is in `answers`. An
        answer without a group has one name.
    abstract
        True if the question asks for an overview rather than for one fact. Its answer may be long
        (`core.operators.answer_length`).
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

    def answer_names(self, answer: str) -> tuple[str, ...]:
        """Return all names of a correct answer, its own name first.

        >>> from core.types import Question
        >>> question = Question(
        ...     "who scored most", answers=("Daei", "Bican"), aliases=(("Daei", "Ali Daei"),)
        ... )
        >>> question.answer_names("Daei"), question.answer_names("Bican")
        (('Daei', 'Ali Daei'), ('Bican',))
        """
        group_names = dict.fromkeys((answer,))
        for group in self.aliases:
            if group[0] == answer:
                group_names |= dict.fromkeys(group)
        return tuple(group_names)

    @property
    def answer_parts(self) -> tuple[tuple[str, ...], ...]:
        """The parts of the answer, each given by its names.

        Each group of aliases is one part, and a group that is listed twice is two. Any other answer
        is one part, even if it is repeated.
        """
        groups = [group for group in self.aliases if group[0] in self.answers]
        grouped = {group[0] for group in groups}
        others = [(answer,) for answer in dict.fromkeys(self.answers) if answer not in grouped]
        return (*groups, *others)


@dataclass(frozen=True, order=True, slots=True)
class Path:
    """A path in the graph, which may visit a node several times.

    Attributes
    ----------
    nodes
        The n + 1 node ids, from the start to the end.
    edges
        The n edge ids.
    forward
        For each step, True if it goes from the head of its triple to the tail.
    """

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
        """Number of steps (hops)."""
        return len(self.edges)

    def extended(self, node: int, edge: int, forward: bool) -> Path:
        """Return this path with one more step.

        Parameters
        ----------
        node
            Id of the node that the step leads to.
        edge
            Id of the edge.
        forward
            True if the step goes from the head of its triple to the tail.

        Returns
        -------
        Path
            A new path.
        """
        return Path(self.nodes + (node,), self.edges + (edge,), self.forward + (forward,))


@dataclass(frozen=True, eq=False)
class Subgraph:
    """A part of a graph, with an optional score for each node."""

    nodes: np.ndarray  # int64 [m], ascending
    edges: np.ndarray  # int64 [k], ascending
    scores: np.ndarray | None = None  # float64 [m], aligned with nodes

    def __contains__(self, node: int) -> bool:
        return _contains_sorted(self.nodes, node)

    def has_edge(self, edge: int) -> bool:
        """Return whether the edge is in this part.

        Parameters
        ----------
        edge
            Edge id.

        Returns
        -------
        bool
            False for an unknown edge.
        """
        return _contains_sorted(self.edges, edge)


def _contains_sorted(ascending: np.ndarray, value: int) -> bool:
    index = int(ascending.searchsorted(value))
    return index < len(ascending) and int(ascending[index]) == value


# Most hits of one kind on a page, in a loss analysis and in a saved case. On a large graph HippoRAG
# returns a million of them.
MAX_HITS = 5_000


@dataclass(frozen=True, eq=False)
class Ranking:
    """Items of one kind, best first.

    Attributes
    ----------
    kind
        Kind of the items.
    items
        Node ids, edge ids, paths or table rows, depending on the kind.
    scores
        Aligned with `items`, or None if the order has no scores.
    left_out
        Number of further items that a saved case does not contain.
    """

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
        """The position of each item, from 0."""
        return {item: i for i, item in enumerate(self.items)}

    @property
    def listed(self) -> Ranking:
        """The best `MAX_HITS` items, which are listed and saved."""
        return self.head(MAX_HITS) if len(self) > MAX_HITS else self

    @property
    def unlisted(self) -> int:
        """Number of items beyond those that are listed and saved.

        >>> from core.types import MAX_HITS, Ranking
        >>> Ranking("triple", tuple(range(MAX_HITS + 3))).unlisted
        3
        >>> Ranking("triple", (4, 2), None, 7).unlisted
        7
        """
        return max(0, len(self) - MAX_HITS) + self.left_out

    def head(self, k: int) -> Ranking:
        """Return the first `k` items.

        Parameters
        ----------
        k
            Number of items.

        Returns
        -------
        Ranking
            A new ranking with the scores of these items.
        """
        return Ranking(self.kind, self.items[:k], None if self.scores is None else self.scores[:k])


@dataclass(frozen=True)
class Usage:
    """Cost of model calls: the calls, and the tokens read and written.

    `texts` counts the texts that encoders and scorers read.
    """

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
    """An intermediate result of an operator, such as the paths kept at a hop.

    Attributes
    ----------
    title
        A few words, such as "hop 2".
    ranking
        The selected items, with scores.
    considered
        Number of candidates, including those that were not selected.
    before_cut
        All candidates in the model's order, if the model ordered all of them.
    """

    title: str
    ranking: Ranking
    considered: int
    before_cut: Ranking | None = None


@dataclass(frozen=True, eq=False)
class Step:
    """Record of one operator's work: cost, sizes, notes, frames and full order.

    Attributes
    ----------
    operator, stage
        Names of the operator and of its stage, such as "retrieve" or "generate".
    parameters
        Values of the operator's parameters.
    seconds
        Time of the operator itself, without `waiting`, `prepared` and `saved`.
    sizes
        Number of items of each kind that the operator wrote.
    notes
        Sentences for a person.
    before_cut
        All candidates in their final order, if the operator ranked them and kept only the best. It
        distinguishes a path that was dropped from one that was never reached.
    ranking
        Seconds spent on scoring candidates, a part of `seconds`.
    model
        Seconds spent on calls of language models, a part of `seconds`.
    waiting
        Seconds of waiting for the turns of other runs.
    prepared
        Preparations made once for all questions, each with its seconds.
    saved
        Seconds that the cached vectors and replies took when they were made.
    thoughts
        Texts that language models wrote before their replies.
    unusable
        Number of replies that were blank, cut, refused or unreadable.
    fault
        A sentence on the last reply that was blank or cut.
    partly
        How much of the searched data was available, such as `31 % of the passages so far`. Empty if
        all of it was.
    warnings
        The notes that a reader needs, since the answer would be misread without them.
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
    """A line changed in one step, with its measured number of correct answers.

    Attributes
    ----------
    spec
        Canonical text of the line.
    label
        The change and its result, such as `Keep 75 nodes → 5 of 5`.
    right
        Number of correct answers that the changed line found.
    of
        Number of correct answers of the question.
    by_answer
        True if the answer was counted, as for a shorter prompt; False for what was retrieved.
    """

    spec: str
    label: str
    right: int
    of: int
    by_answer: bool = False


@dataclass(frozen=True)
class SupportingSentence:
    """The chunk sentence on which a sentence of an answer most likely rests.

    Attributes
    ----------
    start, end
        First character of the sentence in the answer, and the first one after it.
    chunk
        Id of the chunk.
    place
        The same two positions of the chunk's sentence in the chunk.
    score
        Cosine similarity of the two sentences by an encoder.
    words
        True if the sentence of the chunk has all words of the answer's sentence.
    """

    start: int
    end: int
    chunk: str
    place: tuple[int, int]
    score: float
    words: bool = False


@dataclass(frozen=True)
class ItemInfluence:
    """The change of an answer if one of its items is left out.

    Attributes
    ----------
    place
        Position of the item among those of its kind, from 0.
    influence
        From 0 (no change) to 1 (nothing of the answer remains).
    changes
        True if the answer changes.
    """

    kind: Kind
    place: int
    influence: float
    changes: bool = False


@dataclass(frozen=True)
class Influence:
    """The measured effect of each item that an answer was made from.

    Attributes
    ----------
    by_model
        True if a language model gave the answer, False if the graph reader did.
    weights
        One for each item that was left out alone.
    smallest
        The smallest set of items without which the answer changes, as positions in `weights`. Empty
        if the answer changes only without all items.
    exact
        True if all smaller sets were tried and none changes the answer.
    others
        Number of items that were never left out.
    unusable
        Number of replies of the language model that were blank or cut.
    lost
        The part of the answer that is missing without the smallest set. Empty if most of the
        answer's words change.
    """

    by_model: bool
    weights: tuple[ItemInfluence, ...]
    smallest: tuple[int, ...] = ()
    exact: bool = True
    others: int = 0
    unusable: int = 0
    lost: str = ""


@dataclass(frozen=True)
class ReaderAnswer:
    """An answer of a reader to one context.

    Attributes
    ----------
    context
        What it was shown, a key of `core.diagnosis.reading.CONTEXT_LABELS`.
    answer
        Its text; the names of the graph reader's nodes are separated by commas.
    right
        True if it holds a correct answer. None if none is known, or if it could not be asked.
    items, tokens
        Number of items that it was shown, and of tokens of the prompt; 0 tokens without a model.
    fault
        The reason why the answer is blank or cut, or why it could not be asked.
    item
        Position of the item that was left out, from 0, if a single one was.
    """

    context: str
    answer: str = ""
    right: bool | None = None
    items: int = 0
    tokens: int = 0
    fault: str = ""
    item: int | None = None


@dataclass(frozen=True)
class ReaderAnswers:
    """The answers of a lane's reader to what was retrieved and to other contexts.

    Attributes
    ----------
    by_model
        True if the reader is a language model, False for the graph reader or nearest sentence.
    noun
        Noun of an item, such as "path".
    items
        Number of items that were read as retrieved.
    evidence
        Positions of the items that hold evidence, from 0.
    needed, missing
        Number of pieces of evidence that are needed, and of those that were not read. Both are 0
        if no evidence is known.
    answers
        One for each context, that as retrieved among them.
    """

    by_model: bool
    noun: str
    items: int
    evidence: tuple[int, ...] = ()
    needed: int = 0
    missing: int = 0
    answers: tuple[ReaderAnswer, ...] = ()


@dataclass(frozen=True)
class EditComparison:
    """Comparison of a lane before and after an edit of its graph.

    Attributes
    ----------
    read
        True if the edit changed a part of the graph that the lane had read.
    lost
        Items of the answer before the edit that are missing after it.
    new
        Items of the answer after the edit that were missing before.
    right
        Number of correct answers before and after; None if none is known.
    text
        A sentence on the comparison.
    silent
        True if the answer is empty before and after.
    said
        Items of the answer before the edit.
    """

    read: bool
    lost: tuple[str, ...]
    new: tuple[str, ...]
    right: tuple[int | None, ...]
    text: str
    silent: bool = False
    said: tuple[str, ...] = ()

    @property
    def is_unchanged(self) -> bool:
        """True if the answer is the same as before."""
        return not self.lost and not self.new


@dataclass(frozen=True)
class Rating:
    """A person's opinion on the answer of a method to a question.

    Attributes
    ----------
    graph, digest
        Name and digest of the graph.
    instance
        Id of the method.
    line
        Canonical text of the line.
    up
        True if the person liked the answer.
    answers
        The correct answers of the question if they are known, else the entities named in the
        answer.
    size
        Number of nodes of the first extracted subgraph.
    time
        Seconds since 1970.
    """

    question: str
    digest: str
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
class WrittenReport:
    """A report that a language model wrote about a community.

    Attributes
    ----------
    about
        Names of the question entities to whose communities it belongs.
    members
        Number of members of the community.
    """

    title: str
    text: str
    about: tuple[str, ...] = ()
    members: int = 0


@dataclass(frozen=True)
class Keywords:
    """Keywords of a question on the two levels of LightRAG.

    `low` are the things that the question names, `high` the subjects that it is about.
    """

    low: tuple[str, ...] = ()
    high: tuple[str, ...] = ()


@dataclass(frozen=True)
class Excerpt:
    """The sentence of a chunk that is nearest to the question, unchanged.

    It is shown if no language model answers.
    """

    text: str
    chunk: int  # row of the chunk
    score: float


@dataclass(frozen=True, eq=False)
class ContextTable:
    """One table of the context in a prompt, with one row per hit.

    The best hit comes first.

    Attributes
    ----------
    items
        The hits of the rows, all of one kind.
    left_out
        Number of hits that did not fit into the token budget of the table.
    """

    kind: Kind
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    items: tuple[int, ...]
    left_out: int = 0


@dataclass(frozen=True, eq=False)
class AnswerPoint:
    """A note of a language model on one part of the retrieved hits.

    Attributes
    ----------
    score
        How much the note helps to answer, 1 to 100.
    kind, items
        The hits in that part.
    """

    score: int
    text: str
    kind: Kind
    items: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Prompt:
    """The messages sent to a language model, and the counts of their contents.

    Attributes
    ----------
    paths, reports
        Number of paths and of reports in the messages.
    tokens
        Size of the messages, if it is known.
    hits
        Number of hits in the messages, by kind.
    source
        The paper whose printed prompt it follows, or a remark that a user wrote the prompt. Empty
        for a prompt written for this project.
    """

    messages: tuple[Mapping[str, str], ...]
    paths: int
    tokens: int | None = None
    reports: int = 0
    hits: Mapping[str, int] = field(default_factory=dict)
    source: str = ""


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """States of a reranker for a question and some nodes, before its last layers.

    Attributes
    ----------
    model
        Name of the reranker.
    nodes
        Node ids.
    vectors
        float [n, d], aligned with `nodes`.
    head
        The last layers, from their non-linear part on. They turn such vectors into scores, float64
        [n].
    """

    model: str
    nodes: tuple[int, ...]
    vectors: np.ndarray
    head: Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class State:
    """The results for a question so far, which operators pass on to each other.

    Operators return a changed copy (`replace`) and never change a state. A field is None until an
    operator fills it. On a graph of documents there is one ranking for each kind of hit.

    Attributes
    ----------
    seeds
        Ids of the question entities.
    nodes
        Ranking of node ids.
    relations
        Ranking of edge ids, of the kind "triple".
    chunks, communities
        Rankings of rows of those tables of the graph.
    linked
        Nodes that the names in the question were linked to.
    waiting
        Rankings set aside to be merged with others.
    """

    question: Question
    seeds: tuple[int, ...] = ()
    hops: int | None = None  # predicted number of steps from a seed to the answer
    arm: int | None = None  # arm of a branch that a learned rule chose
    subgraph: Subgraph | None = None
    paths: Ranking | None = None
    reports: tuple[WrittenReport, ...] | None = None
    vector: np.ndarray | None = None  # unit vector of the question, float32 [d]
    names: tuple[str, ...] | None = None  # of entities, as found in the question
    keywords: Keywords | None = None
    nodes: Ranking | None = None
    relations: Ranking | None = None
    chunks: Ranking | None = None
    communities: Ranking | None = None
    linked: Ranking | None = None
    waiting: tuple[Ranking, ...] = ()
    # of the nodes that were read; too large to be saved
    hidden: HiddenStates | None = field(default=None, metadata={"saved": False})
    # parts of the prompt, each within its token budget
    tables: tuple[ContextTable, ...] | None = None
    # notes on parts of the retrieved hits, in the order of the parts
    points: tuple[AnswerPoint, ...] | None = None
    excerpt: Excerpt | None = None
    reader: tuple[int, ...] | None = None  # node ids that the graph reader gives as answers
    prompt: Prompt | None = None
    answer: str | None = None
    # True if the answer came with the retrieved items, from a program or file of the user
    own_answer: bool = False
    trace: tuple[Step, ...] = ()

    @property
    def ranked(self) -> Mapping[Kind, Ranking]:
        """The rankings present, by the kind of their items: paths first, then hits.

        >>> from core.types import Path, Question, Ranking, State
        >>> path = Path((2, 1), (0,), (True,))
        >>> state = State(
        ...     Question("who"), nodes=Ranking("node", (2, 1)), paths=Ranking("path", (path,))
        ... )
        >>> list(state.ranked)
        ['path', 'node']
        """
        rankings = (self.paths, self.nodes, self.relations, self.chunks, self.communities)
        return {ranking.kind: ranking for ranking in rankings if ranking is not None}

    @property
    def partly(self) -> str:
        """The share of the searched data that was available, as text.

        It is that of the first step that did not have all data, or empty if every step had all.
        """
        return next((step.partly for step in self.trace if step.partly), "")

    @property
    def unanswered(self) -> bool:
        """True if a language model was asked for the answer and sent nothing usable."""
        return not (self.answer or "").strip() and any(
            step.fault for step in self.trace if step.stage == "generate"
        )

    @property
    def hits(self) -> tuple[Ranking, ...]:
        """The rankings of all kinds except paths."""
        return tuple(ranking for kind, ranking in self.ranked.items() if kind != "path")

    def replace(self, **changes: Any) -> State:
        return replace(self, **changes)
