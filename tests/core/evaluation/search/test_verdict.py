"""Lines that a search found are held against published lines.

The tests say which lines are published, what counts as better, and that unseen questions are
unseen.
"""

from types import SimpleNamespace

import pytest

from core.engine import Engine
from core.errors import BadInput
from core.evaluation.metrics.statistics import Estimate, PairedTest
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import Store, evaluations_file
from core.evaluation.search.config import SearchConfig
from core.evaluation.search.points import SearchPoint, pareto_points
from core.evaluation.search.search import Search
from core.evaluation.search.trial import TrialFigures
from core.evaluation.search.verdict import (
    PointComparison,
    SearchPlan,
    SearchVerdict,
    plan_search,
    reference_lines,
    search_verdict,
)
from core.methods.catalogue import catalogue
from core.operators.text import parse_line
from core.sources import GraphSource

TRIPLES = GraphSource("toy")
GOOD = "EgoNetwork() >> ShortestPaths() >> Rank(model='good', keep=1) >> Answer()"
PLAIN = "EgoNetwork() >> ShortestPaths() >> Answer()"


class Registry:
    def __init__(self, *away):
        self.away = away

    def info(self, name):
        kind = "chat" if name in ("choose", "answer") else "scorer"
        return SimpleNamespace(
            kind=kind,
            present=name not in self.away,
            how_to_get="Fetch it." if name in self.away else "",
        )


def test_published_lines_are_those_of_table_1_that_ask_no_language_model():
    rows = ["lego-1", "lego-2", "lego-6", "lego-10", "lego-12", "lego-14"]
    assert [one.id for one in reference_lines(catalogue(), Registry(), TRIPLES)] == rows
    assert [one.id for one in reference_lines(catalogue(), Registry("encoder"), TRIPLES)] == [
        "lego-1"
    ]


def points(*lines, cost=1.0):
    return tuple(
        SearchPoint(i, parse_line(line), TrialFigures(1.0, cost, 3))
        for i, line in enumerate(lines, 1)
    )


def test_a_point_is_held_against_the_best_published_line(bench, kit):
    right = {
        "One -> has_genre -> Drama": 2.0,
        "Ann -> directed_by_reverse -> One -> has_genre -> Drama": 3.0,
    }
    bench.models.choosers["good"] = kit.Table(right)
    bench.models.forget = lambda: None
    plain = bench.method("plain", PLAIN)
    # of both the plain line names Ann or One first, the other Drama
    asked = (bench.questions[0], bench.questions[2])
    unseen = bench.plan(plain, questions=asked, model=False, cold=True)
    space = SimpleNamespace(models=lambda: (), describe=lambda: {})
    planned = SearchPlan(
        Search(SearchConfig(unseen, space), bench.engine.environment, None), unseen
    )
    chosen = points(GOOD, PLAIN)
    plan = planned.comparison_plan(chosen)
    # the published line is not run twice
    assert [one.id for one in plan.methods] == ["plain", repr(parse_line(GOOD))]
    job = bench.run(plan)
    verdict = search_verdict(
        RunSummary(
            Store(evaluations_file()).run(job.number), Store(evaluations_file()).rows(job.number)
        ),
        planned,
        chosen,
    )
    good, same = verdict.comparisons
    assert (verdict.best.id, verdict.questions) == ("plain", 2)
    assert (good.quality.difference, good.quality.low, good.quality.n) == (1.0, 1.0, 2)
    # two questions prove little: an exact two-sided test cannot say less than 0.5, twice
    assert good.quality.p_holm == 1.0
    assert good.cost.difference == pytest.approx(
        good.figures["seconds"].mean - verdict.figures["plain"]["seconds"].mean
    )
    assert not good.is_better
    assert (same.quality.difference, same.is_better) == (0.0, False)
    assert verdict.words(good).startswith(
        "Found 1 does not beat PLAIN: +1.00 reader_hit@1 [1.00, 1.00] (p = 1, n = 2)"
    )


@pytest.mark.parametrize(
    "difference, p_holm, seconds, better",
    [
        (0.3, 0.049, -1.0, True),
        (0.3, 0.049, 0.0, True),
        (0.3, 0.051, -1.0, False),  # though its interval is above nothing
        (-0.3, 0.001, -1.0, False),
        (0.3, 0.001, 0.1, False),
    ],
)
def test_a_point_beats_another_only_where_the_corrected_p_says_so_and_it_costs_no_more(
    difference, p_holm, seconds, better
):
    quality = PairedTest("reader_hit@1", "a", "b", difference, 0.1, 0.5, 0.01, 60, p_holm)
    cost = PairedTest("seconds", "a", "b", seconds, seconds, seconds, 1.0, 60, 1.0)
    model_facts = PointComparison(
        points(PLAIN)[0], {"seconds": Estimate(1.0, 1.0, 1.0, 60)}, quality, cost
    )
    published = catalogue()["lego-1"]
    verdict = SearchVerdict(
        1, published, {}, {"lego-1": {"seconds": Estimate(2.0, 2.0, 2.0, 60)}}, (model_facts,), 60
    )
    assert (
        model_facts.is_better is better
        and (" beats Shortest paths (No. 1): " in verdict.words(model_facts)) is better
    )


