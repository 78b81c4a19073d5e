"""A graph is copied from a database on the Graphs screen.

The tests are of the look, the refusals and the build. Keys stay out of sight.
"""

from __future__ import annotations

import pytest

from core.datasets import datasets
from core.graph.store import Graph
from tests.core.databases.endpoint import endpoint
from tests.core.databases.test_sparql import FILMS, chain
from tests.pages.bringing.test_uploads import built, button, opened, own
from tests.pages.bringing.zone_kit import name_it

__all__ = ["own"]
HOSTILE = '<http://x/a> <http://x/r> <http://x/b> . <http://x/a> <http://www.w3.org/2000/01/rdf-schema#label> "<img src=x onerror=alert(1)>" .'


@pytest.fixture
def served():
    with endpoint() as one:
        yield one


def looked(at, address, **given):
    name_it(at, address)
    if not any(one.label == "Preview" for one in at.button):
        return at
    for key, value in given.items():
        {"query": at.text_area, "limit": at.number_input}.get(key, at.text_input)(
            key=f"database_{key}"
        ).set_value(value)
    button(at, "Preview").click().run()
    assert not at.exception
    return at


def test_a_graph_is_looked_at_and_built(own, served):
    served.load(FILMS)
    at = looked(opened(), served.url)
    assert "Inception" in list(
        at.dataframe[-1].value["Head"]
    ) and "triples copied from 127" in at.info[0].value.replace("\\", "")
    at = built(at)
    assert Graph.open(own / "graphs" / "127-0-0-1").n_edges == 3 and "127-0-0-1" in datasets()


def test_a_limit_and_a_query(own, served):
    served.load(chain(30))
    at = looked(
        opened(),
        served.url,
        limit=7,
        query="CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(?s != <http://x/n0>) }",
    )
    at = built(at)
    assert Graph.open(own / "graphs" / "127-0-0-1").n_edges == 7
    assert any("the most that were to be copied" in one.value for one in at.caption)


@pytest.mark.parametrize(
    "address, said",
    [
        ("ftp://x", "A database is named as"),
        ("http://ann:secret@localhost/", "holds no name"),
        ("http://127.0.0.1:9/", "cannot be reached"),
    ],
)
def test_what_cannot_be_asked_is_a_sentence(own, address, said):
    at = looked(opened(), address)
    assert said in at.error[0].value.replace("\\", "") and "secret" not in str(at.error[0].value)


def test_a_key_is_used_and_neither_saved_nor_shown(own, served):
    served.key = "ann:secret-word"
    served.load(FILMS)
    at = looked(opened(), served.url)
    assert "wants a name and password" in at.error[0].value
    at = built(looked(at, served.url, key="ann:secret-word"))
    assert not any(b"secret-word" in file.read_bytes() for file in own.rglob("*") if file.is_file())
    assert "secret-word" not in str(at.session_state["database_asked"])


def test_a_shared_hopscope_asks_permitted_hosts_alone_and_lends_no_keys(own, served, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_KEY_MINE", f"{served.url} ann:secret-word")
    served.key = "ann:secret-word"
    at = opened()
    monkeypatch.setenv("HOPSCOPE_SHARED", "1")
    at = looked(at, "http://10.0.0.1/sparql")
    assert any("this computer alone" in one.value for one in at.error)
    at = looked(at, served.url)
    assert at.text_input(key="database_variable").disabled and any(
        "wants a name and password" in one.value for one in at.error
    )


def test_names_with_markup_stay_text(own, served):
    served.load(HOSTILE)
    at = looked(opened(), served.url)
    assert "<img src=x onerror=alert(1)>" in list(at.dataframe[-1].value["Head"]) and not any(
        "<img" in one.value for one in at.info
    )
