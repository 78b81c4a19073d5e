"""Operators, their declared parameters, and lines of operators (`a >> b`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from core.environment import Environment
from core.errors import HopscopeError
from core.lines import OperatorLine
from core.models.base import Choice, Models, Reply
from core.models.reading import counted
from core.models.words import plain_name
from core.operators.languages import notes_on_language
from core.parameters import Declared, values
from core.runtime.meter import HowFar, Meter, metered
from core.types import Frame, Ranking, State, Step, Usage
from core.watch import NO_WATCH, Watch

MOST_TEXTS = 200_000  # that a model is given at once; far above any subgraph of usual size
STAGES = ("graph", "convert", "extract", "filter", "retrieve", "refine", "read", "generate")
NODES = re.compile(r"\b(entities|nodes)\b")
SHOWN_FROM = 0.001  # seconds from which on a preparation is told
DIRECTIONS = ("graph", "out", "in", "both")


class Recorder:
    """Gathers what an operator wants told of its work; becomes a `Step`."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.notes: list[
            str | Callable[[], str]
        ] = []  # a function where it is to be worded only if it is told
        self.frames: list[Frame] = []
        self.before_cut: Ranking | None = None
        self.partly = ""  # how much of what is searched was there, where that was not all
        self.fault = ""  # why the last reply was blank or cut, where one was
        self.sizes: dict[str, int] = {}  # beside those of what the operator writes
        self.so_far: State | None = (
            None  # what is worth keeping where the operator fails on the way
        )

    def include(self, part: Recorder) -> None:
        """Take what an operator within this one spent and noted, and why its last reply was blank or cut."""
        self.usage += part.usage
        self.notes += part.notes
        self.partly = part.partly or self.partly
        self.fault = part.fault or self.fault

    def replied(self, reply: Reply, what: str = "reply") -> Reply:
        """Take the cost of a language model's reply, and a note where it is blank or cut; hands it back."""
        self.usage += Usage(1, reply.tokens_in, reply.tokens_out)
        fault = reply.fault(what)
        if fault and reply.finish != "unreadable":
            self.fault = fault
            self.notes += [fault] if fault not in self.notes else []
        return reply

    def choice(self, choice: Choice) -> Choice:
        """Take the cost and the notes of a choice; hands it back."""
        self.usage += choice.usage
        self.notes += [note for note in choice.notes if note not in self.notes]
        return choice


@dataclass(frozen=True)
class Context:
    """What operators work with beside the state: graph, environment, the seed, and how to tell of progress or stop.

    `watch` raises Cancelled where the person cancelled, and says what is being done;
    `far` hears how far a ranking or a prompt is; `on_text` receives the answer as it is written; `partly` the state that an operator
    which fails had come to; `preview` how far an operator at work is, in words, and what gives the state that it has so far, where
    somebody looks on. With `answering` off, language models are not asked for answers; where not `whole`, vectors that are still being
    made are searched as far as they are there.
    """

    graph: Any
    environment: Environment
    seed: int = 0
    watch: Watch = NO_WATCH
    on_text: Callable[[str], None] = lambda text: None
    answering: bool = True
    far: Callable[[HowFar], None] = lambda far: None
    # what models were asked for in this run
    seen: set = field(default_factory=set, repr=False, compare=False)
    partly: Callable[[State], None] = lambda state: None
    preview: Callable[[str, Callable[[Recorder], State]], None] | None = None
    whole: bool = True

    @property
    def models(self) -> Models:
        """The models of the environment."""
        return self.environment.models

    def while_scored(
        self,
        number: int,
        unit: str,
        state: Callable[[Recorder, np.ndarray, np.ndarray], State],
        where: str = "",
    ) -> Callable[[np.ndarray, np.ndarray], None] | None:
        """What previews a ranking of `number` candidates of a kind, as `Task.preview`; None where nobody looks on.

        `state(recorder, positions, scores)` gives what the operator would come to with the candidates scored so far. Where a part of them
        is scored once more, as by a dearer model, nothing is shown until it is more than was scored before.
        """
        preview, most = self.preview, 0
        if preview is None:
            return None

        def scored(positions: np.ndarray, scores: np.ndarray) -> None:
            nonlocal most
            if most < len(positions):
                most = len(positions)
                preview(
                    f"{where}{most:,} of {counted(number, unit)} read",
                    lambda recorder: state(recorder, positions, scores),
                )

        return scored

    def rng(self, question: str, operator: Operator) -> np.random.Generator:
        """Random numbers that depend only on the seed, the question and the operator."""
        import hashlib

        digest = hashlib.sha256(f"{self.seed}\n{question}\n{operator!r}".encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:8], "big"))


