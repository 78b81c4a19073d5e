"""A comparison at work: its lanes retrieve and answer in queues, and each is drawn as far as it has come."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from core.comparison import traces
from core.comparison.first_look import FirstLook
from core.comparison.head_start import HeadStart
from core.comparison.preview import Preview, Previews
from core.comparison.queues import Fair, Wait
from core.comparison.run import LaneRun, Progress
from core.errors import Cancelled, HopscopeError
from core.instances.catalogue import Instance
from core.operators.base import Line
from core.runtime.jobs import CANCELLED, DONE, FAILED, RUNNING, WAITING, Job, nothing, sentence
from core.runtime.meter import HowFar
from core.sources import Ask
from core.types import Beside, Influence, Repair, Rest, State
from core.watch import NO_WATCH, Watch

ANSWERING = "answering"
ENDED = (DONE, FAILED, CANCELLED)
TELL = 0.3  # seconds between two words on how far a lane is
USUAL = 0.5  # seconds that each operator of a line is thought to take before it was run
SIDE_BY_SIDE = 8  # answers that a model gives at a time where it can


@dataclass
class Lane:
    """One instance at work on the question: its status, the words that say what it does, and its run so far."""

    instance: Instance
    run: LaneRun
    status: str = WAITING
    text: str = "Waiting"
    error: str | None = None
    answer: str = ""  # as far as it has been written
    retrieved: bool = False  # whether everything before the answer is done
    repair: Repair | None = (
        None  # a change of one step that was seen to bring more of the known answers
    )
    tried: bool = False  # whether changes of one step were tried on it
    taken: bool = False  # whether it was done by an earlier comparison and taken from it
    waited: dict[str, float] = field(
        default_factory=dict
    )  # seconds in the queue, by the status that came after
    prepared: dict[str, float] = field(
        default_factory=dict
    )  # seconds of what was made ready before the first operator
    progress: HowFar | None = None  # of what it does now, where that is known
    rests: tuple[Rest, ...] | None = (
        None  # what the sentences of its answer most likely rest on, once that was looked up
    )
    preview: Preview | None = (
        None  # what it shows before it has retrieved, and if it is cancelled before
    )
    beside: Beside | None = None  # what it said before its graph was edited, once that is known
    influences: tuple[
        Influence, ...
    ] = ()  # what each of its answers rests on, as far as that was measured
    build_title: str = ""  # of a saved one: the title of the build that made its graph
    saved_alive: Mapping[str, tuple[str, ...]] | None = (
        None  # of a saved one: known answers and passages in the corpus and in the graph
    )

    def again(self, ask: Ask) -> Lane:
        """A lane of the same end for another comparison of the same question, which then holds its own."""
        return replace(
            self, run=replace(self.run, ask=ask, states=list(self.run.states)), taken=True
        )

    @property
    def shown(self) -> Lane:
        """This lane as a screen shows it: where it has not retrieved, as if it had come to what its preview holds."""
        preview = self.preview  # read first, as what takes its place is there before it goes
        if preview is None or self.retrieved:
            return replace(
                self, preview=None
            )  # of one moment, also where the lane goes on meanwhile
        return replace(
            self,
            run=replace(self.run, states=list(preview.states)),
            retrieved=True,
            preview=preview,
        )

    @property
    def version(self) -> tuple[int, bool, int]:
        """Differs whenever the lane has come further: how many states it has, whether it has retrieved, and the number of its preview."""
        return (
            len(self.run.states),
            self.retrieved,
            0 if self.preview is None else self.preview.number,
        )

    @property
    def complete(self) -> bool:
        """Return whether the result may be reused: the lane is done, searched everything and was answered."""
        return self.status == DONE and not self.state.partly and not self.state.unanswered

    @property
    def states(self) -> tuple[State, ...]:
        return tuple(self.run.states)

    @property
    def state(self) -> State:
        return self.run.state

    @property
    def graph(self):
        """The graph that this lane stands on; all lanes on one of triples share it."""
        return self.run.graph


@dataclass
class Comparison:
    """Several instances on one question. Filled by its job, read by screens at any moment."""

    ask: Ask
    lanes: list[Lane] = field(default_factory=list)
    mends: str = ""  # the digest of the merges that were saved for the corpus when it was asked
    repairing: bool = (
        False  # whether changes of one step are still tried, after the lanes have ended
    )

    @property
    def graph(self):
        return self.ask.source.graph


def make_ready() -> None:
    """Load the libraries that retrieval needs, where they are not yet; else nothing."""
    import core.graph.algorithms.local
    import core.graph.algorithms.traversal  # noqa: F401


def side_by_side(models, role: str) -> bool:
    """Whether the model of that role gives several answers at a time, as a server does; False where it cannot be had."""
    try:
        return getattr(models.chat(role), "side_by_side", False)
    except HopscopeError:
        return False


class Queues:
    """Where lanes wait: to retrieve, to retrieve with the help of a language model, and for each model's answers.

    So a question without a model never waits behind one with, and an answer only behind answers of the same model.
    """

    def __init__(self) -> None:
        self.retrieving = Fair("retrieval", max(2, min(8, os.cpu_count() or 2)))
        self.asking = Fair("asking", 2)
        self.repairing = Fair("repairing", 1)
        self.pace: dict[
            str, float
        ] = {}  # seconds that a line took last, so that quick ones go first
        self._answering: dict[str, Fair] = {}
        self._lock = threading.Lock()

    def expected(self, line: Line) -> float:
        """The seconds that a line is expected to take."""
        return self.pace.get(repr(line), USUAL * len(line))

    def answering(self, models, role: str) -> Fair:
        """The queue of the model of that role or name."""
        try:
            name = models.signature(role)
        except HopscopeError:  # said on the lane when it asks
            name = ""
        many = side_by_side(models, role)
        with self._lock:
            if name not in self._answering:
                self._answering[name] = Fair(
                    "answering", SIDE_BY_SIDE if many else 1, alone=not many
                )
            return self._answering[name]

    def busy(self) -> bool:
        """Whether anybody waits for a lane."""
        return self.others(None)

    def others(self, job: Job | None) -> bool:
        """Whether lanes of another job wait here or are at work."""
        return any(queue.ahead(job) for queue in self._of_lanes())

    def begun(self) -> int:
        """How many retrievals and answers of lanes have begun so far."""
        return sum(queue.begun for queue in self._of_lanes())

    def _of_lanes(self) -> tuple[Fair, ...]:
        with self._lock:
            return (self.retrieving, self.asking, *self._answering.values())

    def wait(self, job: Job) -> Wait | None:
        """How long a job waits for its first lane to retrieve; None where one does already, or none has to."""
        waits = [queue.wait(job) for queue in (self.retrieving, self.asking)]
        return next((wait for wait in waits if wait is not None), None)

    def drop(self, job: Job) -> None:
        """Forget what has not begun of a job."""
        with self._lock:
            queues = (self.retrieving, self.asking, self.repairing, *self._answering.values())
        for queue in queues:
            queue.drop(job)


class Comparing:
    """Does the work of one comparison's job: every lane's retrieval, and its answer as soon as it has retrieved."""

    def __init__(
        self,
        comparison: Comparison,
        models,
        queues: Queues,
        asks_chat: Callable[[Instance], bool],
        after: Callable[[Job, float], None] | None = None,
        watched: Callable[[Job], bool] = lambda job: False,
    ):
        """`after(job, when the last lane ended)` is done once all lanes have ended well, in a queue of its own, so as to delay no lane.
        `watched` says whether somebody looks at what a job compares, who is then shown how far its rankings are."""
        self.comparison, self._models, self._queues, self._asks_chat = (
            comparison,
            models,
            queues,
            asks_chat,
        )
        self._after, self._watched = after, watched
        self._at_work: list[Lane] = []
        self._lock = threading.RLock()

    def start(self, job: Job) -> None:
        """Put the lanes into their queues; the job ends when the last one has."""
        self._job, job.on_cancel = job, self._cancelled
        queues, lanes, asks_chat = (
            self._queues,
            self.comparison.lanes,
            self._asks_chat,
        )  # not by way of this, which would then hold itself
        self._head_start = HeadStart(lambda: queues.others(job))
        left = lambda lane: (
            not lane.retrieved and lane.status not in ENDED and not asks_chat(lane.instance)
        )
        self._first_look = FirstLook(
            lambda: [i for i, lane in enumerate(lanes) if left(lane)], lambda: queues.others(job)
        )
        waiting = [lane for lane in self.comparison.lanes if lane.status not in ENDED]
        for lane in sorted(waiting, key=lambda lane: self._queues.expected(lane.instance.line)):
            self._put(
                self._queues.asking if self._asks_chat(lane.instance) else self._queues.retrieving,
                lane,
                RUNNING,
                self._retrieve,
            )
        if not waiting:
            self._end_with_the_last()

    def _put(self, queue: Fair, lane: Lane, status: str, work: Callable[[Lane], None]) -> None:
        since = time.perf_counter()

        def piece() -> None:
            with self._lock:
                if lane.status in ENDED:
                    return
                self._at_work.append(lane)
                lane.status, lane.text = status, ""
                lane.waited[status] = time.perf_counter() - since
            if self._job.status == WAITING:
                self._job.begin()
            try:
                work(lane)
            except Exception as error:  # of what comes before an operator or behind it
                self._fail(lane, error)
            finally:
                with self._lock:
                    self._at_work.remove(lane)
                self._end_with_the_last()

        queue.put(self._job, piece)

    def _retrieve(self, lane: Lane) -> None:
        start = time.perf_counter()
        make_ready()
        lane.prepared["Loading the program"] = time.perf_counter() - start
        if not self._part(lane, LaneRun.retrieve, Watch(lambda: self._head_start.pause(self._job))):
            return
        lane.retrieved, lane.preview = True, None
        self._queues.pace[repr(lane.instance.line)] = sum(
            step.seconds + step.saved for step in lane.state.trace
        )
        role = next(
            (operator.role for operator in lane.instance.line if operator.stage == "generate"), None
        )
        if role is None or not self.comparison.ask.model or lane.run.answered():
            lane.status = ANSWERING
            self._answer(lane)
            return
        lane.text = "Retrieved; waiting for the language model"
        self._job.touch()
        self._put(
            self._queues.answering(self._models, role),
            lane,
            ANSWERING,
            lambda lane: self._ask(lane, role),
        )

    def _answer(self, lane: Lane) -> None:
        if self._part(lane, LaneRun.answer, self._job):
            said = lane.state.answer  # without the thought, and without what repeats in it
            lane.answer = lane.answer if said is None else said
            lane.text, lane.status = "", DONE
            self._job.touch()

    def _ask(self, lane: Lane, role: str) -> None:
        if not side_by_side(self._models, role):  # it shares the cores
            self._head_start.begin()
        try:
            self._answer(lane)
        finally:
            self._head_start.end()

    def _part(
        self, lane: Lane, part: Callable[[LaneRun, Progress], None], watch: Watch = NO_WATCH
    ) -> bool:
        """Whether one part of a lane went well; its failure is written on it and goes no further."""
        job = self._job

        def advanced(text: str, fraction: float | None = None) -> None:
            lane.text, lane.progress = text, None if fraction is None else HowFar(text, fraction)
            job.report(f"{lane.instance.name}: {text}", fraction)

        def wrote(piece: str) -> None:
            lane.answer, lane.progress = lane.answer + piece, None
            self._head_start.end()
            job.touch()

        reported_at = 0.0

        def far(how: HowFar) -> None:
            nonlocal reported_at
            lane.text, lane.progress = how.text, how
            if lane.status == ANSWERING:
                self._head_start.left(how.left)
            if time.monotonic() - reported_at >= TELL:
                reported_at = time.monotonic()
                job.report(f"{lane.instance.name}: {how.text}", how.fraction)

        def reached(state: State) -> None:
            lane.progress = None
            job.touch()

        def show(preview: Preview) -> None:
            lane.preview = preview
            job.touch()

        here, others = threading.get_ident(), lambda: self._queues.others(job)
        previews = Previews(show, lambda: self._watched(job), others=others)
        number = next(number for number, one in enumerate(self.comparison.lanes) if one is lane)

        def preview(text: str, states: Callable[[], tuple[State, ...]]) -> None:
            if (
                previews(text, states) and threading.get_ident() == here
            ):  # a model that reads elsewhere is not kept waiting
                self._first_look.give_way(number, watch)

        try:
            watch.check()
            part(
                lane.run,
                Progress(
                    Watch(watch.check, advanced),
                    reached,
                    wrote,
                    far,
                    None if lane.retrieved else preview,
                ),
            )
            return True
        except Cancelled:
            lane.status, lane.text = CANCELLED, "Cancelled"
        except Exception as error:
            self._fail(lane, error)
        finally:
            lane.progress = None
        job.touch()
        return False

    def _fail(self, lane: Lane, error: Exception) -> None:
        """End a lane with the sentence of an error."""
        lane.status, lane.text, lane.error = FAILED, "", sentence(error)
        self._job.touch()

    def _cancelled(self) -> None:
        """The job was cancelled: lanes that only wait end at once, those at work at their next check."""
        self._queues.drop(self._job)
        self.comparison.repairing = False
        with self._lock:
            for lane in self.comparison.lanes:
                if lane.status not in ENDED and lane not in self._at_work:
                    lane.status, lane.text = CANCELLED, "Cancelled"
        self._end_with_the_last()

    def _end_with_the_last(self) -> None:
        with self._lock:
            job, after = self._job, self._after
            if job.ended or not all(lane.status in ENDED for lane in self.comparison.lanes):
                return
            job.result = self.comparison
            if after is None or job.cancelled:
                job.on_cancel = nothing
            else:
                self.comparison.repairing = True
                ended = time.monotonic()
                self._queues.repairing.put(job, lambda: self._afterwards(after, ended))
            traces.send(
                [
                    traces.Traced(lane.instance.name, lane.run, lane.error or "")
                    for lane in self.comparison.lanes
                    if not lane.taken
                ]
            )
            job.end(CANCELLED if job.cancelled else DONE)

    def _afterwards(self, after: Callable[[Job, float], None], ended: float) -> None:
        try:
            after(self._job, ended)
        finally:
            self._job.on_cancel = nothing  # else the job and this hold one another, and all results, until garbage is collected
