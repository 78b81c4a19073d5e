"""One lane: a line of operators run on a question, sharing what neighbours have already computed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from cachetools import LRUCache

from core.comparison.dear import free
from core.comparison.lane import Lane
from core.environment import Environment
from core.graph.protocol import KnowledgeGraph
from core.operators.base import Context, Line, Operator, Recorder
from core.operators.branch import Branch
from core.operators.read import GraphReader
from core.operators.texts.answer.excerpt import NearestSentence
from core.operators.texts.built import BuiltGraph
from core.runtime.meter import HowFar
from core.runtime.weight import weight
from core.sources import Ask, Source
from core.types import State
from core.watch import NO_WATCH, Watch

Preview = Callable[[str, Callable[[], tuple[State, ...]]], None]
MOST = 128 << 20  # bytes of states that are kept for other lanes


def build_of(line: Line) -> str | None:
    """The build whose graph a line stands on; None for a line that names none, as those on graphs of triples."""
    first = line.operators[0] if len(line) else None
    return first.build if isinstance(first, BuiltGraph) else None


def mended_in(line: Line) -> bool:
    """Whether a line stands on the graph of a build with the merges that are saved for its corpus."""
    first = line.operators[0] if len(line) else None
    return isinstance(first, BuiltGraph) and first.mended


def graph_of(
    line: Line,
    source: Source,
    environment: Environment,
    watch: Watch = NO_WATCH,
    make: bool = False,
) -> KnowledgeGraph | None:
    """The graph of its own that a line stands on, opened, or with `make`
    built where that is soon done; None for a line that names none. Raises as `Source.built` does."""
    first = line.operators[0] if len(line) else None
    if not isinstance(first, BuiltGraph):
        return None
    return source.built(environment, first.build, watch, first.mended, make)


class Prefixes:
    """States by the operators that led to them: at most `size`, of at most `most` bytes together; the least recently used are forgotten.
    Safe between threads."""

    def __init__(self, size: int = 64, most: int = MOST):
        self._lock = threading.Lock()
        self._states: LRUCache[tuple, State] = LRUCache(
            most, lambda state: min(most, max(most // size, weight(state)))
        )

    def get(self, key: tuple) -> State | None:
        with self._lock:
            return self._states.get(key)

    def put(self, key: tuple, state: State) -> None:
        with self._lock:
            self._states[key] = state


class NoPrefixes(Prefixes):
    """States of a question that a single lane asks, which nobody shares: none is held."""

    def put(self, key: tuple, state: State) -> None:
        return


class Layered(Prefixes):
    """States kept apart from others, which are read as well; for runs that are only tried."""

    def __init__(self, below: Prefixes):
        super().__init__()
        self._below = below

    def get(self, key: tuple) -> State | None:
        state = super().get(key)
        return self._below.get(key) if state is None else state


@dataclass
class Progress:
    """Receivers of a running lane's news: states, pieces of text, progress, and previews for viewers.

    `preview` is given the progress in words, and a function that returns the states to show now.
    """

    watch: Watch = NO_WATCH
    reached: Callable[[State], None] = lambda state: None
    text: Callable[[str], None] = lambda piece: None
    far: Callable[[HowFar], None] = lambda far: None
    preview: Preview | None = None


def retrieving(ask: Ask, line: Line) -> list[Operator]:
    """Return the operators up to the answer, with the reader that is added to them.

    That of the graph where paths are sought; the nearest sentence where chunks are and no language
    model is asked. None where the question wants no reader or the line has one.
    """
    operators = [operator for operator in line if operator.stage != "generate"]
    if not ask.reader or any(operator.stage == "read" for operator in operators):
        return operators
    written = {name for operator in operators for name in operator.writes}
    if "paths" in written:
        parts = [part for operator in operators for part in operator.parts()]
        operators.append(GraphReader(anywhere=any(part.wanders for part in parts)))
    elif not ask.model and {"chunks", "nodes"} & written:
        operators.append(NearestSentence())
    return operators


def answer_role(line: Line) -> str | None:
    """Return the role of the model that answers at the end of a line; None where none does."""
    return next((operator.role for operator in line if operator.stage == "generate"), None)


@dataclass
class LaneRun:
    """The states after each operator of a line so far; of one that failed on the way what it had come to, where that is worth keeping."""

    ask: Ask
    line: Line
    environment: Environment
    prefixes: Prefixes = field(default_factory=Prefixes)
    states: list[State] = field(default_factory=list)
    reused: list[int] = field(default_factory=list)  # places of the states that others had computed
    seen: set = field(default_factory=set)  # what models were asked for
    stamp: str = ""  # what the operators so far said that they depend on
    own_graph: KnowledgeGraph | None = None  # the graph of its own, once that was opened
    # when each state was begun and reached, in nanoseconds since the epoch
    times: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def of(cls, lane: Lane, environment: Environment, prefixes: Prefixes | None = None) -> LaneRun:
        """A run that has come as far as a lane."""
        shared = Prefixes() if prefixes is None else prefixes
        states = list(lane.states)
        return cls(
            lane.ask, lane.line, environment, shared, states=states, own_graph=lane.own_graph
        )

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a lane that this run fills."""
        return {
            "states": tuple(self.states),
            "own_graph": self.own_graph,
            "reused": tuple(self.reused),
        }

    @property
    def graph(self) -> KnowledgeGraph:
        """The graph that the line stands on; that of the question as long as no other was opened."""
        return self.own_graph or self.ask.source.graph

    def stand(self, progress: Progress) -> None:
        """Open the graph that the line stands on, built first where that is soon done. Raises BadInput for a line on documents without a
        corpus, StoreError where it is not built."""
        if self.own_graph is None:
            self.own_graph = graph_of(
                self.line, self.ask.source, self.environment, progress.watch, make=True
            )

    def retrieve(self, progress: Progress) -> None:
        """Run everything up to the answer, with a reader where one is wanted."""
        self._run(retrieving(self.ask, self.line), progress)

    def answer(self, progress: Progress) -> None:
        """Run the language model's part; without a model only the prompt is written."""
        self._run(self._answering(), progress)

    @property
    def state(self) -> State:
        """The newest state, or the question alone."""
        return self.states[-1] if self.states else State(self.ask.question, self.ask.seeds)

    def answered(self) -> bool:
        """Whether the answer is known from before."""
        operator = next((operator for operator in self.line if operator.stage == "generate"), None)
        if operator is None:
            return False
        return (
            self.prefixes.get(
                self._key(operator, self.stamp + operator.stamp(self.graph, self.environment))
            )
            is not None
        )

    def _run(self, operators: list, progress: Progress) -> None:
        self.stand(progress)
        context = Context(
            self.graph,
            self.environment,
            self.ask.seed,
            progress.watch,
            progress.text,
            self.ask.model,
            progress.far,
            self.seen,
            self.states.append,
            whole=self.ask.whole,
        )
        waiting = list(operators)
        while waiting:
            operator = waiting.pop(0)
            # its operators run like all others, so that each has a state of its own
            if isinstance(operator, Branch):
                waiting = [*operator.arm(self.state), *waiting]
                continue
            self.stamp += operator.stamp(self.graph, self.environment)
            if operator.without_model and not self.ask.model:
                self.stamp += "without a language model"
            key, begun = self._key(operator, self.stamp), time.time_ns()
            state = self.prefixes.get(key) if operator.remembered else None
            if state is None:
                state = operator(
                    self.state, replace(context, preview=self._preview(operator, waiting, progress))
                )
                if operator.remembered:
                    if not (state.trace and state.trace[-1].unusable) and not state.partly:
                        self.prefixes.put(key, state)
                else:
                    self.stamp += operator.outcome(state)
            else:
                self.reused.append(len(self.states))
            self.states.append(state)
            self.times.append((begun, time.time_ns()))
            progress.reached(state)

    def _preview(
        self, operator, rest: list, progress: Progress
    ) -> Callable[[str, Callable[[Recorder], State]], None] | None:
        """What previews an operator at work with `rest` behind it; None where nobody looks on."""
        show, states = progress.preview, tuple(self.states)
        if show is None:
            return None
        before, after = self.state, [*rest, *self._answering()]

        def preview(text: str, so_far: Callable[[Recorder], State]) -> None:
            show(text, lambda: (*states, *self._onwards(operator.previewed(before, so_far), after)))

        return preview

    def _onwards(self, state: State, rest: list) -> Iterator[State]:
        """A state that is previewed, then those after it as far as no model is needed for them."""
        yield state
        quiet = Context(self.graph, self.environment, self.ask.seed, answering=False)
        for operator in rest:
            if not (free(operator) or operator.stage == "generate" and not self.ask.model):
                return
            state = operator(state, quiet)
            yield state

    def _answering(self) -> list:
        """The operators that answer."""
        return [operator for operator in self.line if operator.stage == "generate"]

    def _key(self, operator, stamp: str) -> tuple:
        """What the state after `operator`, run next, is known by."""
        done = tuple((step.operator, tuple(step.parameters.items())) for step in self.state.trace)
        asks = operator.stage == "generate" and self.ask.model
        return (
            self.graph.digest,
            *self.ask.key(self.environment.models.signature())[1:],
            done,
            stamp,
            repr(operator),
            asks,
        )
