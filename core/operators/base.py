"""Base classes of retrieval operators, and of lines of operators (`a >> b`).

A retrieval method is a line of operators. Each operator takes a `State` (question, seeds, subgraph,
paths, hits, prompt, answer) and returns a changed copy with one more `Step` in its trace.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from core.environment import Environment
from core.errors import HopscopeError
from core.graph.names.roles import singular
from core.lines import OperatorLine
from core.models.base import ChatReply, Choice, Models
from core.models.chooser_names import plain_name
from core.models.reading_order import format_count
from core.operators.languages import notes_on_language
from core.parameters import OperatorBase, parameter_values
from core.runtime.meter import Meter, ProgressReport, metered
from core.types import Frame, Ranking, State, Step, Usage
from core.watch import NO_WATCH, Watch

MAX_TEXTS = 200_000  # texts in one call of a model; usual subgraphs have far fewer
# Stages of retrieval operators, in their usual order in a line.
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
ONE_OF_MANY = re.compile(  # a count of one before a plural, outside of the names that people give
    r"(“[^“”]*”)|(?<![\w,.])(1 (?:best |best-matching |likeliest |random )?)"
    r"(hops|steps|times|nodes|paths|triples|relations|passages|walks|plans|entities)\b"
)
NODE_WORD_PATTERN = re.compile(r"\b(entities|nodes)\b")
MIN_PREPARATION_SECONDS = 0.001  # shorter preparations are not recorded
# Edge directions to follow; "graph" is the default direction of the graph.
DIRECTIONS = ("graph", "out", "in", "both")


class Recorder:
    """Notes, costs and frames of a running operator; they become its `Step`."""

    def __init__(self) -> None:
        self.usage = Usage()
        # A note that is costly to write is a function, which is called when the step is made.
        self.notes: list[str | Callable[[], str]] = []
        self.frames: list[Frame] = []
        self.before_cut: Ranking | None = None  # all ranked candidates, if only some were kept
        # share of the vectors that existed during the search, in words; empty if all did
        self.partly = ""
        self.fault = ""  # why the last reply was blank or cut
        self.sizes: dict[str, int] = {}  # added to the sizes of the fields that were written
        # the result up to now, which is kept if the operator fails later
        self.partial_state: State | None = None

    def include(self, part: Recorder) -> None:
        """Add the costs, notes and last fault of an inner operator.

        The inner operator runs inside this one.

        Parameters
        ----------
        part
            The record of the inner operator.
        """
        self.usage += part.usage
        self.notes += part.notes
        self.partly = part.partly or self.partly
        self.fault = part.fault or self.fault

    def record_reply(self, reply: ChatReply, what: str = "reply") -> ChatReply:
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
        fault = reply.describe_fault(what)
        if fault and reply.finish != "unreadable":
            self.fault = fault
            if fault not in self.notes:
                self.notes.append(fault)
        return reply

    def record_choice(self, choice: Choice) -> Choice:
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

    # Former names, by which operators of other people call them.
    replied = record_reply
    choice = record_choice


@dataclass(frozen=True)
class Context:
    """The graph, models and callbacks that operators use besides the state.

    Attributes
    ----------
    seed
        Seed of all random numbers.
    watch
        Receives the current activity. It raises RunCancelled if the person cancelled.
    on_text
        Receives the answer while it is written.
    answering
        False if no language model may be asked; operators then use a substitute or only write
        the prompt.
    on_progress
        Receives the progress of a ranking or a prompt.
    seen_requests
        Requests to models in this run. A repeated request does not count as saved time.
    on_partial_state
        Receives the state that a failing operator had reached, if it recorded one.
    preview
        Receives the progress of a running operator as text, and a function that returns the
        operator's intermediate state. None if nobody is watching.
    waits_for_vectors
        False if a search may begin before all vectors are made.
    """

    graph: Any
    environment: Environment
    seed: int = 0
    watch: Watch = NO_WATCH
    on_text: Callable[[str], None] = lambda text: None
    answering: bool = True
    on_progress: Callable[[ProgressReport], None] = lambda report: None
    seen_requests: set = field(default_factory=set, repr=False, compare=False)
    on_partial_state: Callable[[State], None] = lambda state: None
    preview: Callable[[str, Callable[[Recorder], State]], None] | None = None
    waits_for_vectors: bool = True

    @property
    def models(self) -> Models:
        """The models of the environment."""
        return self.environment.models

    def scoring_preview(
        self,
        number: int,
        unit: str,
        state: Callable[[Recorder, np.ndarray, np.ndarray], State],
        where: str = "",
    ) -> Callable[[np.ndarray, np.ndarray], None] | None:
        """Return a callback that previews a ranking of `number` candidates, for `Task.preview`.

        If a second, more expensive model scores some candidates again, its preview replaces the
        first one only once it has scored more candidates than the first model.

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
            Prefix of the progress text, such as "hop 2 of 4, "; empty for none.

        Returns
        -------
        Callable[[np.ndarray, np.ndarray], None] | None
            The callback, or None if nobody is watching.
        """
        preview = self.preview
        if preview is None:
            return None
        n_shown = 0

        def show(positions: np.ndarray, scores: np.ndarray) -> None:
            nonlocal n_shown
            if n_shown < len(positions):
                n_shown = len(positions)
                preview(
                    f"{where}{n_shown:,} of {format_count(number, unit)} read",
                    lambda recorder: state(recorder, positions, scores),
                )

        return show

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


FORMER_NAMES = {
    "remembered": "is_reusable",
    "wanders": "has_untargeted_paths",
    "called_nodes": "node_noun",
    "previewed": "preview_state",
}


class Operator(OperatorBase):
    """A step of a retrieval line; subclasses override `apply`.

    Subclasses are frozen dataclasses whose fields are made by `param`. `reads` and `writes` name
    fields of `State`. A line raises BadParameter when it is made, if an operator reads a field that
    no earlier operator writes. `apply` may therefore assert that the fields of `reads` are set.
    """

    stage: ClassVar[str]
    title: ClassVar[str]  # a few words for the screen
    # Everyday description with the parameters in braces. Empty: the step is not described. None:
    # the text of `words` is used.
    plain: ClassVar[str | None] = None
    # word for the graph's nodes if these are no entities, such as "passages"; else empty
    node_noun: str = ""
    reads: ClassVar[tuple[str, ...]] = ()
    reads_any: ClassVar[tuple[str, ...]] = ()  # fields of which at least one must be written
    writes: ClassVar[tuple[str, ...]] = ()
    # True if any node on its paths may be the answer, as the paths were not searched to an end
    has_untargeted_paths: ClassVar[bool] = False
    # True if it works without a language model too, by a substitute
    without_model: ClassVar[bool] = False
    # True if it searches the documents of a corpus without a graph of them
    on_documents: ClassVar[bool] = False
    # True if its result may be reused in a later run of the same question
    is_reusable: ClassVar[bool] = True
    # True if it draws random numbers, so that another seed may give another result
    is_random: bool = False

    def __init_subclass__(cls, **options: Any) -> None:
        """Take attributes under their former names, as operators of other people have them."""
        super().__init_subclass__(**options)
        for former_name, name in FORMER_NAMES.items():
            if former_name in vars(cls):
                setattr(cls, name, vars(cls)[former_name])

    def __call__(self, state: State, ctx: Context) -> State:
        """Return the state after this operator, with one more step in its trace."""
        ctx.watch.check()
        recorder = Recorder()
        clock = ctx.environment.clock
        start = clock()
        fetched = getattr(ctx.graph, "fetched", None)  # set if the graph came from a database
        if not state.trace and fetched is not None:
            recorder.notes.append(fetched.text)
        recorder.notes += notes_on_language([self], ctx.graph, ctx.models, state.question.text)
        try:
            with metered(ctx.on_progress, ctx.seen_requests) as meter:
                result = self.apply(state, ctx, recorder)
        except HopscopeError:
            partial_state = recorder.partial_state
            if partial_state is not None:
                seconds = clock() - start
                result = self._with_step(partial_state, state.trace, recorder, meter, seconds)
                ctx.on_partial_state(result)
            raise
        return self._with_step(result, state.trace, recorder, meter, clock() - start)

    def preview_state(self, state: State, make_state: Callable[[Recorder], State]) -> State:
        """Return an intermediate state, with a step in its trace that took no time.

        Parameters
        ----------
        state
            The state before this operator.
        make_state
            Takes a recorder and returns the intermediate state.

        Returns
        -------
        State
            The intermediate state, with the additional step.
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
            thoughts=tuple(meter.reasoning_texts),
            unusable=meter.n_unusable_replies,
            fault=recorder.fault,
            partly=recorder.partly,
            warnings=tuple(meter.notes),
            **_step_seconds(meter, seconds),
        )
        return state.replace(trace=(*trace, step))

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        """Run the operator; each subclass overrides this method.

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
        """Return the settings on which the result depends: by default the parameters."""
        return parameter_values(self)

    def parts(self) -> tuple[Operator, ...]:
        """Return the operators that may run in place of this one.

        This is the operator itself. A combinator returns all operators of its arms.
        """
        return (self,)

    def stamp(self, graph: Any, environment: Environment) -> str:
        """Return a text that changes with any other data that the result depends on.

        It becomes part of cache keys. An example is the digest of a file that the operator reads.
        State, graph, models and parameters are in the keys anyway.

        Parameters
        ----------
        graph
            The graph that the line runs on.
        environment
            The models, stores and settings of the engine.

        Returns
        -------
        str
            The text; empty if the result depends on no other data.
        """
        return ""

    def outcome(self, state: State) -> str:
        """Return a text that changes with the result, for uncached operators.

        The cache keys of the following steps contain this text. It is empty for other operators.

        Parameters
        ----------
        state
            The state after this operator.
        """
        return ""

    def words(self) -> str:
        """Return a short name of this operator with its main parameters."""
        return self.title

    def plain_words(self) -> str:
        """Return an everyday description: "looks at 1,000 nodes near the entities".

        The text is empty for a step that needs no description.
        """
        if self.plain is None:
            return self.words()
        placeholders: dict[str, Any] = dict(parameter_values(self))
        if "{by" in self.plain:
            chooser = plain_name(placeholders["model"])
            # "lot" is the everyday name of the random chooser
            by = "at random" if chooser == "lot" else f"by {chooser}"
            placeholders |= {"by": by, "by_whom": chooser}
        return self.plain.format(**placeholders)

    def __rshift__(self, other: Operator | Line) -> Line:
        return Line((self,)) >> other


def _step_seconds(meter: Meter, total: float) -> dict[str, Any]:
    """Return the fields of a step that hold seconds.

    The step's own time excludes waiting for other jobs, and preparations such as an index.
    """
    waiting = meter.seconds.get("waiting", 0.0)
    ranking = meter.seconds.get("ranking", 0.0)
    model = meter.seconds.get("model", 0.0)
    fields = dict(
        seconds=max(ranking + model, total - waiting - sum(meter.preparation_seconds.values())),
        ranking=ranking,
        model=model,
        waiting=waiting,
        saved=meter.saved_seconds,
    )
    preparations = tuple(
        (label, round(seconds, 6))
        for label, seconds in meter.preparation_seconds.items()
        if seconds >= MIN_PREPARATION_SECONDS
    )
    return {name: round(value, 6) for name, value in fields.items()} | {"prepared": preparations}


@dataclass(frozen=True, repr=False)
class Line(OperatorLine[Operator]):
    """A sequence of operators, which together are a retrieval method.

    BadParameter is raised if an operator reads a field of the state that none before it writes.
    """

    @staticmethod
    def misfit_reason(previous: Iterable[Operator], operator: Operator) -> str | None:
        return order_fault(previous, operator)

    def words(self) -> str:
        """Return a short text: `PageRank 1,000 → shortest paths → best 32 by encoder`.

        Operators that generate the answer are named only if there are no others.
        """
        operators = self.without_stage("generate").operators or self.operators
        return self._with_nodes(" → ".join(operator.words() for operator in operators))

    def plain_words(self) -> str:
        """Return an everyday description as a sentence.

        Example: `Looks at 1,000 nodes near the entities, then finds the shortest paths.`
        """
        line = self.without_stage("generate")
        clauses = list(filter(None, (operator.plain_words() for operator in line)))
        if all(operator.stage == "graph" for operator in line):
            clauses = ["answers from the question alone"]
        sentence = clauses[-1]
        if len(clauses) > 1:
            sentence = f"{', '.join(clauses[:-1])}, then {sentence}"
        return self._with_nodes(f"{sentence[0].upper()}{sentence[1:]}.")

    def _with_nodes(self, text: str) -> str:
        """Return the text with the graph's own word for nodes, and one thing in the singular."""
        text = ONE_OF_MANY.sub(lambda found: found[1] or found[2] + singular(found[3]), text)
        nodes = next(
            (operator.node_noun for operator in self.operators if operator.stage == "graph"), ""
        )
        return NODE_WORD_PATTERN.sub(nodes, text) if nodes else text

    def parts(self) -> tuple[Operator, ...]:
        """Return every operator that may run, including those of branches."""
        return tuple(part for operator in self.operators for part in operator.parts())


