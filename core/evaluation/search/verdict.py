"""Comparison of a search's results with published lines on unseen questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Any

from core.errors import BadInput
from core.evaluation.metrics.statistics import Estimate, PairedTest
from core.evaluation.reports.export import format_figure
from core.evaluation.reports.method_names import method_name
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.evaluation_jobs import dependency_text
from core.evaluation.runs.plan import DrawnQuestion, Plan, make_plan, source_of
from core.evaluation.runs.row import make_ask
from core.evaluation.runs.runner import EvaluationRunner
from core.evaluation.runs.store import Store
from core.evaluation.search.config import SearchConfig
from core.evaluation.search.points import SearchPoint, pareto_points
from core.evaluation.search.search import Search
from core.evaluation.search.space import DEFAULT_KINDS, load_space
from core.evaluation.search.space_texts import ASKING_KIND, load_text_space
from core.methods.catalogue import Method
from core.methods.model_needs import missing_models, needed_models
from core.operators.base import Line
from core.runtime.jobs import Job
from core.sources import AnswerSource
from core.watch import NO_WATCH, Watch

MAX_COMPARED_POINTS = 3  # points of the front that are compared with the published lines
TABLE_1_ID = re.compile(r"lego-\d+")
IN_DEPTH_PAPER = "In-depth Analysis"


def reference_lines(
    catalogue: Mapping[str, Method], models, source: AnswerSource
) -> tuple[Method, ...]:
    """Return the published lines that a search is compared with.

    They are the rows of LEGO-GraphRAG's Table 1 that retrieve without a language model and whose
    models are available. For a corpus they are the rows of the in-depth analysis that retrieve
    chunks.

    Parameters
    ----------
    catalogue : the methods by id.
    models : the registry of models.
    source : the graph or corpus that is searched.

    Returns
    -------
    The published lines.
    """
    is_corpus = source.is_corpus
    methods = []
    for id, method in catalogue.items():
        if not (_retrieves_chunks(method) if is_corpus else TABLE_1_ID.fullmatch(id)):
            continue
        line = method.line.without_stage("generate")
        asks_chat = any(models.info(name).kind == "chat" for name in needed_models(line))
        if not asks_chat and not missing_models(line, models):
            methods.append(method)
    return tuple(methods)


@dataclass(frozen=True)
class PointComparison:
    """A point and its comparison with the best published line on unseen questions.

    The differences are point - published.
    """

    point: SearchPoint
    figures: Mapping[str, Estimate]  # estimates of quality and cost
    quality: PairedTest
    cost: PairedTest

    @property
    def is_better(self) -> bool:
        """True if the quality is significantly higher at no higher mean cost.

        Significance is by the corrected p-value.
        """
        return self.quality.is_significantly_above and self.cost.difference <= 0


@dataclass(frozen=True)
class SearchVerdict:
    """Result of the comparison on unseen questions.

    `best` is the published line with the highest mean quality, the cheapest of equals.
    `comparisons` holds the points chosen on the tuning questions, in the order of their quality on
    these. P-values have Holm's correction over the points. `figures` holds quality and cost of
    every published line.
    """

    run: int
    best: Method
    published: Mapping[str, Method]
    figures: Mapping[str, Mapping[str, Estimate]]
    comparisons: tuple[PointComparison, ...]
    questions: int
    failed: tuple[str, ...] = ()  # for each line with failures, their number and reasons

    def words(self, one: PointComparison) -> str:
        """Return the comparison of a point with the best published line as a sentence.

        An example is “Found 7 beats Beam search (No. 14): +0.31 reader_hit@1 [0.24, 0.38] (p =
        0.0002, n = 60) at 0.02 s a question against 1 s”.
        """
        quality = one.quality.metric
        cost = one.cost.metric
        interval = one.quality.estimate.interval("{:.2f}".format)
        number = f"{one.quality.difference:+.2f} {quality} {interval}"
        verb = "beats" if one.is_better else "does not beat"
        unit = {"seconds": " s", "tokens": " tokens"}[cost]
        point_cost = format_figure(cost, one.figures[cost].mean)
        published_cost = format_figure(cost, self.figures[self.best.id][cost].mean)
        p = f"p = {one.quality.p_holm:.2g}, n = {one.quality.n}"
        return (
            f"{one.point.method.name} {verb} {method_name(self.best)}: {number} ({p}) "
            f"at {point_cost}{unit} a question against {published_cost}{unit}"
        )


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """A search, and the unseen questions with published lines for the comparison, if any."""

    search: Search
    unseen: Plan | None = None

    def plan(self, points: Sequence[SearchPoint]) -> Plan:
        """Return the plan of the published lines and these points on the unseen questions."""
        published = self.unseen_plan.methods
        published_lines = {repr(method.line) for method in published}
        found_methods = [
            point.method for point in points if repr(point.line) not in published_lines
        ]
        return replace(self.unseen_plan, methods=(*published, *found_methods))

    def skipped_comparison_reason(self, points: Sequence[SearchPoint]) -> str:
        """Return why a requested comparison with published lines is left out, else an empty text."""
        if self.unseen is None or not self.search.config.may_ask_model:
            return ""
        calls = len(self.unseen.drawn) * sum(_asking(one.line) for one in self.plan(points).methods)
        calls_left = max(0, self.search.config.calls - self.search.count_calls())
        if calls <= calls_left:
            return ""
        return (
            "It was not compared with published methods: that would ask language models about "
            f"{calls:,} times, and of {self.search.config.calls:,} calls {calls_left:,} are "
            "left. Allow more, or take fewer unseen questions."
        )

    @property
    def unseen_plan(self) -> Plan:
        """Plan of the published lines on the unseen questions."""
        assert self.unseen is not None
        return self.unseen


def plan_search(
    engine,
    sets: str,
    sample: int | None,
    unseen: str = "",
    unseen_sample: int | None = None,
    *,
    known,
    **options: Any,
) -> SearchPlan:
    """Return the plan of a search over question sets.

    Unseen questions of a set that is also searched with are different questions of that set.

    Parameters
    ----------
    engine : opens the graphs and models.
    sets, unseen : names of the sets, as in `make_plan`, to search with and to compare on.
    sample, unseen_sample : sample sizes, None for all questions.
    known : the published lines to beat.
    options : `graph`, `seed`, `columns`, `kinds`, and the settings of `SearchConfig`.

    Returns
    -------
    The search, and its unseen questions if any are named.

    Raises
    ------
    BadInput : a set is missing, sets do not fit together, a question is both a tuning question and
        an unseen one, or no published line is named.
    BadParameter : a setting is not valid.
    StoreError : a graph is damaged.
    """
    shared: dict[str, Any] = {
        name: options.pop(name) for name in ("graph", "seed", "columns") if name in options
    }
    kinds = tuple(options.pop("kinds", DEFAULT_KINDS))
    shared |= {"model": ASKING_KIND in kinds and source_of(sets).is_corpus, "cold": True}
    if options.get("cost") == "tokens" and "llm" not in kinds:
        raise BadInput(
            "Without a language model no method costs a token; let language models choose, or "
            "give a budget of seconds."
        )
    if not known:
        raise BadInput("Name at least one published method to beat.")
    tuning = make_plan(known, sets, sample, engine.graph, **shared)
    tuning = replace(tuning, drawn=_alternate_sets(tuning.drawn))
    unseen_plan = None
    if unseen:
        unseen_plan = _unseen_plan(known, unseen, unseen_sample, tuning, sample, engine, shared)
    asks_documents = _asks_documents([tuning, unseen_plan] if unseen_plan else [tuning])
    if unseen_plan:
        _check_unseen(unseen_plan, tuning)
    space = (load_text_space if asks_documents else load_space)(engine.models, kinds)
    config = SearchConfig(tuning, space, **options)
    return SearchPlan(Search(config, engine.environment, make_ask(engine, tuning)), unseen_plan)


def _asks_documents(plans: Sequence[Plan]) -> bool:
    """Return whether the questions are those of documents. Raises BadInput if only some are."""
    kinds_asked = {one.source.is_corpus for plan in plans for one in plan.drawn}
    if len(kinds_asked) > 1:
        raise BadInput(
            "Search with questions of graphs or with questions of documents, not with both."
        )
    return kinds_asked == {True}


def _check_unseen(unseen_plan: Plan, tuning: Plan) -> None:
    """Check that no unseen question is a tuning question. Raises BadInput."""
    tuning_texts = {one.question.text for one in tuning.drawn}
    repeated = [one for one in unseen_plan.drawn if one.question.text in tuning_texts]
    if repeated:
        raise BadInput(
            f"{len(repeated)} of the unseen questions are tuning questions as well, such as "
            f"“{repeated[0].question.text}”."
        )


def _unseen_plan(
    known,
    sets: str,
    size: int | None,
    tuning: Plan,
    extra: int | None,
    engine,
    shared: dict[str, Any],
) -> Plan:
    """Return the plan over the unseen questions.

    A larger sample of a set begins with the smaller one. For a set of tuning questions, the sample
    is therefore enlarged by the tuning sample, and the tuning questions are removed from it. Raises
    BadInput if none is left.
    """
    names = set(filter(None, map(str.strip, sets.split(","))))
    shared_sets = names & {one.set for one in tuning.drawn}
    if not shared_sets:
        return make_plan(known, sets, size, engine.graph, **shared)
    enlarged_size = None if size is None or extra is None else size + extra
    plan = make_plan(known, sets, enlarged_size, engine.graph, **shared)
    tuning_texts = {one.question.text for one in tuning.drawn}
    drawn_by_set: dict[str, list[DrawnQuestion]] = {}
    for drawn in plan.drawn:
        if drawn.set not in shared_sets or drawn.question.text not in tuning_texts:
            drawn_by_set.setdefault(drawn.set, []).append(drawn)
    questions = tuple(chain.from_iterable(group[:size] for group in drawn_by_set.values()))
    if not questions:
        raise BadInput("Every question is searched with; leave some unseen by a smaller sample.")
    return replace(plan, drawn=questions)


def _asking(line: Line) -> int:
    """Return how many operators of a line may ask a language model.

    Each of them asks at least once per question.
    """
    return sum(operator.without_model or operator.stage == "generate" for operator in line)


def _retrieves_chunks(method: Method) -> bool:
    """Return whether a method of the in-depth analysis retrieves chunks."""
    if IN_DEPTH_PAPER not in method.paper:
        return False
    return any("chunks" in operator.writes for operator in method.line)


def start_search(engine, store: Store, planned: SearchPlan) -> Job:
    """Start the job that searches and then compares on unseen questions.

    Parameters
    ----------
    engine : the engine that runs the job.
    store : receives the rows on unseen questions.
    planned : the search and its unseen questions.

    Returns
    -------
    The job, whose result is `(points, verdict)`. The verdict is None without unseen questions.
    """

    def search_and_compare(job: Job):
        points = planned.search(job)
        chosen_points = pareto_points(points)[:MAX_COMPARED_POINTS]
        if (
            planned.unseen is None
            or not chosen_points
            or planned.skipped_comparison_reason(chosen_points)
        ):
            return points, None
        plan = planned.plan(chosen_points)
        run = store.begin_run(plan.spec(dependency_text(engine, plan)), plan.drawn)
        runner = EvaluationRunner(
            plan, store, run.id, engine.environment, planned.search.ask, limits_to_single_speed=True
        )
        runner(_prefixed_watch("On unseen questions: ", job))
        summary = RunSummary(store.run(run.id), store.rows(run.id))
        return points, search_verdict(summary, planned, chosen_points)

    key = f"search-{planned.search.file.stem}"
    return engine.evaluations.run(key, search_and_compare, again=True)


def search_verdict(
    summary: RunSummary, planned: SearchPlan, chosen: Sequence[SearchPoint]
) -> SearchVerdict:
    """Return the verdict of a finished run on unseen questions.

    Parameters
    ----------
    summary : figures of the run of `planned.plan(chosen)`.
    planned : the search and its unseen questions.
    chosen : the points of the front that are compared.

    Returns
    -------
    The best published line, and the comparison of each point with it.

    Raises
    ------
    BadInput : no published line answered any of the unseen questions.
    """
    quality = planned.search.config.quality
    cost = planned.search.config.cost
    table = summary.table([quality, cost])
    published_by_id = {method.id: method for method in planned.unseen_plan.methods}
    ranks = []
    for id in published_by_id:
        mean = table[id][quality].mean
        if mean is not None:
            ranks.append((-mean, table[id][cost].mean, id))
    if not ranks:
        raise BadInput("None of the published methods answered any of the unseen questions.")
    best = published_by_id[min(ranks)[2]]
    ids = {repr(method.line): id for id, method in published_by_id.items()}
    pairs = [(ids.get(repr(point.line), point.method.id), best.id) for point in chosen]
    tests = {(test.metric, test.a): test for test in summary.paired_tests(pairs, [quality, cost])}
    comparisons = tuple(
        PointComparison(point, table[a], tests[quality, a], tests[cost, a])
        for point, (a, _) in zip(chosen, pairs)
        if {(quality, a), (cost, a)} <= tests.keys()
    )
    return SearchVerdict(
        summary.run.id,
        best,
        published_by_id,
        figures={id: table[id] for id in published_by_id},
        comparisons=comparisons,
        questions=summary.run.spec["sample"],
        failed=tuple(summary.failure_sentences()),
    )


def _prefixed_watch(prefix: str, watch: Watch = NO_WATCH) -> Watch:
    """Return a watch that puts a prefix before the reported texts."""
    return Watch(watch.check, lambda text, fraction: watch.report(prefix + text, fraction))


def _alternate_sets(questions: Iterable[Any]) -> tuple[Any, ...]:
    """Return the questions of several sets in alternation.

    A line that fails on one set is thus abandoned early.
    """
    questions_by_set: dict[str, list[Any]] = {}
    for question in questions:
        questions_by_set.setdefault(question.set, []).append(question)
    alternating = chain.from_iterable(zip_longest(*questions_by_set.values()))
    return tuple(question for question in alternating if question is not None)
