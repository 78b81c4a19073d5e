"""One method's run in a comparison, and the comparison itself."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.comparison.previews import Preview
from core.graph.protocol import KnowledgeGraph
from core.methods.catalogue import Method
from core.operators.base import Line
from core.runtime.jobs import JOB_CANCELLED, JOB_DONE, JOB_FAILED, JOB_WAITING
from core.runtime.meter import ProgressReport
from core.sources import SourceQuestion
from core.types import (
    EditComparison,
    Influence,
    ReaderAnswers,
    Repair,
    State,
    SupportingSentence,
)

ENDED_STATUSES = (JOB_DONE, JOB_FAILED, JOB_CANCELLED)
NOT_SAVED_FIELD: dict[str, Any] = {"saved": False}


@dataclass(frozen=True, eq=False)
class MethodLane:
    """One method on one question: its states so far, and its status.

    A lane is immutable. `MethodComparison.change_lane` replaces it by a changed copy, so that other
    threads always see a consistent state. The defaults are those of a finished lane.
    `core.cases.comparison_data` saves the fields under their names. The metadata `saved` gives
    another name, or False for a field that is not saved.

    Parameters
    ----------
    ask : the question and its source.
    states : the state after each operator so far.
    own_graph : the graph that the line names; None if it runs on the question's graph.
    status : one of the statuses of jobs, or “answering”.
    error : a sentence on the failure; None if it has not failed.
    answer : the text of the answer so far.
    retrieved : True once all operators before the answer are done.
    model : the title of the model that answers; None if none is asked.
    repair : a change of one step with which more of the known answers were retrieved; None if no
        such change is known.
    rests : the sentences that support the answer most; None until they were searched for.
    influences : the measured influence of the items on each answer.
    reading : the reader's answers to other contexts; None until they were asked for.
    beside : a comparison with the answer before the graph was edited; None if it was not edited.
    build_title : for a saved lane, the title of the build that made its graph.
    saved_alive : for a saved lane, the known answers and passages that are in the corpus and in the
        graph.
    text : the current activity in words.
    progress : the progress of that activity, if it is known.
    preview : the preview shown until the lane has retrieved, and kept if it is cancelled before.
    repairs_tried : True once changes of one step were tried.
    is_taken_over : True if the lane was run by an earlier comparison.
    waited : seconds in the queue, by the status that came after.
    prepared : seconds of preparation before the first operator, by what was prepared.
    reused : indices of the states that other lanes or questions had computed.
    """

    ask: SourceQuestion = field(metadata=NOT_SAVED_FIELD)
    method: Method = field(metadata=NOT_SAVED_FIELD)
    states: tuple[State, ...] = field(default=(), metadata=NOT_SAVED_FIELD)
    own_graph: KnowledgeGraph | None = field(default=None, metadata=NOT_SAVED_FIELD)
    status: str = JOB_DONE
    error: str | None = None
    answer: str = ""
    retrieved: bool = True
    model: str | None = None
    repair: Repair | None = None
    rests: tuple[SupportingSentence, ...] | None = None
    influences: tuple[Influence, ...] = ()
    reading: ReaderAnswers | None = None
    beside: EditComparison | None = None
    build_title: str = field(default="", metadata={"saved": "stands"})
    saved_alive: Mapping[str, tuple[str, ...]] | None = field(
        default=None, metadata={"saved": "kept"}
    )
    text: str = field(default="", metadata=NOT_SAVED_FIELD)
    progress: ProgressReport | None = field(default=None, metadata=NOT_SAVED_FIELD)
    preview: Preview | None = field(default=None, metadata=NOT_SAVED_FIELD)
    repairs_tried: bool = field(default=False, metadata=NOT_SAVED_FIELD)
    is_taken_over: bool = field(default=False, metadata=NOT_SAVED_FIELD)
    waited: Mapping[str, float] = field(default_factory=dict, metadata=NOT_SAVED_FIELD)
    prepared: Mapping[str, float] = field(default_factory=dict, metadata=NOT_SAVED_FIELD)
    reused: tuple[int, ...] = field(default=(), metadata=NOT_SAVED_FIELD)

    @classmethod
    def waiting(cls, ask: SourceQuestion, method: Method, model: str | None = None) -> MethodLane:
        """Return a lane that has not begun."""
        return cls(ask, method, status=JOB_WAITING, text="Waiting", retrieved=False, model=model)

    @property
    def state(self) -> State:
        """The newest state, or the question alone."""
        return self.states[-1] if self.states else State(self.ask.question, self.ask.seeds)

    @property
    def graph(self) -> Any:
        """The graph of this lane, which all lanes on triples share."""
        return self.own_graph or self.ask.source.graph

    @property
    def line(self) -> Line:
        """The operators of the method."""
        return self.method.line

    @property
    def as_shown(self) -> MethodLane:
        """This lane with the states of its preview, as if it had retrieved them.

        Without a preview, or after the retrieval, the states are its own.
        """
        if self.preview is None or self.retrieved:
            return replace(self, preview=None)
        return replace(self, states=self.preview.states, retrieved=True)

    @property
    def has_quick_result(self) -> bool:
        """True from the end of the quick pass to that of the exact pass."""
        return not self.retrieved and self.preview is not None and self.preview.is_quick

    @property
    def version(self) -> tuple[int, bool, int]:
        """Numbers that change with any progress: of states, retrieval and preview."""
        number = 0 if self.preview is None else self.preview.number
        return len(self.states), self.retrieved, number

    @property
    def is_complete(self) -> bool:
        """True if the lane is done and complete.

        Its search then covered all data and its model answered.
        """
        return self.status == JOB_DONE and not self.state.partly and not self.state.unanswered


@dataclass
class MethodComparison:
    """Several methods on one question.

    Its job replaces the lanes while screens read them, so all changes go through `change_lane`.

    Parameters
    ----------
    merges_digest : the digest of the merges saved for the corpus when the question was asked.
    is_repairing : True while changes of one step are tried, after the lanes have ended.
    follow_up_errors : sentences on work that failed after the lanes have ended, such as the search
        for repairs.
    """

    ask: SourceQuestion
    lanes: list[MethodLane] = field(default_factory=list)
    merges_digest: str = ""
    is_repairing: bool = False
    follow_up_errors: tuple[str, ...] = ()
    _lock: threading.Lock = field(
        default_factory=threading.Lock, init=False, repr=False, compare=False
    )

    @property
    def graph(self) -> Any:
        """The graph of the question."""
        return self.ask.source.graph

    @property
    def snapshot(self) -> MethodComparison:
        """A copy whose lanes stay as they are at this moment."""
        return replace(self, lanes=list(self.lanes))

    def change_lane(self, index: int, **fields: Any) -> MethodLane:
        """Replace a lane by a copy with new field values; return the copy."""
        with self._lock:
            self.lanes[index] = replace(self.lanes[index], **fields)
            return self.lanes[index]