INITIAL_FIELDS = ("question", "seeds")  # fields of a state before the first operator
# By field of a state, the end of the error message for an operator that reads it too early.
MISSING_FIELD_WORDS = {
    "hops": "a number of hops, and nothing before it predicts one",
    "arm": "a chosen arm, and nothing before it predicts one",
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
    """Return the state's fields that operators read before one writes them.

    The fields are in the order of reading.
    """
    missing: dict[str, None] = {}
    written_fields: set[str] = set()
    for operator in operators:
        missing |= dict.fromkeys(name for name in operator.reads if name not in written_fields)
        written_fields.update(operator.writes)
    return tuple(missing)


# Fields of a state that hold hits: rankings of nodes, relations, chunks and communities.
HIT_FIELDS = ("nodes", "relations", "chunks", "communities")


def order_fault(previous: Iterable[Operator], operator: Operator) -> str | None:
    """Return why `operator` cannot follow the operators `previous`; None if it can."""
    previous = tuple(previous)
    name = type(operator).__name__
    if any(other.stage == "generate" for other in previous):
        return f"{name} cannot come after the answer was generated."
    if previous and operator.stage == "graph":
        return f"{name} says on which graph the line stands, and must come first."
    written_fields = set(INITIAL_FIELDS).union(*(other.writes for other in previous))
    for field_name in operator.reads:
        if field_name not in written_fields:
            return f"{name} reads {MISSING_FIELD_WORDS[field_name]}."
    if operator.reads_any and not written_fields.intersection(operator.reads_any):
        return f"{name} reads {' or '.join(operator.reads_any)}, and nothing before it finds any."
    return None


def field_sizes(state: State, writes: Iterable[str]) -> dict[str, int]:
    """Return the sizes of the fields that an operator wrote.

    They are the numbers of nodes and edges of the subgraph, of hops, paths, reports and hits.
    """
    sizes: dict[str, int] = {}
    if "subgraph" in writes and state.subgraph is not None:
        sizes |= {"nodes": len(state.subgraph.nodes), "edges": len(state.subgraph.edges)}
    if "hops" in writes and state.hops is not None:
        sizes["hops"] = state.hops
    if "arm" in writes and state.arm is not None:
        sizes["arm"] = state.arm
    for name in ("paths", "reports", *HIT_FIELDS):
        items = getattr(state, name) if name in writes else None
        if items is not None:
            # the key "nodes" is taken by the size of the subgraph
            sizes["entities" if name == "nodes" else name] = len(items)
    return sizes
