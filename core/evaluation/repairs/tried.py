"""Changes of one step tried on all the questions that a line of a run loses: how many each brings back."""

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

MAX_SECONDS = 60.0  # of one change on one question
MAX_ALIKE = 3  # changes of one step that are tried


@dataclass(frozen=True)
class Attempt:
    """A change of one step: the line with it, the change in words, the questions that it brings back (their ids), of how many it was tried
    on; those that it took too long for, or could not be asked, are not counted."""

    spec: str
    words: str
    back: tuple[str, ...]
    tried: int


@dataclass(frozen=True)
class LineRepairs:
    """What a line of a run loses, of so many questions by which causes, and the changes that were tried, those that bring most first.

    `within` counts the lost questions that a change of retrieval may bring back: where a language model answers, those whose facts do not
    come into the prompt, and to bring one back is to bring them there. `note` says why nothing was tried.
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
        """`Of 40 questions No. 12 loses 12: ranked too low 9, never reached 3.`, then what the best change brings."""
        first = loss_sentence(name, self.of, self.lost, self.causes)
        return [first, self._tried()] if self.lost else [first]

    def _tried(self) -> str:
        """What the best change brings, or why none does."""
        if self.note:
            return self.note
        if not self.attempts:
            return "No change of one step is known that may help."
        if self.attempts[0].back:
            return f"{self.brings(self.attempts[0])}."
        tried = counted(len(self.attempts), "change")
        return f"{tried} of one step brought none of them back, tried."

    def brings(self, attempt: Attempt) -> str:
        """`Keep 8 passages: brings 9 of 12 back, tried`."""
        where = "into the prompt" if self.by_model else "back"
        left = "" if attempt.tried == self.within else f" on {attempt.tried:,}"
        return (
            f"{attempt.words}: brings {len(attempt.back):,} of {self.within:,} {where}, tried{left}"
        )


@dataclass
class _Begun:
    """A line with its lost questions read: the plan of the changed lines on these, None where there is nothing to try."""

    known: LineRepairs
    changes: dict[str, LineChange] = field(default_factory=dict)  # by the text of the changed line
    plan: Plan | None = None
    back: dict[str, list[str]] = field(default_factory=dict)
    tried: Counter[str] = field(default_factory=Counter)

    def found(self) -> LineRepairs:
        """What came of it."""
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
    """Reads what every line of a run loses and tries the changes that were proposed for most of its questions, at most six a line. No
    language model is asked; a line that asks one while it retrieves is left as it is. Calling it with its job gives a result a line."""

    engine: Any
    store: Store
    run: Run

    def __call__(self, job: Job) -> tuple[LineRepairs, ...]:
        """Try them. Raises Cancelled, and BadInput where nothing is known of what is right."""
        summary = Summary(self.run, self.store.rows(self.run.id))
        by = measure(summary, summary.instances)
        if not by:
            raise BadInput(
                "Of no question of this evaluation is it known what is right, so nothing is known to be lost."
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
        """What a line loses and by what, and the changes that are proposed most often for it."""
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
        """Why no change can be tried; empty where some can."""
        if known.lost and not known.within:
            return "All their facts are in the prompt, so no change of what is retrieved can help."
        if known.lost and any(
            asks(operator, self.engine.models) for operator in parse_line(spec["line"])
        ):
            return "It asks a language model while it retrieves, so no change was tried."
        return ""

    def _proposed(self, lost: LostQuestion) -> Iterator[LineChange]:
        """Changes that may help on a question and fit the line."""
        found = explainer_of(lost.lane.ask.source).changes(lost.lane, lost.losses)
        return (change for change in found if changed_line(lost.lane.line, change) is not None)

    def _try(self, begun: Sequence[_Begun], by: str, job: Job) -> None:
        """Try each line's changes on its questions: question by question, so that what changed lines have in common is run once, and the
        lines in turn, so that it is soon known how long they take."""
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
                if row.outcome is None:  # it cannot be asked, or not in time
                    continue
                one.tried[row.instance] += 1
                if _is_back(row.outcome, by, one.known.by_model):
                    one.back.setdefault(row.instance, []).append(question.id)

    def _asking(self, plan: Plan, by: str, by_model: bool) -> Callable[[Drawn], Ask]:
        """How a lost question is asked again: with a reader where its answers count."""
        ask = asking(self.engine, plan)
        return lambda drawn: replace(ask(drawn), reader=not by_model and by != PASSAGES)


def _is_back(outcome: Outcome, by: str, by_model: bool) -> bool:
    """Whether a question is right now, or where a language model answers whether its facts come into the prompt."""
    return not lost_at(outcome, by) if by_model else ending_of(outcome, by) == RIGHT


def _chosen(changes: Mapping[str, LineChange], proposed: Counter[str]) -> dict[str, LineChange]:
    """The changes that were proposed most often, not more than a few of one step."""
    chosen: dict[str, LineChange] = {}
    alike: Counter[tuple[int, type]] = Counter()
    for text, _ in proposed.most_common():
        step = changes[text].position, type(changes[text].operator)
        if alike[step] < MAX_ALIKE and len(chosen) < MOST_TRIED:
            alike[step] += 1
            chosen[text] = changes[text]
    return chosen


def _amount(change: LineChange) -> float:
    """The numbers that a change sets, together: of two that bring as much the smaller one comes first."""
    return sum(
        value for value in values(change.operator).values() if isinstance(value, int | float)
    )


def _in_turn(begun: Sequence[_Begun]) -> Iterator[tuple[_Begun, Plan, int]]:
    """Every question of every plan by its place, the first of each before the second of any."""
    plans = [(one, one.plan) for one in begun if one.plan is not None]
    for place in range(max((len(plan.drawn) for _, plan in plans), default=0)):
        yield from ((one, plan, place) for one, plan in plans if place < len(plan.drawn))


def repaired(run: Run, repairs: LineRepairs, attempt: Attempt, name: str) -> Instance | None:
    """The instance of a line with a change, called after it; None where the run has that line already."""
    if any(one["line"] == attempt.spec for one in run.spec["instances"]):
        return None
    words = f"{attempt.words[:1].lower()}{attempt.words[1:]}"
    title = next(one["title"] for one in run.spec["instances"] if one["id"] == repairs.instance)
    return Instance(attempt.spec, title, parse_line(attempt.spec), short=f"{name}, {words}")


def start(engine: Any, store: Store, run: Run) -> Job:
    """The job of the engine that tries changes on what the lines of a run lose; its result is `LineRepairs` a line."""
    return engine.evaluations.run(job_key(run), RunRepairs(engine, store, run), again=True)


def job_key(run: Run) -> str:
    """The key of that job; another one once the run has more rows."""
    return f"repairs-{run.id}-{run.done}"
