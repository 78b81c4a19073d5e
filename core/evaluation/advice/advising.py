"""Work behind “do I need a graph?”, in about ten minutes.

Graphs are built, questions are made and checked, and methods are asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from core.builds import build, build_for, find, status
from core.builds.base import Made
from core.builds.catalogue import Build
from core.builds.run import context
from core.builds.shipped import Unasked, Uncovered, ships
from core.comparison.built import CHUNKS
from core.comparison.run import LaneRun, Progress
from core.corpus import Corpus, corpora, open_corpus
from core.errors import BadInput
from core.evaluation.advice.answer import answer
from core.evaluation.advice.plan import (
    BY_MODEL_AT_MOST,
    GRAPH_PART,
    LEAST,
    MINUTES,
    MODEL_SHARE,
    MOST_QUESTIONS,
    PILOT,
    PLAIN,
    QUESTION_PART,
    ROLE,
    SPARE,
    instances,
    kinds,
    usual_writer,
)
from core.evaluation.advice.saved import BY_MODEL, Advice, save, saved_advice, set_name
from core.evaluation.questions.from_model import NEAR, WRITTEN, ModelQuestions
from core.evaluation.questions.from_names import MadeQuestions, from_names, left_out
from core.evaluation.questions.named_sentences import SentenceTable
from core.evaluation.reports.ranks import FEW
from core.evaluation.reports.summary import Summary
from core.evaluation.runs.plan import Plan, make_plan
from core.evaluation.runs.row import asking, vary, warm
from core.evaluation.runs.starting import begun
from core.evaluation.runs.store import Store
from core.instances.catalogue import catalogue
from core.models.base import Models
from core.models.chat.saved_replies import CachedChat, SavedReplies
from core.runtime.jobs import Job
from core.sources import CorpusSource
from core.types import Question
from core.watch import Watch

MADE = "questions made from its texts"
"""Suffix of the title of a set of made questions."""


@dataclass(eq=False)
class Advising:
    """Advisor for a corpus; calling it with its job returns the finished advice.

    It resumes where an earlier call stopped. Questions are saved as a set of the corpus, and rows
    in the store of evaluations. Without a language model, or if `by` is “names”, questions are made
    from names alone. Raises BadInput if the texts give no question, Cancelled, ModelUnavailable and
    StoreError.
    """

    engine: object
    store: Store
    corpus: Corpus
    by: str = ""
    seed: int = 0
    minutes: float = MINUTES
    again: bool = False
    clock: Callable[[], float] = time.monotonic
    _begun: float = field(default=0.0, repr=False)

    def __call__(self, watch: Watch) -> Advice:
        wanted = Advice(
            self.corpus.digest, self.by or usual_writer(self.models), self.seed, self.minutes
        )
        before = saved_advice(self.corpus)
        advice = before if before is not None and before.same(wanted) and not self.again else wanted
        if advice.done and self._asked(advice) and self._figures(advice):
            return advice
        self._begun = self.clock() - advice.seconds
        advice = replace(advice, graphs=self._build(watch.part(0.0, GRAPH_PART)))
        if not self._asked(advice):
            advice = self._saved(
                self._with_questions(
                    replace(advice, size=0, run=0, done=False),
                    watch.part(GRAPH_PART, QUESTION_PART),
                )
            )
        rest = watch.part(QUESTION_PART, 1.0)
        if not advice.size:
            advice = self._saved(replace(advice, size=self._size(advice, rest)))
        work = begun(
            self.engine,
            self.store,
            self._plan(advice, advice.size),
            again=self.again and not advice.run,
        )
        advice = self._saved(replace(advice, run=work.run, done=False))
        work(rest)
        said = answer(Summary(self.store.run(work.run), self.store.rows(work.run)), advice)
        return self._saved(replace(advice, done=True, headline=said.headline))

    @property
    def models(self) -> Models:
        """Models of the engine."""
        return self.engine.models  # type: ignore[attr-defined]

    def _saved(self, advice: Advice) -> Advice:
        return save(self.corpus, replace(advice, seconds=self.clock() - self._begun))

    def _asked(self, advice: Advice) -> bool:
        """Return whether the questions of an advice still exist."""
        return bool(advice.set) and advice.set in open_corpus(self.corpus.name).sets

    def _figures(self, advice: Advice) -> bool:
        """Return whether the rows of an advice's evaluation still exist."""
        try:
            return bool(self.store.run(advice.run).done)
        except BadInput:
            return False

    def _build(self, part: Watch) -> dict[str, bool]:
        """Build the missing graphs and return, by title, whether a language model is used in each.

        A graph that was shipped with the texts needs no language model. If it does not fit, the
        next best build is used.
        """
        found = {}
        for number, kind in enumerate(kinds()):
            part.check()
            inner = part.part(number / len(kinds()), (number + 1) / len(kinds()))
            try:
                one = self._built(build_for(self.corpus, kind), inner)
            except Uncovered:
                one = self._built(build_for(self.corpus, kind, shipped=False), inner)
            if kind != CHUNKS:
                found[one.title] = one.line.asks_chat
        return found

    def _built(self, one: Build, part: Watch) -> Build:
        if not status(self.corpus, one).current:
            models = Unasked(self.models) if ships(self.corpus, one) else self.models
            build(
                self.corpus,
                one,
                models,
                Watch(part.check, lambda text, share: part.report(f"{one.title}: {text}", share)),
            )
        return one

    def _with_questions(self, advice: Advice, part: Watch) -> Advice:
        """Return the advice after its questions are made and saved as a set of the corpus."""
        part.report("Reading names in the texts", 0.0)
        ctx, made = context(self.corpus, self.models, watch=part.quiet), Made(self.corpus)
        for operator in find("kg-noun-phrases").line:
            made = operator.apply(made, ctx) if operator.stage in ("chunk", "extract") else made
        assert made.chunks is not None and made.facts is not None  # made by the two stages
        table = SentenceTable.of(self.corpus, made.chunks, made.facts, part)
        notes, found = list[str](), MadeQuestions()
        if advice.by == BY_MODEL:
            chat = CachedChat(
                lambda: self.models.chat(ROLE), self.models.weights(ROLE), SavedReplies()
            )
            seconds = self.minutes * 60 * MODEL_SHARE
            found = ModelQuestions(
                self.corpus,
                made.chunks,
                made.facts,
                chat,
                self._near,
                BY_MODEL_AT_MOST,
                seconds,
                self.seed,
                FEW,
                self.clock,
            )(part)
            number = len(found.questions[WRITTEN])
            if number < FEW:
                notes.append(
                    f"{self.models.title(ROLE)} wrote only {number:,} that passed the checks, too "
                    "few by themselves; the others are made from names."
                )
        part.report("Making questions from names", 0.95)
        named = from_names(table, MOST_QUESTIONS - len(found.all()), self.seed, part)
        found = MadeQuestions({**found.questions, **named.questions}, {**found.left, **named.left})
        if not found.all():
            raise BadInput(
                f"No question could be made from these texts. {' '.join(left_out(found.left))}"
            )
        name = self._keep(found.all())
        left = {kind: dict(why) for kind, why in found.left.items()}
        return replace(advice, set=name, counts=found.counts(), left=left, notes=tuple(notes))

    def _keep(self, questions: Sequence[Question]) -> str:
        """Save the questions as a set of the corpus and return the set's name.

        The set replaces the one made before. Raises BadInput if the name is taken.
        """
        name = set_name(self.corpus.name)
        before = saved_advice(self.corpus)
        here = open_corpus(self.corpus.name)
        taken = (
            name in here.sets
            and not (before is not None and before.set == name)
            and not here.sets[name].endswith(MADE)
        )
        if taken or any(
            name in known.sets for other, known in corpora().items() if other != self.corpus.name
        ):
            raise BadInput(
                f"There is a question set “{name}” already that was not made here; bring it again "
                "under another name."
            )
        here.with_questions({name: (f"{here.title}, {MADE}", questions)})
        return name

    def _near(self, text: str) -> list[int]:
        """Return the chunks that searches by words and by vectors rank first."""
        source = CorpusSource.of(self.corpus).open(self.engine)  # type: ignore[arg-type]
        rows: list[int] = []
        for id in PLAIN[:2]:
            lane = LaneRun(
                source.ask(Question(text), reader=False, model=False),
                catalogue()[id].line,
                self._environment,
            )
            lane.retrieve(Progress())
            rows += lane.state.chunks.items[:NEAR] if lane.state.chunks is not None else ()
        return rows

    @property
    def _environment(self):
        return self.engine.environment  # type: ignore[attr-defined]

    def _plan(self, advice: Advice, size: int) -> Plan:
        return make_plan(
            instances(),
            advice.set,
            size,
            self.engine.graph,  # type: ignore[attr-defined]
            seed=self.seed,
            model=False,
        )

    def _size(self, advice: Advice, part: Watch) -> int:
        """Return how many questions fit into the remaining time.

        The estimate uses the time that the first few questions take with all methods.
        """
        part.report("Measuring how long a question takes", 0.0)
        total = sum(advice.counts.values())
        plan = self._plan(advice, min(PILOT, total))
        ask = asking(self.engine, plan)
        warm(plan, self._environment, ask, part)
        took: list[float] = []
        for place in range(len(plan.drawn)):
            begin = self.clock()
            list(vary(plan, self._environment, ask, place, watch=part))
            took.append(self.clock() - begin)
        left = self.minutes * 60 - (self.clock() - self._begun)
        return fitting(left, took, total)


