"""Search of a design space with Optuna: draw lines, try them and save their figures.

A search can be resumed, because each trial is appended to its file.
"""

from __future__ import annotations

import hashlib
import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.comparison.lane_run import LaneListener, LaneRun
from core.environment import Environment
from core.errors import BadInput, HopscopeError, RunCancelled, shorten
from core.evaluation.runs.plan import DrawnQuestion, Plan
from core.evaluation.runs.row import load_models
from core.evaluation.search.config import SearchConfig
from core.evaluation.search.points import SearchPoint, pareto_points
from core.evaluation.search.trial import OVER_BUDGET, CallLimitReached, Trial, TrialFigures
from core.io.durable_files import WINDOWS
from core.io.durations import range_text
from core.io.home import home_folder
from core.io.locks import hold_lock_file
from core.io.plain_data import from_plain, to_plain
from core.methods.catalogue import Method
from core.operators.base import Line
from core.operators.text import parse_line
from core.runtime.jobs import Job
from core.sources import SourceQuestion
from core.watch import Watch

if TYPE_CHECKING:
    import optuna


log = logging.getLogger(__name__)
MIN_EXCESS = 1e-9  # by which the sampler is told that a line exceeds the budget
RANDOM_LINES = 10  # random lines before the sampler uses earlier results
# Maximum number of proposals per line to try, because the sampler may propose a line again.
MAX_PROPOSALS_PER_LINE = 3
MAX_TRIED_LINE_LETTERS = 90  # maximum letters shown of the line that is being tried
# Attributes of an Optuna trial (the figures and the line), and of the study (the calls so far).
PROBE_QUESTIONS = 3  # asked of a published line to know what it costs
FIGURES_KEY = "tried"
LINE_KEY = "line"
CALLS_KEY = "calls"


