"""The outcome of one instance on one question: the facts from which every metric is computed, small enough to save."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.diagnosis.funnel import funnel, gold_nodes
from core.diagnosis.matching import match
from core.diagnosis.targets import answers_of
from core.evaluation.metrics.answering import Answered, answered
from core.evaluation.metrics.budgets import Budgets, budgets
from core.evaluation.metrics.built import Built
from core.evaluation.metrics.passages import (
    Found,
    Passages,
    found_in_tree,
    passages,
    ranked_passages,
)
from core.evaluation.metrics.ranking import Ranked, ranked
from core.evaluation.metrics.supported import Supported
from core.evaluation.metrics.topology import Nearing, nearing, ranked_gold_nodes
from core.graph.algorithms.neighbourhood import connected_components
from core.io.plain import Reader, Writer, from_plain
from core.languages.spelling import holds, normalize
from core.operators.read import relations_of
from core.operators.retrieve.external import NAMED, UNPLACED
from core.operators.retrieve.filed import FileAnswer, FileDocuments, FilePaths
from core.sources import GraphSource, Source
from core.types import Ranking, State, Step

TRIPLES = GraphSource("")
# operators that compute nothing
LOOKING_UP = (FileDocuments.__name__, FilePaths.__name__, FileAnswer.__name__)


@dataclass(frozen=True)
class Extracted:
    """The extracted subgraph: nodes, edges, how many known answers are nodes of it, weakly connected components."""

    nodes: int
    edges: int
    found: int
    components: int


@dataclass(frozen=True)
class Judged:
    """A judging model's verdict (None where its reply could not be used), a note that says why, and what it cost."""

    right: bool | None
    note: str = ""
    seconds: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True)
class Cost:
    """What one operator cost in this line; the seconds of a shared operator are those of the run that computed it."""

    operator: str
    stage: str
    seconds: float
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    texts: int = 0
    notes: tuple[str, ...] = ()
    fault: str = ""  # why a reply was blank or cut


@dataclass(frozen=True)
class Given:
    """How many documents a program or a file of the user's named, and how many of them are not in the corpus."""

    documents: int
    unplaced: int