class Operator(Declared):
    """A step of a retrieval line. Subclasses are frozen dataclasses whose fields are made by `param`.

    `reads` and `writes` name fields of `State`; a line in which nobody wrote what is read is refused.
    """

    stage: ClassVar[str]
    title: ClassVar[str]  # a few words for a person
    plain: ClassVar[str | None] = (
        None  # what it does in everyday words, with its parameters in braces; empty for what need not be said
    )
    called_nodes: str = (
        ""  # what the nodes of the graph are that it says to stand on, where they are no entities
    )
    reads: ClassVar[tuple[str, ...]] = ()
    reads_any: ClassVar[tuple[str, ...]] = ()  # fields of which one is enough
    writes: ClassVar[tuple[str, ...]] = ()
    wanders: ClassVar[bool] = (
        False  # whether its paths are led to no end, so that an answer may lie anywhere on them
    )
    without_model: ClassVar[bool] = (
        False  # whether it does something else where no language model is to be asked
    )
    on_documents: ClassVar[bool] = (
        False  # whether it is asked of the documents of a corpus without naming a graph of them
    )
    remembered: ClassVar[bool] = (
        True  # whether what came of it may be taken from an earlier run of the same question
    )

    def __call__(self, state: State, ctx: Context) -> State:
        """The state after this operator, with one more step in its trace."""
        ctx.watch.check()
        recorder, start = Recorder(), ctx.environment.clock()
        if not state.trace and (fetched := getattr(ctx.graph, "fetched", None)) is not None:
            recorder.notes.append(fetched.text)
        recorder.notes += notes_on_language(
            [self], ctx.graph, ctx.environment.models, state.question.text
        )
        try:
            with metered(ctx.far, ctx.seen) as meter:
                after = self.apply(state, ctx, recorder)
        except HopscopeError:
            if recorder.so_far is not None:
                ctx.partly(
                    self._with_step(
                        recorder.so_far,
                        state.trace,
                        recorder,
                        meter,
                        ctx.environment.clock() - start,
                    )
                )
            raise
        return self._with_step(after, state.trace, recorder, meter, ctx.environment.clock() - start)

    def previewed(self, before: State, so_far: Callable[[Recorder], State]) -> State:
        """The state that this operator has so far on its way from `before`, with a step in its trace that took no time."""
        recorder = Recorder()
        return self._with_step(so_far(recorder), before.trace, recorder, Meter(), 0.0)

    def _with_step(
        self,
        after: State,
        trace: tuple[Step, ...],
        recorder: Recorder,
        meter: Meter,
        seconds: float,
    ) -> State:
        """The state that came out, with this operator's step behind those of the trace."""
        step = Step(
            type(self).__name__,
            self.stage,
            self.recorded(),
            usage=recorder.usage,
            sizes=sizes(after, self.writes) | recorder.sizes,
            notes=(
                *(note if isinstance(note, str) else note() for note in recorder.notes),
                *meter.notes,
            ),
            frames=tuple(recorder.frames),
            before_cut=recorder.before_cut,
            thoughts=tuple(meter.thoughts),
            unusable=meter.unusable,
            fault=recorder.fault,
            partly=recorder.partly,
            warnings=tuple(meter.notes),
            **_times(meter, seconds),
        )
        return after.replace(trace=(*trace, step))

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        """The work itself."""
        raise TypeError(f"{type(self).__name__} does not say what it does.")

    def recorded(self) -> Mapping[str, Any]:
        """What its step tells of it, which is all that its outcome depends on: its parameters."""
        return values(self)

    def parts(self) -> tuple[Operator, ...]:
        """The operators that may run in this one's place: itself, those of a branch's arms, or those that a loop repeats."""
        return (self,)

    def stamp(self, graph: Any, environment: Environment) -> str:
        """What the outcome depends on beside the state, the graph and the models, as a text; most depend on nothing else."""
        return ""

    def outcome(self, state: State) -> str:
        """What came of it as a text, for one that is not remembered: what follows depends on that."""
        return ""

    def words(self) -> str:
        """This operator in a few words, with the parameters that matter."""
        return self.title

    def plain_words(self) -> str:
        """What it does, for who knows no term of the field: "takes 1,000 nodes around the entities"; empty for what need not be said."""
        if self.plain is None:
            return self.words()
        given: dict[str, Any] = dict(values(self))
        if "{by" in self.plain:
            whom = plain_name(given["model"])
            given |= {"by": "at random" if whom == "lot" else f"by {whom}", "by_whom": whom}
        return self.plain.format(**given)

    def __rshift__(self, other: Operator | Line) -> Line:
        return Line((self,)) >> other


