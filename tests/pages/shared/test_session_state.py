"""The session's keys are read, set, dropped, and made once.

Each has a line on it, and the pages have no other way to a key.
"""

import ast
import re

import pytest
import streamlit as st

from core.io.home import ROOT
from pages.parts.shared.session_state import Session, SessionKey, SessionKeyFamily, session

DECLARED = {
    name: key
    for name, key in vars(Session).items()
    if isinstance(key, (SessionKey, SessionKeyFamily))
}
OWN = "pages/parts/shared/session_state.py"


@pytest.fixture(autouse=True)
def state(monkeypatch):
    """A session that holds nothing yet."""
    held: dict = {}
    monkeypatch.setattr(st, "session_state", held)
    return held


def test_a_key_is_an_attribute_with_a_default(state):
    assert session.question == "" and "question" not in state
    session.question = "who?"
    assert (
        session.question == "who?"
        and state == {"question": "who?"}
        and Session.question.name == "question"
    )
    del session.question
    del session.question  # no error where none was set
    assert session.question == "" and not state


def test_a_default_that_is_made_may_be_changed_in_place(state):
    session.trails.setdefault("digest", []).append(7)
    assert session.trails == {"digest": [7]} == state["trails"] and session.lanes == []


def test_a_message_is_read_once(state):
    session.cases_message = "done"
    assert (
        Session.cases_message.take() == "done" and Session.cases_message.take() == "" and not state
    )


def test_a_value_is_made_once_for_what_it_is_made_of():
    made = []
    for what in ("a", "a", "b", "a"):
        assert (
            Session.case_open.get_or_compute(
                what, lambda what=what: made.append(what) or what.upper()
            )
            == what.upper()
        )
    assert made == ["a", "b", "a"]


def test_a_key_for_each_id(state):
    Session.texts_build["rkg"].value = "rkg-llm"
    assert state == {"texts_build-rkg": "rkg-llm"} and Session.texts_build["tkg"].value == ""
    assert Session.texts_build["rkg"].name == "texts_build-rkg"


def test_the_row_of_the_cell_that_was_clicked(state):
    state["table_cells-here"] = {"selection": {"cells": [(3, "Name")]}}
    assert (
        Session.table_cells.clicked_row("here", 4) == 3
        and Session.table_cells.clicked_row("here", 3) is None
    )
    state["table_cells-here"] = {"selection": {"cells": []}}
    assert Session.table_cells.clicked_row("here", 4) is None


def test_a_name_that_is_not_declared_is_refused():
    with pytest.raises(AttributeError):
        session.qestion = "who?"
    with pytest.raises(AttributeError):
        session.qestion  # noqa: B018


def test_only_a_question_is_asked():
    for question, asked in (("who?", True), ("  ", False)):
        session.question = question
        session.submit()
        assert session.submitted is asked


def test_another_source_begins_anew(state):
    session.question, session.job, session.applied_bar_state, session.lanes = (
        "who?",
        "job",
        ("who?", True, True),
        ["lego-1"],
    )
    session.clear_question()
    assert state == {"question": "", "lanes": ["lego-1"]}


def test_each_key_has_a_name_of_its_own_and_a_line_on_it():
    assert len({key.name for key in DECLARED.values()}) == len(DECLARED)
    text = (ROOT / OWN).read_text("utf-8")
    assert [name for name in DECLARED if not re.search(rf"    # .+\.\n    {name}: ", text)] == []


def test_each_key_is_used():
    text = "".join(path.read_text("utf-8") for path in (ROOT / "pages").rglob("*.py"))
    assert [name for name in DECLARED if not re.search(rf"\b[Ss]ession\.{name}\b", text)] == []


def test_the_pages_know_no_other_way_to_a_key():
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted([ROOT / "main.py", ROOT / "app.py", *(ROOT / "pages").rglob("*.py")])
        if str(path.relative_to(ROOT)) != OWN
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if (isinstance(node, ast.Attribute) and node.attr == "session_state")
        or (isinstance(node, ast.Name) and node.id == "session_state")
    ]
    assert found == []
