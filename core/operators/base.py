"""Base classes of operators and of lines of operators (`a >> b`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from core.environment import Environment
from core.errors import HopscopeError
from core.lines import OperatorLine
from core.models.base import ChatReply, Choice, Models
from core.models.chooser_names import plain_name
from core.models.reading_order import format_count
from core.operators.languages import notes_on_language
from core.parameters import OperatorBase, parameter_values
from core.runtime.meter import Meter, ProgressReport, metered
from core.types import Frame, Ranking, State, Step, Usage
from core.watch import NO_WATCH, Watch

MAX_TEXTS = 200_000  # texts that a model is given at once; far above usual subgraphs
RETRIEVAL_STAGES = (
    "graph",
    "convert",
    "extract",
    "filter",
    "retrieve",
    "refine",
    "read",
    "generate",
)
NODE_WORD_PATTERN = re.compile(r"\b(entities|nodes)\b")
MIN_PREPARATION_SECONDS = 0.001  # seconds; shorter preparations are not recorded
DIRECTIONS = ("graph", "out", "in", "both")


class Recorder:
    """Notes, costs and frames of an operator at work; they become its `Step`."""

    def __init__(self) -> None:
        self.usage = Usage()
        # a function is called only when the step is made
        self.notes: list[str | Callable[[], str]] = []
        self.frames: list[Frame] = []
        self.before_cut: Ranking | None = None
        self.partly = ""  # how much of the searched data was there, if not all
        self.fault = ""  # why the last reply was blank or cut
        self.sizes: dict[str, int] = {}  # added to the sizes of what the operator writes
        # a state that is worth keeping if the operator fails later
        self.so_far: State | None = None

    def include(self, part: Recorder) -> None:
        """Add the costs, notes and last fault of an operator within this one.

        Parameters
        ----------
        part
            The record of the inner operator.
        """
        self.usage += part.usage
        self.notes += part.notes
        self.partly = part.partly or self.partly
        self.fault = part.fault or self.fault

    def replied(self, reply: ChatReply, what: str = "reply") -> ChatReply:
        """Record the cost and faults of a language model's reply.

        Parameters
        ----------
        reply
            The reply.
        what
            Words for the reply in notes.

        Returns
        -------
        ChatReply
            The same reply.
        """
        self.usage += Usage(1, reply.tokens_in, reply.tokens_out)
        fault = reply.fault(what)
        if fault and reply.finish != "unreadable":
            self.fault = fault
            self.notes += [fault] if fault not in self.notes else []
        return reply

    def choice(self, choice: Choice) -> Choice:
        """Record the cost and the notes of a choice.

        Parameters
        ----------
        choice
            The choice of a model.

        Returns
        -------
        Choice
            The same choice.
        """
        self.usage += choice.usage
        self.notes += [note for note in choice.notes if note not in self.notes]
        return choice


@dataclass(frozen=True)
class Context:
    """Everything that operators work with apart from the state.

    Attributes
    ----------
    seed
        Seed of all random numbers.
    watch
        Receives what is being done. It raises RunCancelled if the person cancelled.
    on_text
        Receives the answer while it is written.
    answering
        False if language models must not be asked for answers.
    far
        Receives the progress of a ranking or a prompt.
    partly
        Receives the last state of an operator that fails.
    preview
        Receives the progress of a working operator in words, and a function that returns its state
        so far. None if nobody is watching.
    whole
        False if a search may use vectors that are not all made yet.
    """

    graph: Any
    environment: Environment
    seed: int = 0
    watch: Watch = NO_WATCH
    on_text: Callable[[str], None] = lambda text: None
    answering: bool = True
    far: Callable[[ProgressReport], None] = lambda far: None
    # models that were asked in this run, with what they were asked for
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
        """Return a callback that previews a ranking of `number` candidates, for `Task.preview`.

        A part of the candidates may be scored again, as by a more expensive model. Then nothing is
        shown until more candidates are scored than before.

        Parameters
        ----------
        number
            Number of candidates.
        unit
            Word for one candidate, such as "path".
        state
            Takes a recorder, the positions of the scored candidates and their scores. It returns
            the state that the operator would reach with these candidates alone.
        where
            Text before the progress.

        Returns
        -------
        Callable[[np.ndarray, np.ndarray], None] | None
            The callback, or None if nobody is watching.
        """
        preview, most = self.preview, 0
        if preview is None:
            return None

        def scored(positions: np.ndarray, scores: np.ndarray) -> None:
            nonlocal most
            if most < len(positions):
                most = len(positions)
                preview(
                    f"{where}{most:,} of {format_count(number, unit)} read",
                    lambda recorder: state(recorder, positions, scores),
                )

        return scored

    def rng(self, question: str, operator: Operator) -> np.random.Generator:
        """Return a random generator that depends on the seed, the question and the operator.

        Parameters
        ----------
        question
            Text of the question.
        operator
            The operator that draws, with its parameters.

        Returns
        -------
        np.random.Generator
            A generator that gives the same numbers in every process.
        """
        import hashlib

        digest = hashlib.sha256(f"{self.seed}\n{question}\n{operator!r}".encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:8], "big"))


class Operator(OperatorBase):
    """A step of a retrieval line.

    Subclasses are frozen dataclasses whose fields are made by `param`. `reads` and `writes` name
    fields of `State`. A line is refused if an operator reads a field that none before it writes.
    """

    stage: ClassVar[str]
    title: ClassVar[str]  # a few words for a person
    # everyday words with the parameters in braces; empty for a step that need not be told
    plain: ClassVar[str | None] = None
    # word for the nodes of the graph that the operator builds on, if they are no entities
    called_nodes: str = ""
    reads: ClassVar[tuple[str, ...]] = ()
    reads_any: ClassVar[tuple[str, ...]] = ()  # fields of which one is enough
    writes: ClassVar[tuple[str, ...]] = ()
    # True if its paths have no target, so that an answer may lie anywhere on them
    wanders: ClassVar[bool] = False
    # True if it does something else when no language model may be asked
    without_model: ClassVar[bool] = False
    # True if it searches the documents of a corpus without naming a graph of them
    on_documents: ClassVar[bool] = False
    # True if its result may be taken from an earlier run of the same question
    remembered: ClassVar[bool] = True

    def __call__(self, state: State, ctx: Context) -> State:
        """Return the state after this operator, with one more step in its trace."""
        ctx.watch.check()
        recorder, start = Recorder(), ctx.environment.clock()
        if not state.trace and (fetched := getattr(ctx.graph, "fetched", None)) is not None:
            recorder.notes.append(fetched.text)
        recorder.notes += notes_on_language(
            [self], ctx.graph, ctx.environment.models, state.question.text
        )
        try:
            with metered(ctx.far, ctx.seen) as meter:
                result = self.apply(state, ctx, recorder)
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
        return self._with_step(
            result, state.trace, recorder, meter, ctx.environment.clock() - start
        )

    def previewed(self, state: State, make_state: Callable[[Recorder], State]) -> State:
        """Return the state so far, with a step in its trace that took no time.

        Parameters
        ----------
        before
            The state before this operator.
        so_far
            Takes a recorder and returns the state that is reached so far.

        Returns
        -------
        State
            The state so far, with the additional step.
        """
        recorder = Recorder()
        return self._with_step(make_state(recorder), state.trace, recorder, Meter(), 0.0)

    def _with_step(
        self,
        state: State,
        trace: tuple[Step, ...],
        recorder: Recorder,
        meter: Meter,
        seconds: float,
    ) -> State:
        """Return the resulting state with this operator's step added to the trace."""
        step = Step(
            type(self).__name__,
            self.stage,
            self.recorded(),
            usage=recorder.usage,
            sizes=field_sizes(state, self.writes) | recorder.sizes,
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
            **_step_seconds(meter, seconds),
        )
        return state.replace(trace=(*trace, step))

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        """Do the work of the operator; each subclass overrides it.

        Parameters
        ----------
        state
            The state before this operator; it is not changed.
        ctx
            The graph, the models and everything else outside the state.
        recorder
            Receives costs, notes and frames.

        Returns
        -------
        State
            A changed copy of the state.

        Raises
        ------
        TypeError
            A subclass does not override this method.
        """
        raise TypeError(f"{type(self).__name__} does not say what it does.")

    def recorded(self) -> Mapping[str, Any]:
        """Return the settings on which the result depends, for the step: the parameters."""
        return parameter_values(self)

    def parts(self) -> tuple[Operator, ...]:
        """Return the operators that may run for this one.

        These are the operator itself, those of a branch's arms, or those that a loop repeats.
        """
        return (self,)

    def stamp(self, graph: Any, environment: Environment) -> str:
        """Return as text what else the result depends on.

        State, graph and models are not included. It is empty for most operators.

        Parameters
        ----------
        graph
            The graph that the line runs on.
        environment
            The models, stores and settings of the engine.

        Returns
        -------
        str
            Text for cache keys; empty if the result depends on nothing else.
        """
        return ""

    def outcome(self, state: State) -> str:
        """Return the result as text, for an operator whose result is not cached.

        The cache keys of the steps after it contain this text.
        """
        return ""

    def words(self) -> str:
        """Return a few words for this operator, with the parameters that matter."""
        return self.title

    def plain_words(self) -> str:
        """Return everyday words for what it does: "looks at 1,000 nodes near the entities".

        The text is empty for a step that need not be told.
        """
        if self.plain is None:
            return self.words()
        placeholders: dict[str, Any] = dict(parameter_values(self))
        if "{by" in self.plain:
            whom = plain_name(placeholders["model"])
            placeholders |= {"by": "at random" if whom == "lot" else f"by {whom}", "by_whom": whom}
        return self.plain.format(**placeholders)

    def __rshift__(self, other: Operator | Line) -> Line:
        return Line((self,)) >> other


