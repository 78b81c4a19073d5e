"""Building operators: the steps that make a graph of a corpus, and lines of them (`a >> b`)."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from core.builds.fact_store import FactStore
from core.builds.facts import Facts
from core.builds.grouped import ShippedClusters
from core.builds.report import BuildReport
from core.builds.spending import BuildSpending
from core.corpus import Corpus
from core.corpus.recut import Recut
from core.graph.columns import Table
from core.graph.store import Graph
from core.lines import OperatorLine
from core.models.base import Chat, Models
from core.models.chat.lanes import LlamaLanes, several_at_once
from core.models.chat.saved_replies import CachedChat, SavedReplies
from core.parameters import Declared, parameters
from core.runtime.cluster import Workers
from core.types import Usage
from core.watch import NO_WATCH, Watch

STAGES = ("chunk", "extract", "resolve", "merge", "link", "group", "tell", "index")
GIVEN = ("documents",)
LANES = 8  # things that a language model is asked at a time: more are no faster on two cores
NEED = {
    "documents": "documents",
    "chunks": "chunks, and nothing before it cuts any",
    "facts": "what chunks tell, and nothing before it extracts any",
    "graph": "a graph, and nothing before it makes one",
    "communities": "communities, and nothing before it finds any",
}
# what a build has once
AGAIN = {
    "chunks": "cuts chunks, and they are cut before it",
    "facts": "reads chunks, and they are read before it",
    "graph": "makes a graph, and one is made before it",
}
AFTER = {
    "extract": "chunks were read",
    "resolve": "names were joined",
    "merge": "the graph was made",
    "link": "edges were added to it",
    "group": "it was grouped",
    "tell": "reports were written",
    "index": "vectors were made",
}


@dataclass(frozen=True, eq=False)
class Made:
    """What a build has made so far. `chunks` is a table of id, document, title, place, text, tokens (`core.graph.columns`), `facts` are
    aligned with its rows; `opened` is the tool from whose index they were opened, in a word. Operators `replace`, never change."""

    corpus: Corpus
    chunks: Table | None = None
    facts: Sequence[Facts] | None = None
    graph: Graph | None = None
    opened: str = ""

    def replace(self, **changes: Any) -> Made:
        """This with other fields."""
        return replace(self, **changes)


@dataclass(frozen=True)
class BuildContext:
    """What building operators work with: models, progress and cancelling, and the report that they add to.

    `watch` says what is being done, and raises Cancelled where the person cancelled. Language models are asked
    `lanes` questions at a time where they can, servers as many as make replies come faster; what they replied is `replies`, what extractors
    found lies in `facts`, and `clusters` knows those that came with the corpus. `spending` counts what they cost, and knows the cap. With
    `workers`, chunks are read and texts encoded by these processes; `recutting` has the chunks that were cut before.
    Chunks are read as texts in `language`.
    """

    models: Models
    watch: Watch = NO_WATCH
    report: BuildReport = field(default_factory=BuildReport)
    lanes: int = LANES
    replies: SavedReplies = field(default_factory=SavedReplies)
    facts: FactStore = field(default_factory=FactStore)
    clusters: ShippedClusters = field(default_factory=ShippedClusters)
    spending: BuildSpending = field(default_factory=lambda: BuildSpending(None, None, ()))
    workers: Workers | None = None
    recutting: Recut = field(default_factory=Recut)
    language: str = ""  # the code of that of the documents, empty where it is not known
    # those that were asked, by name or role
    chats: dict[str, CachedChat] = field(default_factory=dict)
    _engines: dict[str, Chat] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def chat(self, name: str) -> CachedChat:
        """The language model of a name or role, whose replies are kept; made once it is asked what is not kept."""
        with self._lock:
            if name not in self.chats:
                self.chats[name] = CachedChat(
                    lambda: self._engine(name), self.models.weights(name), self.replies
                )
            return self.chats[name]

    def at_once(self, name: str) -> int:
        """How many questions the language model of a name or role is asked at a time: as many as a server takes, else `lanes`."""
        with self._lock:
            return getattr(self._engines.get(name), "at_once", self.lanes)

    def close(self) -> None:
        """Free the memory of the engines that were started for this build."""
        with self._lock:
            for engine in self._engines.values():
                if isinstance(engine, LlamaLanes):
                    engine.close()

    def _engine(self, name: str) -> Chat:
        with self._lock:
            if name not in self._engines:
                self._engines[name] = several_at_once(self.models.chat(name), self.lanes)
            return self._engines[name]


class BuildOperator(Declared):
    """A step of a build. Subclasses are frozen dataclasses whose fields are made by `param`.

    `reads` and `writes` name what of a build it needs and makes: documents, chunks, facts, graph, communities. A line in which nobody
    wrote what is read is refused.
    """

    stage: ClassVar[str]
    title: ClassVar[str]  # a few words for a person
    reads: ClassVar[tuple[str, ...]] = ()
    writes: ClassVar[tuple[str, ...]] = ()
    edition: ClassVar[int] = (
        1  # one more where the same parameters make another graph than in the version before
    )

    def apply(self, made: Made, ctx: BuildContext) -> Made:
        """What there is after this operator. Deterministic: the same of the same, whatever was kept from before."""
        raise TypeError(f"{type(self).__name__} does not say what it does.")

    def models(self) -> tuple[str, ...]:
        """The names or roles of the models that it asks."""
        return ()

    def chats(self) -> tuple[str, ...]:
        """The language models among them."""
        named = (getattr(self, p.name) for p in parameters(type(self)) if p.chat)
        return tuple(name for name in named if name in self.models())

    def later(self) -> str:
        """What it costs where that is not known beforehand, as a sentence without its end; else empty."""
        return ""

    def expected(self, chunks: int) -> Usage:
        """About what it will ask of language models where that is not known beforehand, as it was with other corpora; nothing where that
        cannot be said."""
        return Usage()

    def lacks(self, corpus: Corpus) -> str:
        """What it needs of a corpus that this one has not, in a sentence; empty where it has all."""
        return ""

    def basis(self, corpus: Corpus) -> str:
        """The digest of what it reads of a corpus: a build that begins with it is outdated once that is another."""
        return corpus.digest

    def uncovered(self, corpus: Corpus) -> str:
        """What of a corpus a build that begins with it does not cover, or why it is outdated, as a sentence; empty where there is nothing
        to say."""
        return ""

    def words(self) -> str:
        """This operator in a few words, with the parameters that matter."""
        return self.title

    def __rshift__(self, other: BuildOperator | BuildLine) -> BuildLine:
        return BuildLine((self,)) >> other


@dataclass(frozen=True, repr=False)
class BuildLine(OperatorLine[BuildOperator]):
    """Building operators one after the other; refuses an order in which something is read that nobody wrote, what is made is thrown away by
    another, or a stage comes after a later one. Raises BadParameter."""

    @staticmethod
    def unfit(before: Iterable[BuildOperator], operator: BuildOperator) -> str | None:
        return unfit(before, operator)

    def words(self) -> str:
        """The line in words: `chunks of 300 tokens → noun phrases → merged by name`."""
        return " → ".join(operator.words() for operator in self.operators)

    @property
    def editions(self) -> dict[str, int]:
        """The editions of the operators that have more than one, by name."""
        return {
            type(operator).__name__: operator.edition
            for operator in self.operators
            if operator.edition > 1
        }

    @property
    def indexes(self) -> tuple[BuildOperator, ...]:
        """The operators that make what is searched in the graph, as vectors."""
        return tuple(operator for operator in self.operators if operator.stage == "index")

    @property
    def unindexed(self) -> BuildLine:
        """The line without these: the graph alone."""
        return self.without("index")

    @property
    def asks_chat(self) -> bool:
        """Whether any operator asks a language model."""
        return any(operator.chats() for operator in self.operators)

    def models(self) -> tuple[str, ...]:
        """The names or roles of all models that are asked, each once."""
        return tuple(
            dict.fromkeys(name for operator in self.operators for name in operator.models())
        )


def unfit(before: Iterable[BuildOperator], operator: BuildOperator) -> str | None:
    """Why `operator` cannot follow `before`, in a sentence; None where it can."""
    before = tuple(before)
    written = set(GIVEN).union(*(other.writes for other in before))
    for need in operator.reads:
        if need not in written:
            return f"{type(operator).__name__} reads {NEED[need]}."
    for made in operator.writes:
        if made in AGAIN and made in written and made not in operator.reads:
            return f"{type(operator).__name__} {AGAIN[made]}."
    last = max((STAGES.index(other.stage) for other in before), default=0)
    if last > STAGES.index(operator.stage):
        return f"{type(operator).__name__} cannot come after {AFTER[STAGES[last]]}."
    return None
