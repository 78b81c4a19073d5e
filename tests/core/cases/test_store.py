"""Cases and feedback in SQLite: saving, search, changes, several processes, and damaged files."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys

import pytest

from core.cases import (
    cases,
    comparison_of_case,
    delete,
    delete_rating,
    duplicate,
    edit,
    get_case,
    is_rated_up,
    rate,
    ratings,
    save,
    solved,
    tags,
)
from core.cases.case import CaseLimits
from core.cases.database import case_file
from core.errors import BadInput, StoreError
from core.io.home import ROOT
from core.types import Rating

own = lambda **search: [case for case in cases(**search) if not case.example]


def test_case_is_saved_and_loaded(compared, kit):
    case = save(
        compared(),
        {"q": "genre of One", "lane": ["a", "b"]},
        " a note ",
        ["demo", " demo ", "two  words"],
    )
    found = get_case(case.id)
    assert found == case and own() == [case]
    assert (found.question, found.entities, found.answers, found.graph, found.digest) == (
        "genre of One",
        ("One",),
        ("Drama",),
        "films",
        kit.graph.digest,
    )
    assert (found.methods, found.notes, found.tags, found.link["lane"]) == (
        ("ranked", "beam"),
        "a note",
        ("demo", "two words"),
        ["a", "b"],
    )
    assert comparison_of_case(case.id).lanes[0].state.answer == "Drama"


def test_cases_are_searched_by_words_and_tags(compared):
    first = save(compared(), notes="Über alles", tags=["demo"])
    second = save(compared(text="who directed One", answers=()), tags=["demo", "work"])
    assert (
        own(text="directed ONE") == [second]
        and own(text="über") == [first]
        and own(text="beam genre") == [first]
    )
    assert own(text="nothing") == [] and {case.id for case in own(tag="demo")} == {
        first.id,
        second.id,
    }
    assert tags()["demo"] >= 2 and tags()["work"] >= 1


def test_only_notes_and_tags_change(compared):
    case = save(compared(), tags=["a"])
    edit(case.id, notes="new")
    edit(case.id, tags=["b", "c"])
    found = get_case(case.id)
    assert (found.notes, found.tags, found.created) == (
        "new",
        ("b", "c"),
        case.created,
    ) and found.changed >= case.changed
    with pytest.raises(BadInput, match="At most 20 tags"):
        edit(case.id, tags=["x" * 41])
    with pytest.raises(BadInput, match="at most 20,000 characters"):
        edit(case.id, notes="x" * 20_001)


def test_duplicate_outlives_its_original(compared):
    case = save(compared(), notes="kept")
    copy = duplicate(case.id)
    delete(case.id)
    assert (
        copy.id != case.id
        and own() == [get_case(copy.id)]
        and get_case(copy.id).notes == "kept"
        and comparison_of_case(copy.id).ask.question.text == "genre of One"
    )
    for gone in (get_case, comparison_of_case, delete, duplicate, edit):
        with pytest.raises(BadInput, match=f"There is no case “{case.id}”"):
            gone(case.id)


def test_large_comparison_is_refused(compared, monkeypatch):
    monkeypatch.setattr("core.cases.case.CASE_LIMITS", CaseLimits(max_bytes=1_000))
    with pytest.raises(BadInput, match="too large to keep"):
        save(compared())
    assert own() == []


# --- feedback ---


def test_answer_has_one_verdict(home):
    rate(Rating("q", "d", "Line()", "a", True, time=1.0))
    rate(Rating("q", "d", "Line()", "b", False, time=2.0))
    rate(
        Rating(
            "q",
            "d",
            "Line()",
            "a",
            False,
            ("One",),
            "films",
            "No. 1",
            ("Drama",),
            1000,
            2,
            time=3.0,
        )
    )
    assert [(r.answer, r.up) for r in ratings("d")] == [("b", False), ("a", False)] and ratings(
        "other"
    ) == []
    assert ratings()[-1] == Rating(
        "q", "d", "Line()", "a", False, ("One",), "films", "No. 1", ("Drama",), 1000, 2, time=3.0
    )
    assert (is_rated_up("d", "q", "Line()", "a"), is_rated_up("d", "q", "Line()", "c")) == (
        False,
        None,
    )
    delete_rating("d", "q", "Line()", "a")
    assert [r.answer for r in ratings("d")] == ["b"]


def test_solved_questions_come_from_cases_and_feedback(compared, kit):
    """Solved questions are cases with known answers, and thumbs up.

    A case takes precedence over a thumb on the same question, and a thumb down does not count.
    """
    case = save(compared())
    save(compared(text="what is One", answers=()))
    digest = kit.graph.digest
    rate(Rating("genre of One", digest, "L()", "x", True, ("One",), answers=("Wrong",)))
    rate(
        Rating(
            "who made Two", digest, "L()", "Ann", True, ("Two",), answers=("Ann",), hops=1, time=1.0
        )
    )
    rate(Rating("who made One", digest, "L()", "Ann", False, ("One",), answers=("Ann",)))
    rate(
        Rating("who made Three", "another graph", "L()", "Ann", True, ("Three",), answers=("Ann",))
    )
    rate(Rating("who is who", digest, "L()", "nobody known", True, ("One",)))
    found = solved(digest)
    assert [(q.text, q.entities, q.answers, q.hops) for q in found] == [
        ("genre of One", ("One",), ("Drama",), None),
        ("who made Two", ("Two",), ("Ann",), 1),
    ]
    assert found[0].id == f"case-{case.id}" and len({q.id for q in found}) == 2


# --- the file ---

WRITER = """
import sys
from core.cases import rate, ratings
from core.types import Rating
for i in range(20):
    rate(Rating(f"q{sys.argv[1]}-{i}", "d", "L()", "a", True))
    ratings("d")
