"""One lane's run on a question, which reuses states that other runs have computed.

Lines that begin with the same operators have the same states so far. These are cached by this
prefix of the line, so the lanes of a comparison compute them once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from cachetools import LRUCache

from core.comparison.consent import is_free_reader
from core.comparison.lane import MethodLane
from core.environment import Environment
from core.graph.protocol import KnowledgeGraph
from core.operators.base import Context, Line, Operator, Recorder
from core.operators.branch import Branch
from core.operators.read import GraphReader
from core.operators.texts.answer.excerpt import NearestSentence
from core.operators.texts.built_graph import BuiltGraph
from core.runtime.memory import memory_bytes
from core.runtime.meter import ProgressReport
from core.sources import AnswerSource, SourceQuestion
from core.types import State
from core.watch import NO_WATCH, Watch

ShowPreview = Callable[[str, Callable[[], tuple[State, ...]]], None]
MAX_STATE_BYTES = 128 << 20  # of the states that are cached for reuse


def _graph_operator(line: Line) -> BuiltGraph | None:
    """Return the operator that names a line's graph.

    It is the first operator. None if the line names no graph.
    """
    first = line.operators[0] if len(line) else None
    return first if isinstance(first, BuiltGraph) else None


def build_of(line: Line) -> str | None:
    """Return the build or the kind of graph that a line names.

    The result is None for a line on a graph of triples.
    """
    operator = _graph_operator(line)
    return None if operator is None else operator.build


def uses_mended_graph(line: Line) -> bool:
    """Return whether a line uses the user's merges of entities.

    It then runs on a built graph with these merges.
    """
    operator = _graph_operator(line)
    return operator is not None and operator.mended


def open_lane_graph(
    line: Line,
    source: AnswerSource,
    environment: Environment,
    watch: Watch = NO_WATCH,
    make: bool = False,
) -> KnowledgeGraph | None:
    """Open the graph that a line names; None for a line that names none.

    With `make`, a missing graph is built if that is quick. Raises as `AnswerSource.open_build`
    does.
    """
    operator = _graph_operator(line)
    if operator is None:
        return None
    return source.open_build(environment, operator.build, watch, operator.mended, make)


class PrefixCache:
    """A cache of states by the operators that led to them, safe between threads.

    It holds at most `size` states, of at most `max_bytes` bytes together. The least recently used
    states are removed.
    """

    def __init__(self, size: int = 64, max_bytes: int = MAX_STATE_BYTES):
        self._lock = threading.Lock()
        # Each state counts as a share of 1 / size at least, so the limit of bytes is also one of
        # states. A state that alone exceeds the limit counts as the limit.
        self._states: LRUCache[tuple, State] = LRUCache(
            max_bytes, lambda state: min(max_bytes, max(max_bytes // size, memory_bytes(state)))
        )

    def get(self, key: tuple) -> State | None:
        with self._lock:
            return self._states.get(key)

    def put(self, key: tuple, state: State) -> None:
        with self._lock:
            self._states[key] = state


class NoPrefixCache(PrefixCache):
    """A cache that stores nothing, for a question with a single lane."""

    def put(self, key: tuple, state: State) -> None:
        return


class LayeredPrefixCache(PrefixCache):
    """A cache for trial runs, on top of another cache that is only read."""

    def __init__(self, base: PrefixCache):
        super().__init__()
        self._base = base

    def get(self, key: tuple) -> State | None:
        state = super().get(key)
        return self._base.get(key) if state is None else state


@dataclass
class LaneListener:
    """Functions that a running lane calls.

    Parameters
    ----------
    watch : receives the progress, and can cancel the run.
    on_state : receives each state.
    on_text : receives each piece of the model's answer.
    on_progress : receives the progress of a ranking or a prompt, as a fraction and seconds.
    show_preview : receives the progress in words, and a function that returns the states to show.
        None if no previews are wanted.
    """

    watch: Watch = NO_WATCH
    on_state: Callable[[State], None] = lambda state: None
    on_text: Callable[[str], None] = lambda piece: None
    on_progress: Callable[[ProgressReport], None] = lambda progress: None
    show_preview: ShowPreview | None = None


def retrieval_operators(ask: SourceQuestion, line: Line) -> list[Operator]:
    """Return the operators before the answer.

    A reader is added if the question asks for one. It names the answer from the retrieved items
    without a language model.

    If the operators write paths, the graph reader is added. If they write chunks or nodes and no
    language model is asked, the nearest sentence is added. Nothing is added if the question asks
    for no reader or the line has one.
    """
    operators = [operator for operator in line if operator.stage != "generate"]
    if not ask.uses_reader or any(operator.stage == "read" for operator in operators):
        return operators
    fields = set(chain.from_iterable(operator.writes for operator in operators))
    if "paths" in fields:
        # Paths of operators that wander have no target, so any of their nodes may be the answer.
        parts = chain.from_iterable([operator.parts() for operator in operators])
        operators.append(GraphReader(anywhere=any(part.has_untargeted_paths for part in parts)))
    elif not ask.uses_model and {"chunks", "nodes"} & fields:
        operators.append(NearestSentence())
    return operators


def answer_role(line: Line) -> str | None:
    """Return the role of the model that answers.

    None if the line has no model for it.
    """
    return next((operator.role for operator in line if operator.stage == "generate"), None)


@dataclass
class LaneRun:
    """The run of a line on a question, with the states so far.

    An operator that fails may add the state that it had reached.
    """

    ask: SourceQuestion
    line: Line
    environment: Environment
    prefixes: PrefixCache = field(default_factory=PrefixCache)
    states: list[State] = field(default_factory=list)
    reused: list[int] = field(default_factory=list)  # indices of the states from the cache
    seen_requests: set = field(default_factory=set)  # requests to models so far
    stamp: str = ""  # versions of the data and models that the operators so far depend on
    own_graph: KnowledgeGraph | None = None  # the graph that the line names, once it is opened
    # Begin and end of each operator, in nanoseconds since the epoch.
    times: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def continue_lane(
        cls, lane: MethodLane, environment: Environment, prefixes: PrefixCache | None = None
    ) -> LaneRun:
        """Return a run that continues from the states of a lane."""
        shared = PrefixCache() if prefixes is None else prefixes
        states = list(lane.states)
        return cls(
            lane.ask, lane.line, environment, shared, states=states, own_graph=lane.own_graph
        )

    @property
    def lane_fields(self) -> dict[str, Any]:
        """The fields of a lane that this run fills."""
        return {
            "states": tuple(self.states),
            "own_graph": self.own_graph,
            "reused": tuple(self.reused),
        }

    @property
    def graph(self) -> KnowledgeGraph:
        """The graph that the line names, or the question's graph until it is opened."""
        return self.own_graph or self.ask.source.graph

    def open_own_graph(self, listener: LaneListener) -> None:
        """Open the graph that the line names, or build it if that is quick.

        Raises BadInput for a line on documents without a corpus, StoreError if the graph is not
        built.
        """
        if self.own_graph is None:
            self.own_graph = open_lane_graph(
                self.line, self.ask.source, self.environment, listener.watch, make=True
            )

    def retrieve(self, listener: LaneListener) -> None:
        """Run all operators before the answer, with the reader that the question asks for."""
        self._run(retrieval_operators(self.ask, self.line), listener)

    def answer(self, listener: LaneListener) -> None:
        """Run the operators that answer; without a model they only write the prompt."""
        self._run(self._answer_operators(), listener)

    @property
    def state(self) -> State:
        """The newest state, or the question alone."""
        return self.states[-1] if self.states else State(self.ask.question, self.ask.seeds)

    def is_answer_cached(self) -> bool:
        """Return whether the answer is in the cache."""
        operator = next((operator for operator in self.line if operator.stage == "generate"), None)
        if operator is None:
            return False
        stamp = self.stamp + operator.stamp(self.graph, self.environment)
        return self.prefixes.get(self._key(operator, stamp)) is not None

    def _run(self, operators: list, listener: LaneListener) -> None:
        self.open_own_graph(listener)
        context = Context(
            self.graph,
            self.environment,
            self.ask.seed,
            listener.watch,
            listener.on_text,
            self.ask.uses_model,
            listener.on_progress,
            self.seen_requests,
            self.states.append,  # receives the last state of an operator that fails
            waits_for_vectors=self.ask.waits_for_vectors,
        )
        waiting = list(operators)
        while waiting:
            operator = waiting.pop(0)
            # The operators of the chosen arm run like all others, so each has a state of its own.
            if isinstance(operator, Branch):
                waiting = [*operator.choose_arm(self.state), *waiting]
                continue
            self.stamp += operator.stamp(self.graph, self.environment)
            if operator.without_model and not self.ask.uses_model:
                self.stamp += "without a language model"
            started_at = time.time_ns()
            preview = self._make_preview(operator, waiting, listener)
            state = self._next_state(operator, replace(context, preview=preview))
            self.states.append(state)
            self.times.append((started_at, time.time_ns()))
            listener.on_state(state)

    def _next_state(self, operator: Operator, context: Context) -> State:
        """Return the state after an operator, from the cache if possible."""
        key = self._key(operator, self.stamp)
        cached_state = self.prefixes.get(key) if operator.is_reusable else None
        if cached_state is not None:
            self.reused.append(len(self.states))
            return cached_state
        state = operator(self.state, context)
        if not operator.is_reusable:
            # The keys of the later states contain its result, since it is computed again each time.
            self.stamp += operator.outcome(state)
        # A state with an unusable reply, or with a part of the data, is not cached: another run may
        # get a usable reply, or search all data.
        elif not (state.trace and state.trace[-1].unusable) and not state.partly:
            self.prefixes.put(key, state)
        return state

    def _make_preview(
        self, operator, later: list, listener: LaneListener
    ) -> Callable[[str, Callable[[Recorder], State]], None] | None:
        """Return the function that previews an operator; None if no previews are wanted.

        `later` are the operators between it and those that answer.
        """
        show, states = listener.show_preview, tuple(self.states)
        if show is None:
            return None
        state, rest = self.state, [*later, *self._answer_operators()]

        def preview(text: str, record: Callable[[Recorder], State]) -> None:
            def make_states() -> tuple[State, ...]:
                previewed = operator.preview_state(state, record)
                return (*states, *self._continue_without_model(previewed, rest))

            show(text, make_states)

        return preview

    def continue_without_model(self) -> tuple[State, ...]:
        """Return the next states that need no model, such as the prompt.

        They follow the newest state.
        """
        return tuple(self._continue_without_model(self.state, self._answer_operators()))[1:]

    def _continue_without_model(self, state: State, rest: list) -> Iterator[State]:
        """Yield a state and those after it, without a model.

        They end before the first operator that needs a model. Operators other than readers and
        prompts also end them, since they may take long.
        """
        yield state
        context = Context(self.graph, self.environment, self.ask.seed, answering=False)
        for operator in rest:
            writes_prompt = operator.stage == "generate" and not self.ask.uses_model
            if not writes_prompt and not is_free_reader(operator):
                return
            state = operator(state, context)
            yield state

    def _answer_operators(self) -> list:
        """Return the operators that answer."""
        return [operator for operator in self.line if operator.stage == "generate"]

    def _key(self, operator, stamp: str) -> tuple:
        """Return the cache key of the state after `operator`, if it runs next."""
        steps = tuple((step.operator, tuple(step.parameters.items())) for step in self.state.trace)
        asks_model = operator.stage == "generate" and self.ask.uses_model
        return (
            self.graph.digest,
            # Without the digest of the question's graph, as the line may name another graph.
            *self.ask.key(self.environment.models.signature())[1:],
            steps,
            stamp,
            repr(operator),
            asks_model,
        )
