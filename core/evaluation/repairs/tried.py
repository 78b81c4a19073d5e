"""Trials of changes of one step on all questions that a method loses.

Each trial counts the questions that a change recovers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.comparison.dear import asks
from core.diagnosis.changes.trying import MOST_TRIED, LineChange, changed_line
from core.diagnosis.verdict.explainers import explainer_of
from core.diagnosis.wording import counted
from core.errors import BadInput, HopscopeError
from core.evaluation.metrics.outcome import Outcome
from core.evaluation.repairs.lost import LostQuestion, loss_sentence, reopened
from core.evaluation.reports.flow import (
    FAILED,
    PASSAGES,
    RIGHT,
    ending_of,
    endings,
    lost_at,
    measure,
)
from core.evaluation.reports.summary import Summary
from core.evaluation.runs.plan import Drawn, Plan
from core.evaluation.runs.row import asking, vary
from core.evaluation.runs.runner import Pace
from core.evaluation.runs.store import Run, Store
from core.instances.catalogue import Instance
from core.operators.text import parse_line
from core.parameters import values
from core.runtime.jobs import Job
from core.sources import Ask
from core.watch import NO_WATCH, Watch

MAX_SECONDS = 60.0  # time limit of one change on one question
MAX_ALIKE = 3  # maximum number of changes of the same step that are tried


@dataclass(frozen=True)
class Attempt:
    """A changed line with the questions that it recovers.

    `spec` is the text of the changed line and `words` describes the change. `back` holds the ids of
    the recovered questions, and `tried` is the number of questions that it was tried on. Questions
    that took too long or could not be asked are not counted.
    """

    spec: str
    words: str
    back: tuple[str, ...]
    tried: int


@dataclass(frozen=True)
class LineRepairs:
    """Losses of a method, and the changes that were tried, most effective first.

    `of` is the number of questions and `lost` the number lost. `within` is the number of lost
    questions that a change of retrieval may recover. If a language model answers, these are the
    questions whose facts are not in the prompt, and recovering one means to bring its facts into
    the prompt. `note` says why nothing was tried.
    """

    instance: str
    of: int
    lost: int
    causes: tuple[tuple[str, int], ...] = ()
    within: int = 0
    attempts: tuple[Attempt, ...] = ()
    by_model: bool = False
    note: str = ""

    def sentences(self, name: str) -> list[str]:
        """Return a sentence on the losses and one on the best change.

        An example of the first is `Of 40 questions No. 12 loses 12: ranked too low 9, never reached
        3.`
        """
        first = loss_sentence(name, self.of, self.lost, self.causes)
        return [first, self._tried()] if self.lost else [first]

    def _tried(self) -> str:
        """Return a sentence on the best change, or on why there is none."""
        if self.note:
            return self.note
        if not self.attempts:
            return "No change of one step is known that may help."
        if self.attempts[0].back:
            return f"{self.brings(self.attempts[0])}."
        tried = counted(len(self.attempts), "change")
        return f"{tried} of one step brought none of them back, tried."

    def brings(self, attempt: Attempt) -> str:
        """Return a text such as `Keep 8 passages: brings 9 of 12 back, tried`."""
        where = "into the prompt" if self.by_model else "back"
        left = "" if attempt.tried == self.within else f" on {attempt.tried:,}"
        return (
            f"{attempt.words}: brings {len(attempt.back):,} of {self.within:,} {where}, tried{left}"
        )


@dataclass
class _Begun:
    """A method whose lost questions are read.

    `plan` holds the changed lines on these questions, None if there is nothing to try.
    """

    known: LineRepairs
    # Changes by the text of the changed line.
    changes: dict[str, LineChange] = field(default_factory=dict)
    plan: Plan | None = None
    back: dict[str, list[str]] = field(default_factory=dict)
    tried: Counter[str] = field(default_factory=Counter)

    def found(self) -> LineRepairs:
        """Return the losses with the results of the trials."""
        attempts = [
            Attempt(spec, change.words, tuple(self.back.get(spec, ())), self.tried[spec])
            for spec, change in self.changes.items()
        ]
        return replace(
            self.known,
            attempts=tuple(
                sorted(attempts, key=lambda one: (-len(one.back), _amount(self.changes[one.spec])))
            ),
        )


@dataclass(eq=False)
class RunRepairs:
    """Trials of changes on the losses of every method of a run.

    The changes proposed for most questions are tried, at most six per line. No language model is
    asked. A line that asks one during retrieval is not changed. Calling the object with its job
    returns one result per line.
    """

    engine: Any
    store: Store
    run: Run

    def __call__(self, job: Job) -> tuple[LineRepairs, ...]:
        """Try the changes.

        Raises Cancelled, and BadInput if no correct answers are known.
        """
        summary = Summary(self.run, self.store.rows(self.run.id))
        by = measure(summary, summary.instances)
        if not by:
            raise BadInput(
                "Of no question of this evaluation is it known what is right, so nothing is known "
                "to be lost."
            )
        drawn = {one.question.id: one for one in self.store.drawn(self.run.id)}
        begun = []
        for spec in self.run.spec["instances"]:
            job.check()
            job.report(f"Reading what is lost: {spec['name']}")
            begun.append(self._read(summary, spec, by, drawn, job))
        self._try(begun, by, job)
        return tuple(one.found() for one in begun)

    def _read(
        self,
        summary: Summary,
        spec: Mapping[str, Any],
        by: str,
        drawn: Mapping[str, Drawn],
        watch: Watch = NO_WATCH,
    ) -> _Begun:
        """Return what a method loses, by which causes, and the changes proposed most often."""
        ends = endings(summary, spec["id"], by)
        lost = {question: end for question, end in ends.items() if end not in (RIGHT, FAILED)}
        by_model = bool(self.run.spec["model"]) and by == summary.defaults.answers[0]
        known = LineRepairs(spec["id"], len(ends), len(lost), by_model=by_model)
        causes: Counter[str] = Counter()
        counts: Counter[str] = Counter()
        changes: dict[str, LineChange] = {}
        questions = []
        for question, end in lost.items():
            watch.check()
            try:
                one = reopened(self.engine, self.store, self.run, spec, drawn[question])
            except HopscopeError as error:
                return _Begun(
                    replace(
                        known,
                        causes=((f"cannot be opened ({error})", len(lost)),),
                        note="Nothing was tried.",
                    )
                )
            if one is None:
                continue
            causes[one.words(end)] += 1
            if by_model and end == "answer":
                continue
            questions.append(drawn[question])
            for change in self._proposed(one):
                text = repr(changed_line(one.lane.line, change))
                changes.setdefault(text, change)
                counts[text] += 1
        known = replace(known, causes=tuple(causes.most_common()), within=len(questions))
        if note := self._why_not(spec, known):
            return _Begun(replace(known, note=note))
        chosen = _chosen(changes, counts)
        lines = tuple(Instance(text, "", parse_line(text)) for text in chosen)
        seed = self.run.spec["seed"]
        plan = Plan(lines, tuple(questions), seed=seed, model=False) if lines else None
        return _Begun(known, chosen, plan)

    def _why_not(self, spec: Mapping[str, Any], known: LineRepairs) -> str:
        """Return why no change can be tried, empty if one can."""
        if known.lost and not known.within:
            return "All their facts are in the prompt, so no change of what is retrieved can help."
        if known.lost and any(
            asks(operator, self.engine.models) for operator in parse_line(spec["line"])
        ):
            return "It asks a language model while it retrieves, so no change was tried."
        return ""

    def _proposed(self, lost: LostQuestion) -> Iterator[LineChange]:
        """Yield the changes that may help on a question and fit the line."""
        found = explainer_of(lost.lane.ask.source).changes(lost.lane, lost.losses)
        return (change for change in found if changed_line(lost.lane.line, change) is not None)

    def _try(self, begun: Sequence[_Begun], by: str, job: Job) -> None:
        """Try each method's changes on its questions.

        The changed lines of one method run together on a question, so that common steps run once.
        The methods take turns, so that the time per method is soon known.
        """
        left = {one.known.instance: one.known.within * len(one.changes) for one in begun}
        pace = Pace(sum(left.values()), left)
        names = {spec["id"]: spec["name"] for spec in self.run.spec["instances"]}

        def tell(one: _Begun) -> None:
            job.check()
            job.report(f"{pace.words()}: {names[one.known.instance]}", pace.done / pace.total)

        for one, plan, place in _in_turn(begun):
            ask, question = self._asking(plan, by, one.known.by_model), plan.drawn[place].question
            environment = self.engine.environment
            tell(one)
            for row in vary(
                plan, environment, ask, place, plan.instances, job, MAX_SECONDS, with_states=False
            ):
                pace.add(one.known.instance, row.seconds, False)
                tell(one)
                if row.outcome is None:  # the question failed or took too long
                    continue
                one.tried[row.instance] += 1
                if _is_back(row.outcome, by, one.known.by_model):
                    one.back.setdefault(row.instance, []).append(question.id)

    def _asking(self, plan: Plan, by: str, by_model: bool) -> Callable[[Drawn], Ask]:
        """Return the function that asks a lost question again.

        The graph reader is used if its answers count.
        """
        ask = asking(self.engine, plan)
        return lambda drawn: replace(ask(drawn), reader=not by_model and by != PASSAGES)


def _is_back(outcome: Outcome, by: str, by_model: bool) -> bool:
    """Return whether a question is correct now.

    If a language model answers, return whether the facts are in the prompt.
    """
    return not lost_at(outcome, by) if by_model else ending_of(outcome, by) == RIGHT


def _chosen(changes: Mapping[str, LineChange], proposed: Counter[str]) -> dict[str, LineChange]:
    """Return the changes that were proposed most often, with only a few per step."""
    chosen: dict[str, LineChange] = {}
    alike: Counter[tuple[int, type]] = Counter()
    for text, _ in proposed.most_common():
        step = changes[text].position, type(changes[text].operator)
        if alike[step] < MAX_ALIKE and len(chosen) < MOST_TRIED:
            alike[step] += 1
            chosen[text] = changes[text]
    return chosen


def _amount(change: LineChange) -> float:
    """Return the sum of the numbers that a change sets.

    Of two equally effective changes, the one with the smaller sum comes first.
    """
    return sum(
        value for value in values(change.operator).values() if isinstance(value, int | float)
    )


def _in_turn(begun: Sequence[_Begun]) -> Iterator[tuple[_Begun, Plan, int]]:
    """Yield every question of every plan by its index.

    The first questions of all plans come before any second one.
    """
    plans = [(one, one.plan) for one in begun if one.plan is not None]
    for place in range(max((len(plan.drawn) for _, plan in plans), default=0)):
        yield from ((one, plan, place) for one, plan in plans if place < len(plan.drawn))


def repaired(run: Run, repairs: LineRepairs, attempt: Attempt, name: str) -> Instance | None:
    """Return the instance of a changed line, None if the run has that line already."""
    if any(one["line"] == attempt.spec for one in run.spec["instances"]):
        return None
    words = f"{attempt.words[:1].lower()}{attempt.words[1:]}"
    title = next(one["title"] for one in run.spec["instances"] if one["id"] == repairs.instance)
    return Instance(attempt.spec, title, parse_line(attempt.spec), short=f"{name}, {words}")


def start(engine: Any, store: Store, run: Run) -> Job:
    """Start the job that tries changes on what the methods of a run lose.

    The job's result is one `LineRepairs` per method.
    """
    return engine.evaluations.run(job_key(run), RunRepairs(engine, store, run), again=True)


def job_key(run: Run) -> str:
    """Return the key of that job, which changes when the run has more rows."""
    return f"repairs-{run.id}-{run.done}"
