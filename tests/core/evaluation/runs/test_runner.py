"""Evaluations as jobs: what is kept, shared, tried again, cancelled, and killed in the middle."""

import csv
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

import core.prompts
from core.errors import BadInput, ModelFailed
from core.evaluation.metrics.catalogue import metric
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import draw_sample, make_plan, misfits
from core.evaluation.runs.row import make_ask
from core.evaluation.runs.runner import EvaluationRunner, Pace, mean_interval
from core.evaluation.runs.store import Store, evaluations_file
from core.operators import EgoNetwork
from core.runtime.jobs import Job
from core.snapshot import thaw_all
from core.sources import GraphSource
from core.types import Question
from tests.notes import NoteWith

LINE = "EgoNetwork() >> ShortestPaths() >> Rank(keep={keep}) >> Answer()"
NOBODY = "“Nobody” is not in the graph."


def pairs(rows):
    return {(row.method, row.question.id): row for row in rows}


def test_every_method_meets_every_question_and_failures_are_kept(bench, kit):
    job = bench.run(bench.plan())
    run, rows = bench.store().run(job.number), pairs(bench.store().rows(job.number))
    assert (job.status, run.status, run.done, run.failed, run.total) == ("done", "done", 6, 2, 8)
    assert rows["two", "q-4"].error.startswith(NOBODY) and rows["two", "q-4"].outcome is None
    found = rows["two", "q-1"].outcome
    assert (
        metric("path_count")(found) == 2
        and metric("reader_hit@1")(found) == 1
        and found.answer.by == "language model"
    )
    assert metric("path_count")(rows["one", "q-1"].outcome) == 1
    states = thaw_all(bench.store().states(job.number, "two", "q-1"), kit.graph)
    assert [state.trace[-1].operator for state in states] == [
        "EgoNetwork",
        "ShortestPaths",
        "Rank",
        "GraphReader",
        "Answer",
    ]
    assert kit.graph.text(states[-1].paths.items[0]) == "One -> has_genre -> Drama"


def test_shared_operators_run_once_and_are_charged_to_each(bench):
    job = bench.run(bench.plan())
    # a warm-up, then Rank for three known questions and two methods
    assert len(bench.models.choosers["encoder"].seen) == 1 + 3 * 2
    rows = pairs(bench.store().rows(job.number))
    for question in ("q-1", "q-2", "q-3"):
        two, one = rows["two", question].outcome.costs, rows["one", question].outcome.costs
        assert [c.operator for c in two] == [c.operator for c in one]
        assert two[:2] == one[:2] and two[0].seconds > 0  # the very same seconds, not nothing
        assert metric("seconds")(rows["one", question].outcome) >= one[0].seconds + one[1].seconds


def test_a_cold_run_shares_nothing(bench):
    forgotten = []
    bench.models.forget = lambda: forgotten.append(1)
    job = bench.run(bench.plan(cold=True))
    rows = pairs(bench.store().rows(job.number))
    assert len(forgotten) == 8
    assert any(
        rows["two", q].outcome.costs[0].seconds != rows["one", q].outcome.costs[0].seconds
        for q in ("q-1", "q-2", "q-3")
    )


def test_a_finished_run_is_shown_at_once_and_only_failures_are_tried_again(bench):
    first = bench.run(bench.plan())
    asked = len(bench.models.choosers["encoder"].seen)
    second = bench.run(bench.plan())
    # the warm-up alone
    assert second.number == first.number and len(bench.models.choosers["encoder"].seen) == asked + 1
    again = bench.run(bench.plan(), again=True)
    assert again.number != first.number and bench.store().run(again.number).done == 6


def test_other_wishes_are_another_run(bench):
    numbers = {
        bench.run(bench.plan(**wishes)).number
        for wishes in ({}, {"model": False}, {"judge": True}, {"seed": 3})
    }
    assert len(numbers) == 4


