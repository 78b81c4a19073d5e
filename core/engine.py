"""The one front door: open a graph, link a question, compare instances."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from core.cases import solved
from core.comparison.built import BuiltGraphs
from core.comparison.comparing import Comparing, Queues
from core.comparison.dear import asks, at_once
from core.comparison.housekeeping import Housekeeping, freeze
from core.comparison.lane import Comparison, Lane
from core.comparison.queues import Wait
from core.comparison.run import LaneRun, Prefixes, Progress, answer_role, build_of
from core.comparison.waiters import Waiter, Waiters
from core.datasets import datasets, open_graph
from core.diagnosis.repair.repairing import Repairing
from core.environment import Environment
from core.errors import BadInput, BadParameter
from core.graph.names.lookup import names
from core.indexes.chains import fingerprint
from core.indexes.encoded import Of
from core.indexes.prepared import key, start
from core.indexes.so_far import make
from core.indexes.table import KINDS
from core.instances.catalogue import Instance
from core.io.durations import with_time_left
from core.models.base import Models
from core.models.registry import Registry
from core.operators.base import Line
from core.operators.text import parse_line
from core.runtime.jobs import Job, Jobs
from core.runtime.weight import weight
from core.sources import Ask, GraphSource, Source
from core.types import Question
from core.watch import NO_WATCH, Watch

MAX_LANES = 8
# lines that load between them what most others need
WARMING = (
    "PersonalizedPageRank(keep=1000) >> ShortestPaths(hops=2)",
    "EgoNetwork(hops=1) >> ShortestPaths(hops=1) >> Rank(keep=4)",
    "EgoNetwork(hops=1) >> BeamSearch(hops=1, width=2)",
)
__all__ = ["Comparison", "Engine", "Lane"]


class Engine:
    """Graphs, models and jobs of one process.

    Nothing that an engine holds holds the engine. One that is dropped is therefore freed at once, and with it its models: the
    garbage collector would come late, as it does not know how much memory they take outside Python.
    """

    def __init__(
        self, models: Models | None = None, solved: Callable[[str], Sequence[Question]] = solved
    ):
        self._own_models: Registry | None = None
        if models is None:
            models = self._own_models = Registry()
        self._built = BuiltGraphs(models)
        self._waiters = Waiters()
        self.jobs = Jobs(workers=4, weigh=_weight, needed=self._waiters.looking)
        # apart, so that hours of evaluation never keep a question waiting
        self.evaluations = Jobs(workers=1)
        self.preparing = Jobs()  # apart as well: indexes, and measuring how they serve
        # apart as well: two lines over some questions, while a person looks
        self.trials = Jobs(workers=1)
        bare = Environment(models, solved, self._built)
        self.environment = replace(bare, encoding=partial(_start_encoding, self.preparing, bare))
        self._prefixes, self._queues = Prefixes(), Queues()
        self.housekeeping = Housekeeping(
            self._queues.busy, partial(_load_answering, models), begun=self._queues.begun
        )
        self._asks_chat = partial(_asks_chat, models)
        self._graphs: dict[str, object] = {}
        self._lock = threading.Lock()

    @property
    def models(self):
        """The models of the environment."""
        return self.environment.models

    @property
    def busy(self) -> bool:
        """Whether any job is at work."""
        return any(jobs.busy for jobs in self._all_jobs)

    def stop(self) -> None:
        """Cancel every job and take no more; returns at once."""
        self.housekeeping.stop()
        for jobs in self._all_jobs:
            jobs.stop()

    def close(self) -> None:
        """Stop, and free the graphs and the models; models that the engine was given stay loaded."""
        self.stop()
        with self._lock:
            self._graphs.clear()
        self._built.close()
        if self._own_models is not None:
            self._own_models.close()

    @property
    def _all_jobs(self) -> tuple[Jobs, ...]:
        return self.jobs, self.evaluations, self.preparing, self.trials

    def graph(self, name: str = "metaqa", watch: Watch = NO_WATCH):
        """The graph of that name, built first where it is not yet; opened once a process."""
        with self._lock:
            if name not in self._graphs:
                self._graphs[name] = open_graph(name, watch=watch)
            return self._graphs[name]

    def is_open(self, name: str) -> bool:
        """Whether the graph of that name is open, so that a question need not wait for it."""
        return name in self._graphs

    def forget(self, name: str) -> None:
        """Open the graph anew when it is next asked for, as after it was built again."""
        with self._lock:
            self._graphs.pop(name, None)

    def warm(self) -> None:
        """Load what every retrieval needs, so that the first question does not wait for it: compiled loops, names, questions, the encoder.

        What is loaded then stays: it is taken out of what the garbage collector walks.
        """
        ask = Ask(GraphSource.of(self.graph()), Question("warm"), (0,), model=False)
        encoder = self.models.info("encoder").present
        if encoder:
            getattr(
                self.models.encoder(), "load", lambda: None
            )()  # also where what it is asked here was saved by an earlier process
        for text in WARMING if encoder else WARMING[:1]:
            LaneRun(ask, parse_line(text), self.environment).retrieve(Progress())
        names(self.graph()).mentions("warm")
        shipped = datasets()["metaqa"]
        for name in shipped.sets:
            shipped.questions(name)
        freeze()

    def ask(
        self,
        source: Source,
        question: Question,
        *,
        seed: int = 0,
        reader: bool = True,
        model: bool = True,
        watch: Watch = NO_WATCH,
    ) -> Ask:
        """A question to a source, opened where it is not yet, ready to be run. Raises BadInput, UnknownEntity, StoreError."""
        return source.open(self, watch=watch).ask(question, seed, reader, model, watch)

    def compare(
        self,
        ask: Ask,
        instances: Sequence[Instance],
        again: bool = False,
        waiter: Waiter | None = None,
        repairs: bool = False,
        before: Comparison | None = None,
    ) -> Job:
        """A job whose `comparison` fills with the lanes' results; the same question and lanes share one job, unless a
        lane asks anew each time. Lanes that `before` has done already, on the same question, are taken from it and not run again.
        Of an ended job only complete lanes are kept: those that failed, were cancelled, searched a part or got no answer are run again.

        With a `waiter` it is cancelled once nobody waits for it: a waiter waits for one comparison at a time, until they `leave`
        or are no longer alive. With `repairs`, once all lanes have ended, changes of one step are tried, and on documents it is looked
        up what answers rest on. Raises BadInput.
        """
        if not instances:
            raise BadInput("Choose at least one instance.")
        if len(instances) > MAX_LANES:
            raise BadInput(f"At most {MAX_LANES} instances at once, please.")
        unfinished = None if again else self._unfinished(ask, instances)
        done = _complete_lanes(unfinished, ask) | _complete_lanes(before, ask)
        anew = [instance for instance in instances if repr(instance.line) not in done]
        again = again or not all(
            operator.remembered for instance in anew for operator in instance.line.parts()
        )
        alive = (lambda: True) if waiter is None else waiter.alive
        again = again or unfinished is not None
        begin = lambda job: self._begin(job, alive if repairs else None)
        job = self.jobs.start(
            self.key(ask, instances), lambda: self._job(ask, instances, done), again, begin
        )
        if waiter is None:
            job.unattended = True
        else:
            self._waiters.wait(waiter, job)
        self._waiters.free(self.jobs.holds)
        return job

    def at_once(self, line: Line, source: Source, answering: bool = False) -> int:
        """How many operators of a line are run without being asked for: those before the first that asks a language model (for its answer
        with `answering` alone) or a program of the user's; none where the line names a graph of documents that is not built yet."""
        build = build_of(line)
        if build is not None and not self._built.digest(source.corpus, build):
            return 0
        return at_once(line, self.models, answering)

    def wait(self, job: Job) -> Wait | None:
        """How long a comparison waits for others before its first lane begins; None where it has begun."""
        if job.ended or any(lane.states for lane in job.comparison.lanes):
            return None
        return self._queues.wait(job)

    def leave(self, waiter: str) -> None:
        """The waiter of that id waits for no comparison any more."""
        self._waiters.leave(waiter)

    def key(self, ask: Ask, instances: Sequence[Instance]) -> str:
        """The key of a comparison: the same for the same question, graph, lanes, models and seed."""
        parts = [
            *map(str, ask.key(self.models.signature())),
            ask.question.gold,
            [self._graph_digest(ask, instance.line) for instance in instances],
            ask.question.answers,
            ask.question.aliases,
            ask.reader,
            ask.model,
            [
                (
                    i.id,
                    repr(i.line),
                    *(operator.stamp(ask.source.graph, self.environment) for operator in i.line),
                )
                for i in instances
            ],
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def _graph_digest(self, ask: Ask, line: Line) -> str:
        """The digest of the graph that a line names; empty where it is not built, which its lane does or says."""
        build, source = build_of(line), ask.source
        if not build:
            return source.graph.digest
        return self._built.digest(source.corpus, build) + _mends(ask)

    def _job(self, ask: Ask, instances: Sequence[Instance], done: Mapping[str, Lane]) -> Job:
        job, lanes = Job(self.key(ask, instances)), []
        for instance in instances:
            known = done.get(repr(instance.line))
            if known is None:
                lanes.append(Lane.waiting(ask, instance, self._answering_model(ask, instance)))
            else:
                lanes.append(replace(known, ask=ask, instance=instance, taken=True))
        job.comparison = Comparison(ask, lanes, _mends(ask))
        return job

    def _answering_model(self, ask: Ask, instance: Instance) -> str | None:
        """The title of the model that answers; None where none is asked or none has that name."""
        role = answer_role(instance.line)
        if not role or not ask.model:
            return None
        try:
            return self.models.title(role)
        except BadParameter:  # said on the lane when it asks
            return None

    def _unfinished(self, ask: Ask, instances: Sequence[Instance]) -> Comparison | None:
        """Return the ended comparison of the same key if one of its lanes has no whole result."""
        job = self.jobs.get(self.key(ask, instances))
        if job is None or not job.ended or all(lane.complete for lane in job.comparison.lanes):
            return None
        return job.comparison

    def _begin(self, job: Job, alive: Callable[[], bool] | None) -> None:
        """Start a comparison; with `alive` changes are tried afterwards, as long as it is true."""
        shared = job.comparison, self.environment, self._prefixes, self._queues, self._asks_chat
        after = None if alive is None else Repairing(*shared, alive)
        Comparing(*shared, after, self._waiters.looking).start(job)


def _load_answering(models: Models) -> None:
    """Load the model that answers, where it is one of this process."""
    if models.info("answer").present:
        getattr(models.chat("answer"), "load", lambda: None)()
        freeze()


def _start_encoding(jobs: Jobs, environment: Environment, graph: Any, encoder: str, of: Of) -> Job:
    """The job that makes vectors of a graph in the background; that of the page Indexes where it is by the usual encoder."""
    known, usual = environment.models.encoder(encoder), environment.models.encoder()
    kind = KINDS[f"vectors-{of}"]
    if fingerprint(known) == fingerprint(usual):
        return start(jobs, graph, kind, environment)
    name = f"{key(graph, kind)}-{fingerprint(known)}"
    work = lambda job: make(graph, known, of, with_time_left(job))
    return jobs.run(name, work, again=True)


def _asks_chat(models: Models, instance: Instance) -> bool:
    """Whether retrieving asks a language model, or a program of the user's: what may take long waits in its own queue."""
    return any(asks(operator, models) for operator in instance.line)


def _mends(ask: Ask) -> str:
    """The digest of the merges that are saved for the corpus that is asked; empty where there is none. Raises StoreError."""
    return ask.source.mends.digest


def _complete_lanes(before: Comparison | None, ask: Ask) -> dict[str, Lane]:
    """Return the complete lanes of an earlier comparison of the same question, by their lines."""
    if before is None or not ask.same(before.ask) or before.mends != _mends(ask):
        return {}
    return {repr(lane.instance.line): lane for lane in before.lanes if lane.complete}


def _weight(job: Job) -> int:
    """The bytes that the result of a job takes, as far as nothing else holds it: what lanes found."""
    comparison: Comparison | None = getattr(job, "comparison", None)
    if comparison is None:
        return 0
    return weight(
        [(lane.states, lane.preview and lane.preview.states) for lane in comparison.lanes]
    )
