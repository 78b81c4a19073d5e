"""Job that answers “do I need a graph?” for a corpus.

It takes about ten minutes. It builds graphs, makes questions, and evaluates methods with and
without a graph. `answer.py` then turns the figures into sentences.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.builds import build_for, build_status, find_build, run_build
from core.builds.base import BuildState
from core.builds.catalogue import GraphBuild
from core.builds.run import build_context
from core.builds.shipped_data import ModelsWithoutChat, RepliesNotShipped, find_shipped_build
from core.comparison.built_graphs import CHUNK_GRAPH
from core.comparison.lane_run import LaneListener, LaneRun
from core.corpus import Corpus, corpora, open_corpus
from core.errors import BadInput
from core.evaluation.advice.advice_state import (
    QUESTIONS_BY_MODEL,
    Advice,
    load_advice,
    made_set_name,
    save_advice,
)
from core.evaluation.advice.answer import answer
from core.evaluation.advice.plan import (
    ADVICE_DEFAULTS,
    ADVICE_WRITER_ROLE,
    METHODS_WITHOUT_GRAPH,
    advice_methods,
    default_writer,
    graph_kinds,
)
from core.evaluation.questions.model_questions import (
    MODEL_QUESTION_DEFAULTS,
    WRITTEN_KIND,
    ModelQuestionWriter,
)
from core.evaluation.questions.name_questions import (
    MadeQuestions,
    questions_from_names,
    rejection_sentences,
)
from core.evaluation.questions.named_sentences import SentenceTable
from core.evaluation.reports.ranks import MIN_RANKED_QUESTIONS
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.evaluation_jobs import begin_evaluation
from core.evaluation.runs.plan import Plan, make_plan
from core.evaluation.runs.row import load_models, make_ask, run_methods
from core.evaluation.runs.store import Store
from core.methods.catalogue import catalogue
from core.models.base import Models
from core.models.chat.saved_replies import CachedChat, SavedReplies
from core.runtime.jobs import Job
from core.sources import CorpusSource
from core.types import Question
from core.watch import Watch

MADE_TITLE_SUFFIX = "questions made from its texts"
"""Suffix of the title of a set of made questions."""


@dataclass(eq=False)
class GraphAdvisor:
    """Advisor for a corpus; calling it with its job returns the finished advice.

    It resumes an earlier call that did not finish. Questions are saved as a set of the corpus, and
    rows in the store of evaluations. The call raises BadInput if the texts give no question,
    RunCancelled, ModelUnavailable and StoreError.

    Parameters
    ----------
    engine : has the models and the environment, and opens graphs.
    store : receives the rows of the evaluation.
    by : source of the questions, `QUESTIONS_BY_MODEL` or `QUESTIONS_BY_NAMES`. Empty for a language
        model if one is available, else names.
    minutes : time that the work should take.
    again : True to begin anew, even if an earlier call finished.
    clock : returns the time in seconds.
    """

    engine: Any
    store: Store
    corpus: Corpus
    by: str = ""
    seed: int = 0
    minutes: float = ADVICE_DEFAULTS.minutes
    again: bool = False
    clock: Callable[[], float] = time.monotonic
    _start_time: float = field(default=0.0, repr=False)

    def __call__(self, watch: Watch) -> Advice:
        new_advice = Advice(
            self.corpus.digest, self.by or default_writer(self.models), self.seed, self.minutes
        )
        old_advice = load_advice(self.corpus)
        advice = new_advice
        if old_advice is not None and old_advice.has_same_settings(new_advice) and not self.again:
            advice = old_advice
        if advice.done and self._has_questions(advice) and self._has_rows(advice):
            return advice
        # As if the seconds of the earlier call had just passed.
        self._start_time = self.clock() - advice.seconds
        graphs_share = ADVICE_DEFAULTS.graphs_done_share
        questions_share = ADVICE_DEFAULTS.questions_done_share
        advice = replace(advice, graphs=self._build_graphs(watch.part(0.0, graphs_share)))
        if not self._has_questions(advice):
            advice = replace(advice, size=0, run=0, done=False)
            part = watch.part(graphs_share, questions_share)
            advice = self._save(self._with_questions(advice, part))
        evaluation_watch = watch.part(questions_share, 1.0)
        if not advice.size:
            advice = self._save(replace(advice, size=self._measure_size(advice, evaluation_watch)))
        plan = self._plan(advice, advice.size)
        evaluation = begin_evaluation(
            self.engine, self.store, plan, again=self.again and not advice.run
        )
        advice = self._save(replace(advice, run=evaluation.run, done=False))
        evaluation(evaluation_watch)
        summary = RunSummary(self.store.run(evaluation.run), self.store.rows(evaluation.run))
        headline = answer(summary, advice).headline
        return self._save(replace(advice, done=True, headline=headline))

    @property
    def models(self) -> Models:
        """Models of the engine."""
        return self.engine.models

    def _save(self, advice: Advice) -> Advice:
        """Save the advice with the time taken so far, and return it."""
        return save_advice(self.corpus, replace(advice, seconds=self.clock() - self._start_time))

    def _has_questions(self, advice: Advice) -> bool:
        """Return whether the questions of an advice still exist."""
        return bool(advice.set) and advice.set in open_corpus(self.corpus.name).sets

    def _has_rows(self, advice: Advice) -> bool:
        """Return whether the rows of an advice's evaluation still exist."""
        try:
            return bool(self.store.run(advice.run).done)
        except BadInput:
            return False

    def _build_graphs(self, watch: Watch) -> dict[str, bool]:
        """Build the missing graphs, and return their use of language models.

        The result is by title, True if the build asks a language model. The graph of chunks is
        built too, but is not in the result. A graph that was shipped with the texts needs no
        language model. If it does not fit, the next best build is used.
        """
        asks_model_by_title = {}
        for number, kind in enumerate(graph_kinds()):
            watch.check()
            part = watch.part(number / len(graph_kinds()), (number + 1) / len(graph_kinds()))
            try:
                build_spec = self._run_build(build_for(self.corpus, kind), part)
            except RepliesNotShipped:
                build_spec = self._run_build(build_for(self.corpus, kind, shipped=False), part)
            if kind != CHUNK_GRAPH:
                asks_model_by_title[build_spec.title] = build_spec.line.uses_chat_model
        return asks_model_by_title

    def _run_build(self, spec: GraphBuild, part: Watch) -> GraphBuild:
        """Build a graph unless it is up to date, and return its build."""
        if not build_status(self.corpus, spec).is_current:
            models = self.models
            if find_shipped_build(self.corpus, spec):
                models = ModelsWithoutChat(models)
            run_build(self.corpus, spec, models, part.titled(spec.title))
        return spec

    def _with_questions(self, advice: Advice, part: Watch) -> Advice:
        """Return the advice after its questions are made and saved.

        The questions are saved as a set of the corpus.
        """
        part.report("Reading names in the texts", 0.0)
        ctx = build_context(self.corpus, self.models, watch=part.without_reports)
        build_state = BuildState(self.corpus)
        for operator in find_build("kg-noun-phrases").line:
            if operator.stage in ("chunk", "extract"):
                build_state = operator.apply(build_state, ctx)
        # The two stages have made both.
        assert build_state.chunks is not None and build_state.facts is not None
        table = SentenceTable.from_corpus(self.corpus, build_state.chunks, build_state.facts, part)
        notes: list[str] = []
        questions = MadeQuestions()
        if advice.by == QUESTIONS_BY_MODEL:
            chat = CachedChat(
                lambda: self.models.chat(ADVICE_WRITER_ROLE),
                self.models.weights(ADVICE_WRITER_ROLE),
                SavedReplies(),
            )
            seconds = self.minutes * 60 * ADVICE_DEFAULTS.model_time_share
            questions = ModelQuestionWriter(
                self.corpus,
                build_state.chunks,
                build_state.facts,
                chat=chat,
                find_nearest_chunks=self._nearest_chunks,
                max_questions=ADVICE_DEFAULTS.max_model_questions,
                seconds=seconds,
                seed=self.seed,
                min_expected=MIN_RANKED_QUESTIONS,
                clock=self.clock,
            )(part)
            count = len(questions.questions[WRITTEN_KIND])
            if count < MIN_RANKED_QUESTIONS:
                notes.append(
                    f"{self.models.title(ADVICE_WRITER_ROLE)} wrote only {count:,} that passed the "
                    "checks, too few by themselves; the others are made from names."
                )
        part.report("Making questions from names", 0.95)
        missing_count = ADVICE_DEFAULTS.max_made_questions - len(questions.all_questions())
        name_questions = questions_from_names(table, missing_count, self.seed, part)
        questions = MadeQuestions(
            {**questions.questions, **name_questions.questions},
            {**questions.rejections, **name_questions.rejections},
        )
        if not questions.all_questions():
            reasons = " ".join(rejection_sentences(questions.rejections))
            raise BadInput(f"No question could be made from these texts. {reasons}")
        name = self._save_questions(questions.all_questions())
        rejections = {kind: dict(reasons) for kind, reasons in questions.rejections.items()}
        return replace(
            advice, set=name, counts=questions.counts(), left=rejections, notes=tuple(notes)
        )

    def _save_questions(self, questions: Sequence[Question]) -> str:
        """Save the questions as a set of the corpus and return the set's name.

        The set replaces the one made before. Raises BadInput if the name is taken.
        """
        name = made_set_name(self.corpus.name)
        old_advice = load_advice(self.corpus)
        own_corpus = open_corpus(self.corpus.name)
        is_own_set = old_advice is not None and old_advice.set == name
        is_taken = (
            name in own_corpus.sets
            and not is_own_set
            and not own_corpus.sets[name].endswith(MADE_TITLE_SUFFIX)
        )
        other_corpora = (one for id, one in corpora().items() if id != self.corpus.name)
        if is_taken or any(name in other.sets for other in other_corpora):
            raise BadInput(
                f"There is a question set “{name}” already that was not made here; bring it again "
                "under another name."
            )
        own_corpus.with_questions({name: (f"{own_corpus.title}, {MADE_TITLE_SUFFIX}", questions)})
        return name

    def _nearest_chunks(self, text: str) -> list[int]:
        """Return the rows of the chunks that searches rank first.

        The searches are one by words and one by vectors.
        """
        source = CorpusSource.of(self.corpus).open(self.engine)
        request = source.ask(Question(text), uses_reader=False, uses_model=False)
        rows: list[int] = []
        for id in METHODS_WITHOUT_GRAPH[:2]:
            lane = LaneRun(request, catalogue()[id].line, self._environment)
            lane.retrieve(LaneListener())
            if lane.state.chunks is not None:
                rows += lane.state.chunks.items[: MODEL_QUESTION_DEFAULTS.near_passages]
        return rows

    @property
    def _environment(self):
        return self.engine.environment

    def _plan(self, advice: Advice, size: int) -> Plan:
        """Return the plan of all methods without a language model.

        It asks `size` of the questions.
        """
        return make_plan(
            advice_methods(),
            advice.set,
            size,
            self.engine.graph,
            seed=self.seed,
            model=False,
        )

    def _measure_size(self, advice: Advice, part: Watch) -> int:
        """Return how many questions fit into the remaining time.

        The estimate uses the time that the first few questions take with all methods.
        """
        part.report("Measuring how long a question takes", 0.0)
        total = sum(advice.counts.values())
        plan = self._plan(advice, min(ADVICE_DEFAULTS.pilot_questions, total))
        ask = make_ask(self.engine, plan)
        load_models(plan, self._environment, ask, part)
        seconds: list[float] = []
        for index in range(len(plan.drawn)):
            start = self.clock()
            list(run_methods(plan, self._environment, ask, index, watch=part))
            seconds.append(self.clock() - start)
        seconds_left = self.minutes * 60 - (self.clock() - self._start_time)
        return affordable_questions(seconds_left, seconds, total)