def test_what_operators_depend_on_makes_another_run(bench, monkeypatch):
    first = bench.run(bench.plan()).number
    monkeypatch.setattr(
        EgoNetwork,
        "stamp",
        lambda self, graph, environment: f"seven solved questions of {graph.name}",
    )
    assert bench.run(bench.plan()).number == first + 1 == bench.run(bench.plan()).number


def test_another_prompt_makes_another_run_where_a_language_model_is_asked(
    bench, monkeypatch, tmp_path
):
    asked, silent = bench.run(bench.plan()).number, bench.run(bench.plan(model=False)).number
    assert bench.run(bench.plan()).number == asked
    shutil.copytree(core.prompts.PROMPTS_FOLDER, tmp_path / "prompts")
    (tmp_path / "prompts" / "answer.toml").write_text("# told otherwise", "utf-8")
    monkeypatch.setattr(core.prompts, "PROMPTS_FOLDER", tmp_path / "prompts")
    assert bench.run(bench.plan()).number not in (asked, silent)
    assert bench.run(bench.plan(model=False)).number == silent


def test_without_a_model_the_graph_reader_is_scored(bench):
    job = bench.run(bench.plan(model=False))
    found = pairs(bench.store().rows(job.number))["two", "q-1"].outcome
    assert (
        found.answer.by == "graph reader"
        and metric("hits@1")(found) == 1
        and metric("calls")(found) == 0
    )


def test_a_failing_model_never_ends_the_run(bench):
    class BrokenStep:
        def choose(self, task, texts, k):
            raise ModelFailed("The model server went away.")

    bench.models.choosers["bm25"] = BrokenStep()
    bad = bench.method("bad", "EgoNetwork() >> ShortestPaths() >> Rank(model='bm25')")
    job = bench.run(bench.plan(bad, bench.method("good", LINE.format(keep=1))))
    rows = pairs(bench.store().rows(job.number))
    assert (
        rows["bad", "q-1"].error == "The model server went away."
        and rows["good", "q-1"].outcome
        and job.status == "done"
    )


def test_cancelling_keeps_what_is_done_and_the_rest_follows(bench):
    reached, go = threading.Event(), threading.Event()

    class SlowStep(type(bench.models.choosers["encoder"])):
        def choose(self, task, texts, k):
            if task.query == "director of Two":
                reached.set()
                go.wait(60)
                task.watch.check()
            return super().choose(task, texts, k)

    bench.models.choosers["encoder"] = SlowStep({})
    job = evaluate(bench.engine, bench.store(), bench.plan())
    assert reached.wait(60)
    job.cancel()
    go.set()
    assert job.wait(60) and job.status == "cancelled"
    run = bench.store().run(job.number)
    assert (run.status, run.done) == ("cancelled", 2)
    asked = bench.models.choosers["encoder"].seen
    before = len(asked)
    after = bench.run(bench.plan())
    assert after.number == job.number and bench.store().run(job.number).done == 6
    assert len(asked) == before + 1 + 4  # the warm-up, and the two questions that were left


def test_the_judge_is_asked_and_a_bad_reply_is_kept(bench, kit):
    bench.models._chat = kit.Parrot('{"correct": true}')
    rows = pairs(bench.store().rows(bench.run(bench.plan(judge=True)).number))
    told = rows["two", "q-1"].outcome
    assert metric("judge@1")(told) == 1 and told.judged.tokens_in > 0
    shown = [m for m in bench.models._chat.asked if "Verdict" in m[-1]["content"]][0][-1]["content"]
    assert "Right names: Drama" in shown and "genre of One" in shown
    bench.models._chat = kit.Parrot("It is right, I think.")
    told = pairs(bench.store().rows(bench.run(bench.plan(judge=True), again=True).number))[
        "two", "q-1"
    ].outcome
    assert (
        metric("judge@1")(told) is None
        and "could not be used: “It is right, I think.”" in told.judged.note
    )