def fitting(left: float, took: Sequence[float], total: int) -> int:
    """Return how many questions fit into the remaining time.

    The first question loads what the others find loaded, so the mean is over the others if there
    are any. At least `LEAST` questions are asked, however long they take.

    Parameters
    ----------
    left : remaining seconds.
    took : seconds of the first questions.
    total : number of questions that there are.

    Examples
    --------
    >>> from core.evaluation.advice.advising import fitting
    >>> (
    ...     fitting(100.0, [9.0, 1.0, 1.0], 120),
    ...     fitting(1.0, [9.0, 1.0, 1.0], 120),
    ...     fitting(100.0, [0.1], 12),
    ... )
    (85, 24, 12)
    """
    later = took[1:] or took
    each = max(sum(later) / len(later), 1e-3)
    return min(total, max(LEAST, int(SPARE * left / each)))


def start(engine, store: Store, corpus: Corpus, **settings) -> Job:
    """Start the job that makes the advice, or return the one that is already running.

    The settings are those of `Advising`. Raises BadInput if a language model is requested but not
    available.
    """
    if settings.get("by") == BY_MODEL and not (model := engine.models.info(ROLE)).present:
        raise BadInput(model.how_to_get)
    key = job_key(corpus.name)
    return engine.evaluations.run(key, Advising(engine, store, corpus, **settings), again=True)


def job_key(corpus: str) -> str:
    """Return the key of the job that makes the advice on a corpus."""
    return f"advice-{corpus}"
