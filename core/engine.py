"""The engine: opens graphs, links questions to entities and compares methods."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from core.cases import solved
from core.comparison.built_graphs import BuiltGraphs
from core.comparison.comparison_work import ComparisonWork, LaneQueues
from core.comparison.consent import free_prefix, needs_consent
from core.comparison.housekeeping import Housekeeping, freeze_objects
from core.comparison.lane import MethodComparison, MethodLane
from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache, answer_role, build_of
from core.comparison.queues import QueueWait
from core.comparison.waiters import Waiter, Waiters
from core.datasets import datasets, open_graph
from core.diagnosis.repair.repair_work import RepairWork
from core.environment import Environment
from core.errors import BadInput, BadParameter
from core.graph.names.lookup import name_lookup
from core.indexes.chains import fingerprint
from core.indexes.index_kinds import INDEX_KINDS
from core.indexes.index_state import index_job_key, start_index_job
from core.indexes.partial_index import build_searchable_vectors
from core.indexes.vector_blocks import ItemKind
from core.io.durations import with_time_left
from core.methods.catalogue import Method
from core.models.base import Models
from core.models.registry import Registry
from core.operators.base import Line
from core.operators.text import parse_line
from core.runtime.jobs import Job, Jobs
from core.runtime.memory import memory_bytes
from core.sources import AnswerSource, GraphSource, SourceQuestion
from core.types import Question
from core.watch import NO_WATCH, Watch

MAX_LANES = 8
# Lines run once at the start. Together they load the modules that most methods need.
WARM_UP_LINES = (
    "PersonalizedPageRank(keep=1000) >> ShortestPaths(hops=2)",
    "EgoNetwork(hops=1) >> ShortestPaths(hops=1) >> Rank(keep=4)",
    "EgoNetwork(hops=1) >> BeamSearch(hops=1, width=2)",
)
__all__ = ["MethodComparison", "Engine", "MethodLane"]


class Engine:
    """Graphs, models and jobs of one process.

    No object inside an engine refers back to it. A dropped engine is therefore freed immediately,
    together with its models. In a reference cycle they would stay until the garbage collector runs,
    and it does not know how much memory models take outside Python.

    Parameters
    ----------
    models : the models to use; by default a registry of its own, which `close` closes.
    load_solved : returns the solved questions of a user for the digest of a graph.

    Attributes
    ----------
    environment : models and other resources that the operators use.
    jobs : comparisons.
    evaluations : evaluations on question sets.
    background_jobs : builds of indexes and graphs, and other long work.
    trials : runs of the methods that are being drafted on the page Build.
    housekeeping : garbage collection and model loading while no user waits.
    """

    def __init__(
        self,
        models: Models | None = None,
        load_solved: Callable[[str], Sequence[Question]] = solved,
    ):
        self._own_models: Registry | None = None
        if models is None:
            models = self._own_models = Registry()
        self._built_graphs = BuiltGraphs(models)
        self._waiters = Waiters()
        self.jobs = Jobs(workers=4, weigh=_result_bytes, is_needed=self._waiters.is_displayed)
        # Each kind of work has a pool of its own, as a job of hours must not delay a question.
        self.evaluations = Jobs(workers=1)
        self.background_jobs = Jobs()
        self.trials = Jobs(workers=1)
        base = Environment(models, load_solved, self._built_graphs)
        self.environment = replace(
            base, start_encoding=partial(_start_encoding, self.background_jobs, base)
        )
        self._prefixes = PrefixCache()
        self._queues = LaneQueues()
        self.housekeeping = Housekeeping(
            self._queues.is_busy,
            partial(_load_answer_model, models),
            count_begun=self._queues.count_begun,
        )
        self._is_slow_lane = partial(_is_slow_lane, models)
        self._graphs: dict[str, object] = {}
        self._lock = threading.Lock()

    @property
    def models(self):
        """Models of the environment."""
        return self.environment.models

    @property
    def is_busy(self) -> bool:
        """True while any job is running."""
        return any(jobs.is_busy for jobs in self._all_jobs)

    def stop(self) -> None:
        """Cancel all jobs and accept no more, without waiting until they have ended."""
        self.housekeeping.stop()
        for jobs in self._all_jobs:
            jobs.stop()

    def close(self) -> None:
        """Stop all jobs and free the graphs and the engine's own models.

        Models that were passed to the engine stay loaded.
        """
        self.stop()
        with self._lock:
            self._graphs.clear()
        self._built_graphs.close()
        if self._own_models is not None:
            self._own_models.close()

    @property
    def _all_jobs(self) -> tuple[Jobs, ...]:
        return self.jobs, self.evaluations, self.background_jobs, self.trials

    def graph(self, name: str = "metaqa", watch: Watch = NO_WATCH):
        """Return the graph of that name, building it first if necessary.

        Each graph is opened once in an engine.
        """
        with self._lock:
            if name not in self._graphs:
                self._graphs[name] = open_graph(name, watch=watch)
            return self._graphs[name]

    def is_open(self, name: str) -> bool:
        """Return whether a graph is open. A question need not wait for an open graph."""
        return name in self._graphs

    def drop_graph(self, name: str) -> None:
        """Drop an open graph. The next access opens it again, for example after a rebuild."""
        with self._lock:
            self._graphs.pop(name, None)

    def preload(self) -> None:
        """Load everything that most retrieval needs, so that the first question is fast.

        This covers compiled functions, names, the encoder, and the question set whose questions are
        offered first; any other set is read when a question of it is asked. The loaded objects are
        then excluded from garbage collection, since they are never freed.
        """
        source = GraphSource.of(self.graph())
        question = SourceQuestion(source, Question("warm"), (0,), uses_model=False)
        encoder = self.models.info("encoder").present
        if encoder:
            # The lines below may not load it, as an earlier process may have saved the vectors.
            # An encoder on a server has no `load`.
            getattr(self.models.encoder(), "load", lambda: None)()
        for text in WARM_UP_LINES if encoder else WARM_UP_LINES[:1]:
            LaneRun(question, parse_line(text), self.environment).retrieve(LaneListener())
        name_lookup(self.graph()).find_mentions("warm")
        dataset = datasets()["metaqa"]
        for name in list(dataset.sets)[:1]:
            dataset.questions(name)
        freeze_objects()

    def prepare_question(
        self,
        source: AnswerSource,
        question: Question,
        *,
        seed: int = 0,
        uses_reader: bool = True,
        uses_model: bool = True,
        watch: Watch = NO_WATCH,
    ) -> SourceQuestion:
        """Open the source if necessary, and return the question with its entities.

        Parameters
        ----------
        source : the graph or corpus to ask.
        question : the question; its entities are linked if they are not given.
        seed : number that determines random choices.
        uses_reader : whether a reader that needs no language model is added to lines without one.
        uses_model : whether language models may be used.

        Raises
        ------
        BadInput
            If the question cannot be asked.
        UnknownEntity
            If an entity is not in the graph.
        StoreError
            If the source cannot be opened.
        """
        return source.open(self, watch=watch).ask(question, seed, uses_reader, uses_model, watch)

    def compare(
        self,
        ask: SourceQuestion,
        methods: Sequence[Method],
        rerun: bool = False,
        waiter: Waiter | None = None,
        try_repairs: bool = False,
        earlier: MethodComparison | None = None,
    ) -> Job:
        """Return a job that runs methods on a question; its `comparison` receives the results.

        Calls with the same question and the same lines share one job, unless a line has an operator
        whose result must not be reused. The complete lanes of an ended job are reused. Lanes that
        failed, were cancelled, searched only a part of the graph or got no answer are run again.

        Parameters
        ----------
        ask : the question and its source.
        methods : the methods to compare, at most `MAX_LANES`.
        rerun : if true, run all lanes again.
        waiter : the session that waits for the result. The job is cancelled once no session waits
            for it. A session waits for one comparison at a time, until `stop_waiting` is called for
            it or it has ended.
        try_repairs : if true, changes of a single step are tried after all lanes have ended. On
            documents, the evidence of the answers is traced as well.
        earlier : an earlier comparison. Its complete lanes are reused if the question is the same.

        Raises
        ------
        BadInput
            If there is no method, or more than `MAX_LANES`.
        """
        if not methods:
            raise BadInput("Choose at least one method.")
        if len(methods) > MAX_LANES:
            raise BadInput(f"At most {MAX_LANES} methods at once, please.")
        incomplete = None if rerun else self._incomplete_comparison(ask, methods)
        complete_lanes = _complete_lanes(incomplete, ask) | _complete_lanes(earlier, ask)
        new_methods = [method for method in methods if repr(method.line) not in complete_lanes]
        is_reusable = all(
            operator.is_reusable for method in new_methods for operator in method.line.parts()
        )
        is_alive = (lambda: True) if waiter is None else waiter.is_connected
        job = self.jobs.start(
            self.key(ask, methods),
            lambda: self._make_job(ask, methods, complete_lanes),
            again=rerun or not is_reusable or incomplete is not None,
            run=partial(self._start, is_alive=is_alive if try_repairs else None, waiter=waiter),
        )
        if waiter is None:
            job.is_unattended = True
        else:
            self._waiters.wait(waiter, job)
        self._waiters.free_unused(self.jobs.is_current)
        return job

    def free_prefix_length(self, line: Line, source: AnswerSource, answering: bool = False) -> int:
        """Return how many leading operators of a line run without the user's consent.

        An operator that asks a language model or starts a user's program needs consent. The model
        that writes the answer counts only with `answering`. The number is 0 if the line runs on a
        graph of documents that is not built yet.
        """
        build = build_of(line)
        if build is not None and not self._built_graphs.digest(source.corpus, build):
            return 0
        return free_prefix(line, self.models, answering)

    def queue_wait(self, job: Job) -> QueueWait | None:
        """Return how long a comparison waits until its first lane begins.

        The result is None if a lane has begun or the job has ended.
        """
        if job.has_ended or any(lane.states for lane in job.comparison.lanes):
            return None
        return self._queues.expected_wait(job)

    def expected_seconds(self, line: Line) -> float:
        """Return the seconds of a method's last run on Compare, or a guess by its operators."""
        return self._queues.expected_seconds(line)

    def is_postponed(self, job: Job) -> bool:
        """Return whether a comparison's exact results wait behind the questions of other people."""
        queue = self._queues.retrieving
        return queue.has_postponed(job) and queue.count_others(job) > 0

    def hasten(self, job: Job) -> None:
        """End the postponement of a comparison's exact results, so that they queue normally."""
        self._queues.retrieving.hasten(job)

    def stop_waiting(self, waiter_id: str) -> None:
        """Record that the session with that id no longer waits for a comparison."""
        self._waiters.stop_waiting(waiter_id)

    def key(self, ask: SourceQuestion, methods: Sequence[Method]) -> str:
        """Return the key of a comparison: a hash of its question, graph, lanes, models and seed."""
        parts = [
            *map(str, ask.key(self.models.signature())),
            ask.question.gold,
            [self._graph_digest(ask, method.line) for method in methods],
            ask.question.answers,
            ask.question.aliases,
            ask.uses_reader,
            ask.uses_model,
            [
                (
                    method.id,
                    repr(method.line),
                    *(
                        operator.stamp(ask.source.graph, self.environment)
                        for operator in method.line
                    ),
                )
                for method in methods
            ],
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def _graph_digest(self, ask: SourceQuestion, line: Line) -> str:
        """Return the digest of the graph that a line runs on.

        It is empty if the graph is not built. The lane then builds it or reports that it is missing.
        """
        build = build_of(line)
        if not build:
            return ask.source.graph.digest
        return self._built_graphs.digest(ask.source.corpus, build) + _merges_digest(ask)

    def _make_job(
        self,
        ask: SourceQuestion,
        methods: Sequence[Method],
        complete_lanes: Mapping[str, MethodLane],
    ) -> Job:
        lanes = []
        for method in methods:
            complete_lane = complete_lanes.get(repr(method.line))
            if complete_lane is None:
                lanes.append(MethodLane.waiting(ask, method, self._answering_model(ask, method)))
            else:
                lanes.append(replace(complete_lane, ask=ask, method=method, is_taken_over=True))
        job = Job(self.key(ask, methods))
        job.comparison = MethodComparison(ask, lanes, _merges_digest(ask))
        return job

    def _answering_model(self, ask: SourceQuestion, method: Method) -> str | None:
        """Return the title of the answering model; None if it is unused or unknown."""
        role = answer_role(method.line)
        if not role or not ask.uses_model:
            return None
        try:
            return self.models.title(role)
        except BadParameter:  # the lane reports it when it asks the model
            return None

    def _incomplete_comparison(
        self, ask: SourceQuestion, methods: Sequence[Method]
    ) -> MethodComparison | None:
        """Return the ended comparison of the same key, if a lane is incomplete."""
        job = self.jobs.get(self.key(ask, methods))
        if (
            job is None
            or not job.has_ended
            or all(lane.is_complete for lane in job.comparison.lanes)
        ):
            return None
        return job.comparison

    def _start(self, job: Job, is_alive: Callable[[], bool] | None, waiter: Waiter | None) -> None:
        """Start a comparison.

        With `is_alive`, changes of single steps are tried afterwards, as long as it returns true.
        The waiters learn of the job only after its start, so `waiter` is checked here as well.
        """

        def is_watched(job: Job) -> bool:
            return self._waiters.is_displayed(job) or (waiter is not None and waiter.is_connected())

        repair_work = None
        if is_alive is not None:
            repair_work = RepairWork(
                comparison=job.comparison,
                environment=self.environment,
                prefixes=self._prefixes,
                queues=self._queues,
                is_slow_lane=self._is_slow_lane,
                is_alive=is_alive,
            )
        work = ComparisonWork(
            comparison=job.comparison,
            environment=self.environment,
            prefixes=self._prefixes,
            queues=self._queues,
            is_slow_lane=self._is_slow_lane,
            on_end=repair_work,
            is_watched=is_watched,
        )
        work.start(job)


def _load_answer_model(models: Models) -> None:
    """Load the model that answers, if it runs in this process."""
    if models.info("answer").present:
        getattr(models.chat("answer"), "load", lambda: None)()
        freeze_objects()


def _start_encoding(
    jobs: Jobs, environment: Environment, graph: Any, encoder: str, item_kind: ItemKind
) -> Job:
    """Start the job that encodes a graph's texts in the background.

    With the default encoder it is the same job as on the page Indexes.
    """
    requested_model = environment.models.encoder(encoder)
    default_model = environment.models.encoder()
    kind = INDEX_KINDS[f"vectors-{item_kind}"]
    if fingerprint(requested_model) == fingerprint(default_model):
        return start_index_job(jobs, graph, kind, environment)
    return jobs.run(
        f"{index_job_key(graph, kind)}-{fingerprint(requested_model)}",
        lambda job: build_searchable_vectors(
            graph, requested_model, item_kind, with_time_left(job)
        ),
        again=True,
    )


def _is_slow_lane(models: Models, method: Method) -> bool:
    """Return whether retrieval asks a language model or starts a user's program.

    Such lanes may take long, so they wait in a separate queue.
    """
    return any(needs_consent(operator, models) for operator in method.line)


def _merges_digest(ask: SourceQuestion) -> str:
    """Return the digest of the corpus's saved name merges, empty if there are none.

    Raises StoreError.
    """
    return ask.source.merges.digest


def _complete_lanes(earlier: MethodComparison | None, ask: SourceQuestion) -> dict[str, MethodLane]:
    """Return an earlier comparison's complete lanes, by line.

    Empty if its question is not the same.
    """
    if (
        earlier is None
        or not ask.has_same_results(earlier.ask)
        or earlier.merges_digest != _merges_digest(ask)
    ):
        return {}
    return {repr(lane.method.line): lane for lane in earlier.lanes if lane.is_complete}


def _result_bytes(job: Job) -> int:
    """Return the memory of a job's result, in bytes: the states of its lanes."""
    comparison: MethodComparison | None = getattr(job, "comparison", None)
    if comparison is None:
        return 0
    return memory_bytes(
        [(lane.states, lane.preview and lane.preview.states) for lane in comparison.lanes]
    )
