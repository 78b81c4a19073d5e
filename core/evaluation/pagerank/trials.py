"""Methods of personalised PageRank side by side: time, recall, memory and pieces, as tables 5 and 6 of LEGO-GraphRAG's report."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from core.diagnosis.funnel import gold_nodes
from core.errors import BadInput
from core.graph.algorithms.leiden import Communities, too_large
from core.graph.algorithms.neighbourhood import connected_components, induced
from core.graph.names.lookup import names
from core.graph.pagerank.best import PageRankReport, pagerank_exact, top_pagerank
from core.graph.store import Graph
from core.indexes.communities import clusters
from core.runtime.weight import free_memory
from core.types import Question, Subgraph
from core.watch import NO_WATCH, Watch

TIED = 1e-7  # scores that differ by less of their size count as equal
LEAST, SECONDS_A_STEP = (
    5e-3,
    4e-7,
)  # seconds of a question; of exact PageRank by the steps of the graph
MILLION, CAPPED = (
    1_000_000,
    {"auto": 0.1, "rbs": 4.0, "fora": 10.0, "topppr": 20.0, "partition": 1.0},
)  # nodes from which on the caps bind
BYTES_A_NODE = 64  # that solving the equation takes


@dataclass(frozen=True)
class Asked:
    """What a comparison starts from: the seeds of one question, and the nodes of its answers where they are known."""

    seeds: tuple[int, ...]
    answers: tuple[tuple[int, ...], ...] = ()  # for each answer the nodes that bear its name


@dataclass(frozen=True)
class MethodRow:
    """One method over all questions. Times are milliseconds a question, without compiling and without `prepared_s`."""

    method: str
    questions: int
    median_ms: float
    p95_ms: float
    recall: float  # mean share of the exact best nodes, any of those that tie at the end counting
    least_recall: float
    answer_recall: (
        float | None
    )  # mean share of a question's answers among the kept nodes; None where none are known
    components: float  # weakly connected pieces of the subgraph induced on the kept nodes, mean
    edges: float | None  # walked a question, median; None where the method does not count them
    memory: (
        int | None
    )  # bytes by which the process grew beyond what it held before, at its peak; None where nobody tells
    prepared_s: float  # seconds spent on what the method needs prepared, 0 where it lay there
    unsettled: int  # questions for which the method gave up before it had the accuracy asked for
    ran: str = ""  # what `auto` chose, "" for other methods and where it was not recorded


def compare_methods(
    graph: Graph,
    methods: Sequence[str],
    questions: Iterable[Question | Sequence[int]],
    keep: int = 1000,
    damping: float = 0.8,
    direction: str = "graph",
    recall: float = 0.97,
    watch: Watch = NO_WATCH,
) -> list[MethodRow]:
    """A row for each method, in the order asked. `questions` are questions with entities, or seeds alone.

    Each method answers every question once before the next method begins. Raises BadInput where there is no question, or where
    the graph is too large for a method or for the exact answer, BadParameter as `top_pagerank`, UnknownEntity for an entity that
    the graph lacks.
    """
    asked = [ask(graph, question) for question in questions]
    if not asked:
        raise BadInput("There is no question to compare PageRank methods on.")
    problem = no_room(graph) or next(filter(None, (unfit(graph, method) for method in methods)), "")
    if problem:
        raise BadInput(problem)
    cost = {method: expected(graph, method, direction) for method in ("exact", *methods)}
    todo, done = len(asked) * (cost["exact"] + sum(cost[method] for method in methods)), 0.0

    # how long compiling takes, nobody knows
    unmeasured = Watch(watch.check, lambda text, share: watch.report(text))
    trials = [MethodTrial(graph, method, keep, damping, direction, recall) for method in methods]
    for trial in trials:
        watch.check()
        trial.prepare(asked[0], unmeasured)
    for trial in trials:
        for place, question in enumerate(asked):
            watch.check()
            watch.report(
                f"PageRank by {trial.method}: question {place + 1:,} of {len(asked):,}", done / todo
            )
            trial.answer(question, watch)
            done += cost[trial.method]
    for place, question in enumerate(asked):
        watch.check()
        watch.report(f"Exact PageRank: question {place + 1:,} of {len(asked):,}", done / todo)
        exact = pagerank_exact(graph, question.seeds, damping, direction, watch=watch)
        for trial in trials:
            trial.recalls.append(tie_aware_recall(exact, trial.retained[place], keep))
        done += cost["exact"]
    return [trial.row(asked) for trial in trials]


def unfit(graph: Graph, method: str) -> str:
    """Why a method cannot be used on a graph, empty where it can."""
    problem = too_large(graph) if method == "partition" else ""
    return f"PageRank inside Leiden clusters: {problem}" if problem else ""


def no_room(graph: Graph) -> str:
    """Why the exact PageRank of a graph cannot be worked out here, empty where it can."""
    need, there = BYTES_A_NODE * graph.n_nodes, free_memory()
    if need <= there:
        return ""
    return (
        f"The exact PageRank of {graph.n_nodes:,} nodes, which all methods are held against, takes about {need / 1e9:.1f} GB of memory; "
        f"{there / 1e9:.1f} GB are free here."
    )


def expected(graph: Graph, method: str, direction: str = "graph") -> float:
    """About how many seconds a question takes a method on one slow core, at most, without what it needs prepared."""
    if method in CAPPED:
        return max(LEAST, CAPPED[method] * min(1.0, graph.n_nodes / MILLION))
    return max(
        LEAST, SECONDS_A_STEP * graph.n_edges * (2 if graph.resolve(direction) == "both" else 1)
    )


def ask(graph: Graph, question: Question | Sequence[int]) -> Asked:
    """The seeds and answer nodes of a question; seeds alone have no answers. Raises UnknownEntity, BadInput."""
    if not isinstance(question, Question):
        return Asked(tuple(int(seed) for seed in question))
    known = names(graph)
    seeds = tuple(dict.fromkeys(known.find(entity) for entity in question.entities))
    return Asked(seeds, tuple(tuple(gold_nodes(graph, answer)) for answer in question.answers))


def tie_aware_recall(exact: np.ndarray, nodes: np.ndarray, keep: int) -> float:
    """The share of the best `keep` nodes, or of all that are reached where those are fewer, that are among `nodes`; a node
    as good as the last of the best counts as one of them."""
    wanted = min(keep, int(np.sum(exact > 0.0)))
    if not wanted:
        return 1.0
    bar = np.partition(exact, len(exact) - wanted)[len(exact) - wanted] * (1.0 - TIED)
    return min(1.0, float(np.sum(exact[nodes[:wanted]] >= bar)) / wanted)


class Asking(TypedDict):
    """How `top_pagerank` is asked."""

    keep: int
    damping: float
    direction: str
    method: str
    recall: float
    clusters: Callable[..., Communities]


class MethodTrial:
    """One method at work: what it kept for each question, and what that cost."""

    def __init__(
        self, graph: Graph, method: str, keep: int, damping: float, direction: str, recall: float
    ):
        self.graph, self.method = graph, method
        self.asking = Asking(
            keep=keep,
            damping=damping,
            direction=direction,
            method=method,
            recall=recall,
            clusters=clusters,
        )
        self.seconds: list[float] = []
        self.retained: list[np.ndarray] = []
        self.recalls: list[float] = []
        self.edges: list[int] = []
        self.memory: int | None = None
        self.prepared, self.unsettled, self.ran = 0.0, 0, ""

    def prepare(self, question: Asked, watch: Watch = NO_WATCH) -> None:
        """Makes what the method needs, and has it compiled."""
        if self.method == "partition":
            start = time.perf_counter()
            self.asking["clusters"](self.graph, watch)
            self.prepared = time.perf_counter() - start
        watch.report(f"Getting PageRank by {self.method} ready")
        top_pagerank(self.graph, question.seeds, watch=watch, **self.asking)

    def answer(self, question: Asked, watch: Watch = NO_WATCH) -> None:
        """Keeps the best nodes of a question, and how long that took."""
        before, report = reset_peak(), PageRankReport()
        start = time.perf_counter()
        nodes, _ = top_pagerank(
            self.graph, question.seeds, report=report, watch=watch, **self.asking
        )
        self.seconds.append(time.perf_counter() - start)
        self.retained.append(nodes)
        self.unsettled += not report.settled
        self.ran = report.method if report.method != self.method else ""
        if report.edges:
            self.edges.append(report.edges)
        if before is not None:
            self.memory = max(self.memory or 0, peak() - before)

    def row(self, asked: Sequence[Asked]) -> MethodRow:
        """What the method did, over all questions."""
        times = sorted(second * 1e3 for second in self.seconds)
        shares = [
            sum(bool(set(nodes) & set(retained.tolist())) for nodes in question.answers)
            / len(question.answers)
            for question, retained in zip(asked, self.retained)
            if question.answers
        ]
        return MethodRow(
            self.method,
            len(times),
            statistics.median(times),
            float(np.quantile(times, 0.95)),
            statistics.fmean(self.recalls),
            min(self.recalls),
            statistics.fmean(shares) if shares else None,
            statistics.fmean(self._pieces(retained) for retained in self.retained),
            statistics.median(self.edges) if self.edges else None,
            self.memory,
            self.prepared,
            self.unsettled,
            self.ran,
        )

    def _pieces(self, retained: np.ndarray) -> int:
        nodes = np.sort(retained)
        return connected_components(self.graph, Subgraph(nodes, induced(self.graph, nodes)))


def reset_peak() -> int | None:
    """Bytes that the process holds, its peak now counted from here; None where the system does not tell (it does on Linux)."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        return None
    return peak()


def peak() -> int:
    """The most bytes the process held since its peak was last reset."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