@dataclass(frozen=True)
class Outcome:
    """The facts. `golds` is the number of known answers; a part is None where the line has no such stage."""

    golds: int
    extracted: Extracted | None = None
    paths: Ranked | None = None
    reader: Ranked | None = None
    answer: Answered | None = None
    judged: Judged | None = None
    second: Judged | None = None  # the verdict of a second judge
    costs: tuple[Cost, ...] = ()
    alive: Mapping[str, int] | None = (
        None  # known answers alive at each stage of the survival funnel
    )
    passages: Ranked | None = (
        None  # the chunks against the passages that the answer rests on; `first` has a place for each of these
    )
    fates: Passages | None = None  # what became of these passages, stage by stage
    supported: Supported | None = (
        None  # whether the answer's sentences rest on what the prompt showed
    )
    built: Built | None = None  # what the graph cost that the line stands on
    nodes: Ranked | None = (
        None  # the nodes found against those that come from these passages; `first` has a place for each of these
    )
    nearing: Nearing | None = (
        None  # how near the search came to these passages, or to these nodes, in the graph
    )
    given: Given | None = None  # of documents that were named by a program or a file of the user's
    budgets: Budgets | None = None  # what would have been found with less to read
    tree: Found | None = None  # what was found in a tree of summaries

    @property
    def without_context(self) -> bool:
        """Whether no triple was extracted. The papers' code leaves such questions out of its denominators."""
        return self.extracted is not None and not self.extracted.edges

    @property
    def looked_up(self) -> bool:
        """Whether it comes from a finished run in a file, so that nothing of it was computed here."""
        return any(cost.operator in LOOKING_UP for cost in self.costs)

    @property
    def answer_fault(self) -> str:
        """Why the language model's answer is blank or cut; empty where it is whole."""
        return next(
            (
                cost.fault
                for cost in reversed(self.costs)
                if cost.stage == "generate" and cost.fault
            ),
            "",
        )

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON can hold them; relevant places as runs (first place, how many), as there may be thousands in a row."""
        return _Writer().fields(self)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Outcome:
        """The outcome that `to_dict` wrote.

        >>> from core.evaluation.metrics.outcome import Outcome, Ranked
        >>> outcome = Outcome(golds=1, paths=Ranked(count=9, relevant=(2, 3, 4, 7), first=(2,)))
        >>> outcome.to_dict()["paths"]["relevant"], Outcome.from_dict(outcome.to_dict()) == outcome
        ([[2, 3], [7, 1]], True)
        """
        return _READER.fields(cls, facts)


class _Writer(Writer):
    def value(self, value: Any) -> Any:
        if isinstance(value, Ranked):
            return self.fields(value) | {"relevant": _runs(value.relevant)}
        return super().value(value)


def _ranked(saved: Mapping[str, Any]) -> Ranked:
    return from_plain(
        Ranked,
        saved,
        relevant=tuple(
            at for start, many in saved["relevant"] for at in range(start, start + many)
        ),
    )


_READER = Reader({Ranked: _ranked})


def observe(
    graph,
    state: State,
    judged: Judged | None = None,
    source: Source = TRIPLES,
    supported: Supported | None = None,
    built: Built | None = None,
    second: Judged | None = None,
) -> Outcome:
    """The outcome of a line whose last state is `state`, against the known answers of its question, and the passages of its `source`.

    What was judged of it, and what the graph cost, is handed in.

    >>> from core.evaluation.metrics.outcome import observe
    >>> from core.types import Question
    >>> state = retrieve("EgoNetwork(hops=1)", "C").replace(question=Question("?", answers=("A", "E")))
    >>> observe(toy, state).extracted.found  # A is next to C, E is not
    1
    """
    answers = tuple(dict.fromkeys(state.question.answers))
    named = [state.question.names(answer) for answer in answers]
    nodes = [gold_nodes(graph, *names) for names in named]
    stages = funnel(source, graph, state, answers_of(state.question))
    return Outcome(
        golds=len(answers),
        extracted=None if state.subgraph is None else extracted(graph, state.subgraph, nodes),
        paths=None if state.paths is None else ranked_texts(graph, state.paths, named),
        reader=None if state.reader is None else ranked_nodes(state.reader, nodes),
        answer=answered(graph, state),
        judged=judged,
        second=second,
        costs=tuple(map(cost, state.trace)),
        alive={stage.name: len(stage.alive) for stage in stages} or None,
        passages=ranked_passages(graph, state),
        fates=passages(source, graph, state),
        supported=supported,
        built=built,
        nodes=ranked_gold_nodes(graph, state),
        nearing=nearing(graph, state),
        given=next(
            (
                Given(step.sizes[NAMED], step.sizes[UNPLACED])
                for step in state.trace
                if NAMED in step.sizes
            ),
            None,
        ),
        budgets=budgets(graph, state),
        tree=found_in_tree(graph, state),
    )


def extracted(graph, subgraph, nodes: Sequence[Sequence[int]]) -> Extracted:
    """Sizes of a subgraph and how many answers, each given as the nodes of its name, are in it.

    >>> from core.evaluation.metrics.outcome import extracted
    >>> extracted(toy, retrieve("EgoNetwork(hops=1)", "C").subgraph, [[0], [4]])  # C with A, B, D, not E
    Extracted(nodes=4, edges=6, found=1, components=1)
    """
    found = sum(any(node in subgraph for node in named) for named in nodes)
    return Extracted(
        len(subgraph.nodes), len(subgraph.edges), found, connected_components(graph, subgraph)
    )


def ranked_texts(graph, paths: Ranking, answers: Sequence[Sequence[str]]) -> Ranked:
    """The paths' texts against the answers, each given as its names, by `match`. Names are normalised once each, which gives the same text.

    >>> from core.evaluation.metrics.outcome import ranked_texts
    >>> paths = retrieve("EgoNetwork(hops=1) >> ShortestPaths(hops=1)", "B").paths
    >>> toy.texts(paths.items), ranked_texts(toy, paths, [["C"], ["D"]])
    (['B -> r0_reverse -> A', 'B -> r2 -> C'], Ranked(count=2, relevant=(2,), first=(2, None)))
    """
    wanted = [(i, name, normalize(name)) for i, named in enumerate(answers) for name in named]
    relations_by_edge = relations_of(graph, paths.items)
    known: dict[int, str] = {}
    relations: dict[tuple[int, bool], str] = {}
    steps: dict[tuple[int, int, bool], str] = {}

    def node(item: int) -> str:
        if item not in known:
            known[item] = normalize(graph.node_name(item))
        return known[item]

    def said(step: tuple[int, int, bool]) -> str:
        after, edge, forward = step
        key = (relations_by_edge[edge], forward)
        if key not in relations:
            relations[key] = normalize(
                graph.relation_names[key[0]] + ("" if forward else "_reverse")
            )
        steps[step] = " ".join(filter(None, (relations[key], node(after))))
        return steps[step]

    def held(path) -> list[int]:
        parts = [node(path.nodes[0])]
        for step in zip(path.nodes[1:], path.edges, path.forward):
            parts.append(steps.get(step) or said(step))
        text = " ".join([part for part in parts if part])
        return list(
            dict.fromkeys(
                [
                    i
                    for i, name, gold in wanted
                    if (holds(text, gold) if gold else match(graph.text(path), name))
                ]
            )
        )

    return ranked((held(path) for path in paths.items), len(answers))


def ranked_nodes(items: Sequence[int], nodes: Sequence[Sequence[int]]) -> Ranked:
    """Nodes against the answers, each given as the nodes of its name.

    >>> from core.evaluation.metrics.outcome import ranked_nodes
    >>> ranked_nodes([3, 0, 2], [[2, 4], [1]])  # the first answer stands third, the second is missing
    Ranked(count=3, relevant=(3,), first=(3, None))
    """
    of: dict[int, list[int]] = {}
    for i, named in enumerate(nodes):
        for node in named:
            of.setdefault(node, []).append(i)
    return ranked((of.get(node, []) for node in items), len(nodes))


def cost(step: Step) -> Cost:
    """What a step of a trace cost.

    >>> from core.evaluation.metrics.outcome import cost
    >>> from core.types import Step, Usage
    >>> cost(Step("Rank", "refine", {}, seconds=0.5, usage=Usage(texts=40))).texts
    40
    """
    usage = step.usage
    spent = usage.calls, usage.tokens_in, usage.tokens_out, usage.texts
    return Cost(step.operator, step.stage, step.seconds, *spent, step.notes, step.fault)


def _runs(places: Sequence[int]) -> list[list[int]]:
    """Ascending places as runs of neighbours."""
    runs: list[list[int]] = []
    for place in places:
        if runs and place == sum(runs[-1]):
            runs[-1][1] += 1
        else:
            runs.append([place, 1])
    return runs
