"""The Cases screen through Streamlit's own test driver: list, search, open, notes, tags, duplicate, delete, import, bad addresses."""

from __future__ import annotations

from base64 import b64decode

import pytest
from streamlit.testing.v1 import AppTest

from core.cases import cases, comparison_of_case, delete, export, get_case, save
from core.cases import examples as shipped
from core.engine import Engine
from core.io.home import ROOT
from core.methods.catalogue import Method
from core.operators.text import parse_line
from core.sources import GraphSource
from core.types import Question
from pages.parts.board.payload import Board
from tests.films import films, kit

__all__ = ["films", "kit"]
LINE = "EgoNetwork(hops=2) >> ShortestPaths() >> Rank(keep=2) >> Answer()"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.setattr(shipped, "EXAMPLE_FOLDER", tmp_path / "examples")
    return tmp_path


@pytest.fixture
def saved(kit):
    """Two cases: one with notes and tags, one without."""
    engine = Engine(kit.Written(encoder=kit.Table({"One -> has_genre -> Drama": 1.0})))
    found = []
    for text, notes, tags in (
        ("genre of <b>One</b>", "ends in *Drama*", ["demo"]),
        ("who directed One", "", []),
    ):
        ask = engine.prepare_question(
            GraphSource.of(kit.graph), Question(text, entities=("One",), answers=("Drama",))
        )
        job = engine.compare(ask, [Method("ranked", "Ranked", parse_line(LINE))])
        assert job.wait(120)
        found.append(save(job.comparison, {"q": text}, notes, tags))
    engine.jobs.stop()
    return found


def opened(case: str = "") -> AppTest:
    at = AppTest.from_file(str(ROOT / "pages" / "cases.py"), default_timeout=60)
    if case:
        at.query_params["case"] = case
    return at.run()


def said(at: AppTest) -> str:
    return "\n".join(
        part.value
        for kind in (at.markdown, at.caption, at.text, at.subheader, at.success)
        for part in kind
    )


def case_of(at: AppTest) -> str:
    """The case in the address."""
    told = at.query_params["case"]
    return told[0] if isinstance(told, list) else told


def test_nothing_saved_yet_says_how(home):
    at = opened()
    assert not at.exception and "Nothing is saved yet" in said(at)


def test_the_list_is_searched_and_names_are_text(saved):
    at = opened()
    assert (
        not at.exception
        and "genre of \\<b\\>One" in said(at)
        and "ends in *Drama*" in [part.value for part in at.text]
    )
    at.text_input(key="case_search").set_value("directed").run()
    assert "who directed One" in said(at) and "genre of" not in said(at)
    at.text_input(key="case_search").set_value("nothing like it").run()
    assert "No case has all these words" in said(at)
    at.text_input(key="case_search").set_value("").run()
    at.selectbox(key="case_tag").set_value("demo").run()
    assert "genre of" in said(at) and "who directed" not in said(at)


def test_an_address_may_name_a_tag(saved):
    at = AppTest.from_file(str(ROOT / "pages" / "cases.py"), default_timeout=60)
    at.query_params["tag"] = "demo"
    at.run()
    assert at.selectbox(key="case_tag").value == "demo"
    assert "genre of" in said(at) and "who directed" not in said(at)


def test_opening_and_going_back(saved):
    at = opened()
    at.button(key=f"open_{saved[0].id}").click().run()
    assert (
        not at.exception and case_of(at) == saved[0].id and "correct answers\\: Drama" in said(at)
    )
    at.button(key="back").click().run()
    assert "case" not in at.query_params and "who directed One" in said(at)


def test_the_board_has_the_saved_lanes(saved):
    at = opened(saved[0].id)
    board = at.session_state["finished_drawing"][1].payload()
    assert board["question"] == "genre of <b>One</b>" and board["lanes"][0]["answer"] == "Drama"
    assert [stage["alive"] for stage in board["lanes"][0]["funnel"]] == [1, 1, 1, 1, 1]


def test_notes_and_tags_are_kept(saved):
    at = opened(saved[1].id)
    at.text_area[0].set_value("look at rank 2")
    at.button(key="FormSubmitter:annotate-Keep").click().run()
    assert (
        not at.exception
        and get_case(saved[1].id).notes == "look at rank 2"
        and "look at rank 2" in said(at)
    )


def test_a_duplicate_opens_and_the_original_stays(saved):
    at = opened(saved[0].id)
    at.button(key="duplicate").click().run()
    copy = case_of(at)
    assert (
        not at.exception
        and copy not in {case.id for case in saved}
        and get_case(copy).notes == "ends in *Drama*"
        and len(cases()) == 3
    )


def test_deleting_asks_first(saved):
    at = opened(saved[0].id)
    assert any("cannot be brought back" in part.value for part in at.markdown)
    at.button(key="delete").click().run()
    assert (
        not at.exception
        and [case.id for case in cases()] == [saved[1].id]
        and "was deleted" in said(at)
    )


def test_an_unknown_address_says_so(saved):
    at = opened("0123456789ab")
    assert not at.exception and "There is no case" in at.error[0].value


def test_a_damaged_database_is_a_sentence(home):
    (home / "cases.sqlite").write_bytes(b"something else entirely, not a database" * 50)
    at = opened()
    assert not at.exception and "left as it is" in at.error[0].value


def test_an_example_cannot_be_changed(saved, home):
    (home / "examples").mkdir()
    (home / "examples" / "show.cases.gz").write_bytes(export([saved[0].id]))
    at = opened("example-show-1")
    assert not at.exception and "example" in said(at)
    assert not [button for button in at.button if button.key == "delete"] and not at.text_area
    at.button(key="duplicate").click().run()
    assert not get_case(case_of(at)).example


def test_a_case_that_was_opened_has_a_thumbnail_until_it_is_deleted(saved, home):
    """One circle for each node of the board; nothing of a name stands in it."""
    images = lambda: [part.body for part in opened().get("html") if "data:image/svg" in part.body]
    assert not images()
    assert not opened(saved[0].id).exception
    (image,) = images()
    svg = b64decode(image.partition("base64,")[2].partition('"')[0]).decode()
    nodes = Board(comparison_of_case(saved[0].id)).payload()["layout"]["nodes"]
    assert svg.count("<circle") == len(nodes) > 1 and "One" not in svg and 'class="path"' in svg
    delete(saved[0].id)
    assert not images() and not list((home / "thumbnails").iterdir())


def test_a_home_that_takes_no_file_opens_a_case(saved, home):
    (home / "thumbnails").write_text("in the way")
    assert not opened(saved[0].id).exception
    assert not opened().exception
