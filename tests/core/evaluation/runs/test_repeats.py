"""Repeats of methods with chance: what varies, what is asked again, and what is saved."""

import inspect
import sqlite3
from types import SimpleNamespace

import pytest

from core.errors import BadInput
from core.evaluation.metrics.catalogue import metric
from core.evaluation.reports.summary import RunSummary, summary_dict
from core.evaluation.runs.chance import repeat_seed
from core.evaluation.runs.evaluation_jobs import add_methods
from core.evaluation.runs.plan import DrawnQuestion, Plan, evaluation_key
from core.evaluation.runs.repeats import (
    aa_offer,
    chance_of,
    repeated,
    with_repeats,
)
from core.evaluation.runs.saved_runs import load_plan
from core.methods.catalogue import Method
from core.operators import OPERATORS
from core.operators.text import parse_line
from core.runtime.jobs import JOB_DONE
from core.sources import GraphSource
from core.types import Question

WALKS = "RandomWalks(walks=1, steps=1) >> ShortestPaths()"
FIXED = "EgoNetwork() >> ShortestPaths()"
ANSWERED = "EgoNetwork() >> ShortestPaths() >> Answer()"


def method(key, line):
    return Method(key, key.upper(), parse_line(line))


def served(seed=""):
    """Models whose language models are behind a server with such a profile."""
    profile = SimpleNamespace(seed=seed) if seed else None
    info = SimpleNamespace(kind="chat", backend="openai", profile=profile)
    return SimpleNamespace(info=lambda name: info)


LOCAL = SimpleNamespace(
    info=lambda name: SimpleNamespace(kind="chat", backend="llama", profile=None)
)


def test_chance_comes_from_draws_random_scores_and_models_that_sample():
    def words(line, models=LOCAL, answers=True):
        return [source.words for source in chance_of(method("m", line), models, answers)]

    assert words(FIXED) == words(ANSWERED) == []
    assert words(WALKS) == ["the draws of RandomWalks"]
    assert words("EgoNetwork() >> ShortestPaths() >> Rank(model='random')") == ["random scores"]
    assert len(words(ANSWERED, served())) == len(words(ANSWERED, served("varies"))) == 1
    assert words(ANSWERED, served("repeats")) == words(ANSWERED, served(), answers=False) == []
    assert len(words("Hypothesise(temperature=0.7) >> VectorChunks() >> AnswerFromTables()")) == 1
    assert words("Hypothesise(temperature=0.0) >> VectorChunks() >> AnswerFromTables()") == []


def test_every_operator_that_draws_says_so():
    drawing = {
        name
        for name, cls in OPERATORS.items()
        if "ctx.rng(" in inspect.getsource(inspect.getmodule(cls))
        and "ctx.rng(" in inspect.getsource(cls)
    }
    assert {"RandomWalks", "RandomSelect", "DrawnTriples"} <= drawing
    for name in drawing:
        declared = inspect.getattr_static(OPERATORS[name], "is_random")
        assert declared is True or isinstance(declared, property), name


def test_only_methods_with_chance_are_repeated_and_the_others_are_named(bench):
    walks, fixed = bench.method("w", WALKS), bench.method("f", FIXED)
    plan = with_repeats(bench.plan(walks, fixed, model=False), 3, bench.models)
    assert plan.repeats == 3 and dict(plan.varied) == {"w": "the draws of RandomWalks"}
    assert any(fixed.label in note for note in plan.notes)
    alone = with_repeats(bench.plan(fixed, model=False), 3, bench.models)
    assert (alone.repeats, alone.varied, len(alone.notes)) == (1, (), 1)
    assert alone.spec("") == bench.plan(fixed, model=False).spec("")
    assert repeated([walks, fixed], 3, bench.models, False) == [walks, walks, walks, fixed]
    for wrong in (0, 101):
        with pytest.raises(BadInput, match=str(wrong)):
            with_repeats(plan, wrong, bench.models)


def test_runs_without_repeats_keep_their_keys():
    """The key was made by version 0.9.0, which had no repeats."""
    questions = (
        Question("genre of One", "q-1", ("One",), ("Drama",), 1),
        Question("director of Two", "q-2", ("Two",), ("Ann",), 1),
    )
    drawn = tuple(DrawnQuestion(one, "films-set", GraphSource("films")) for one in questions)
    settings = {"graphs": (("films", "0"),), "model": False}
    plan = Plan(
        (Method("a", "A", parse_line(FIXED), short="A"),), drawn, "films-set", 10, **settings
    )
    assert evaluation_key(plan.spec("models")) == "e03e2b484c31847f"