@dataclass
class Search:
    """A search of the design space.

    Calling it with its job returns the points in trial order. The sampler is Optuna's
    multi-objective tree-structured Parzen estimator (Ozaki et al., 2020). It receives the quality,
    the cost and, as a constraint, the excess over the budget. First every operator that retrieves
    is tried once, with the rest of the line drawn at random. Proposals depend on the seed and on
    earlier results alone, so a resumed search continues as if it had never stopped. For the
    sampler, seconds are rounded to the nearest power of two, so that small differences of the clock
    have no influence. Tokens are not rounded.

    Seconds are those of the operators, measured in this process. Nothing is shared or cached
    between lines, and models and indexes are loaded before. Questions run one after the other,
    except for lines that ask a server (see `Trial`).

    Parameters
    ----------
    config : design space, tuning questions and budget.
    environment : the models, stores and settings.
    ask : prepares a drawn question.
    """

    config: SearchConfig
    environment: Environment
    ask: Callable[[DrawnQuestion], SourceQuestion]

    @cached_property
    def file(self) -> Path:
        """File of the trials: one line of JSON each, in the format of Optuna's journal."""
        folder = home_folder() / "searches"
        folder.mkdir(exist_ok=True)
        return folder / f"{self.config.key(self.environment.models)}.jsonl"

    def points(self) -> tuple[SearchPoint, ...]:
        """Return the lines tried so far, in order.

        The list is empty if the search was never begun.
        """
        return _points(_study(self.file)) if self.file.exists() else ()

    def count_calls(self) -> int:
        """Return the number of language-model calls so far."""
        return _call_count(_study(self.file)) if self.file.exists() else 0

    def __call__(self, job: Job) -> tuple[SearchPoint, ...]:
        """Run the remaining trials.

        Raises RunCancelled, and BadInput if another process runs the same search. Finished trials
        stay saved.
        """
        with _search_lock(self.file):
            study = _study(self.file)
            self._discard_interrupted(study)
            seconds_per_trial: list[float] = []
            while not self._is_finished(study):
                job.check()
                self._report(job, study, seconds_per_trial)
                start = time.perf_counter()
                if self._try_next(study, job):
                    seconds_per_trial.append(time.perf_counter() - start)
            return _points(study)

    def probe(self, line: Line, job: Job) -> TrialFigures:
        """Measure a line on the first tuning questions, without saving anything.

        The line is abandoned as in a trial once it has used the budget of these questions. Raises
        BadInput if none of them has a known answer.
        """
        config = self.config
        plan = replace(
            config.tuning,
            methods=(Method(repr(line), "", line),),
            drawn=config.tuning.drawn[:PROBE_QUESTIONS],
            cold=True,
        )
        load_models(plan, self.environment, self.ask, job.without_reports)
        if plan.drawn[0].source.is_corpus:
            self._open_graph(line, job)
        trial = Trial(
            plan, config.quality, config.cost, config.budget, self.environment, ask=self.ask
        )
        return trial(line, job)

    def _is_finished(self, study: optuna.Study) -> bool:
        config = self.config
        if config.may_ask_model and _call_count(study) >= config.calls:
            return True
        is_proposal_limit_reached = (
            len(_finished_trials(study)) >= MAX_PROPOSALS_PER_LINE * config.trials
        )
        return len(_points(study)) >= config.trials or is_proposal_limit_reached

    def _try_next(self, study: optuna.Study, job: Job) -> bool:
        """Draw a line, try it and report its figures to the sampler.

        Return True if a new line was tried to its end. The figures of a line that was tried before
        are reported again. If the limit of calls ends the trial, nothing is reported.
        """
        from optuna.samplers import TPESampler

        number = len(_finished_trials(study))
        first_suggestions = self.config.space.first_suggestions
        study.sampler = TPESampler(
            seed=_proposal_seed(self.config.tuning.seed, number),
            n_startup_trials=RANDOM_LINES,
            constant_liar=False,
        )
        if number < len(first_suggestions) and not _trials_in(study, "WAITING"):
            study.enqueue_trial(first_suggestions[number])
        trial = study.ask()
        line = self.config.space.line(trial)
        points = _points(study)
        figures_by_line = {repr(point.line): point.figures for point in points}
        earlier_figures = figures_by_line.get(repr(line))
        try:
            trial_figures = earlier_figures or self._try_line(line, points, study, job)
        except CallLimitReached:
            # A failed trial does not count, so the line is proposed again if more calls are allowed.
            study.tell(trial, state=_state("FAIL"))
            return False
        trial.set_user_attr(LINE_KEY, repr(line))
        trial.set_user_attr(FIGURES_KEY, to_plain(trial_figures))
        cost = self._rounded_cost(trial_figures.cost)
        trial.set_constraint("budget", self._excess(trial_figures))
        study.tell(trial, (trial_figures.quality, cost))
        return earlier_figures is None

    def _try_line(
        self, line: Line, points: tuple[SearchPoint, ...], study: optuna.Study, job: Job
    ) -> TrialFigures:
        """Return the figures of a line on the tuning questions.

        They are measured without caches of earlier lines.
        """
        complete_figures = [
            (point.figures.quality, point.figures.cost) for point in points if point.is_complete
        ]

        def is_dominated(quality: float, cost: float) -> bool:
            return any(
                q >= quality and c <= cost and (q, c) != (quality, cost)
                for q, c in complete_figures
            )

        config = self.config
        plan = config.tuning
        progress_text = job.text
        trial_plan = Plan(
            (Method(repr(line), "", line),),
            plan.drawn,
            seed=plan.seed,
            model=config.may_ask_model,
            cold=True,
        )
        load_models(trial_plan, self.environment, self.ask, job.without_reports)
        # Open the line's graph, which may need a short build, and load its vectors before the timing.
        if plan.drawn[0].source.is_corpus:
            self._open_graph(line, job)
        job.report(
            f"{progress_text}. Now: {shorten(line.words(), MAX_TRIED_LINE_LETTERS)}", job.fraction
        )
        calls_left = config.calls - _call_count(study) if config.may_ask_model else None
        trial = Trial(
            trial_plan,
            config.quality,
            config.cost,
            config.budget,
            self.environment,
            self.ask,
            is_dominated,
            calls_left,
        )
        try:
            return trial(line, job)
        finally:
            if trial.calls:
                study.set_user_attr(CALLS_KEY, _call_count(study) + trial.calls)

    def _open_graph(self, line: Line, job: Job) -> None:
        """Open the graph of a line on documents.

        An error is only logged. It occurs again in every question of the trial, which reports it.
        """
        progress_text = job.text

        def report(text: str, share: float | None) -> None:
            job.report(f"{progress_text}. {text}", job.fraction)

        listener = LaneListener(Watch(job.check, report))
        try:
            # Without the model, this costs no call.
            first_question = replace(self.ask(self.config.tuning.drawn[0]), uses_model=False)
            LaneRun(first_question, line, self.environment).retrieve(listener)
        except RunCancelled:
            raise
        except HopscopeError as error:
            log.info("Warming up: %s", error)

    def _rounded_cost(self, cost: float) -> float:
        """Return the cost for the sampler, with seconds rounded to a power of two."""
        return 2.0 ** round(math.log2(cost)) if self.config.cost == "seconds" and cost > 0 else cost

    def _excess(self, trial_figures: TrialFigures) -> float:
        """Return by how much a line exceeds the budget.

        The sampler uses this. It is 0 if the line does not exceed the budget. The cost is rounded,
        which may lift a line above the budget or lower it below.
        """
        if trial_figures.stopped != OVER_BUDGET:
            return 0.0
        return max(MIN_EXCESS, self._rounded_cost(trial_figures.cost) - self.config.budget)

    def _report(self, job: Job, study: optuna.Study, trial_seconds: list[float]) -> None:
        points = _points(study)
        trials_left = self.config.trials - len(points)
        parts = [
            f"{len(points):,} of {self.config.trials:,} methods tried",
            f"{len(pareto_points(points)):,} best at their cost",
        ]
        if self.config.may_ask_model:
            parts.append(
                f"{_call_count(study):,} of {self.config.calls:,} calls of language models"
            )
        if len(trial_seconds) > 1 and trials_left:
            min_seconds = trials_left * min(trial_seconds)
            parts.append(f"{range_text(min_seconds, trials_left * max(trial_seconds))} left")
        job.report(", ".join(parts), len(points) / self.config.trials)

    def _discard_interrupted(self, study: optuna.Study) -> None:
        """Discard proposals whose trial was interrupted; they are proposed again."""
        for trial in _trials_in(study, "RUNNING"):
            study.tell(trial.number, state=_state("FAIL"))