def test_a_second_judge_is_asked_too_and_the_run_is_another(bench, kit):
    bench.models._chat = kit.Parrot('{"correct": true}')
    one, two = (
        bench.run(bench.plan(judge=True)),
        bench.run(bench.plan(judge=True, second_judge="choose")),
    )
    told = pairs(bench.store().rows(two.number))["two", "q-1"].outcome
    assert one.number != two.number and told.second.right is True and told.second.tokens_in > 0
    assert pairs(bench.store().rows(one.number))["two", "q-1"].outcome.second is None
    with pytest.raises(BadInput, match="needs a first one"):
        bench.plan(second_judge="choose")


def test_plans_that_make_no_sense(bench):
    for wishes, told in (
        ({"questions": ()}, "no question"),
        ({"judge": True, "model": False}, "nothing can be judged"),
    ):
        with pytest.raises(BadInput, match=told):
            bench.plan(**wishes)
    with pytest.raises(BadInput, match="named twice"):
        bench.plan(bench.method("a", LINE.format(keep=1)), bench.method("a", LINE.format(keep=2)))


def test_samples_depend_on_the_seed_alone_and_grow():
    questions = [Question(str(i), str(i)) for i in range(50)]
    assert (
        draw_sample(questions, 5, 1)
        == draw_sample(questions, 20, 1)[:5]
        != draw_sample(questions, 5, 2)
    )
    assert (
        set(draw_sample(questions, None, 3)) == set(questions) == set(draw_sample(questions, 99, 3))
    )
    with pytest.raises(BadInput, match="at least one"):
        draw_sample(questions, 0, 1)
    code = "from core.evaluation.runs.plan import draw_sample; print(draw_sample(list(range(50)), 5, 1))"
    told = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": h},
            capture_output=True,
            text=True,
        ).stdout
        for h in "01"
    ]
    assert told[0] == told[1] == f"{tuple(int(q.id) for q in draw_sample(questions, 5, 1))}\n"


def test_a_plan_from_names_and_files(kit, tmp_path, bench):
    file = tmp_path / "mine.txt"
    file.write_text("what genre is [One]\tDrama\nwho made [Two]\tAnn\n", "utf-8")
    opened = []

    def by_name(name):
        opened.append(name)
        return kit.graph

    one = (bench.method("one", LINE.format(keep=1)),)
    plan = make_plan(one, f"{file},metaqa-1hop", 2, by_name)
    assert (
        opened == ["metaqa", "metaqa"]
        and plan.set == f"{file}, metaqa-1hop-test"
        and plan.of == 2 + 5007
    )
    assert {d.question.id for d in plan.drawn[:2]} == {"mine-1", "mine-2"} and len(plan.drawn) == 4
    assert [d.question.text for d in plan.drawn[2:]] == [
        d.question.text for d in make_plan(one, "metaqa-1hop-test", 2, by_name).drawn
    ]
    with pytest.raises(BadInput, match="nowhere"):
        make_plan(one, "nowhere", 2, by_name)


def test_all_questions_may_be_asked_as_abstract_ones(kit, bench, tmp_path):
    file = tmp_path / "mine.jsonl"
    file.write_text(
        '{"question": "what are the themes", "abstract": true}\n{"question": "who made Two", "answers": ["Ann"]}\n',
        "utf-8",
    )
    one, by_name = (bench.method("one", LINE.format(keep=1)),), lambda name: kit.graph
    usual, all_of_them = (
        make_plan(one, str(file), None, by_name),
        make_plan(one, str(file), None, by_name, abstract=True),
    )
    assert sorted(drawn.question.abstract for drawn in usual.drawn) == [False, True]
    assert all(drawn.question.abstract for drawn in all_of_them.drawn)
    assert usual.spec("")["questions"] != all_of_them.spec("")["questions"]