def estimates(quality, seconds):
    values = {"reader_hit@1": quality, "seconds": seconds}
    return {name: Estimate(value, value, value, 60) for name, value in values.items()}


def test_the_verdict_names_what_to_take_and_the_best_published_method():
    """A line of the catalogue has its name, another one its number."""
    published = catalogue()["lego-1"]
    named = repr(catalogue()["chain-ranking"].line.without_stage("generate"))

    def verdict(line, quality, difference, p_holm):
        test = PairedTest("reader_hit@1", "a", "b", difference, 0.1, 0.5, 0.01, 60, p_holm)
        cost = PairedTest("seconds", "a", "b", 0.1, 0.1, 0.1, 1.0, 60, 1.0)
        one = PointComparison(points(line)[0], estimates(quality, 0.19), test, cost)
        figures = {"lego-1": estimates(0.33, 0.04)}
        return SearchVerdict(1, published, {"lego-1": published}, figures, (one,), 60).advice()

    assert verdict(named, 0.83, 0.5, 0.001) == (
        "Take Relation chains: .83 at 0.19 s; best published within the budget: Shortest paths, "
        ".33 (a significant difference)"
    )
    assert verdict(PLAIN, 0.43, 0.1, 0.2) == (
        "Take candidate 1: .43 at 0.19 s; best published within the budget: Shortest paths, .33 "
        "(no significant difference)"
    )
    assert verdict(PLAIN, 0.23, -0.1, 0.2) == (
        "Take Shortest paths: .33 at 0.04 s; the search found nothing better"
    )


def test_published_lines_beyond_the_budget_are_left_out():
    """One line was tried by the search, the others are measured; who asks for them gets all."""
    cheap, tried, costly = (catalogue()[id] for id in ("lego-1", "lego-10", "lego-12"))
    measured = []

    def probe(line, job):
        measured.append(repr(line))
        stopped = "over the budget" if repr(line) == repr(costly.line) else ""
        return TrialFigures(0.5, 1.0, 3, stopped)

    config = SimpleNamespace(may_ask_model=False)
    search = SimpleNamespace(config=config, probe=probe)
    job = SimpleNamespace(check=lambda: None, report=lambda *_: None, fraction=None)
    over = TrialFigures(0.5, 9.0, 1, "over the budget")
    known = (SearchPoint(1, tried.line, over),)
    unseen = SimpleNamespace(methods=(cheap, tried, costly))
    plan = SearchPlan(search, unseen, only_affordable=True)
    plan.find_costly(known, job)
    assert plan.left_out == [tried, costly] and repr(tried.line) not in measured
    everyone = SearchPlan(search, unseen)
    everyone.find_costly(known, job)
    assert everyone.left_out == []


def test_the_front_has_the_best_first_and_of_equal_lines_the_first():
    def point(number, quality, cost, stopped=""):
        return SearchPoint(number, parse_line(PLAIN), TrialFigures(quality, cost, 3, stopped))

    model_facts = (
        point(1, 0.5, 1.0),
        point(2, 0.9, 2.0),
        point(3, 0.9, 2.0),
        point(4, 0.4, 1.5),
        point(5, 1.0, 9.0, "over the budget"),
    )
    assert [one.number for one in pareto_points(model_facts)] == [2, 1]


@pytest.fixture
def engine(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    (tmp_path / "tune.txt").write_text("what genre has [One]\tDrama\n", "utf-8")
    (tmp_path / "both.txt").write_text(
        "who directed [Two]\tAnn\nwhat genre has [One]\tDrama\n", "utf-8"
    )
    return Engine(Registry())


def test_unseen_questions_are_unseen_and_tokens_need_a_language_model(engine, films, tmp_path):
    given = {
        "published": reference_lines(catalogue(), Registry(), TRIPLES),
        "graph": str(films.folder),
    }
    with pytest.raises(
        BadInput,
        match="1 of the unseen questions are tuning questions as well, such as “what genre has One”",
    ):
        plan_search(engine, str(tmp_path / "tune.txt"), None, str(tmp_path / "both.txt"), **given)
    with pytest.raises(BadInput, match="no method costs a token"):
        plan_search(engine, str(tmp_path / "tune.txt"), None, cost="tokens", **given)
    with pytest.raises(BadInput, match="at least one published method"):
        plan_search(engine, str(tmp_path / "tune.txt"), None, **{**given, "published": ()})
