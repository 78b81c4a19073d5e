"""Base class of building operators, and lines that make a graph.

A line is written `a >> b`. An operator receives the state of a build, such as its documents and
chunks, and returns a changed copy. The context of the build gives it models, saved results and the
report.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from core.builds.fact_store import FactStore
from core.builds.facts import Facts
from core.builds.report import BuildReport
from core.builds.shipped_clusters import ShippedClusters
from core.builds.spending import BuildSpending
from core.corpus import Corpus
from core.corpus.chunk_reuse import ChunkReuse
from core.graph.columns import Table
from core.graph.store import Graph
from core.lines import OperatorLine
from core.models.base import Chat, Models
from core.models.chat.lanes import LlamaLanes, make_concurrent_chat
from core.models.chat.saved_replies import CachedChat, SavedReplies
from core.parameters import OperatorBase, param, parameters
from core.runtime.cluster import Workers
from core.types import Usage
from core.watch import NO_WATCH, Watch

# Stages in the order of a line. They are keys of saved lines, so they keep these names. Operators
# of the stage “tell” write reports on communities.
BUILD_STAGES = ("chunk", "extract", "resolve", "merge", "link", "group", "tell", "index")
INITIAL_PARTS = ("documents",)  # parts that a corpus has before its build
# Parallel requests to a local language model: more are no faster on two cores.
DEFAULT_PARALLEL_REQUESTS = 8
# Ends of the error “NAME reads ...”, by the part that is missing.
MISSING_PART_MESSAGES = {
    "documents": "documents",
    "chunks": "chunks, and nothing before it cuts any",
    "facts": "what chunks tell, and nothing before it extracts any",
    "graph": "a graph, and nothing before it makes one",
    "communities": "communities, and nothing before it finds any",
}
# Ends of the error “NAME ...”, by the part that exists already. An operator may only make such a
# part again if it also reads the earlier form.
REPEATED_PART_MESSAGES = {
    "chunks": "cuts chunks, and they are cut before it",
    "facts": "reads chunks, and they are read before it",
    "graph": "makes a graph, and one is made before it",
}
# Ends of the error “NAME cannot come after ...”, by the latest stage before the operator.
LATE_STAGE_MESSAGES = {
    "extract": "chunks were read",
    "resolve": "names were joined",
    "merge": "the graph was made",
    "link": "edges were added to it",
    "group": "it was grouped",
    "tell": "reports were written",
    "index": "vectors were made",
}


@dataclass(frozen=True, eq=False)
class BuildState:
    """State of a build after some of its operators.

    Operators call `replace` and never change a state in place. A part is None until an operator
    makes it.

    Parameters
    ----------
    corpus : the documents that the build reads.
    chunks : table of id, document, title, place, text and tokens (see `core.graph.columns`). The
        place is the page or section of the document.
    facts : the entities and relations extracted from each chunk, aligned with the rows of `chunks`.
    graph : the graph.
    index_tool : name of the tool whose index the graph was opened from; empty for built graphs.
    """

    corpus: Corpus
    chunks: Table | None = None
    facts: Sequence[Facts] | None = None
    graph: Graph | None = None
    index_tool: str = ""

    def replace(self, **changes: Any) -> BuildState:
        """Return a copy with some fields replaced."""
        return replace(self, **changes)


@dataclass(frozen=True)
class BuildContext:
    """Environment of building operators: models, progress, cancelling and the report.

    - `watch` shows progress, and raises RunCancelled if the person cancelled.
    - `report` collects counts, notes and costs.
    - `lanes` is the number of parallel requests to a local language model. A server sets its
      own number.
    - `replies` holds the saved replies of language models, `fact_store` the saved facts of
      extractors, and `clusters` the text clusters that ship with the corpus.
    - `spending` counts the costs of language models, and stops the build at the cap.
    - `workers` are processes that read chunks and encode texts; None to work in this process.
    - `chunk_reuse` holds the chunks of earlier builds, for documents that did not change.
    - `language` is the code of the documents' language; empty if it is unknown.
    """

    models: Models
    watch: Watch = NO_WATCH
    report: BuildReport = field(default_factory=BuildReport)
    lanes: int = DEFAULT_PARALLEL_REQUESTS
    replies: SavedReplies = field(default_factory=SavedReplies)
    fact_store: FactStore = field(default_factory=FactStore)
    clusters: ShippedClusters = field(default_factory=ShippedClusters)
    spending: BuildSpending = field(default_factory=lambda: BuildSpending(None, None, ()))
    workers: Workers | None = None
    chunk_reuse: ChunkReuse = field(default_factory=ChunkReuse)
    language: str = ""
    # The language models used so far, by name or role.
    used_chats: dict[str, CachedChat] = field(default_factory=dict)
    _engines: dict[str, Chat] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def chat(self, name: str) -> CachedChat:
        """Return the language model of a name or role, with saved replies.

        It is started only for the first request without a saved reply.
        """
        with self._lock:
            if name not in self.used_chats:
                self.used_chats[name] = CachedChat(
                    lambda: self._engine(name), self.models.weights(name), self.replies
                )
            return self.used_chats[name]

    def max_concurrent(self, name: str) -> int:
        """Return the number of parallel requests to a language model.

        It is `lanes` until the first request without a saved reply starts the model. After that, a
        model on a server sets its own number.
        """
        with self._lock:
            return getattr(self._engines.get(name), "max_concurrent", self.lanes)

    def close(self) -> None:
        """Free the memory of the engines that were started for this build."""
        with self._lock:
            for engine in self._engines.values():
                if isinstance(engine, LlamaLanes):
                    engine.close()

    def _engine(self, name: str) -> Chat:
        with self._lock:
            if name not in self._engines:
                self._engines[name] = make_concurrent_chat(self.models.chat(name), self.lanes)
            return self._engines[name]


class BuildOperator(OperatorBase):
    """A step of a build.

    Subclasses are frozen dataclasses whose fields are made by `param`. `reads` and `writes` name
    the parts of a build that it needs and makes: documents, chunks, facts, graph, communities. A
    line is refused if an operator reads a part that is not in `INITIAL_PARTS` and that no earlier
    operator writes.
    """

    stage: ClassVar[str]
    title: ClassVar[str]  # a few words for a person
    reads: ClassVar[tuple[str, ...]] = ()
    writes: ClassVar[tuple[str, ...]] = ()
    # Increased when the same parameters make another graph than in the version before, so that
    # earlier graphs count as outdated.
    edition: ClassVar[int] = 1

    def apply(self, state: BuildState, ctx: BuildContext) -> BuildState:
        """Return the state of the build after this operator.

        The result is deterministic. It does not depend on what was saved before.

        Parameters
        ----------
        state : the state of the build so far; it is not changed.
        ctx : the models, the report and the settings of the build.

        Returns
        -------
        A changed copy of the state.

        Raises
        ------
        TypeError : a subclass does not override this method.
        """
        raise TypeError(f"{type(self).__name__} does not say what it does.")

    def models(self) -> tuple[str, ...]:
        """Return the names or roles of the models that this operator uses."""
        return ()

    def chat_models(self) -> tuple[str, ...]:
        """Return the names or roles of its language models."""
        names = (getattr(self, value.name) for value in parameters(type(self)) if value.chat)
        return tuple(name for name in names if name in self.models())

    def later_cost_sentence(self) -> str:
        """Return a sentence, without full stop, on calls whose number the build itself decides.

        Their costs come on top of the estimate of `cost.estimate_cost`. Empty if there are none.
        """
        return ""

    def expected_usage(self, chunks: int) -> Usage:
        """Return a rough estimate of its language model usage, from other corpora.

        Only operators whose exact usage is unknown before the build override this. The usage of all
        others is empty.
        """
        return Usage()

    def missing_requirement(self, corpus: Corpus) -> str:
        """Return a sentence on what the corpus lacks for this operator; empty if nothing."""
        return ""

    def source_digest(self, corpus: Corpus) -> str:
        """Return the digest of the parts of a corpus that this operator reads.

        A build that begins with this operator is outdated once the digest changes.
        """
        return corpus.digest

    def uncovered_sentence(self, corpus: Corpus) -> str:
        """Return a sentence on the part of a corpus left out.

        A build by this operator leaves it out. The same sentence is shown as the reason why the
        build is outdated. Empty if the build covers the whole corpus.
        """
        return ""

    def words(self) -> str:
        """Return a short description for a person, with the most important parameters."""
        return self.title

    def __rshift__(self, other: BuildOperator | BuildLine) -> BuildLine:
        return BuildLine((self,)) >> other


@dataclass(frozen=True, repr=False, kw_only=True)
class SampledOperator(BuildOperator):
    """A building operator whose result depends on a seed.

    The same seed gives the same result again, unless a language model's server varies.
    """

    # True if the operator draws by itself. Others depend on the seed by their language model alone.
    draws: ClassVar[bool] = False

    seed: int = param(
        0, "Seed", "Another seed draws again, and asks the language model again.", low=0
    )
    temperature: float = param(
        0.0,
        "Temperature",
        "Sampling temperature of the language model; 0 takes the likeliest words.",
        low=0.0,
        high=2.0,
    )

    @property
    def sampling(self) -> dict[str, Any]:
        """Seed and temperature, as arguments of `Chat.reply`."""
        return {"seed": self.seed, "temperature": self.temperature}


@dataclass(frozen=True, repr=False)
class BuildLine(OperatorLine[BuildOperator]):
    """Building operators in sequence.

    An operator is refused in three cases:

    - It reads a part that is not in `INITIAL_PARTS` and that no operator before it writes.
    - It makes chunks, facts or a graph again, without reading those made before it.
    - It belongs to an earlier stage than an operator before it.

    Raises BadParameter if an operator is refused.
    """

    @staticmethod
    def misfit_reason(previous: Iterable[BuildOperator], operator: BuildOperator) -> str | None:
        """Return the reason why an operator cannot follow others.

        Parameters
        ----------
        previous : the operators before it, in order.
        operator : the operator.

        Returns
        -------
        A sentence; None if it can follow.
        """
        name = type(operator).__name__
        previous = tuple(previous)
        parts = set(INITIAL_PARTS).union(*(other.writes for other in previous))
        for need in operator.reads:
            if need not in parts:
                return f"{name} reads {MISSING_PART_MESSAGES[need]}."
        for part in operator.writes:
            if part in REPEATED_PART_MESSAGES and part in parts and part not in operator.reads:
                return f"{name} {REPEATED_PART_MESSAGES[part]}."
        latest = max((BUILD_STAGES.index(other.stage) for other in previous), default=0)
        if latest > BUILD_STAGES.index(operator.stage):
            return f"{name} cannot come after {LATE_STAGE_MESSAGES[BUILD_STAGES[latest]]}."
        return None

    def words(self) -> str:
        """Return a description of the line, with an arrow between operators.

        An example is "chunks of 300 tokens → noun phrases → merged by name".
        """
        return " → ".join(operator.words() for operator in self.operators)

    @property
    def editions(self) -> dict[str, int]:
        """Editions above 1, by operator name. A graph of other editions is outdated."""
        return {
            type(operator).__name__: operator.edition
            for operator in self.operators
            if operator.edition > 1
        }

    @property
    def indexes(self) -> tuple[BuildOperator, ...]:
        """The operators that make search indexes of the graph, such as vectors."""
        return tuple(operator for operator in self.operators if operator.stage == "index")

    @property
    def without_indexes(self) -> BuildLine:
        """The line without the operators of stage “index”."""
        return self.without_stage("index")

    @property
    def uses_chat_model(self) -> bool:
        """True if any operator uses a language model."""
        return any(operator.chat_models() for operator in self.operators)

    def models(self) -> tuple[str, ...]:
        """Return the names or roles of all models that the line uses, without duplicates."""
        return tuple(
            dict.fromkeys(name for operator in self.operators for name in operator.models())
        )
