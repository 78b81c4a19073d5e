"""The Indexes screen through Streamlit's own test driver."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.errors import split_command
from core.graph.building.build import build
from core.indexes import communities
from core.indexes.index_storage import index_folder
from core.io.home import ROOT, graphs_folder
from core.sources import GraphSource
from pages.parts.shared.session import engine
from tests.films import TRIPLES, Bag
from tests.real_models import models_without_chat

PAGE = str(ROOT / "pages" / "indexes.py")


@pytest.fixture()
def films(monkeypatch, tmp_path):
    """A graph in a person's own empty folder."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.setenv("HOPSCOPE_MODELS", models_without_chat(tmp_path / "models"))
    bag = Bag()
    monkeypatch.setattr(engine().models, "encoder", lambda name="encoder": bag)
    yield build(TRIPLES, graphs_folder() / "indexed", "indexed", "both")
    engine().drop_graph("indexed")
    engine().jobs._jobs.pop("open-indexed", None)
    engine().background_jobs._jobs.clear()


def opened() -> AppTest:
    at = AppTest.from_file(PAGE, default_timeout=60)
    at.session_state.source = GraphSource("indexed")
    return at.run()


def texts(at: AppTest) -> str:
    return "\n".join(one.value for kind in ("caption", "markdown", "text") for one in at.get(kind))


def until(at: AppTest, done) -> None:
    for _ in range(300):
        at.run()
        if done():
            return
        time.sleep(0.1)
    raise AssertionError("nothing came")


def keys(at: AppTest) -> set[str]:
    return {button.key for button in at.button}


def test_what_is_absent_says_what_it_is_for_and_how_long_it_takes(films):
    at = opened()
    assert not at.exception and not at.error
    assert "found by the Leiden algorithm" in texts(
        at
    ) and "Building takes about 1 second" in texts(at)
    assert at.metric[0].value == "0" and "more are optional" in texts(at)
    assert at.metric[1].value == "0 bytes"
    assert {"build-communities", "build-chains"} <= keys(
        at
    ) and "yes-delete-communities" not in keys(at)
    # the language model is not here, and the card says how to get it
    assert "build-reports" not in keys(at)
    sentence, command = split_command(engine().models.info("answer").how_to_get)
    assert sentence in [text.value for text in at.text]
    assert command in [code.value for code in at.code]


def test_building_rebuilding_and_deleting(films):
    at = opened()
    at.button(key="build-communities").click().run()
    until(at, lambda: "yes-delete-communities" in keys(at))
    file = index_folder(films) / "communities-10.npy"
    assert file.is_file() and at.metric[0].value == "1" and "At most 10 entities each" in texts(at)
    before = file.stat().st_ino
    at.button(key="rebuild-communities").click().run()
    until(at, lambda: file.stat().st_ino != before)
    until(at, lambda: "yes-delete-communities" in keys(at))
    at.button(key="yes-delete-communities").click().run()
    assert not file.exists() and "build-communities" in keys(at)


def test_work_is_seen_and_cancelled_from_another_tab(films, monkeypatch):
    going = threading.Event()

    def slow(graph, max_size, watch):
        watch.report("Finding communities: 2 of 5 entities", 0.4)
        while not going.wait(0.02):
            watch.check()
        return np.zeros(5, np.int32)

    monkeypatch.setattr(communities, "detect_communities", slow)
    at, other = opened(), opened()
    at.button(key="build-communities").click().run()
    until(other, lambda: "being built" in texts(other))
    assert "build-communities" not in keys(other)
    other.button(key="cancel-communities").click().run()
    until(at, lambda: "build-communities" in keys(at))
    assert "Cancelled; nothing was kept." in texts(at) and not list(index_folder(films).iterdir())


def test_what_is_being_built_elsewhere_is_not_deleted(films, monkeypatch):
    communities.load_communities(films)
    at = opened()
    delete = at.button(key="yes-delete-communities")
    going = threading.Event()
    monkeypatch.setattr(
        communities, "detect_communities", lambda *_: going.wait(30) and np.zeros(5, np.int32)
    )
    other = opened()
    other.button(key="rebuild-communities").click().run()
    delete.click().run()
    assert (
        "cancel that first" in at.error[0].value
        and (index_folder(films) / "communities-10.npy").is_file()
    )
    going.set()
    until(at, lambda: "yes-delete-communities" in keys(at))


def test_a_failure_is_a_sentence(films, monkeypatch):
    def broken(*_):
        raise MemoryError("no room")

    monkeypatch.setattr(communities, "detect_communities", broken)
    at = opened()
    at.button(key="build-communities").click().run()
    until(at, lambda: at.error)
    assert "MemoryError" in at.error[0].value and "build-communities" in keys(at)


def test_an_earlier_state_is_listed_and_deleted(films):
    communities.load_communities(films)
    earlier = index_folder(films)
    build([*TRIPLES, ("Two", "has_genre", "Drama")], films.folder, "indexed", "both")
    at = opened()
    assert (
        "**Made for an earlier state of the graph**" in texts(at)
        and at.metric[2].label == "Left over"
    )
    at.button(key=f"yes-left-{earlier.name}").click().run()
    assert not earlier.exists() and "earlier state" not in texts(at)


def test_measurements_of_an_earlier_version_are_left_over_and_deleted(films):
    file = index_folder(films) / "pageranks.json"
    file.write_text("{}")
    at = opened()
    assert at.metric[2].label == "Left over"
    at.button(key="yes-left-pageranks.json").click().run()
    assert not file.exists() and not at.exception


def test_a_damaged_store_is_in_the_list_and_says_what_is_wrong(films):
    file = films.data_folder / "tails.npy"
    os.truncate(file, file.stat().st_size - 4)
    engine().drop_graph("indexed")

    def beside():
        from pages.parts.shared.sidebar import sidebar

        sidebar()

    at = AppTest.from_function(beside, default_timeout=60)
    at.session_state.source = GraphSource("indexed")
    at.run()
    assert "indexed (cannot be opened)" in at.selectbox[0].options and at.selectbox[
        0
    ].value == GraphSource("indexed")
    at = opened()
    assert (
        not at.exception
        and "is damaged" in at.error[0].value
        and "build it again" in at.error[0].value
    )


def test_a_damaged_index_is_named_and_deleted(films):
    file = index_folder(films) / "reports.sqlite"
    communities.load_communities(films)
    file.write_bytes(b"no database" * 200)
    at = opened()
    assert not at.exception
    at.button(key="yes-delete-reports").click().run()
    assert not file.exists() and not at.exception
