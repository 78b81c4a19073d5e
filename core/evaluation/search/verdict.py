"""Comparison of a search's results with published lines on unseen questions.

This module also plans a search over question sets and starts its job. The search may overfit its
tuning questions, so its best lines are evaluated on other questions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import Any

from core.errors import BadInput
from core.evaluation.metrics.statistics import Estimate, PairedTest
from core.evaluation.reports.export import format_share, screen_figure
from core.evaluation.reports.method_names import method_name
from core.evaluation.reports.steps_table import format_signed
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.evaluation_jobs import dependency_text
from core.evaluation.runs.plan import DrawnQuestion, Plan, make_plan, source_of
from core.evaluation.runs.row import make_ask
from core.evaluation.runs.runner import EvaluationRunner
from core.evaluation.runs.store import Store
from core.evaluation.search.config import SearchConfig
from core.evaluation.search.points import SearchPoint, pareto_points
from core.evaluation.search.search import PROBE_QUESTIONS, Search
from core.evaluation.search.space import DEFAULT_KINDS, load_space
from core.evaluation.search.space_texts import ASKING_KIND, load_text_space
from core.evaluation.search.trial import OVER_BUDGET
from core.methods.catalogue import Method, catalogue
from core.methods.model_needs import missing_models, needed_models
from core.operators.base import Line
from core.runtime.jobs import Job
from core.sources import AnswerSource

MAX_COMPARED_POINTS = 3  # points of the front that are compared with the published lines
TABLE_1_ID = re.compile(r"lego-\d+")  # ids of the methods of LEGO-GraphRAG's Table 1
IN_DEPTH_PAPER = "In-depth Analysis"


def reference_lines(
    catalogue: Mapping[str, Method], models, source: AnswerSource
) -> tuple[Method, ...]:
    """Return the published lines that a search is compared with.

    On triples they are the rows of LEGO-GraphRAG's Table 1, on a corpus the rows of the In-depth
    Analysis that retrieve chunks. Rows that retrieve with a language model, or whose models are not
    available, are left out.

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

    The differences are those of the point minus those of the published line. A positive difference
    in `quality` and a negative one in `cost` favour the point.
    """

    point: SearchPoint
    figures: Mapping[str, Estimate]  # the point's quality and cost, by metric
    quality: PairedTest
    cost: PairedTest

    @property
    def is_better(self) -> bool:
        """True if the quality is significantly higher (corrected p) at no higher mean cost."""
        return self.quality.is_significantly_above and self.cost.difference <= 0


@dataclass(frozen=True)
class SearchVerdict:
    """Result of the comparison on unseen questions.

    P-values have Holm's correction over the compared points.

    Parameters
    ----------
    run : number of the evaluation on the unseen questions.
    best : the published line with the highest mean quality, the cheapest of equals.
    published : the published lines by id.
    figures : quality and cost of every published line, by id and metric.
    comparisons : the compared points, in the order of their quality on the tuning questions.
    questions : number of unseen questions.
    failed : a sentence for each line with failures, with their number and reasons.
    """

    run: int
    best: Method
    published: Mapping[str, Method]
    figures: Mapping[str, Mapping[str, Estimate]]
    comparisons: tuple[PointComparison, ...]
    questions: int
    failed: tuple[str, ...] = ()

    def words(self, comparison: PointComparison) -> str:
        """Return the comparison of a point with the best published line as a sentence.

        An example is “Found 7 beats Beam search (No. 14): +.31 reader_hit@1 [.24, .38] (p =
        0.0002, n = 60) at 0.02 s a question against 1 s”.
        """
        quality_test = comparison.quality
        cost = comparison.cost.metric
        interval = quality_test.estimate.interval(format_share)
        signed = format_signed(quality_test.difference)
        difference = f"{signed} {quality_test.metric} {interval}"
        verb = "beats" if comparison.is_better else "does not beat"
        unit = {"seconds": " s", "tokens": " tokens"}[cost]
        point_cost = screen_figure(cost, comparison.figures[cost].mean)
        published_cost = screen_figure(cost, self.figures[self.best.id][cost].mean)
        p = f"p = {quality_test.p_holm:.2g}, n = {quality_test.n}"
        return (
            f"{comparison.point.method.name} {verb} {method_name(self.best)}: {difference} ({p}) "
            f"at {point_cost}{unit} a question against {published_cost}{unit}"
        )

    def advice(self) -> str:
        """Return a sentence with the method to take, and the best published one.

        An example is “Take Relation chains: .83 at 0.19 s; best published: Shortest paths, .33 (a
        significant difference)”.
        """
        published = self.figures[self.best.id]
        name = method_name(self.best).plain
        if not self.comparisons:
            return f"Take {name}: no method that was found answered any of the unseen questions."
        quality, cost = self.comparisons[0].quality.metric, self.comparisons[0].cost.metric
        published_text = _at_cost(published, quality, cost)
        top = max(self.comparisons, key=lambda each: each.quality.difference)
        point_name = line_name(top.point)
        if point_name == name or top.quality.difference < 0:
            return f"Take {name}: {published_text}; the search found nothing better"
        chance = "a" if top.quality.is_significant else "no"
        return (
            f"Take {point_name}: {_at_cost(top.figures, quality, cost)}; best published within "
            f"the budget: {name}, {screen_figure(quality, published[quality].mean)} ({chance} "
            "significant difference)"
        )


def search_seconds(
    published: Sequence[float], budget: float, trial_questions: int, unseen_questions: int
) -> float:
    """Return the expected seconds of a search with a budget of seconds, and of its comparison.

    A line is abandoned once it has used the budget, so a question takes no longer than that.

    Parameters
    ----------
    published : expected seconds a question of each published line.
    budget : the budget, in seconds a question.
    trial_questions : questions of all trials together.
    unseen_questions : unseen questions; 0 without a comparison.

    Returns
    -------
    Seconds.

    Examples
    --------
    >>> from core.evaluation.search.verdict import search_seconds
    >>> search_seconds([2.0], 1.0, trial_questions=100, unseen_questions=0)
    103.0
    """
    capped = [min(seconds, budget) for seconds in published]
    mean = sum(capped) / max(1, len(capped))
    compared = sum(seconds for seconds in published if seconds <= budget)
    compared += MAX_COMPARED_POINTS * mean
    probes = PROBE_QUESTIONS * sum(capped)
    return trial_questions * mean + unseen_questions * compared + probes


def line_name(point: SearchPoint) -> str:
    """Return the name of the catalogue's method with a point's line, or else its number."""
    text = repr(point.line.without_stage("generate"))
    for method in catalogue().values():
        if repr(method.line.without_stage("generate")) == text:
            return method_name(method).plain
    return f"candidate {point.number}"


def _at_cost(figures: Mapping[str, Estimate], quality: str, cost: str) -> str:
    unit = {"seconds": " s", "tokens": " tokens"}[cost]
    mean_cost = screen_figure(cost, figures[cost].mean)
    return f"{screen_figure(quality, figures[quality].mean)} at {mean_cost}{unit}"


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """A search, and the comparison with published lines that follows it.

    Parameters
    ----------
    search : the search.
    unseen : the plan of the published lines on the unseen questions, None without a comparison.
    only_affordable : True to ask the unseen questions only of published lines within the budget.
    left_out : the published lines beyond the budget; set by the job.
    """

    search: Search
    unseen: Plan | None = None
    only_affordable: bool = False
    left_out: list[Method] = field(default_factory=list)

    def comparison_plan(self, points: Sequence[SearchPoint]) -> Plan:
        """Return the plan of the published lines and these points on the unseen questions.

        A point whose line is a published one is not included twice.
        """
        left_out = {method.id for method in self.left_out}
        published = [method for method in self.unseen_plan.methods if method.id not in left_out]
        published_lines = {repr(method.line) for method in published}
        found_methods = [
            point.method for point in points if repr(point.line) not in published_lines
        ]
        return replace(self.unseen_plan, methods=(*published, *found_methods))

    def skipped_comparison_reason(self, points: Sequence[SearchPoint]) -> str:
        """Return why a requested comparison with published lines is left out.

        The text is empty if it is not left out.
        """
        if self.unseen is None or not self.search.config.may_ask_model:
            return ""
        methods = self.comparison_plan(points).methods
        calls = len(self.unseen.drawn) * sum(_calls_per_question(one.line) for one in methods)
        calls_left = max(0, self.search.config.calls - self.search.count_calls())
        if calls <= calls_left:
            return ""
        return (
            "It was not compared with published methods: that would ask language models about "
            f"{calls:,} times, and of {self.search.config.calls:,} calls {calls_left:,} are "
            "left. Allow more, or take fewer unseen questions."
        )

    def find_costly(self, points: Sequence[SearchPoint], job: Job) -> None:
        """Set `left_out` to the published lines that cost more than the budget.

        A line that the search has tried has its cost from there. Others are measured on a few
        tuning questions. Nothing is measured if that would ask a language model.
        """
        if not self.only_affordable or self.search.config.may_ask_model:
            return
        figures_by_line = {repr(point.line): point.figures for point in points}
        costly = []
        for method in self.unseen_plan.methods:
            job.check()
            job.report(f"Measuring the cost of {method_name(method).plain}", job.fraction)
            figures = figures_by_line.get(repr(method.line))
            with suppress(BadInput):  # no question of the few has a known answer
                figures = figures or self.search.probe(method.line, job)
            if figures is not None and figures.stopped == OVER_BUDGET:
                costly.append(method)
        self.left_out[:] = costly

    @property
    def unseen_plan(self) -> Plan:
        """Plan of the published lines on the unseen questions.

        It is for a search that has such questions.
        """
        assert self.unseen is not None
        return self.unseen


def plan_search(
    engine,
    sets: str,
    sample: int | None,
    unseen: str = "",
    unseen_sample: int | None = None,
    *,
    published: Sequence[Method],
    **options: Any,
) -> SearchPlan:
    """Return the plan of a search over question sets.

    If a set is both searched with and compared on, the comparison takes other questions of it.

    Parameters
    ----------
    engine : opens the graphs and has the models.
    sets, unseen : names of the sets, as in `make_plan`, to search with and to compare on.
    sample, unseen_sample : number of questions drawn from each set, None for all.
    published : the published lines to compare with, at least one.
    options : `graph`, `seed`, `columns`, `kinds`, `only_affordable` (see `SearchPlan`), and the
        settings of `SearchConfig`.

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
    only_affordable = options.pop("only_affordable", False)
    shared |= {"model": ASKING_KIND in kinds and source_of(sets).is_corpus, "cold": True}
    if options.get("cost") == "tokens" and "llm" not in kinds:
        raise BadInput(
            "Without a language model no method costs a token; let language models choose, or "
            "give a budget of seconds."
        )
    if not published:
        raise BadInput("Name at least one published method to beat.")
    tuning = make_plan(published, sets, sample, engine.graph, **shared)
    tuning = replace(tuning, drawn=_alternate_sets(tuning.drawn))
    unseen_plan = None
    if unseen:
        unseen_plan = _unseen_plan(
            unseen, unseen_sample, tuning, tuning_size=sample, engine=engine, shared=shared
        )
    asks_documents = _asks_documents([tuning, unseen_plan] if unseen_plan else [tuning])
    if unseen_plan:
        _check_unseen(unseen_plan, tuning)
    load = load_text_space if asks_documents else load_space
    config = SearchConfig(tuning, load(engine.models, kinds), **options)
    search = Search(config, engine.environment, make_ask(engine, tuning))
    return SearchPlan(search, unseen_plan, only_affordable=only_affordable)


