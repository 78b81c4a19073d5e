"""Searches on the five-node graph.

The known best is found, budgets are kept, and what was stopped goes on as if it never was.
"""

import os
from dataclasses import replace
from types import SimpleNamespace

import pytest

from core.errors import BadInput, BadParameter, ModelFailed, RunCancelled
from core.evaluation.search.config import SearchConfig
from core.evaluation.search.points import SearchPoint, pareto_points
from core.evaluation.search.search import Search, _finished_trials, _points, _study
from core.evaluation.search.space import load_space
from core.evaluation.search.trial import DOMINATED, OVER_BUDGET, Trial, TrialFigures
from core.operators.text import parse_line
from core.runtime.jobs import Job
from core.sources import GraphSource
from core.types import Usage

SPACE = """
[[extract]]
operator = "EgoNetwork"
hops = { low = 1, high = 2 }
[[retrieve]]
operator = "ShortestPaths"
hops = { low = 1, high = 2 }
[[refine]]
operator = "Rank"
model = ["cheap", "dear", "dearest"]
keep = [1, 2]
"""
RIGHT = {
    "One -> has_genre -> Drama": 2.0,
    "Two -> directed_by -> Ann": 2.0,
    "Ann -> directed_by_reverse -> One -> has_genre -> Drama": 3.0,
}
WRONG = {
    "One -> directed_by -> Ann": 2.0,
    "Two -> release_year -> 1999": 2.0,
    "Ann -> directed_by_reverse -> One": 2.0,
}
# Shortest paths come in the order of their ends, so that without a model the reader names Ann first for One, and for Two;
# of the three questions "dear" and "dearest" answer all (the third over two hops), "cheap" none, no model one.


@pytest.fixture
def found(bench, kit, tmp_path, monkeypatch):
    """`found(...)`: a search with these wishes on models that cost tokens.

    The models cheap, dear and dearest cost 10, 100 and 1000 tokens a call.
    """

    monkeypatch.setattr(os, "fsync", lambda file: None)  # nothing here outlives the process

    class Priced(kit.Table):
        def __init__(self, scores, tokens):
            super().__init__(scores)
            self.tokens = tokens

        def choose(self, task, texts, k):
            return replace(super().choose(task, texts, k), usage=Usage(1, self.tokens, 0))

    prices = {
        "cheap": Priced(WRONG, 10),
        "dear": Priced(RIGHT, 100),
        "dearest": Priced(RIGHT, 1000),
    }
    bench.models.choosers.update(prices)
    bench.models.forget = lambda: None
    bench.models.info = lambda name: SimpleNamespace(present=name in prices, kind="scorer")
    file = tmp_path / "space.toml"
    file.write_text(SPACE, "utf-8")

    def make(budget=500.0, trials=12, seed=0, file=file, **options):
        plan = bench.plan(questions=bench.questions[:3], model=False, cold=True, seed=seed)
        config = SearchConfig(
            plan,
            load_space(bench.models, file=file),
            "reader_hit@1",
            "tokens",
            budget,
            trials,
            **options,
        )
        return Search(
            config,
            bench.engine.environment,
            lambda drawn: bench.engine.prepare_question(
                GraphSource.of(kit.graph), drawn.question, uses_model=False
            ),
        )

    return make


def run(search, job=None):
    return search(job or Job("search", lambda job: None))


def test_the_known_best_line_is_found(found):
    best = pareto_points(run(found(trials=20)))
    top = best[0]
    assert (top.figures.quality, top.figures.cost, top.figures.asked) == (1.0, 100.0, 3)
    assert (
        top.line.operators[0].hops == 2
        and top.line.operators[1].hops == 2
        and top.line.operators[2].model == "dear"
    )
    free = best[-1]
    assert free.figures.cost == 0 and len(free.line) == 2  # nothing is cheaper than no model
    assert [point.figures.quality for point in best] == sorted(
        {point.figures.quality for point in best}, reverse=True
    )


