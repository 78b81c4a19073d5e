"""Comparison of a search's results with published lines on unseen questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.errors import BadInput
from core.evaluation.metrics.statistics import Estimate, Paired
from core.evaluation.reports.export import shown
from core.evaluation.reports.naming import of
from core.evaluation.reports.summary import Summary
from core.evaluation.runs.plan import Drawn, Plan, make_plan, source_of
from core.evaluation.runs.row import asking
from core.evaluation.runs.runner import Evaluation
from core.evaluation.runs.starting import depends
from core.evaluation.runs.store import Store
from core.evaluation.search.config import SearchConfig
from core.evaluation.search.points import Point, front
from core.evaluation.search.search import Search
from core.evaluation.search.space import USUAL, space
from core.evaluation.search.space_texts import ASKING, text_space
from core.instances.catalogue import Instance
from core.instances.needs import missing, needed
from core.operators.base import Line
from core.runtime.jobs import Job
from core.sources import Source
from core.watch import NO_WATCH, Watch

POINTS = 3  # points of the front that are compared with the published lines
TABLE_1 = re.compile(r"lego-\d+")
DEPTH = "In-depth Analysis"


def references(known: Mapping[str, Instance], models, source: Source) -> tuple[Instance, ...]:
    """Return the published lines that a search is compared with.

    They are the rows of LEGO-GraphRAG's Table 1 that retrieve without a language model and whose
    models are available. For a corpus they are the rows of the in-depth analysis that retrieve
    chunks.
    """
    found = []
    for instance in (
        one
        for key, one in known.items()
        if (_finds_chunks(one) if source.is_corpus else TABLE_1.fullmatch(key))
    ):
        line = instance.line.without("generate")
        if not missing(line, models) and all(
            models.info(name).kind != "chat" for name in needed(line)
        ):
            found.append(instance)
    return tuple(found)


@dataclass(frozen=True)
class Compared:
    """A point and its comparison with the best published line on unseen questions.

    The differences are point - published.
    """

    point: Point
    figures: Mapping[str, Estimate]  # estimates of quality and cost
    quality: Paired
    cost: Paired

    @property
    def better(self) -> bool:
        """True if the quality is significantly higher at no higher mean cost.

        Significance is by the corrected p-value.
        """
        return self.quality.ahead and self.cost.difference <= 0


@dataclass(frozen=True)
class SearchVerdict:
    """Result of the comparison on unseen questions.

    `best` is the published line with the highest mean quality, the cheapest of equals. `against`
    holds the points chosen on the tuning questions, the best of these first. So the first point was
    not chosen by its result here. P-values have Holm's correction over the points. `figures` holds
    quality and cost of every published line.
    """

    run: int
    best: Instance
    published: Mapping[str, Instance]
    figures: Mapping[str, Mapping[str, Estimate]]
    against: tuple[Compared, ...]
    questions: int
    failed: tuple[str, ...] = ()  # for each line with failures, their number and reasons

    def words(self, one: Compared) -> str:
        """Return the comparison of a point with the best published line as a sentence.

        An example is “Found 7 beats Beam search (No. 14): +0.31 reader_hit@1 [0.24, 0.38] (p =
        0.0002, n = 60) at 0.02 s a question against 1 s”.
        """
        quality, cost = one.quality.metric, one.cost.metric
        interval = one.quality.estimate.interval("{:.2f}".format)
        number = f"{one.quality.difference:+.2f} {quality} {interval}"
        verb = "beats" if one.better else "does not beat"
        unit = {"seconds": " s", "tokens": " tokens"}[cost]
        here, there = (
            shown(cost, figure.mean)
            for figure in (one.figures[cost], self.figures[self.best.id][cost])
        )
        p = f"p = {one.quality.p_holm:.2g}, n = {one.quality.n}"
        return (
            f"{one.point.instance.name} {verb} {of(self.best)}: {number} ({p}) at {here}{unit} a "
            f"question against {there}{unit}"
        )


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """A search, and the unseen questions with published lines for the comparison, if any."""

    search: Search
    unseen: Plan | None = None

    def plan(self, points: Sequence[Point]) -> Plan:
        """Return the plan of the published lines and these points on the unseen questions."""
        published = self.on_unseen.instances
        found = [
            point.instance
            for point in points
            if all(repr(point.line) != repr(one.line) for one in published)
        ]
        return replace(self.on_unseen, instances=(*published, *found))

    def unjudged(self, points: Sequence[Point]) -> str:
        """Return why a requested comparison with published lines is left out.

        The text is empty if it is not left out.
        """
        if self.unseen is None or not self.search.config.asks:
            return ""
        needed = len(self.unseen.drawn) * sum(
            _asking(one.line) for one in self.plan(points).instances
        )
        left = max(0, self.search.config.calls - self.search.calls())
        if needed <= left:
            return ""
        return (
            "It was not held against published lines: that would ask language models about "
            f"{needed:,} times, and of {self.search.config.calls:,} calls {left:,} are left. "
            "Allow more, or take fewer unseen questions."
        )

    @property
    def on_unseen(self) -> Plan:
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

    Unseen questions of a set that is also searched with are different questions of that set. Raises
    BadInput, BadParameter and StoreError.

    Parameters
    ----------
    sets, unseen : names of the sets, as in `make_plan`, to search with and to compare on.
    sample, unseen_sample : sample sizes, None for all questions.
    known : the published lines to beat.
    options : `graph`, `seed`, `columns`, `kinds`, and the settings of `SearchConfig`.
    """
    shared: dict[str, Any] = {
        name: options.pop(name) for name in ("graph", "seed", "columns") if name in options
    }
    kinds = tuple(options.pop("kinds", USUAL))
    shared |= {"model": ASKING in kinds and source_of(sets).is_corpus, "cold": True}
    if options.get("cost") == "tokens" and "llm" not in kinds:
        raise BadInput(
            "Without a language model no line costs a token; let language models choose, or give "
            "a budget of seconds."
        )
    if not known:
        raise BadInput("Name at least one published line to beat.")
    tuning = make_plan(known, sets, sample, engine.graph, **shared)
    tuning = replace(tuning, drawn=_mixed(tuning.drawn))
    later = (
        _unseen(known, unseen, unseen_sample, tuning, sample, engine, shared) if unseen else None
    )
    seen = {one.question.text for one in tuning.drawn}
    kinds_asked = {one.source.is_corpus for plan in (tuning, later) if plan for one in plan.drawn}
    if len(kinds_asked) > 1:
        raise BadInput(
            "Search with questions of graphs or with questions of documents, not with both."
        )
    if later and (both := [one for one in later.drawn if one.question.text in seen]):
        raise BadInput(
            f"{len(both)} of the unseen questions are tuning questions as well, such as "
            f"“{both[0].question.text}”."
        )
    lines = (
        text_space(engine.models, kinds) if kinds_asked == {True} else space(engine.models, kinds)
    )
    return SearchPlan(
        Search(SearchConfig(tuning, lines, **options), engine.environment, asking(engine, tuning)),
        later,
    )


