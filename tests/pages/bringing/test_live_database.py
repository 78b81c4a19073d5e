"""A database is asked live on the screens.

It is added and looked at on Graphs, and asked on Compare. A failure is told in a sentence.
"""

from __future__ import annotations

import tomllib

import pytest
from streamlit.testing.v1 import AppTest

from core.databases.live_database import LIVE_FILE, LiveSettings
from core.datasets.own_graphs import add_live
from core.sources import GraphSource
from pages.parts.bringing.database_copy import DATABASE_WAYS
from tests.core.databases.endpoint import endpoint
from tests.core.databases.test_live_database import FIVE
from tests.pages.bringing.test_uploads import PAGE, button, opened, own
from tests.pages.bringing.zone_kit import name_it

__all__ = ["own"]
if isinstance(PAGE, str):
    COMPARE = PAGE.replace("graphs.py", "compare.py")
else:
    COMPARE = PAGE.with_name("compare.py")


@pytest.fixture
def served(own):
    with endpoint() as one:
        one.load(FIVE)
        yield one


def form(served, **given):
    at = name_it(opened(), served if isinstance(served, str) else served.url)
    if at.error:
        return at
    at.segmented_control(key="database_way").set_value(DATABASE_WAYS[1]).run()
    for key, value in given.items():
        at.text_input(key=f"live_{key}").set_value(value)
    button(at, "Add it").click().run()
    assert not at.exception
    return at


def finished(at):
    assert at.session_state["bring_job"].wait(60)
    return at.run()


def called(served):
    """A name of its own, as the engine of all tests knows a graph by its name."""
    return f"live-{served.url.rpartition(':')[2].partition('/')[0]}"


def added(served, hops):
    return add_live(LiveSettings(served.url, hops=hops), called(served))


def on(page, served, **query):
    at = AppTest.from_file(page, default_timeout=120)
    if page == PAGE:  # on Compare the address names it
        at.session_state.source = GraphSource(called(served))
    for key, value in query.items():
        at.query_params[key] = value
    at.run()
    assert not at.exception
    return at


def words(elements):
    return " ".join(one.value.replace("\\", "") for one in elements)


def test_one_is_added_with_the_name_of_its_variable_alone(own, served, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_KEY_MINE", f"{served.url} ann:secret-word")
    served.key = "ann:secret-word"
    at = finished(form(served, name="My Films", variable="HOPSCOPE_KEY_MINE"))
    assert "The graph my-films is ready" in words(at.success)
    assert "Asked live at 127" in words([*at.caption, *at.info, *at.markdown])
    described = tomllib.loads((own / "graphs" / "my-films" / LIVE_FILE).read_text())
    assert (
        described["address"] == f"sparql+{served.url}" and described["key"] == "HOPSCOPE_KEY_MINE"
    )
    assert not any(b"secret-word" in file.read_bytes() for file in own.rglob("*") if file.is_file())


def test_one_that_refuses_is_not_added(own, served):
    served.key = "ann:secret-word"
    at = finished(form(served, name="mine"))
    assert "wants a name and password" in words(at.error) and not (own / "graphs" / "mine").exists()


@pytest.mark.parametrize(
    "address, given, said",
    [
        ("ftp://x", {}, "A database is named as"),
        ("http://ann:secret@localhost/", {}, "holds no name"),
        ("http://localhost/", {"name": "small"}, "There is already a graph"),
        ("http://localhost/", {"language": "<x>"}, "tag of a language"),
    ],
)
def test_what_does_not_fit_is_a_sentence(own, address, given, said):
    assert said in words(form(address, **given).error)


def test_what_is_around_an_entity_is_fetched_and_walked(served):
    added(served, 1)
    at = on(PAGE, served)
    assert "This graph stays in its database" in words(at.info) and " entities ·" not in words(
        at.caption
    )
    at.text_input(key="around").set_value("Ann").run()
    assert "2 entities · 1 triple · 1 relation" in words(at.caption)
    assert "1 triple within 1 hop of Ann" in words(at.caption)
    at.text_input(key="around").set_value("Nobody").run()
    assert "“Nobody” was not found by its name" in words(at.error) and not at.exception


def test_a_link_leads_to_an_entity_and_further(served):
    added(served, 1)
    at = on(PAGE, served, graph=called(served), entity="Bob", around="Ann")
    assert at.text_input(key="around").value == "Ann" and "around" not in at.query_params
    at.button(key="further").click().run()
    assert at.text_input(key="around").value == "Bob"
    assert "3 entities · 2 triples · 1 relation" in words(at.caption)


def test_names_with_markup_stay_text(served):
    added(served, 1)
    at = on(PAGE, served, entity="Dan <b>")
    assert not any("<b>" in one.value and "\\<b" not in one.value for one in at.caption)
    assert "3 entities · 2 triples · 1 relation" in words(at.caption)


def test_a_question_is_asked_of_it_on_compare(served):
    from pages.parts.shared.session import engine

    added(served, 2)
    at = on(COMPARE, served, graph=called(served), q="what does Bob know", lane="lego-1", llm="0")
    job = engine().jobs.get(at.session_state["job"])
    assert job.wait(120) and job.comparison.ask.question.entities == ("Bob",)
    at.run()
    assert at.session_state["entities"] == [
        "Bob"
    ] and "Asked live: 3 triples within 2 hops of Bob" in words(at.caption)
    served.instead = lambda query, number: (500, {}, b"")
    at.text_input(key="question").set_value("what does Eve know").run()
    assert "refuses the query (500)" in words(at.error) and not at.exception