def _step_seconds(meter: Meter, total: float) -> dict[str, Any]:
    """Return the fields of a step that hold seconds."""
    waiting = meter.seconds.get("waiting", 0.0)
    preparations = tuple(
        (label, round(seconds, 6))
        for label, seconds in meter.prepared.items()
        if seconds >= MIN_PREPARATION_SECONDS
    )
    ranking, model = meter.seconds.get("ranking", 0.0), meter.seconds.get("model", 0.0)
    operator_seconds = max(ranking + model, total - waiting - sum(meter.prepared.values()))
    each = dict(
        seconds=operator_seconds, ranking=ranking, model=model, waiting=waiting, saved=meter.saved
    )
    return {name: round(seconds, 6) for name, seconds in each.items()} | {"prepared": preparations}


@dataclass(frozen=True, repr=False)
class Line(OperatorLine[Operator]):
    """Operators one after the other.

    A line is refused if an operator reads a field that none before it writes.
    """

    @staticmethod
    def unfit(previous: Iterable[Operator], operator: Operator) -> str | None:
        return order_fault(previous, operator)

    def words(self) -> str:
        """Return a short text: `PageRank 1,000 → shortest paths → best 32 by encoder`.

        The answering operator is named only if it stands alone.
        """
        operators = self.without("generate").operators or self.operators
        return self._with_nodes(" → ".join(operator.words() for operator in operators))

    def plain_words(self) -> str:
        """Return a sentence in everyday words.

        Example: `Looks at 1,000 nodes near the entities, then finds the shortest paths.`
        """
        line = self.without("generate")
        sentences = [words for operator in line if (words := operator.plain_words())]
        if all(operator.stage == "graph" for operator in line):
            sentences = ["answers from the question alone"]
        sentence = (
            sentences[0]
            if len(sentences) == 1
            else f"{', '.join(sentences[:-1])}, then {sentences[-1]}"
        )
        return self._with_nodes(f"{sentence[0].upper()}{sentence[1:]}.")

    def _with_nodes(self, text: str) -> str:
        """Return the text with the graph's own word for nodes.

        The text is unchanged if the nodes are entities.
        """
        nodes = next(
            (operator.called_nodes for operator in self.operators if operator.stage == "graph"), ""
        )
        return NODE_WORD_PATTERN.sub(nodes, text) if nodes else text

    def parts(self) -> tuple[Operator, ...]:
        """Return every operator that may run, including those of branches."""
        return tuple(part for operator in self.operators for part in operator.parts())


