"""Outcome of one method on one question.

An outcome holds the facts from which every metric is computed, and is small enough to be saved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.diagnosis.answer_match import contains_answer
from core.diagnosis.funnel import funnel, gold_nodes
from core.diagnosis.targets import answers_of
from core.evaluation.metrics.answer_scores import ScoredAnswer, score_answer
from core.evaluation.metrics.answer_support import AnswerSupport
from core.evaluation.metrics.budgets import BudgetResults, budgets
from core.evaluation.metrics.build_cost import ReportedBuildCost
from core.evaluation.metrics.passages import (
    PassageSurvival,
    TreeNodeCounts,
    passages,
    ranked_passages,
    tree_node_counts,
)
from core.evaluation.metrics.ranking import GoldRanks, gold_ranks
from core.evaluation.metrics.topology import (
    UncertaintyByRank,
    ranked_gold_nodes,
    uncertainty_by_rank,
)
from core.graph.algorithms.neighbourhood import connected_components
from core.io.plain_data import PlainReader, PlainWriter, from_plain
from core.languages.spelling import contains_text, normalize
from core.operators.read import relations_of
from core.operators.retrieve.file_runs import FileAnswer, FileDocuments, FilePaths
from core.operators.retrieve.own_retriever import NAMED_DOCUMENTS, UNPLACED_DOCUMENTS
from core.sources import AnswerSource, GraphSource
from core.types import Ranking, State, Step

UNNAMED_GRAPH = GraphSource("")
# Operators that only read results from a file and compute nothing.
FILE_OPERATORS = (FileDocuments.__name__, FilePaths.__name__, FileAnswer.__name__)


@dataclass(frozen=True)
class SubgraphSizes:
    """Sizes of the extracted subgraph.

    `found` is the number of known answers among its nodes. `components` is the number of weakly
    connected components.
    """

    nodes: int
    edges: int
    found: int
    components: int


@dataclass(frozen=True)
class JudgeVerdict:
    """A judging model's verdict, and its cost.

    The verdict is None if the reply could not be used; the note gives the reason.
    """

    right: bool | None
    note: str = ""
    seconds: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True)
class OperatorCost:
    """Cost of one operator of a method.

    The seconds of an operator that lanes share are those of the run that computed it.
    """

    operator: str
    stage: str
    seconds: float
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    texts: int = 0
    notes: tuple[str, ...] = ()
    fault: str = ""  # reason why a reply is blank or cut


@dataclass(frozen=True)
class NamedDocumentCounts:
    """Documents named by an external program or by a file of the user.

    `unplaced` counts those that are not in the corpus.
    """

    documents: int
    unplaced: int


@dataclass(frozen=True)
class Outcome:
    """Facts about one method's result on one question.

    `golds` is the number of known answers. A field is None if the method has no such stage.
    """

    golds: int
    extracted: SubgraphSizes | None = None
    paths: GoldRanks | None = None
    reader: GoldRanks | None = None
    answer: ScoredAnswer | None = None
    judged: JudgeVerdict | None = None
    second: JudgeVerdict | None = None  # verdict of a second judge
    costs: tuple[OperatorCost, ...] = ()
    # Known answers left at each stage of the survival funnel.
    alive: Mapping[str, int] | None = None
    # Ranks of the gold passages among the chunks; `first` has one entry per gold passage.
    passages: GoldRanks | None = None
    fates: PassageSurvival | None = None  # survival of the gold passages, stage by stage
    # Support of the answer's sentences by the text in the prompt.
    supported: AnswerSupport | None = None
    built: ReportedBuildCost | None = None  # cost of building the method's graph
    # Ranks of the gold nodes among the nodes; `first` has one entry per gold node.
    nodes: GoldRanks | None = None
    # Distances of the gold passages or gold nodes from the retrieved nodes.
    nearing: UncertaintyByRank | None = None
    given: NamedDocumentCounts | None = None  # documents named by an external program or a file
    budgets: BudgetResults | None = None  # results at smaller reading budgets
    tree: TreeNodeCounts | None = None  # nodes retrieved from a tree of summaries

    @property
    def without_context(self) -> bool:
        """True if a subgraph without triples was extracted.

        The papers' code leaves such questions out of its denominators.
        """
        return self.extracted is not None and not self.extracted.edges

    @property
    def looked_up(self) -> bool:
        """True if the result comes from a finished run in a file, so nothing was computed here."""
        return any(cost.operator in FILE_OPERATORS for cost in self.costs)

    @property
    def answer_fault(self) -> str:
        """The reason why the language model's answer is blank or cut; empty if it is complete."""
        return next(
            (
                cost.fault
                for cost in reversed(self.costs)
                if cost.stage == "generate" and cost.fault
            ),
            "",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as values for JSON.

        Relevant ranks are saved as runs (first rank, length), because thousands of them may be
        consecutive.
        """
        return _OutcomeWriter().fields(self)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Outcome:
        """Return the outcome that `to_dict` wrote.

        >>> from core.evaluation.metrics.outcome import Outcome, GoldRanks
        >>> outcome = Outcome(golds=1, paths=GoldRanks(count=9, relevant=(2, 3, 4, 7), first=(2,)))
        >>> outcome.to_dict()["paths"]["relevant"], Outcome.from_dict(outcome.to_dict()) == outcome
        ([[2, 3], [7, 1]], True)
        """
        return _OUTCOME_READER.fields(cls, facts)


class _OutcomeWriter(PlainWriter):
    def value(self, value: Any) -> Any:
        if isinstance(value, GoldRanks):
            return self.fields(value) | {"relevant": _runs(value.relevant)}
        return super().value(value)


def _read_ranks(data: Mapping[str, Any]) -> GoldRanks:
    return from_plain(
        GoldRanks,
        data,
        relevant=tuple(
            rank for start, count in data["relevant"] for rank in range(start, start + count)
        ),
    )


_OUTCOME_READER = PlainReader({GoldRanks: _read_ranks})


def observe(
    graph,
    state: State,
    judged: JudgeVerdict | None = None,
    source: AnswerSource = UNNAMED_GRAPH,
    supported: AnswerSupport | None = None,
    built: ReportedBuildCost | None = None,
    second: JudgeVerdict | None = None,
) -> Outcome:
    """Return the outcome of a method from its last state.

    The state is compared with the known answers of its question and with the gold passages of its
    source.

    Parameters
    ----------
    graph : the graph that the method ran on.
    state : the last state of the method, with its trace.
    judged, second : verdicts of one or two judges.
    source : where the gold passages are; by default a graph of triples without any.
    supported : support of the answer's sentences.
    built : cost of building the graph.

    Returns
    -------
    All facts from which the metrics are computed.

    Examples
    --------
    >>> from core.evaluation.metrics.outcome import observe
    >>> from core.types import Question
    >>> state = retrieve("EgoNetwork(hops=1)", "C").replace(
    ...     question=Question("?", answers=("A", "E"))
    ... )
    >>> observe(toy, state).extracted.found  # A is next to C, E is not
    1
    """
    answers = tuple(dict.fromkeys(state.question.answers))
    answer_names = [state.question.names(answer) for answer in answers]
    answer_nodes = [gold_nodes(graph, *names) for names in answer_names]
    stages = funnel(source, graph, state, answers_of(state.question))
    return Outcome(
        golds=len(answers),
        extracted=None
        if state.subgraph is None
        else subgraph_sizes(graph, state.subgraph, answer_nodes),
        paths=None if state.paths is None else ranked_texts(graph, state.paths, answer_names),
        reader=None if state.reader is None else ranked_nodes(state.reader, answer_nodes),
        answer=score_answer(graph, state),
        judged=judged,
        second=second,
        costs=tuple(map(operator_cost, state.trace)),
        alive={stage.name: len(stage.alive) for stage in stages} or None,
        passages=ranked_passages(graph, state),
        fates=passages(source, graph, state),
        supported=supported,
        built=built,
        nodes=ranked_gold_nodes(graph, state),
        nearing=uncertainty_by_rank(graph, state),
        given=next(
            (
                NamedDocumentCounts(step.sizes[NAMED_DOCUMENTS], step.sizes[UNPLACED_DOCUMENTS])
                for step in state.trace
                if NAMED_DOCUMENTS in step.sizes
            ),
            None,
        ),
        budgets=budgets(graph, state),
        tree=tree_node_counts(graph, state),
    )


def subgraph_sizes(graph, subgraph, nodes: Sequence[Sequence[int]]) -> SubgraphSizes:
    """Return the sizes of a subgraph and how many answers it contains.

    Parameters
    ----------
    graph : the graph that the subgraph is a part of.
    subgraph : the extracted subgraph.
    nodes : for each known answer, the ids of the nodes of its name.

    Returns
    -------
    Numbers of nodes, edges, found answers and weakly connected components.

    Examples
    --------
    >>> from core.evaluation.metrics.outcome import subgraph_sizes
    >>> # C with A, B, D, not E
    >>> subgraph_sizes(toy, retrieve("EgoNetwork(hops=1)", "C").subgraph, [[0], [4]])
    SubgraphSizes(nodes=4, edges=6, found=1, components=1)
    """
    count = sum(any(node in subgraph for node in answer_nodes) for answer_nodes in nodes)
    return SubgraphSizes(
        len(subgraph.nodes), len(subgraph.edges), count, connected_components(graph, subgraph)
    )


def ranked_texts(graph, paths: Ranking, answers: Sequence[Sequence[str]]) -> GoldRanks:
    """Return the ranks of the known answers in the texts of paths, compared by `contains_answer`.

    Node and relation names are normalised once each and then joined, which gives the same text as
    normalising the whole.

    Parameters
    ----------
    graph : the graph of the paths.
    paths : paths, best first.
    answers : for each known answer, all its names.

    Returns
    -------
    Ranks from 1.

    Examples
    --------
    >>> from core.evaluation.metrics.outcome import ranked_texts
    >>> paths = retrieve("EgoNetwork(hops=1) >> ShortestPaths(hops=1)", "B").paths
    >>> toy.texts(paths.items), ranked_texts(toy, paths, [["C"], ["D"]])
    (['B -> r0_reverse -> A', 'B -> r2 -> C'], GoldRanks(count=2, relevant=(2,), first=(2, None)))
    """
    gold_texts = [(i, name, normalize(name)) for i, names in enumerate(answers) for name in names]
    relations_by_edge = relations_of(graph, paths.items)
    node_texts: dict[int, str] = {}
    relation_texts: dict[tuple[int, bool], str] = {}
    step_texts: dict[tuple[int, int, bool], str] = {}

    def node(item: int) -> str:
        if item not in node_texts:
            node_texts[item] = normalize(graph.node_name(item))
        return node_texts[item]

    def said(step: tuple[int, int, bool]) -> str:
        after, edge, forward = step
        key = (relations_by_edge[edge], forward)
        if key not in relation_texts:
            relation_texts[key] = normalize(
                graph.relation_names[key[0]] + ("" if forward else "_reverse")
            )
        step_texts[step] = " ".join(filter(None, (relation_texts[key], node(after))))
        return step_texts[step]

    def held(path) -> list[int]:
        parts = [node(path.nodes[0])]
        for step in zip(path.nodes[1:], path.edges, path.forward):
            parts.append(step_texts.get(step) or said(step))
        text = " ".join([part for part in parts if part])
        return list(
            dict.fromkeys(
                [
                    i
                    for i, name, gold in gold_texts
                    if (
                        contains_text(text, gold)
                        if gold
                        else contains_answer(graph.text(path), name)
                    )
                ]
            )
        )

    return gold_ranks((held(path) for path in paths.items), len(answers))


def ranked_nodes(items: Sequence[int], nodes: Sequence[Sequence[int]]) -> GoldRanks:
    """Return the ranks of the known answers in a list of nodes.

    Parameters
    ----------
    items : node ids, best first.
    nodes : for each known answer, the ids of the nodes of its name.

    Returns
    -------
    Ranks from 1.

    Examples
    --------
    >>> from core.evaluation.metrics.outcome import ranked_nodes
    >>> # the first answer stands third, the second is missing
    >>> ranked_nodes([3, 0, 2], [[2, 4], [1]])
    GoldRanks(count=3, relevant=(3,), first=(3, None))
    """
    answers_by_node: dict[int, list[int]] = {}
    for i, answer_nodes in enumerate(nodes):
        for node in answer_nodes:
            answers_by_node.setdefault(node, []).append(i)
    return gold_ranks((answers_by_node.get(node, []) for node in items), len(nodes))


def operator_cost(step: Step) -> OperatorCost:
    """Return the cost of one step of a trace.

    >>> from core.evaluation.metrics.outcome import operator_cost
    >>> from core.types import Step, Usage
    >>> operator_cost(Step("Rank", "refine", {}, seconds=0.5, usage=Usage(texts=40))).texts
    40
    """
    usage = step.usage
    counts = usage.calls, usage.tokens_in, usage.tokens_out, usage.texts
    return OperatorCost(step.operator, step.stage, step.seconds, *counts, step.notes, step.fault)


def _runs(ranks: Sequence[int]) -> list[list[int]]:
    """Return ascending ranks as runs (first rank, length) of consecutive ones."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == sum(runs[-1]):
            runs[-1][1] += 1
        else:
            runs.append([rank, 1])
    return runs