def test_rows_that_bring_their_graph_are_asked_on_it(bench, tmp_path):
    rows = [
        {
            "id": f"r{i}",
            "question": "who",
            "answer": [f"B{i}"],
            "q_entity": ["A"],
            "a_entity": [f"B{i}"],
            "graph": [["A", "knows", f"B{i}"]],
        }
        for i in range(2)
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    plan = make_plan(
        (bench.method("own", "EgoNetwork() >> ShortestPaths()"),),
        str(file),
        None,
        bench.engine.graph,
        model=False,
    )
    found = bench.store().rows(bench.run(plan).number)
    assert [(row.error, metric("reader_hit@1")(row.outcome)) for row in found] == [
        (None, 1.0),
        (None, 1.0),
    ]


def test_rows_are_told_one_by_one_whether_they_bring_a_graph(bench, tmp_path):
    """The row without a graph fails, and the other is asked on its own graph.

    It is the first row that has no graph. Nothing goes to another graph.
    """
    file = tmp_path / "rows.jsonl"
    row = {"question": "who", "answer": "B", "q_entity": "A"}
    file.write_text(
        f"{json.dumps(row)}\n{json.dumps(row | {'graph': [['A', 'knows', 'B']]})}\n", "utf-8"
    )
    plan = make_plan(
        (bench.method("own", "EgoNetwork() >> ShortestPaths()"),),
        str(file),
        None,
        bench.engine.graph,
        model=False,
    )
    assert [one.source for one in plan.drawn] == [GraphSource(""), GraphSource("")]
    assert misfits(plan.drawn, bench.engine.graph) == [
        NoteWith("2 questions", 1, "without a graph")
    ]
    found = {row.question.id: row for row in bench.store().rows(bench.run(plan).number)}
    assert found["rows-1"].error == NoteWith("“rows-1”", "“rows”", "graph of its own")
    assert metric("reader_hit@1")(found["rows-2"].outcome) == 1.0


def test_a_graph_that_cannot_be_read_is_told(bench, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(
        '{"question": "who", "answer": "B", "q_entity": "A", "graph": [["A", "knows"]]}\n', "utf-8"
    )
    with pytest.raises(BadInput, match="“graph” should be a list"):
        plan = make_plan(
            (bench.method("own", "EgoNetwork() >> ShortestPaths()"),),
            str(file),
            None,
            bench.engine.graph,
            model=False,
        )
        misfits(plan.drawn, bench.engine.graph)


def test_the_pace_weighs_each_method_by_its_own_time():
    pace = Pace(8, {"fast": 4, "slow": 4})
    assert pace.seconds_left() is None
    pace.add("fast", 1, False)
    # no row of the slow one
    assert pace.seconds_left() is None and pace.words() == "1 of 8 done, time left not known yet"
    pace.add("slow", 100, True)
    assert pace.seconds_left() == (3 * 0.5 + 3 * 50, 3 * 2 + 3 * 200)
    assert pace.words() == "2 of 8 done, 1 failed, 3 to 10 minutes left"


def test_the_range_of_the_pace_narrows_with_rows_and_widens_with_their_spread():
    assert mean_interval([8]) == (4, 16)
    assert mean_interval([8] * 4) == (8 / 1.5, 8 * 1.5)
    # 1, 1, 1 and 13: mean 4, standard deviation 6, so d = 3 and the factor 1 + 3 / 2
    assert mean_interval([1, 1, 1, 13]) == (4 / 2.5, 4 * 2.5)


def test_what_is_left_is_estimated_with_the_time_that_keeping_takes(bench):
    """Six rows are left after the first two of four questions of two methods.

    The disk takes ten seconds a row.
    """
    now, heard = [0.0], []

    class SlowDisk(Store):
        def save_row(self, *row):
            super().save_row(*row)
            now[0] += 10

    class Ear(Job):
        def report(self, text, fraction=None):
            heard.append(text)

    plan, store = bench.plan(model=False), SlowDisk(evaluations_file())
    environment = replace(bench.engine.environment, clock=lambda: now[0])
    EvaluationRunner(
        plan,
        store,
        store.begin_run(plan.spec(""), plan.drawn).id,
        environment,
        make_ask(bench.engine, plan),
    )(Ear("ear"))
    store.close()
    assert any(text.startswith("2 of 8 done, 30 seconds to 2 minutes left") for text in heard)


def test_nothing_is_left_to_estimate_at_the_end():
    pace = Pace(1, {"one": 1})
    pace.add("one", 5, False)
    assert pace.seconds_left() is None and pace.words() == "1 of 1 done"


def command(kit, file, *more):
    line = "EgoNetwork(hops=2) >> ShortestPaths()"
    methods = f"{line}, EgoNetwork(hops=1) >> ShortestPaths()"
    parts = [
        "--set",
        str(file),
        "--methods",
        methods,
        "--sample",
        "all",
        "--graph",
        str(kit.graph.folder),
        "--no-llm",
        *more,
    ]
    return [sys.executable, "-m", "core", "evaluate", *parts]


def many(tmp_path, count):
    file = tmp_path / "many.txt"
    file.write_text("".join(f"question {i} of [One]\tDrama\n" for i in range(count)), "utf-8")
    return file


def kept(database):
    try:
        with sqlite3.connect(database) as db:
            return db.execute("SELECT count(*) FROM rows").fetchone()[0]
    except sqlite3.Error:
        return 0


def started(arguments, home, stop_at):
    """A process of the command line, once it has kept `stop_at` rows.

    It hears Ctrl-C though the tests were started in the background.
    """
    process = subprocess.Popen(
        arguments,
        env={**os.environ, "HOPSCOPE_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 180
    while kept(home / "evaluations.sqlite") < stop_at:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process


def test_killed_in_the_middle_and_taken_up_again(kit, tmp_path):
    """kill -9 loses at most the row at work; the same command does the rest, and nothing twice."""
    home = tmp_path / "home"
    home.mkdir()
    arguments = command(kit, many(tmp_path, 120))
    process = started(arguments, home, 20)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.communicate()
    store = Store(home / "evaluations.sqlite")
    run = store.runs()[0]
    assert 20 <= run.done < run.total == 240 and run.failed == 0 and run.status == "running"
    early = {(row.method, row.question.id): row.outcome for row in store.rows(run.id)}
    done = subprocess.run(
        [*arguments, "--json"],
        env={**os.environ, "HOPSCOPE_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(done.stdout)
    late = {(row.method, row.question.id): row.outcome for row in store.rows(run.id)}
    assert told["run"] == run.id and told["status"] == "done" and len(late) == 240
    # seconds and all: they were not run again
    assert all(late[pair] == outcome for pair, outcome in early.items())
    for method in told["instances"].values():
        assert (
            method["questions"]["scored"] == 120 and method["metrics"]["reader_hit@1"]["n"] == 120
        )


def test_interrupted_ends_cleanly_with_the_figures_of_what_is_done(kit, tmp_path):
    home, files = (
        tmp_path / "home",
        [tmp_path / f"figures.{ending}" for ending in ("csv", "tex", "html")],
    )
    home.mkdir()
    more = [
        f"--{option}={file}" for option, file in zip(("csv", "latex", "html"), files, strict=True)
    ]
    process = started(command(kit, many(tmp_path, 3000), *more), home, 5)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=120)
    assert (
        process.returncode == 130
        and "Interrupted." in said
        and "the same command again to continue" in said
        and "Traceback" not in said
    )
    store = Store(home / "evaluations.sqlite")
    run = store.runs()[0]
    first = next(iter(run.spec["instances"]))["id"]
    count = f"{sum(row.method == first for row in store.rows(run.id)):,} of 3,000"
    table = {line.split("  ")[0]: line for line in printed.splitlines() if "  " in line}
    assert run.status == "cancelled" and run.done < run.total
    assert "Figures of what is done so far; not finished: " in printed and count in table[first]
    for file in (*files[1:],):
        assert count in file.read_text("utf-8")
    rows = list(csv.DictReader(files[0].with_name("figures-summary.csv").open(newline="")))
    assert {row["asked"] for row in rows} == {"3000"} and f"{rows[0]['answered']} of 3,000" == count
