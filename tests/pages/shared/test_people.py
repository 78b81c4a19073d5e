"""Two people use one Hopscope, and each has things of their own.

The page says whose things are, and what the other cannot do. A browser that sends it all the same
is told so.
"""

from __future__ import annotations

import ast

import pytest
from streamlit.testing.v1 import AppTest

from core import sharing
from core.cases import cases, duplicate, get_case
from core.cases.database import case_file
from core.corpus import corpora, import_documents
from core.evaluation.runs.plan import DrawnQuestion
from core.evaluation.runs.store import Store, evaluations_file
from core.io.home import ROOT
from core.methods.catalogue import catalogue, find_method, save_method
from core.sharing import acting_as, person_of_email
from core.sources import GraphSource
from core.types import Question
from pages.parts.shared.people import visitor

ANN, BOB, ROOT_USER = "ann@example.com", "Bob@Example.com", "root@example.com"
SPEC = {
    "instances": [{"id": "a", "name": "A", "line": "EgoNetwork() >> ShortestPaths()"}],
    "sample": 1,
    "seed": 0,
    "set": "films",
    "model": False,
    "graphs": [["films", "0" * 64]],
    "of": 1,
    "cold": False,
}


@pytest.fixture(autouse=True)
def room(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.setenv("HOPSCOPE_SHARED", "1")
    monkeypatch.setenv("HOPSCOPE_ADMINS", ROOT_USER)
    monkeypatch.setattr(sharing, "_person_source", visitor)
    return tmp_path


def page(name: str, email: str = "", **query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "pages" / f"{name}.py"), default_timeout=60)
    at.user = {"email": email} if email else {}
    for key, value in query.items():
        at.query_params[key] = value
    return at.run()


def said(at: AppTest) -> str:
    kinds = (at.markdown, at.caption, at.text, at.info, at.error, at.success, at.header)
    return (
        "\n".join(part.value for kind in kinds for part in kind)
        .replace("\\", "")
        .replace("\u2060", "")
    )


@pytest.fixture
def anns():
    """A case of Ann's."""
    with acting_as(person_of_email(ANN)):
        key = duplicate(next(case.id for case in cases() if case.example)).id
    with case_file().open_for_writing() as database:
        # the driver knows no other page to lead to
        database.execute("UPDATE cases SET link = '{}'")
    return key


def test_another_sees_a_case_and_whose_it_is_and_cannot_delete_it(anns):
    assert f"by {ANN}" in said(page("cases", BOB))
    at = page("cases", BOB, case=anns)
    assert f"by {ANN}" in said(at) and [
        one.proto.popover.disabled for one in at.get("popover")
    ] == [True, True]
    at.button(key="delete").click().run()  # as no browser would
    assert (
        f"This case belongs to {ANN}; only they and the administrator may change or delete it."
        in said(at)
    )
    assert get_case(anns).id == anns


@pytest.mark.parametrize("email", [ANN, ANN.upper(), ROOT_USER])
def test_its_owner_and_the_administrator_delete_it(anns, email):
    at = page("cases", email, case=anns)
    assert not any(one.proto.popover.disabled for one in at.get("popover")) and (
        "yours" in said(at)
    ) == (email != ROOT_USER)
    at.button(key="delete").click().run()
    assert "The case was deleted." in said(at) and anns not in {case.id for case in cases()}


def test_visits_without_a_sign_in_are_told_apart():
    one, other = page("build", **{"from": "lego-12"}), page("build")
    one.text_input(key="keep_name").set_value("Mine").run()
    one.button(key="keep-go").click().run()
    assert "own-mine" in catalogue()
    other.run()
    assert (
        "by a visitor who did not sign in" in said(other)
        and other.button(key="delete-own-mine").disabled
    )
    one.run()
    assert "yours" in said(one) and not one.button(key="delete-own-mine").disabled
    one.button(key="delete-own-mine").click().run()
    assert "own-mine" not in catalogue()


def test_an_email_that_the_provider_never_verified_is_nobody_s():
    with acting_as(person_of_email(ANN)):
        save_method("Mine", find_method("lego-12").line)
    for claim in (False, "false"):
        at = AppTest.from_file(str(ROOT / "pages" / "build.py"), default_timeout=60)
        at.user = {"is_logged_in": True, "email": ANN, "email_verified": claim}
        assert at.run().button(key="delete-own-mine").disabled
    at.user = {"is_logged_in": True, "email": ANN, "email_verified": True}
    assert not at.run().button(key="delete-own-mine").disabled


def test_an_evaluation_of_another_is_looked_at_and_no_more():
    store = Store(evaluations_file())
    with acting_as(person_of_email(ANN)):
        run = store.begin_run(
            SPEC, (DrawnQuestion(Question("what", "q-1"), "films", GraphSource("films")),)
        ).id
    at = page("evaluate", BOB, run=str(run))
    assert (
        f"by {ANN}" in said(at)
        and at.button(key="resume").disabled
        and all(one.proto.popover.disabled for one in at.get("popover"))
    )
    next(one for one in at.button if one.label == "Yes, delete it").click().run()
    assert f"This evaluation belongs to {ANN}" in said(at) and store.run(run)