def _points(study: optuna.Study) -> tuple[SearchPoint, ...]:
    """Return the lines tried, in the order of their first trials."""
    figures_by_line: dict[str, dict[str, Any]] = {}
    for trial in _finished_trials(study):
        figures_by_line.setdefault(trial.user_attrs[LINE_KEY], trial.user_attrs[FIGURES_KEY])
    return tuple(
        SearchPoint(number, _parsed_line(text), from_plain(TrialFigures, figures))
        for number, (text, figures) in enumerate(figures_by_line.items(), 1)
    )


def _call_count(study: optuna.Study) -> int:
    return int(study.user_attrs.get(CALLS_KEY, 0))


@lru_cache(maxsize=1024)
def _parsed_line(text: str) -> Line:
    return parse_line(text)


def _finished_trials(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    return _trials_in(study, "COMPLETE")


def _trials_in(study: optuna.Study, state: str) -> list[optuna.trial.FrozenTrial]:
    return study.get_trials(deepcopy=False, states=(_state(state),))


def _state(name: str):
    from optuna.trial import TrialState

    return TrialState[name]


def _study(file: Path) -> optuna.Study:
    """Return the study of a file, created if it is new."""
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    # On Windows the backend's default lock, a symbolic link, is replaced.
    lock = JournalFileOpenLock(str(file)) if WINDOWS else None
    return optuna.create_study(
        storage=JournalStorage(JournalFileBackend(str(file), lock)),
        study_name=file.stem,
        directions=["maximize", "minimize"],
        load_if_exists=True,
    )


def _proposal_seed(seed: int, number: int) -> int:
    """Return the sampler's seed for the proposal with this number.

    It is made from the seed of the search.
    """
    return int.from_bytes(hashlib.sha256(f"{seed}\n{number}".encode()).digest()[:4], "big")


@contextmanager
def _search_lock(file: Path) -> Iterator[None]:
    """Lock a search against other processes.

    An incomplete last line of its file is removed.
    """

    def refuse_to_wait() -> None:  # called if another process holds the lock
        raise BadInput(
            "This very search is being run by another process; wait for it, or stop it there."
        )

    with hold_lock_file(file.with_suffix(".busy"), Watch(refuse_to_wait)):
        data = file.read_bytes() if file.exists() else b""
        if data and not data.endswith(b"\n"):
            with file.open("r+b") as stream:
                stream.truncate(data.rfind(b"\n") + 1)
        yield