"""


def test_processes_create_and_write_one_file(home):
    home.mkdir()
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(i)],
            cwd=ROOT,
            env={**os.environ, "HOPSCOPE_HOME": str(home)},
            stderr=subprocess.PIPE,
        )
        for i in range(4)
    ]
    for writer in writers:
        _, said = writer.communicate(timeout=120)
        assert writer.returncode == 0, said.decode()
    assert len(ratings("d")) == 80
    assert sqlite3.connect(home / "cases.sqlite").execute("PRAGMA journal_mode").fetchone() == (
        "wal",
    )


def test_tables_created_by_another_process_are_used(home):
    home.mkdir()

    class RacingConnection(sqlite3.Connection):
        """A connection during whose first query another process creates the tables."""

        looks = 0

        def execute(self, statement, *more):
            found = super().execute(statement, *more).fetchall()
            self.looks += 1
            if self.looks == 1:
                assert ratings("d") == []
            return type("Rows", (), {"fetchone": lambda rows: found[0]})()

    connection = sqlite3.connect(
        home / "cases.sqlite", isolation_level=None, factory=RacingConnection
    )
    assert case_file()._has_tables(connection)


def test_damaged_file_is_reported_and_kept(home, compared):
    save(compared())
    file = home / "cases.sqlite"
    for suffix in ("-wal", "-shm"):
        (home / f"cases.sqlite{suffix}").unlink(missing_ok=True)
    for broken in (
        b"not a database at all, but text" * 100,
        file.read_bytes()[:100] + b"\xff" * 8000,
    ):
        file.write_bytes(broken)
        with pytest.raises(StoreError, match="damaged.*left as it is|cannot be used"):
            save(compared())
        with pytest.raises(StoreError, match="damaged|cannot be used"):
            cases()
        assert file.read_bytes() == broken


def test_foreign_or_newer_file_is_left_alone(home, compared):
    home.mkdir(exist_ok=True)
    other = sqlite3.connect(home / "cases.sqlite")
    other.execute("CREATE TABLE mine (a)")
    other.commit()
    with pytest.raises(StoreError, match="another program"):
        cases()
    other.execute("DROP TABLE mine")
    other.commit()
    other.close()
    case = save(compared())
    with sqlite3.connect(home / "cases.sqlite") as later:
        later.execute("PRAGMA user_version = 2")
    with pytest.raises(StoreError, match="newer Hopscope"):
        get_case(case.id)


def test_write_error_changes_nothing(compared):
    case = save(compared())
    with pytest.raises(RuntimeError), case_file().open_for_writing() as database:
        database.execute("DELETE FROM cases")
        raise RuntimeError("stop")
    assert own() == [case]