def _times(meter: Meter, whole: float) -> dict[str, Any]:
    """The fields of a step that tell its seconds."""
    waiting = meter.seconds.get("waiting", 0.0)
    prepared = tuple(
        (label, round(seconds, 6))
        for label, seconds in meter.prepared.items()
        if seconds >= SHOWN_FROM
    )
    ranking, model = meter.seconds.get("ranking", 0.0), meter.seconds.get("model", 0.0)
    own = max(ranking + model, whole - waiting - sum(meter.prepared.values()))
    each = dict(seconds=own, ranking=ranking, model=model, waiting=waiting, saved=meter.saved)
    return {name: round(seconds, 6) for name, seconds in each.items()} | {"prepared": prepared}


@dataclass(frozen=True, repr=False)
class Line(OperatorLine[Operator]):
    """Operators one after the other; refuses an order in which something is read that nobody wrote."""

    @staticmethod
    def unfit(before: Iterable[Operator], operator: Operator) -> str | None:
        return unfit(before, operator)

    def words(self) -> str:
        """The line in words: `PageRank 1,000 → shortest paths → best 32 by encoder`; the answer only where it stands alone."""
        shown = self.without("generate").operators or self.operators
        return self._with_nodes(" → ".join(operator.words() for operator in shown))

    def plain_words(self) -> str:
        """What the line does in everyday words: `Takes 1,000 nodes around the entities, then finds the shortest paths.`"""
        shown = self.without("generate")
        said = [words for operator in shown if (words := operator.plain_words())]
        if all(operator.stage == "graph" for operator in shown):
            said = ["answers from the question alone"]
        sentence = said[0] if len(said) == 1 else f"{', '.join(said[:-1])}, then {said[-1]}"
        return self._with_nodes(f"{sentence[0].upper()}{sentence[1:]}.")

    def _with_nodes(self, text: str) -> str:
        """The text with what the nodes of the graph are, where they are no entities."""
        nodes = next(
            (operator.called_nodes for operator in self.operators if operator.stage == "graph"), ""
        )
        return NODES.sub(nodes, text) if nodes else text

    def parts(self) -> tuple[Operator, ...]:
        """Every operator that may run, those of branches included."""
        return tuple(part for operator in self.operators for part in operator.parts())


GIVEN = ("question", "seeds")
NEED = {
    "hops": "a number of hops, and nothing before it predicts one",
    "subgraph": "a subgraph, and nothing before it extracts one",
    "paths": "paths, and nothing before it finds any",
    "reports": "community reports, and nothing before it fetches any",
    "vector": "the question's vector, and nothing before it makes one",
    "names": "the question's names, and nothing before it finds any",
    "keywords": "the question's keywords, and nothing before it finds any",
    "linked": "linked names, and nothing before it links any",
    "nodes": "entities, and nothing before it finds any",
    "relations": "relations, and nothing before it finds any",
    "chunks": "chunks, and nothing before it finds any",
    "communities": "communities, and nothing before it finds any",
    "points": "points, and nothing before it notes any",
    "waiting": "hits set aside, and nothing before it sets any aside",
}


def needs(operators: Iterable[Operator]) -> tuple[str, ...]:
    """The fields of a state that operators one after the other read and that none before wrote, in the order of reading."""
    found: dict[str, None] = {}
    written: set[str] = set()
    for operator in operators:
        found |= dict.fromkeys(need for need in operator.reads if need not in written)
        written.update(operator.writes)
    return tuple(found)


# the rankings of a state by kind of hit, on a graph made of texts
HITS = ("nodes", "relations", "chunks", "communities")


def unfit(before: Iterable[Operator], operator: Operator) -> str | None:
    """Why `operator` cannot follow `before`, in a sentence; None where it can."""
    before = tuple(before)
    name = type(operator).__name__
    if any(other.stage == "generate" for other in before):
        return f"{name} cannot come after the answer was generated."
    if before and operator.stage == "graph":
        return f"{name} says on which graph the line stands, and must come first."
    written = set(GIVEN).union(*(other.writes for other in before)) if before else set(GIVEN)
    for need in operator.reads:
        if need not in written:
            return f"{name} reads {NEED[need]}."
    if operator.reads_any and not written.intersection(operator.reads_any):
        return f"{name} reads {' or '.join(operator.reads_any)}, and nothing before it finds any."
    return None


def sizes(state: State, writes: Iterable[str]) -> dict[str, int]:
    """How much an operator left behind: nodes and edges of the subgraph, number of hops, of paths, of reports and of hits."""
    found: dict[str, int] = {}
    if "subgraph" in writes and state.subgraph is not None:
        found |= {"nodes": len(state.subgraph.nodes), "edges": len(state.subgraph.edges)}
    if "hops" in writes and state.hops is not None:
        found["hops"] = state.hops
    if "paths" in writes and state.paths is not None:
        found["paths"] = len(state.paths)
    if "reports" in writes and state.reports is not None:
        found["reports"] = len(state.reports)
    hits = {
        "entities" if name == "nodes" else name: getattr(state, name)
        for name in HITS
        if name in writes
    }
    return found | {name: len(ranking) for name, ranking in hits.items() if ranking is not None}
