"""Outcome of one method on one question.

An outcome holds the facts from which every metric is computed, and is small enough to be saved. The
field names of its classes are those of saved runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from core.diagnosis.answer_match import contains_answer
from core.diagnosis.funnel import funnel, gold_nodes
from core.diagnosis.targets import answers_of
from core.evaluation.metrics.answer_scores import ScoredAnswer, score_answer
from core.evaluation.metrics.answer_support import AnswerSupport
from core.evaluation.metrics.budgets import BudgetResults, budget_results
from core.evaluation.metrics.build_cost import ReportedBuildCost
from core.evaluation.metrics.passages import (
    PassageSurvival,
    TreeNodeCounts,
    passage_survival,
    ranked_passages,
    tree_node_counts,
)
from core.evaluation.metrics.ranking import GoldRanks, gold_ranks
from core.evaluation.metrics.topology import (
    UncertaintyByRank,
    gold_node_ranks,
    uncertainty_by_rank,
)
from core.graph.algorithms.neighbourhood import connected_components
from core.io.plain_data import PlainReader, PlainWriter, from_plain
from core.languages.spelling import contains_text, normalize
from core.operators.read import relations_of
from core.operators.retrieve.file_runs import FileAnswer, FileDocuments, FilePaths
from core.operators.retrieve.own_retriever import NAMED_DOCUMENTS, UNMATCHED_DOCUMENTS
from core.sources import AnswerSource, GraphSource
from core.types import Ranking, State, Step

UNNAMED_GRAPH = GraphSource("")  # a graph of triples that has no name
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
    """A judging model's verdict on an answer, and its cost.

    `right` is None if the model's reply could not be used; `note` gives the reason.
    """

    right: bool | None
    note: str = ""
    seconds: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True)
class OperatorCost:
    """Cost of one operator of a method on one question.

    If several methods share an operator's result, each is charged the seconds of the run that
    computed it. `texts` is the number of texts that encoders and rerankers scored.
    """

    operator: str
    stage: str
    seconds: float
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    texts: int = 0
    notes: tuple[str, ...] = ()
    fault: str = ""  # reason why a model's reply is blank or cut; empty if it is complete


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

    `golds` is the number of known answers. A field is None if the method has no such stage, or if
    the measurement was not requested. `paths` and `reader` hold the ranks of the known answers
    among the paths and among the names that the graph reader found.
    """

    golds: int
    extracted: SubgraphSizes | None = None  # sizes of the extracted subgraph
    paths: GoldRanks | None = None
    reader: GoldRanks | None = None
    answer: ScoredAnswer | None = None
    judged: JudgeVerdict | None = None  # verdict of the first judge
    second: JudgeVerdict | None = None  # verdict of a second judge
    costs: tuple[OperatorCost, ...] = ()
    # Number of known answers that survive each stage, by the name of the stage.
    alive: Mapping[str, int] | None = None
    # Ranks of the gold passages among the chunks; `first` has one entry per gold passage.
    passages: GoldRanks | None = None
    fates: PassageSurvival | None = None  # survival of the gold passages, stage by stage
    # Support of the answer's sentences by the text in the prompt.
    supported: AnswerSupport | None = None
    built: ReportedBuildCost | None = None  # cost of building the method's graph
    # Ranks of the gold nodes among the nodes; `first` has one entry per gold node.
    nodes: GoldRanks | None = None
    # Uncertainty of the paths from the retrieved nodes to the gold passages or gold nodes.
    nearing: UncertaintyByRank | None = None
    given: NamedDocumentCounts | None = None  # documents named by an external program or a file
    budgets: BudgetResults | None = None  # results at smaller reading budgets
    tree: TreeNodeCounts | None = None  # nodes retrieved from a tree of summaries

    @property
    def has_empty_subgraph(self) -> bool:
        """True if a subgraph without triples was extracted.

        The papers' code leaves such questions out of its denominators.
        """
        return self.extracted is not None and not self.extracted.edges

    @property
    def is_from_file(self) -> bool:
        """True if the result was read from a file, and no method ran."""
        return any(cost.operator in FILE_OPERATORS for cost in self.costs)

    @property
    def answer_fault(self) -> str:
        """The reason why the language model's answer is blank or cut.

        The text is empty if the answer is complete.
        """
        faults = [cost.fault for cost in self.costs if cost.stage == "generate" and cost.fault]
        return faults[-1] if faults else ""

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
    runs = (range(start, start + length) for start, length in data["relevant"])
    return from_plain(GoldRanks, data, relevant=tuple(chain.from_iterable(runs)))


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

    The state is compared with the known answers and the gold passages of its question. `judged`,
    `second`, `supported` and `built` are measured by the caller and passed through.

    Parameters
    ----------
    graph : the graph that the method ran on.
    state : the last state of the method, with its trace.
    judged, second : verdicts of one or two judges.
    source : source of the question; decides the stages at which survival is counted.
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
    answer_names = [state.question.answer_names(answer) for answer in answers]
    answer_nodes = [gold_nodes(graph, *names) for names in answer_names]
    stages = funnel(source, graph, state, answers_of(state.question))
    extracted = paths = reader = None
    if state.subgraph is not None:
        extracted = subgraph_sizes(graph, state.subgraph, answer_nodes)
    if state.paths is not None:
        paths = ranked_texts(graph, state.paths, answer_names)
    if state.reader is not None:
        reader = ranked_nodes(state.reader, answer_nodes)
    return Outcome(
        golds=len(answers),
        extracted=extracted,
        paths=paths,
        reader=reader,
        answer=score_answer(graph, state),
        judged=judged,
        second=second,
        costs=tuple(map(operator_cost, state.trace)),
        alive={stage.name: len(stage.alive) for stage in stages} or None,
        passages=ranked_passages(graph, state),
        fates=passage_survival(source, graph, state),
        supported=supported,
        built=built,
        nodes=gold_node_ranks(graph, state),
        nearing=uncertainty_by_rank(graph, state),
        given=_named_document_counts(state.trace),
        budgets=budget_results(graph, state),
        tree=tree_node_counts(graph, state),
    )


