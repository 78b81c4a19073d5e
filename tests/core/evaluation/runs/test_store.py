"""The store of evaluations.

Rows come back as they were, a run is found again, and what is damaged or foreign is left alone.
"""

import sqlite3
import subprocess
import sys
import time

import pytest

from core.errors import BadInput, StoreError
from core.evaluation.metrics.outcome import OperatorCost, Outcome, SubgraphSizes
from core.evaluation.runs.plan import DrawnQuestion
from core.evaluation.runs.store import EVALUATION_SCHEMA, Store
from core.io.home import ROOT
from core.sources import GraphSource
from core.types import Question

QUESTIONS = (
    Question("who “ç” \ud800?", "q-1", ("One",), ("Ann", "Ä|b"), 2),
    Question("what", "q-2"),
)
DRAWN = tuple(DrawnQuestion(question, "set", GraphSource("films")) for question in QUESTIONS)
SPEC = {"instances": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}], "sample": 2, "seed": 0}
OUTCOME = Outcome(
    2, SubgraphSizes(4, 4, 1, 1), costs=(OperatorCost("X", "extract", 0.5),), alive={"graph": 2}
)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "evaluations.sqlite"


OPENER = """
import sys, time
from core.evaluation.runs.store import Store
time.sleep(max(0.0, float(sys.argv[2]) - time.time()))
Store(sys.argv[1]).close()
"""


def test_processes_open_at_once_a_file_that_is_not_there_yet(file):
    begin = str(time.time() + 3.0)
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, str(file), begin], cwd=ROOT, stderr=subprocess.PIPE
        )
        for _ in range(4)
    ]
    for opener in openers:
        _, said = opener.communicate(timeout=120)
        assert opener.returncode == 0, said.decode()
    assert Store(file).runs() == []


def test_rows_come_back_in_order_and_a_later_row_replaces_an_earlier_one(file):
    store = Store(file)
    run = store.begin_run(SPEC, DRAWN)
    store.save_row(run.id, "b", "q-2", None, "It failed.", None)
    store.save_row(run.id, "b", "q-1", OUTCOME, None, {"snapshot": 1, "states": ["é", 0.25]})
    store.save_row(run.id, "a", "q-1", None, "It failed.", None)
    store.save_row(run.id, "a", "q-1", OUTCOME, None, None)
    store.close()
    store = Store(file)
    rows = store.rows(run.id)
    assert [(row.method, row.question.id, row.error) for row in rows] == [
        ("a", "q-1", None),
        ("b", "q-1", None),
        ("b", "q-2", "It failed."),
    ]
    assert (
        rows[0].outcome == OUTCOME
        and rows[0].question == QUESTIONS[0]
        and rows[2].question == QUESTIONS[1]
    )
    assert store.drawn_questions(run.id) == list(DRAWN)
    assert store.finished_pairs(run.id) == {("a", "q-1"), ("b", "q-1")}
    assert (
        store.states(run.id, "b", "q-1") == {"snapshot": 1, "states": ["é", 0.25]}
        and store.states(run.id, "a", "q-1") is None
    )
    found = store.run(run.id)
    assert (found.done, found.failed, found.total) == (2, 1, 4)


def test_the_same_spec_is_taken_up_again_unless_asked_otherwise(file):
    store = Store(file)
    first = store.begin_run(SPEC, DRAWN)
    assert store.begin_run(SPEC, DRAWN).id == first.id
    assert store.begin_run(SPEC | {"seed": 1}, DRAWN).id != first.id
    renamed = SPEC | {
        "instances": [{"id": "a", "name": "A, as it is called by now"}, {"id": "b", "name": "B"}]
    }
    assert store.begin_run(renamed, DRAWN).id == first.id
    again = store.begin_run(SPEC, DRAWN, again=True)
    assert again.id != first.id and store.begin_run(SPEC, DRAWN).id == again.id
    assert [run.id for run in store.runs()][0] == again.id
    store.save_row(again.id, "a", "q-1", OUTCOME, None, None)
    store.delete(again.id)
    assert store._all("SELECT count(*) FROM rows") == [(0,)] and store._all(
        "SELECT count(*) FROM questions"
    ) == [(4,)]
    with pytest.raises(BadInput, match=f"number {again.id}"):
        store.run(again.id)


def sqlite(file, *statements):
    with sqlite3.connect(file) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


def test_a_newer_file_is_left_alone(file):
    Store(file).close()
    sqlite(file, f"PRAGMA user_version = {EVALUATION_SCHEMA.version + 1}")
    before = file.read_bytes()
    with pytest.raises(StoreError, match="newer Hopscope"):
        Store(file)
    assert file.read_bytes() == before


def test_a_database_of_another_program_is_left_alone(file):
    sqlite(file, "CREATE TABLE mine (a)")
    before = file.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Store(file)
    assert file.read_bytes() == before


def test_a_damaged_file_is_told_of_and_left_alone(file):
    file.write_bytes(b"this is no database, whatever its name says " * 100)
    before = file.read_bytes()
    with pytest.raises(StoreError, match="cannot be used.*left as it is"):
        Store(file)
    assert file.read_bytes() == before


def test_a_file_damaged_in_the_middle_is_told_of_when_it_is_read(file):
    store = Store(file)
    run = store.begin_run(SPEC, DRAWN)
    for number in range(200):
        store.save_row(run.id, "a", f"q-{number}", OUTCOME, None, {"states": list(range(500))})
    store.close()
    whole = file.read_bytes()
    file.write_bytes(whole[:8192] + b"\xff" * (len(whole) - 8192))
    with pytest.raises(StoreError, match="cannot be used"):
        store = Store(file)
        store.rows(run.id)


def test_a_failed_write_leaves_nothing_behind(file):
    store = Store(file)
    with pytest.raises(StoreError, match="FOREIGN KEY|foreign key"):
        store.save_row(99, "a", "q-1", OUTCOME, None, None)
    run = store.begin_run(SPEC, DRAWN)
    assert (run.done, run.failed) == (0, 0)