@pytest.mark.parametrize(("email", "mine"), [(BOB, False), ("", False), (ANN, True)])
def test_texts_of_another_are_read_and_not_removed(room, email, mine):
    (room / "a.txt").write_text("Scrooge was a man.")
    with acting_as(person_of_email(ANN)):
        import_documents("anns", [room / "a.txt"], "Texts of <b>Ann</b>")
    at = page("texts", email, corpus="anns")
    at.session_state["texts_open"] = "Documents"
    at.run()
    assert ("yours" if mine else f"by {ANN}") in said(at)
    (popover,) = (one for one in at.get("popover") if one.proto.popover.label == "Remove")
    assert popover.proto.popover.disabled == (not mine)
    at.button(key="texts_remove").click().run()
    assert ("anns" in corpora()) == (not mine) and (
        f"This corpus belongs to {ANN}" in said(at)
    ) == (not mine)


@pytest.mark.parametrize("email", [BOB, ""])
def test_models_are_read_and_not_changed(email):
    at = page("models", email)
    assert (
        not at.exception
        and {one.key for one in at.selectbox if one.key and one.key.startswith("role-")} == set()
    )
    assert "only the administrator chooses, fetches and removes models" in said(
        at
    ) and "only the administrator adds models" in said(at)
    assert not [
        one.key
        for one in at.button
        if one.key and one.key.startswith(("fetch-", "unload-", "remove-", "server-"))
    ]


def test_the_administrator_adds_servers_of_this_computer_alone():
    at = page("models", ROOT_USER)
    assert not any(one.disabled for one in at.selectbox if one.key and one.key.startswith("role-"))
    for key, value in (
        ("server_name", "far"),
        ("server_url", "http://169.254.169.254/v1"),
        ("server_model", "m"),
    ):
        at.text_input(key=key).set_value(value)
    for button in ("server-go", "server-add"):
        at.button(key=button).click().run()
        assert "Model servers are allowed on this computer alone, not on “169.254.169.254”" in said(
            at
        )


SCREEN = """
import streamlit as st
from pages.parts.shared.people import draw_visitor, require_sign_in
require_sign_in()
draw_visitor()
st.text("in")
"""


@pytest.mark.parametrize(
    "file", sorted((ROOT / "pages").glob("[a-z]*.py")), ids=lambda file: file.stem
)
def test_each_page_lets_in_by_itself(file):
    """Each page admits people by itself, as it may run without main.py.

    Streamlit runs a page's own file instead of main.py as long as nobody has opened main.py since
    the server started.
    """
    assert file.read_text("utf-8").endswith("\n\n\nadmit(draw_page)\n")


def test_no_page_goes_past_the_functions_that_ask_whose_a_thing_is():
    past = (
        "core.graph.building",
        "core.corpus.corpus_storage",
        "core.cases.database",
        "core.datasets.own_graphs.build",
        "sqlite3",
    )
    for file in (ROOT / "pages").rglob("*.py"):
        nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
        named = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        named += [
            alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names
        ]
        assert not [name for name in named if name.startswith(past)], file


def app(**user) -> AppTest:
    at = AppTest.from_string(SCREEN)
    at.user = user
    at.secrets["auth"] = {
        "client_id": "hopscope",
        "google": {"client_id": "x"},
        "client_kwargs": {"prompt": "login"},
    }
    return at.run()


def test_who_did_not_sign_in_where_one_can_sees_the_way_in_alone():
    at = app(is_logged_in=False)
    assert [one.label for one in at.button] == ["Sign in", "Sign in with google"] and "in" not in [
        one.value for one in at.text
    ]


def test_who_one_is_stands_in_the_sidebar():
    at = app(is_logged_in=True, email="<script>alert(1)</script>@Example.com")
    assert "in" in [one.value for one in at.text] and at.button(key="sign-out")
    assert any(
        "\\<script\\>alert(1)\\</script\\>@example\\.com" in one.value.replace("\\@\u2060", "@")
        for one in at.caption
    )
    assert "administrator" in said(
        app(is_logged_in=True, email=ROOT_USER)
    ) and "You are not signed in" in said(app())


def test_where_nothing_is_shared_nothing_is_said_of_people(monkeypatch, anns, room):
    monkeypatch.delenv("HOPSCOPE_SHARED")
    (room / "owners.sqlite").unlink()
    at = page("cases", case=anns)
    assert (
        f"by {ANN}" not in said(at)
        and "yours" not in said(at)
        and not any(one.proto.popover.disabled for one in at.get("popover"))
    )
    assert "Shared with others" not in said(app(is_logged_in=False)) and "in" in [
        one.value for one in app(is_logged_in=False).text
    ]
    at.button(key="delete").click().run()
    assert not (room / "owners.sqlite").exists() and "The case was deleted." in said(at)