def test_repeats_are_saved_apart_with_other_seeds_and_resumed(bench):
    walks, fixed = bench.method("w", WALKS), bench.method("f", FIXED)
    plan = with_repeats(bench.plan(walks, fixed, model=False), 4, bench.models)
    job = bench.run(plan)
    store = bench.store()
    run, rows = store.run(job.number), store.rows(job.number)
    # of 4 questions one fails; 4 runs of w and one of f
    assert (run.done, run.failed, run.total, run.status) == (15, 5, 20, JOB_DONE)
    assert {row.method: set(row.repeats) for row in rows} == {"w": {1, 2, 3}, "f": set()}
    by_run = []
    for number in range(4):
        found = [row.repeats[number] if number else row for row in rows if row.method == "w"]
        by_run.append([row.outcome and metric("path_count")(row.outcome) for row in found])
    assert len(set(map(tuple, by_run))) > 1  # other seeds walk elsewhere
    store._db.execute("DELETE FROM repeats WHERE number = 2 AND question = 'q-2'")
    assert store.run(run.id).done == 14
    again = bench.run(plan)
    assert again.number == run.id and store.run(run.id).done == 15
    resumed = store.rows(run.id)
    # the same seed gives the same row
    assert paths_of(resumed) == paths_of(rows)
    assert load_plan(store, run).spec("x") == plan.spec("x")


def paths_of(rows):
    """The ranked answers of each repeat of w."""
    repeats = [row.repeats for row in rows if row.method == "w"]
    return [{n: one.outcome and one.outcome.paths for n, one in each.items()} for each in repeats]


def test_a_run_without_repeats_makes_no_table_of_them(bench):
    job = bench.run(bench.plan(model=False))
    with sqlite3.connect(bench.store().file) as database:
        names = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    assert "repeats" not in names
    assert all(not row.repeats for row in bench.store().rows(job.number))


def test_an_interrupted_repeat_does_not_count_until_it_is_whole(bench):
    plan = with_repeats(bench.plan(bench.method("w", WALKS), model=False), 3, bench.models)
    job = bench.run(plan)
    store = bench.store()
    full = RunSummary(store.run(job.number), store.rows(job.number))
    assert full.runs_of("w") == [0, 1, 2]
    store._db.execute("DELETE FROM repeats WHERE number = 1 AND question = 'q-3'")
    part = RunSummary(store.run(job.number), store.rows(job.number))
    assert part.runs_of("w") == [0, 2]
    told = summary_dict(full, ["path_count"])["repeats"]["w"]
    assert told["runs"] == 3 and told["varied"] == "the draws of RandomWalks"


def test_more_methods_keep_the_repeats(bench):
    plan = with_repeats(bench.plan(bench.method("w", WALKS), model=False), 2, bench.models)
    job = bench.run(plan)
    store = bench.store()
    more = bench.method("d", "DrawnTriples(keep=1)")
    added = add_methods(bench.engine, store, store.run(job.number), [more])
    assert added.wait(120)
    rows = store.rows(added.number)
    assert {row.method: set(row.repeats) for row in rows} == {"w": {1}, "d": {1}}
    first = {row.question.id: row.repeats[1].outcome for row in store.rows(job.number)}
    kept = {row.question.id: row.repeats[1].outcome for row in rows if row.method == "w"}
    assert {key: one for key, one in kept.items() if one} == {
        key: one for key, one in first.items() if one
    }


def test_an_aa_run_is_offered_before_a_comparison_with_a_sampled_model():
    sampled, other = method("s", ANSWERED), method("f", FIXED)
    (sentence,) = aa_offer([other, sampled], served(), True)
    assert sampled.label in sentence and "A/A" in sentence
    assert not aa_offer([sampled], served(), True)  # nothing is compared
    assert not aa_offer([other, sampled], served(), True, runs=3)
    assert not aa_offer([other, sampled], served(), False)
    assert not aa_offer([other, sampled], LOCAL, True)
    assert not aa_offer([other, method("w", WALKS)], served(), True)


def test_seeds_of_repeats_fit_into_32_bits():
    assert repeat_seed(2**31 - 1, 1) == 999