def _asks_documents(plans: Sequence[Plan]) -> bool:
    """Return whether the questions are those of documents. Raises BadInput if only some are."""
    drawn_questions = chain.from_iterable(plan.drawn for plan in plans)
    are_corpora = {drawn.source.is_corpus for drawn in drawn_questions}
    if len(are_corpora) > 1:
        raise BadInput(
            "Search with questions of graphs or with questions of documents, not with both."
        )
    return are_corpora == {True}


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
    sets: str,
    size: int | None,
    tuning: Plan,
    *,
    tuning_size: int | None,
    engine,
    shared: dict[str, Any],
) -> Plan:
    """Return the plan of the methods of `tuning` on unseen questions of some sets.

    `size` and `tuning_size` are the sample sizes per set, None for all questions. A larger sample
    of a set begins with the smaller one. For a set of tuning questions, the sample is therefore
    enlarged by the tuning sample, and the tuning questions are removed from it. `shared` holds
    settings for `make_plan`. Raises BadInput if no question is left.
    """
    names = set(filter(None, map(str.strip, sets.split(","))))
    shared_sets = names & {one.set for one in tuning.drawn}
    if not shared_sets:
        return make_plan(tuning.methods, sets, size, engine.graph, **shared)
    enlarged_size = None if size is None or tuning_size is None else size + tuning_size
    plan = make_plan(tuning.methods, sets, enlarged_size, engine.graph, **shared)
    tuning_texts = {one.question.text for one in tuning.drawn}
    drawn_by_set: dict[str, list[DrawnQuestion]] = {}
    for drawn in plan.drawn:
        if drawn.set not in shared_sets or drawn.question.text not in tuning_texts:
            drawn_by_set.setdefault(drawn.set, []).append(drawn)
    questions = tuple(chain.from_iterable(group[:size] for group in drawn_by_set.values()))
    if not questions:
        raise BadInput("Every question is searched with; leave some unseen by a smaller sample.")
    return replace(plan, drawn=questions)