def test_the_budget_is_kept(found):
    points = run(found(budget=500.0))
    over = [point for point in points if "dearest" in repr(point.line)]
    assert over and all(point.figures.stopped in (OVER_BUDGET, DOMINATED) for point in over)
    # 2 x 1000 is more than 3 x 500
    assert any(point.figures.stopped == OVER_BUDGET and point.figures.asked == 2 for point in over)
    assert all(point.figures.cost <= 500 for point in pareto_points(points))
    tight = run(found(budget=50.0))
    assert max(point.figures.cost for point in pareto_points(tight)) <= 50 and all(
        "dear" not in repr(point.line) for point in pareto_points(tight)
    )


def test_only_a_line_over_the_budget_is_reported_as_over_it(found):
    """For the sampler 3.2 and 5.5 seconds are rounded to 4."""

    def excess(cost, stopped, budget):
        figures = TrialFigures(0.5, cost, asked=4, stopped=stopped)
        search = found(budget=budget)
        search.config = replace(search.config, cost="seconds")
        return search._excess(figures)

    assert excess(3.2, DOMINATED, budget=3.5) == 0
    assert excess(3.2, "", budget=3.5) == 0
    assert excess(5.5, OVER_BUDGET, budget=5.0) > 0
    assert excess(5.5, OVER_BUDGET, budget=3.0) == 1


def test_the_same_seed_tries_the_same_lines_and_another_seed_others(found, tmp_path, monkeypatch):
    def at(place, seed):
        monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / place))
        return run(found(trials=11, seed=seed))

    first = at("a", 0)
    assert at("b", 0) == first and len({repr(point.line) for point in first}) == len(first)
    assert [repr(point.line) for point in at("c", 1)] != [repr(point.line) for point in first]


def test_a_search_taken_up_again_is_as_if_it_had_never_stopped(found, bench, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "whole"))
    whole = run(found(trials=14))
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "parts"))
    job, calls = Job("search", lambda job: None), []
    plain = type(bench.models.choosers["dear"]).choose

    def stopping(self, task, texts, k):
        calls.append(task.query)
        if len(calls) == 9:
            job.cancel()
        return plain(self, task, texts, k)

    monkeypatch.setattr(type(bench.models.choosers["dear"]), "choose", stopping)
    search = found(trials=14)
    with pytest.raises(RunCancelled):
        run(search, job)
    kept = search.points()
    assert 0 < len(kept) < 14 and kept == whole[: len(kept)]
    with search.file.open("ab") as file:
        file.write(b'{"op_code": 5, "torn')  # as when the process is killed while it writes
    assert run(found(trials=14)) == whole
    study = _study(search.file)
    assert len(_points(study)) == 14 and len(_finished_trials(study)) >= 14


def test_more_trials_go_on_from_what_is_there(found):
    first = run(found(trials=5))
    more = run(found(trials=9))
    assert more[:5] == first and len(more) == 9


def test_a_small_space_is_searched_once_through_and_then_ends(found, tmp_path):
    file = tmp_path / "one.toml"
    file.write_text(
        '[[extract]]\noperator = "EgoNetwork"\n[[retrieve]]\noperator = "ShortestPaths"\nhops = [1, 2]\n',
        "utf-8",
    )
    assert len(run(found(file=file, trials=6))) == 2


def test_two_processes_cannot_be_at_the_same_search(found):
    search, sentences = found(trials=2), []

    class Meddling(Job):
        def check(self):
            with pytest.raises(BadInput, match="by another process"):
                run(found(trials=2))
            sentences.append(1)

    run(search, Meddling("search", lambda job: None))
    assert sentences