def _named_document_counts(trace: Sequence[Step]) -> NamedDocumentCounts | None:
    """Return the counts of the first step that names documents.

    None if no step does.
    """
    for step in trace:
        if NAMED_DOCUMENTS in step.sizes:
            return NamedDocumentCounts(step.sizes[NAMED_DOCUMENTS], step.sizes[UNMATCHED_DOCUMENTS])
    return None


def subgraph_sizes(graph, subgraph, nodes_by_answer: Sequence[Sequence[int]]) -> SubgraphSizes:
    """Return the sizes of a subgraph and how many answers it contains.

    Parameters
    ----------
    graph : the graph that the subgraph is a part of.
    subgraph : the extracted subgraph.
    nodes_by_answer : for each known answer, the ids of the nodes of its name.

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
    return SubgraphSizes(
        nodes=len(subgraph.nodes),
        edges=len(subgraph.edges),
        found=sum(any(node in subgraph for node in nodes) for nodes in nodes_by_answer),
        components=connected_components(graph, subgraph),
    )


def ranked_texts(graph, paths: Ranking, names_by_answer: Sequence[Sequence[str]]) -> GoldRanks:
    """Return the ranks of the known answers in the texts of paths.

    They are compared by `contains_answer`. For speed, each node name, relation name and step is
    normalised once. The joined parts are the same text as a normalised path.

    Parameters
    ----------
    graph : the graph of the paths.
    paths : ranking of paths, best first.
    names_by_answer : for each known answer, all its names (aliases included).

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
    gold_texts: list[tuple[int, str, str]] = []
    for answer, names in enumerate(names_by_answer):
        gold_texts += [(answer, name, normalize(name)) for name in names]
    relations_by_edge = relations_of(graph, paths.items)
    node_texts: dict[int, str] = {}
    relation_texts: dict[tuple[int, bool], str] = {}
    step_texts: dict[tuple[int, int, bool], str] = {}

    def node_text(node: int) -> str:
        if node not in node_texts:
            node_texts[node] = normalize(graph.node_name(node))
        return node_texts[node]

    def make_step_text(step: tuple[int, int, bool]) -> str:
        end, edge, is_forward = step
        key = (relations_by_edge[edge], is_forward)
        if key not in relation_texts:
            relation_texts[key] = normalize(
                graph.relation_names[key[0]] + ("" if is_forward else "_reverse")
            )
        step_texts[step] = " ".join(filter(None, (relation_texts[key], node_text(end))))
        return step_texts[step]

    def has_answer(path, text: str, name: str, normal_name: str) -> bool:
        if normal_name:
            return contains_text(text, normal_name)
        # A name of articles and punctuation alone is compared in its original form.
        return contains_answer(graph.text(path), name)

    def answers_in(path) -> list[int]:
        parts = [node_text(path.nodes[0])]
        for step in zip(path.nodes[1:], path.edges, path.forward):
            parts.append(step_texts.get(step) or make_step_text(step))
        text = " ".join([part for part in parts if part])
        found = [answer for answer, *names in gold_texts if has_answer(path, text, *names)]
        return list(dict.fromkeys(found))

    return gold_ranks(map(answers_in, paths.items), len(names_by_answer))


def ranked_nodes(items: Sequence[int], nodes_by_answer: Sequence[Sequence[int]]) -> GoldRanks:
    """Return the ranks of the known answers in a list of nodes.

    Parameters
    ----------
    items : node ids, best first.
    nodes_by_answer : for each known answer, the ids of the nodes of its name.

    Returns
    -------
    Ranks from 1.

    Examples
    --------
    >>> from core.evaluation.metrics.outcome import ranked_nodes
    >>> # the first answer has rank 3, the second is missing
    >>> ranked_nodes([3, 0, 2], [[2, 4], [1]])
    GoldRanks(count=3, relevant=(3,), first=(3, None))
    """
    answers_by_node: dict[int, list[int]] = {}
    for answer, nodes in enumerate(nodes_by_answer):
        for node in nodes:
            answers_by_node.setdefault(node, []).append(answer)
    return gold_ranks((answers_by_node.get(node, []) for node in items), len(nodes_by_answer))


def operator_cost(step: Step) -> OperatorCost:
    """Return the cost of one step of a trace.

    >>> from core.evaluation.metrics.outcome import operator_cost
    >>> from core.types import Step, Usage
    >>> operator_cost(Step("Rank", "refine", {}, seconds=0.5, usage=Usage(texts=40))).texts
    40
    """
    return OperatorCost(
        step.operator,
        step.stage,
        step.seconds,
        calls=step.usage.calls,
        tokens_in=step.usage.tokens_in,
        tokens_out=step.usage.tokens_out,
        texts=step.usage.texts,
        notes=step.notes,
        fault=step.fault,
    )


def _runs(ranks: Sequence[int]) -> list[list[int]]:
    """Return ascending ranks as runs of consecutive ranks: [first rank, length].

    A run ends before the rank that is the sum of its two numbers.
    """
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == sum(runs[-1]):
            runs[-1][1] += 1
        else:
            runs.append([rank, 1])
    return runs