def _calls_per_question(line: Line) -> int:
    """Return how often a line asks a language model per question, at least.

    It is the number of operators that may ask one.
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
    The job, whose result is `(points, verdict)`. The verdict is None without unseen questions,
    without a point within the budget, or if the comparison would exceed the limit of calls.
    """

    def search_and_compare(job: Job):
        points = planned.search(job)
        chosen_points = pareto_points(points)[:MAX_COMPARED_POINTS]
        if planned.unseen is None or not chosen_points:
            return points, None
        if planned.skipped_comparison_reason(chosen_points):
            return points, None
        planned.find_costly(points, job)
        if len(planned.left_out) == len(planned.unseen.methods):
            return points, None
        plan = planned.comparison_plan(chosen_points)
        run = store.begin_run(plan.spec(dependency_text(engine, plan)), plan.drawn)
        runner = EvaluationRunner(
            plan, store, run.id, engine.environment, planned.search.ask, limits_to_single_speed=True
        )
        runner(job.titled("On unseen questions"))
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
    summary : figures of the run of `planned.comparison_plan(chosen)`.
    planned : the search and its unseen questions.
    chosen : the points of the front that are compared.

    Returns
    -------
    The best published line, and the comparison with it of each point that answered any question.

    Raises
    ------
    BadInput : no published line answered any of the unseen questions.
    """
    quality = planned.search.config.quality
    cost = planned.search.config.cost
    table = summary.table([quality, cost])
    published_by_id = {
        method.id: method for method in planned.unseen_plan.methods if method.id in table
    }
    best = _best_published(planned, {id: table[id] for id in published_by_id}, published_by_id)
    # A point whose line is a published one was run under the id of the published method.
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


def _best_published(
    planned: SearchPlan,
    figures: Mapping[str, Mapping[str, Any]],
    methods: Mapping[str, Method],
) -> Method:
    """Return the best published method, within the budget if any is.

    `figures` has for each method's id its figures by metric. Raises BadInput if no method answered
    any question.
    """
    config = planned.search.config
    ranks = []
    for id, figure_by_metric in figures.items():
        mean = figure_by_metric[config.quality].mean
        if mean is not None:
            ranks.append((-mean, figure_by_metric[config.cost].mean or 0.0, id))
    if not ranks:
        raise BadInput("None of the published methods answered any of the unseen questions.")
    budget = config.budget if planned.only_affordable else math.inf
    affordable = [rank for rank in ranks if rank[1] <= budget]
    return methods[min(affordable or ranks)[2]]


def _alternate_sets(questions: Iterable[DrawnQuestion]) -> tuple[DrawnQuestion, ...]:
    """Return the questions of several sets in alternation.

    A line that fails on one set is thus abandoned early.
    """
    questions_by_set: dict[str, list[DrawnQuestion]] = {}
    for question in questions:
        questions_by_set.setdefault(question.set, []).append(question)
    alternating = chain.from_iterable(zip_longest(*questions_by_set.values()))
    return tuple(question for question in alternating if question is not None)