def test_a_line_is_given_up_only_where_it_cannot_come_onto_the_front(found):
    search = found()
    line = parse_line("EgoNetwork() >> ShortestPaths() >> Rank(model='cheap', keep=1)")
    asked = []

    def dominated(quality, cost):
        asked.append((quality, cost))
        return quality < 0.5

    config = search.config
    trial = Trial(
        config.tuning, "reader_hit@1", "tokens", 500.0, search.environment, search.ask, dominated
    )
    # nothing right: after one of three questions 2/3 can be reached at 10/3 tokens, after two 1/3
    assert trial(line, Job("", lambda job: None)) == TrialFigures(0.0, 10.0, 2, DOMINATED)
    assert asked == [(2 / 3, 10 / 3), (1 / 3, 20 / 3)]


def test_a_question_fails_as_in_an_evaluation(found, bench):
    """A failed question scores 0 and costs nothing, as in an evaluation.

    Of three questions the first fails, and then all of them do. A line that answers none is on no
    front.
    """
    search = found()
    line = parse_line("EgoNetwork() >> ShortestPaths() >> Rank(model='dear', keep=1)")
    whole = Trial(
        search.config.tuning, "reader_hit@1", "tokens", 500.0, search.environment, search.ask
    )(line, Job("", lambda job: None))
    assert (whole.quality, whole.cost, whole.words()) == (1.0, 100.0, "")
    drawn = search.config.tuning.drawn

    def ask(one):
        if one.question.id in failing:
            raise BadInput(f"“{one.question.id}” is not in the graph.")
        return search.ask(one)

    trial = Trial(search.config.tuning, "reader_hit@1", "tokens", 500.0, search.environment, ask)
    failing = {drawn[0].question.id}
    model_facts = trial(line, Job("", lambda job: None))
    assert model_facts == TrialFigures(
        2 / 3, 100.0, 3, "", 1, f"“{drawn[0].question.id}” is not in the graph."
    )
    assert model_facts.words().startswith("2 of 3 answered, 1 failed: “")
    failing = {one.question.id for one in drawn}
    model_facts = trial(line, Job("", lambda job: None))
    assert (
        model_facts == TrialFigures(0.0, 0.0, 3, "", 3, "“…” is not in the graph.")
        and pareto_points((SearchPoint(1, line, model_facts),)) == ()
    )


def test_a_failed_question_counts_as_none_and_is_told(found, bench):
    class BrokenTrial:
        def choose(self, task, texts, k):
            raise ModelFailed("The model server went away.")

    bench.models.choosers["cheap"] = BrokenTrial()
    search = found()
    trial = Trial(
        search.config.tuning, "reader_hit@1", "tokens", 500.0, search.environment, search.ask
    )
    model_facts = trial(
        parse_line("EgoNetwork() >> ShortestPaths() >> Rank(model='cheap')"),
        Job("", lambda job: None),
    )
    assert model_facts == TrialFigures(0.0, 0.0, 3, "", 3, "The model server went away.")


def test_seconds_end_a_line_in_the_middle_of_a_question(found, bench):
    class SlowTrial:
        def choose(self, task, texts, k):
            while True:
                task.watch.check()

    bench.models.choosers["cheap"] = SlowTrial()
    search = found()
    trial = Trial(
        search.config.tuning, "reader_hit@1", "seconds", 0.02, search.environment, search.ask
    )
    model_facts = trial(
        parse_line("EgoNetwork() >> ShortestPaths() >> Rank(model='cheap')"),
        Job("", lambda job: None),
    )
    assert (model_facts.stopped, model_facts.asked) == (OVER_BUDGET, 1) and model_facts.cost > 0.06


@pytest.mark.parametrize(
    "wrong, sentence",
    [
        ({"quality": "seconds"}, "no quality"),
        ({"quality": "reader_hits@1"}, "Did you mean"),
        ({"cost": "calls"}, "seconds or tokens"),
        ({"budget": 0.0}, "more than nothing"),
        ({"trials": 0}, "at least one method"),
    ],
)
def test_wishes_that_cannot_be_granted(found, wrong, sentence):
    with pytest.raises(BadParameter, match=sentence):
        replace(found().config, **wrong)