def affordable_questions(budget: float, durations: Sequence[float], total: int) -> int:
    """Return how many questions fit into the remaining time.

    The first question also loads data for the others, so the mean is over the others if there are
    any. At least `ADVICE_DEFAULTS.min_questions` questions are asked, however long they take.

    Parameters
    ----------
    budget : remaining seconds; 0 or less if the time is over.
    durations : seconds of the first questions, at least one.
    total : number of available questions.

    Returns
    -------
    A number from `ADVICE_DEFAULTS.min_questions` to `total`, or `total` if there are fewer.

    Examples
    --------
    >>> from core.evaluation.advice.advisor import affordable_questions
    >>> (
    ...     affordable_questions(100.0, [9.0, 1.0, 1.0], 120),
    ...     affordable_questions(1.0, [9.0, 1.0, 1.0], 120),
    ...     affordable_questions(100.0, [0.1], 12),
    ... )
    (85, 24, 12)
    """
    later_durations = durations[1:] or durations
    question_seconds = max(sum(later_durations) / len(later_durations), 1e-3)
    count = int(ADVICE_DEFAULTS.question_time_share * budget / question_seconds)
    return min(total, max(ADVICE_DEFAULTS.min_questions, count))


def start_advice(engine, store: Store, corpus: Corpus, **settings) -> Job:
    """Start the job that makes the advice.

    If the job is already running, it is returned.

    Parameters
    ----------
    engine : the engine that runs the job.
    store : receives the rows of the evaluation.
    corpus : the corpus that the advice is about.
    **settings : settings of `GraphAdvisor`.

    Returns
    -------
    The job.

    Raises
    ------
    BadInput : a language model is requested but not available.
    """
    if settings.get("by") == QUESTIONS_BY_MODEL:
        model = engine.models.info(ADVICE_WRITER_ROLE)
        if not model.present:
            raise BadInput(model.how_to_get)
    key = advice_job_key(corpus.name)
    return engine.evaluations.run(key, GraphAdvisor(engine, store, corpus, **settings), again=True)


def advice_job_key(corpus: str) -> str:
    """Return the key of the job that makes the advice on a corpus."""
    return f"advice-{corpus}"
