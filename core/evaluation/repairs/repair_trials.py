"""Trials of changes to one step of a method.

They are made on all questions that the method loses. A change is another value of a parameter, or
another step. Each trial counts the questions that the change recovers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.comparison.consent import needs_consent
from core.diagnosis.changes.trials import MAX_TRIED_CHANGES, LineChange, apply_change
from core.diagnosis.verdict.explainers import explainer_of
from core.diagnosis.wording import count_noun
from core.errors import BadInput, HopscopeError
from core.evaluation.metrics.outcome import Outcome
from core.evaluation.repairs.lost_questions import LostQuestion, loss_sentence, reopen_question
from core.evaluation.reports.flow import (
    END_FAILED,
    END_RIGHT,
    PASSAGE_MEASURE,
    correctness_measure,
    end_stages,
    lost_stage,
    outcome_end_stage,
)
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.plan import DrawnQuestion, Plan
from core.evaluation.runs.row import make_ask, run_methods
from core.evaluation.runs.runner import Pace
from core.evaluation.runs.store import Run, Store
from core.methods.catalogue import Method
from core.operators.text import parse_line
from core.parameters import parameter_values
from core.runtime.jobs import Job
from core.sources import SourceQuestion
from core.watch import NO_WATCH, Watch

MAX_TRIAL_SECONDS = 60.0  # time limit of one change on one question
MAX_CHANGES_PER_STEP = 3  # maximum number of changes of the same step that are tried


@dataclass(frozen=True)
class Attempt:
    """A changed line with the questions that it recovers.

    Parameters
    ----------
    spec : the changed line as text.
    words : the change in words.
    back : ids of the recovered questions.
    tried : number of questions that the line was tried on, without those that failed or took too
        long.
    """

    spec: str
    words: str
    back: tuple[str, ...]
    tried: int


@dataclass(frozen=True)
class LineRepairs:
    """Losses of a method, and the changes that were tried.

    If a language model answers, a change is not asked to answer. It recovers a question by bringing
    its facts into the prompt.

    Parameters
    ----------
    method : id of the method.
    of : number of questions.
    lost : number of lost questions, without those that failed.
    causes : causes of the losses in words, with their numbers of questions, most frequent first.
    within : number of lost questions that a change of retrieval may recover: those whose facts are
        not in the prompt, or all without a language model.
    attempts : the changes, those that recover most first.
    by_model : True if a language model answers.
    note : why nothing was tried; empty if something was, or nothing is lost.
    """

    method: str
    of: int
    lost: int
    causes: tuple[tuple[str, int], ...] = ()
    within: int = 0
    attempts: tuple[Attempt, ...] = ()
    by_model: bool = False
    note: str = ""

    def sentences(self, name: str) -> list[str]:
        """Return a sentence on the losses and one on the best change.

        The second sentence is left out if there are no losses. `name` is the name of the method. An
        example of the first sentence is “Of 40 questions No. 12 loses 12: ranked too low 9, never
        reached 3.”
        """
        first = loss_sentence(name, self.of, self.lost, self.causes)
        return [first, self._best_sentence()] if self.lost else [first]

    def _best_sentence(self) -> str:
        """Return a sentence on the best change, or the reason why no change helps."""
        if self.note:
            return self.note
        if not self.attempts:
            return "There is no change of one step to try."
        if self.attempts[0].back:
            return f"{self.attempt_text(self.attempts[0])}."
        change_count = count_noun(len(self.attempts), "change")
        return f"{change_count} of one step brought none of them back."

    def attempt_text(self, attempt: Attempt) -> str:
        """Return a text such as “Keep 8 passages: brings 9 of 12 back, tested”."""
        where = "into the prompt" if self.by_model else "back"
        trial_note = "" if attempt.tried == self.within else f" on {attempt.tried:,}"
        return (
            f"{attempt.words}: brings {len(attempt.back):,} of {self.within:,} {where}, "
            f"tested{trial_note}"
        )


@dataclass
class _MethodTrials:
    """Changes to try on a method's lost questions, and results so far.

    `losses` describes the lost questions, without attempts. `plan` holds the changed lines on these
    questions, None if there is nothing to try. The other fields are by the text of a changed line:
    the change, the ids of the questions that it recovered, and the number of those it was tried on.
    """

    losses: LineRepairs
    changes: dict[str, LineChange] = field(default_factory=dict)
    plan: Plan | None = None
    recovered: dict[str, list[str]] = field(default_factory=dict)
    n_tried: Counter[str] = field(default_factory=Counter)

    def repairs(self) -> LineRepairs:
        """Return the losses with the results of the trials."""
        attempts = []
        for spec, change in self.changes.items():
            recovered = tuple(self.recovered.get(spec, ()))
            attempts.append(Attempt(spec, change.description, recovered, self.n_tried[spec]))

        def sort_key(attempt: Attempt) -> tuple[int, float]:
            return -len(attempt.back), _parameter_sum(self.changes[attempt.spec])

        return replace(self.losses, attempts=tuple(sorted(attempts, key=sort_key)))


@dataclass(eq=False)
class RunRepairs:
    """Trials of changes on the losses of every method of a run.

    The changes proposed for most questions are tried, at most `MAX_TRIED_CHANGES` per method. No
    language model is asked, so methods that ask one during retrieval are left out. Calling the
    object with its job returns one result per method.
    """

    engine: Any
    store: Store
    run: Run

    def __call__(self, job: Job) -> tuple[LineRepairs, ...]:
        """Try the changes and return the results.

        Raises RunCancelled, and BadInput if no correct answers are known.
        """
        summary = RunSummary(self.run, self.store.rows(self.run.id))
        measure_name = correctness_measure(summary, summary.methods)
        if not measure_name:
            raise BadInput("No question here has a correct answer, so losses cannot be found.")
        drawn_by_id = {
            drawn.question.id: drawn for drawn in self.store.drawn_questions(self.run.id)
        }
        method_trials = []
        for spec in self.run.spec["instances"]:
            job.check()
            job.report(f"Reading what is lost: {spec['name']}")
            method_trials.append(self._read_trials(summary, spec, measure_name, drawn_by_id, job))
        self._run_trials(method_trials, measure_name, job)
        return tuple(trials.repairs() for trials in method_trials)

    def _read_trials(
        self,
        summary: RunSummary,
        spec: Mapping[str, Any],
        measure_name: str,
        drawn_by_id: Mapping[str, DrawnQuestion],
        watch: Watch = NO_WATCH,
    ) -> _MethodTrials:
        """Return the losses of a method, their causes, and the changes proposed most often.

        `spec` is the method's entry in the specification of the run.
        """
        stages = end_stages(summary, spec["id"], measure_name)
        lost = {
            question: end for question, end in stages.items() if end not in (END_RIGHT, END_FAILED)
        }
        is_answer_measured = measure_name == summary.defaults.answer_metrics[0]
        by_model = bool(self.run.spec["model"]) and is_answer_measured
        losses = LineRepairs(spec["id"], len(stages), len(lost), by_model=by_model)
        causes: Counter[str] = Counter()
        counts: Counter[str] = Counter()
        changes: dict[str, LineChange] = {}
        questions = []
        for question, end in lost.items():
            watch.check()
            drawn = drawn_by_id[question]
            try:
                lost_question = reopen_question(self.engine, self.store, self.run, spec, drawn)
            except HopscopeError as error:
                causes_text = f"cannot be opened ({error})"
                return _MethodTrials(
                    replace(losses, causes=((causes_text, len(lost)),), note="Nothing was tried.")
                )
            if lost_question is None:
                continue
            causes[lost_question.words(end)] += 1
            if by_model and end == "answer":  # its facts are in the prompt
                continue
            questions.append(drawn)
            for change in self._proposed_changes(lost_question):
                text = repr(apply_change(lost_question.lane.line, change))
                changes.setdefault(text, change)
                counts[text] += 1
        losses = replace(losses, causes=tuple(causes.most_common()), within=len(questions))
        if note := self._refusal(spec, losses):
            return _MethodTrials(replace(losses, note=note))
        chosen_changes = _most_proposed(changes, counts)
        lines = tuple(Method(text, "", parse_line(text)) for text in chosen_changes)
        seed = self.run.spec["seed"]
        plan = Plan(lines, tuple(questions), seed=seed, model=False) if lines else None
        return _MethodTrials(losses, chosen_changes, plan)

    def _refusal(self, spec: Mapping[str, Any], losses: LineRepairs) -> str:
        """Return why no change can be tried, empty if one can."""
        if not losses.lost:
            return ""
        if not losses.within:
            return "All their facts are in the prompt, so no change of what is retrieved can help."
        line = parse_line(spec["line"])
        if any(needs_consent(operator, self.engine.models) for operator in line):
            return "It asks a language model while it retrieves, so no change was tried."
        return ""

    def _proposed_changes(self, lost: LostQuestion) -> Iterator[LineChange]:
        """Yield the changes that may help on a question and fit the line."""
        changes = explainer_of(lost.lane.ask.source).propose_changes(lost.lane, lost.losses)
        return (change for change in changes if apply_change(lost.lane.line, change) is not None)

    def _run_trials(self, all_trials: Sequence[_MethodTrials], measure_name: str, job: Job) -> None:
        """Try each method's changes on its questions, and add the results to the trials.

        The changed lines of one method run together on a question, so that common steps run once.
        The methods alternate, so that the time per method is soon known.
        """
        counts = {}
        for trials in all_trials:
            counts[trials.losses.method] = trials.losses.within * len(trials.changes)
        pace = Pace(sum(counts.values()), counts)
        names = {spec["id"]: spec["name"] for spec in self.run.spec["instances"]}

        def report_progress(method: str) -> None:
            job.check()
            job.report(f"{pace.words()}: {names[method]}", pace.done / pace.total)

        for trials, plan, index in _round_robin(all_trials):
            method = trials.losses.method
            by_model = trials.losses.by_model
            ask = self._trial_ask(plan, measure_name, by_model)
            question = plan.drawn[index].question
            report_progress(method)
            rows = run_methods(
                plan,
                self.engine.environment,
                ask,
                index,
                plan.methods,
                job,
                MAX_TRIAL_SECONDS,
                with_states=False,
            )
            for row in rows:
                pace.add(method, row.seconds, False)
                report_progress(method)
                if row.outcome is None:  # the question failed or took too long
                    continue
                trials.n_tried[row.method] += 1  # the id of the method is the changed line
                if _is_recovered(row.outcome, measure_name, by_model):
                    trials.recovered.setdefault(row.method, []).append(question.id)

    def _trial_ask(
        self, plan: Plan, measure_name: str, by_model: bool
    ) -> Callable[[DrawnQuestion], SourceQuestion]:
        """Return the function that prepares a lost question to be asked again.

        The graph reader is used if its answers decide whether a question is recovered.
        """
        ask = make_ask(self.engine, plan)
        uses_reader = not by_model and measure_name != PASSAGE_MEASURE
        return lambda drawn: replace(ask(drawn), uses_reader=uses_reader)


def _is_recovered(outcome: Outcome, measure_name: str, by_model: bool) -> bool:
    """Return whether a question counts as recovered.

    Its answer must be correct. If a model answers, its facts must be in the prompt instead.
    """
    if by_model:
        return not lost_stage(outcome, measure_name)
    return outcome_end_stage(outcome, measure_name) == END_RIGHT


def _most_proposed(
    changes: Mapping[str, LineChange], counts: Counter[str]
) -> dict[str, LineChange]:
    """Return the changes that were proposed most often, with only a few per step.

    All are by the text of the changed line.
    """
    chosen_changes: dict[str, LineChange] = {}
    changes_per_step: Counter[tuple[int, type]] = Counter()
    for text, _ in counts.most_common():
        if len(chosen_changes) == MAX_TRIED_CHANGES:
            break
        step = changes[text].position, type(changes[text].operator)
        if changes_per_step[step] < MAX_CHANGES_PER_STEP:
            changes_per_step[step] += 1
            chosen_changes[text] = changes[text]
    return chosen_changes


def _parameter_sum(change: LineChange) -> float:
    """Return the sum of the numbers that a change sets.

    Of two equally effective changes, the one with the smaller sum comes first, as it usually keeps
    less.
    """
    values = parameter_values(change.operator).values()
    return sum(value for value in values if isinstance(value, int | float))


def _round_robin(all_trials: Sequence[_MethodTrials]) -> Iterator[tuple[_MethodTrials, Plan, int]]:
    """Yield every question of every plan, in turns.

    A question is given by the trials, their plan and the question's index. The first questions of
    all plans come before any second one.
    """
    plans = [(trials, trials.plan) for trials in all_trials if trials.plan is not None]
    for index in range(max((len(plan.drawn) for _, plan in plans), default=0)):
        yield from ((trials, plan, index) for trials, plan in plans if index < len(plan.drawn))


def repaired_method(run: Run, repairs: LineRepairs, attempt: Attempt, name: str) -> Method | None:
    """Return a changed line as a method that can be evaluated with the others.

    Parameters
    ----------
    run : the run whose losses are repaired.
    repairs : the trials of one of its methods.
    attempt : one of these trials.
    name : name of the method, for that of the new method.

    Returns
    -------
    The method; None if the run already has a method with that line.
    """
    specs = run.spec["instances"]
    if any(spec["line"] == attempt.spec for spec in specs):
        return None
    words = f"{attempt.words[:1].lower()}{attempt.words[1:]}"
    title = next(spec["title"] for spec in specs if spec["id"] == repairs.method)
    return Method(attempt.spec, title, parse_line(attempt.spec), short=f"{name}, {words}")


def start_repairs(engine: Any, store: Store, run: Run) -> Job:
    """Start the job that tries changes on the lost questions of a run.

    Parameters
    ----------
    engine : the engine that runs the job.
    store : the store with the rows and states.
    run : the run.

    Returns
    -------
    The job, whose result is one `LineRepairs` per method.
    """
    return engine.evaluations.run(repairs_job_key(run), RunRepairs(engine, store, run), again=True)


def repairs_job_key(run: Run) -> str:
    """Return the key of the job of `start_repairs`.

    The key changes with the number of rows.
    """
    return f"repairs-{run.id}-{run.done}"