INITIAL_FIELDS = ("question", "seeds")
MISSING_FIELD_WORDS = {
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


def missing_fields(operators: Iterable[Operator]) -> tuple[str, ...]:
    """Return the fields of a state that operators read but do not write first.

    The fields are in the order of reading.
    """
    missing: dict[str, None] = {}
    written_fields: set[str] = set()
    for operator in operators:
        missing |= dict.fromkeys(need for need in operator.reads if need not in written_fields)
        written_fields.update(operator.writes)
    return tuple(missing)


# rankings of a state by kind of hit, on a graph made of texts
HIT_FIELDS = ("nodes", "relations", "chunks", "communities")


def order_fault(previous: Iterable[Operator], operator: Operator) -> str | None:
    """Return a sentence on why `operator` cannot follow `previous`, or None."""
    previous = tuple(previous)
    name = type(operator).__name__
    if any(other.stage == "generate" for other in previous):
        return f"{name} cannot come after the answer was generated."
    if previous and operator.stage == "graph":
        return f"{name} says on which graph the line stands, and must come first."
    written_fields = (
        set(INITIAL_FIELDS).union(*(other.writes for other in previous))
        if previous
        else set(INITIAL_FIELDS)
    )
    for need in operator.reads:
        if need not in written_fields:
            return f"{name} reads {MISSING_FIELD_WORDS[need]}."
    if operator.reads_any and not written_fields.intersection(operator.reads_any):
        return f"{name} reads {' or '.join(operator.reads_any)}, and nothing before it finds any."
    return None


def field_sizes(state: State, writes: Iterable[str]) -> dict[str, int]:
    """Return the sizes of the fields that an operator wrote.

    They are the number of nodes and edges of the subgraph, of hops, paths, reports and hits.
    """
    sizes_by_field: dict[str, int] = {}
    if "subgraph" in writes and state.subgraph is not None:
        sizes_by_field |= {"nodes": len(state.subgraph.nodes), "edges": len(state.subgraph.edges)}
    if "hops" in writes and state.hops is not None:
        sizes_by_field["hops"] = state.hops
    if "paths" in writes and state.paths is not None:
        sizes_by_field["paths"] = len(state.paths)
    if "reports" in writes and state.reports is not None:
        sizes_by_field["reports"] = len(state.reports)
    hits = {
        "entities" if name == "nodes" else name: getattr(state, name)
        for name in HIT_FIELDS
        if name in writes
    }
    return sizes_by_field | {
        name: len(ranking) for name, ranking in hits.items() if ranking is not None
    }
