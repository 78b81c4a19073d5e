"""One lane: a line of operators run on a question, sharing what neighbours have already computed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from cachetools import LRUCache

from core.environment import Environment
from core.graph.protocol import KnowledgeGraph
from core.operators.base import Context, Line
from core.operators.branch import Branch
from core.operators.read import GraphReader
from core.runtime.meter import HowFar, untold
from core.types import Question, State


@dataclass(frozen=True)
class Ask:
    """One question to one graph, as every lane gets it."""

    graph: KnowledgeGraph
    question: Question
    seeds: tuple[int, ...]
    seed: int = 0
    reader: bool = True
    model: bool = True

    def key(self, models: str) -> tuple:
        """What a computed state depends on, beside its operators."""
        return (self.graph.digest, self.question.text, self.seeds, self.seed, models)


class Prefixes:
    """States by the operators that led to them; the least recently used are forgotten. Safe between threads."""

    def __init__(self, size: int = 64):
        self._lock = threading.Lock()
        self._states: LRUCache[tuple, State] = LRUCache(size)

    def get(self, key: tuple) -> State | None:
        with self._lock:
            return self._states.get(key)

    def put(self, key: tuple, state: State) -> None:
        with self._lock:
            self._states[key] = state


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
    """What a lane tells while it runs: `advanced(text, fraction)`, `reached(state)`, `text(piece)`, `far(how far)`."""

    advanced: Callable[[str, float | None], None] = untold
    reached: Callable[[State], None] = lambda state: None
    text: Callable[[str], None] = lambda piece: None
    check: Callable[[], None] = lambda: None
    far: Callable[[HowFar], None] = lambda far: None


@dataclass
class LaneRun:
    """The states after each operator of a line so far."""

    ask: Ask
    line: Line
    environment: Environment
    prefixes: Prefixes = field(default_factory=Prefixes)
    states: list[State] = field(default_factory=list)
    reused: list[int] = field(default_factory=list)  # places of the states that others had computed
    seen: set = field(default_factory=set)  # what models were asked for
    stamp: str = ""  # what the operators so far said that they depend on

    def retrieve(self, progress: Progress) -> None:
        """Run everything up to the answer, then the graph reader where it is wanted and paths were sought."""
        operators = [operator for operator in self.line if operator.stage != "generate"]
        if self.ask.reader and any("paths" in o.writes for o in operators) and not any(o.stage == "read" for o in operators):
            operators.append(GraphReader())
        self._run(operators, progress)

    def answer(self, progress: Progress) -> None:
        """Run the language model's part; without a model only the prompt is written."""
        self._run([operator for operator in self.line if operator.stage == "generate"], progress)

    @property
    def state(self) -> State:
        """The newest state, or the question alone."""
        return self.states[-1] if self.states else State(self.ask.question, self.ask.seeds)

    def answered(self) -> bool:
        """Whether the answer is known from before."""
        operator = next((operator for operator in self.line if operator.stage == "generate"), None)
        if operator is None:
            return False
        return self.prefixes.get(self._key(operator, self.stamp + operator.stamp(self.ask.graph, self.environment))) is not None

    def _run(self, operators: list, progress: Progress) -> None:
        context = Context(
            self.ask.graph,
            self.environment,
            self.ask.seed,
            progress.check,
            progress.advanced,
            progress.text,
            self.ask.model,
            progress.far,
            self.seen,
        )
        waiting = list(operators)
        while waiting:
            operator = waiting.pop(0)
            if isinstance(operator, Branch):  # its operators run like all others, so that each has a state of its own
                waiting = [*operator.arm(self.state), *waiting]
                continue
            self.stamp += operator.stamp(self.ask.graph, self.environment)
            key = self._key(operator, self.stamp)
            state = self.prefixes.get(key) if operator.remembered else None
            if state is None:
                state = operator(self.state, context)
                if operator.remembered:
                    self.prefixes.put(key, state)
                else:
                    self.stamp += operator.outcome(state)
            else:
                self.reused.append(len(self.states))
            self.states.append(state)
            progress.reached(state)

    def _key(self, operator, stamp: str) -> tuple:
        """What the state after `operator`, run next, is known by."""
        done = tuple((step.operator, tuple(step.parameters.items())) for step in self.state.trace)
        asks = operator.stage == "generate" and self.ask.model
        return (*self.ask.key(self.environment.models.signature()), done, stamp, repr(operator), asks)