def _unseen(
    known,
    sets: str,
    size: int | None,
    tuning: Plan,
    tuned: int | None,
    engine,
    shared: dict[str, Any],
) -> Plan:
    """Return the plan over the unseen questions.

    A larger sample of a set begins with the smaller one. So for a set that was searched with, the
    sample is enlarged by the tuning sample, and the tuning questions are removed from it. Raises
    BadInput if none is left.
    """
    both = set(filter(None, map(str.strip, sets.split(",")))) & {one.set for one in tuning.drawn}
    if not both:
        return make_plan(known, sets, size, engine.graph, **shared)
    plan = make_plan(
        known, sets, None if size is None or tuned is None else size + tuned, engine.graph, **shared
    )
    seen = {one.question.text for one in tuning.drawn}
    left: dict[str, list[Drawn]] = {}
    for one in plan.drawn:
        if one.set not in both or one.question.text not in seen:
            left.setdefault(one.set, []).append(one)
    drawn = tuple(one for some in left.values() for one in some[:size])
    if not drawn:
        raise BadInput("Every question is searched with; leave some unseen by a smaller sample.")
    return replace(plan, drawn=drawn)


def _asking(line: Line) -> int:
    """Return how many operators of a line may ask a language model.

    Each of them asks at least once per question.
    """
    return sum(operator.without_model or operator.stage == "generate" for operator in line)


def _finds_chunks(instance: Instance) -> bool:
    return DEPTH in instance.paper and any(
        "chunks" in operator.writes for operator in instance.line
    )


def start(engine, store: Store, planned: SearchPlan) -> Job:
    """Start the job that searches and then compares on unseen questions.

    The job's result is `(points, verdict)`. The verdict is None without unseen questions.
    """

    def work(job: Job):
        points = planned.search(job)
        chosen = front(points)[:POINTS]
        if planned.unseen is None or not chosen or planned.unjudged(chosen):
            return points, None
        plan = planned.plan(chosen)
        run = store.begin(plan.spec(depends(engine, plan)), plan.drawn)
        work = Evaluation(
            plan, store, run.id, engine.environment, planned.search.ask, as_fast_as_one=True
        )
        work(_after("On unseen questions: ", job))
        return points, judged(Summary(store.run(run.id), store.rows(run.id)), planned, chosen)

    key = f"search-{planned.search.file.stem}"
    return engine.evaluations.run(key, work, again=True)


def judged(summary: Summary, planned: SearchPlan, chosen: Sequence[Point]) -> SearchVerdict:
    """Return the verdict of a finished run over `planned.plan(chosen)`."""
    quality, cost = planned.search.config.quality, planned.search.config.cost
    table = summary.table([quality, cost])
    known = {one.id: one for one in planned.on_unseen.instances}
    scored = {
        key: (-mean, table[key][cost].mean, key)
        for key in known
        if (mean := table[key][quality].mean) is not None
    }
    if not scored:
        raise BadInput("None of the published lines answered any of the unseen questions.")
    best = known[min(scored, key=scored.__getitem__)]
    ids = {repr(one.line): key for key, one in known.items()}
    pairs = [(ids.get(repr(point.line), point.instance.id), best.id) for point in chosen]
    tests = {(test.metric, test.a): test for test in summary.compared(pairs, [quality, cost])}
    against = tuple(
        Compared(point, table[a], tests[quality, a], tests[cost, a])
        for point, (a, _) in zip(chosen, pairs)
        if {(quality, a), (cost, a)} <= tests.keys()
    )
    asked, failed = summary.run.spec["sample"], tuple(summary.failed())
    return SearchVerdict(
        summary.run.id, best, known, {key: table[key] for key in known}, against, asked, failed
    )


def _after(before: str, watch: Watch = NO_WATCH) -> Watch:
    """Return a watch that puts a prefix before the reported texts."""
    return Watch(watch.check, lambda text, fraction: watch.report(before + text, fraction))


def _mixed(drawn: Iterable[Any]) -> tuple[Any, ...]:
    """Return the questions of several sets in alternation.

    A line that fails on one set is thus abandoned early.
    """
    sets: dict[str, list[Any]] = {}
    for one in drawn:
        sets.setdefault(one.set, []).append(one)
    longest = max(map(len, sets.values()))
    return tuple(here[i] for i in range(longest) for here in sets.values() if i < len(here))
