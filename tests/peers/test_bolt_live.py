"""Live queries of a database over Bolt: ArcadeDB, as in tests/peers/test_bolt.py.

The last test ends the server.
"""

from __future__ import annotations

import pytest

from core.databases import bolt
from core.databases.graph_copy import copy_graph
from core.databases.limits import CopyLimits
from core.databases.live_database import LiveDatabase, LiveSettings
from core.errors import BadInput, UnknownEntity
from core.graph.building.build import build_in_memory
from tests.peers.test_bolt import KEY, server

__all__ = ["server"]


@pytest.fixture
def settings(server, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_KEY_FILMS", f"{server[0].url} {KEY}")
    return {"address": f"{server[0].url}/films", "key": "HOPSCOPE_KEY_FILMS"}


def excerpt_around(settings, name, **bounds):
    return LiveDatabase("films", LiveSettings(**settings, **bounds)).fetch_graph(
        *([name] if "?" in name else ["", [name]])
    )


@pytest.mark.parametrize(
    "asked, called",
    [
        ("Big", "Big"),
        ("bIG", "Big"),
        ("fox", "fox"),
        ("who acted in Big?", "Big"),
        ("what is made by FOX?", "fox"),
    ],
)
def test_node_is_found_by_its_naming_property(settings, asked, called):
    assert excerpt_around(settings, asked).fetched.starts == (called,)


def test_unnamed_node_is_found_by_its_id(settings):
    near = excerpt_around(settings, "fox", hops=1)
    nameless = next(name for name in near.names(range(near.n_nodes)) if name not in ("fox", "Big"))
    assert excerpt_around(settings, nameless, hops=1).fetched.starts == (nameless,)
    assert excerpt_around(settings, f"Any ({nameless})", hops=1).fetched.starts == (nameless,)


def test_hops_follow_both_directions(settings):
    assert excerpt_around(settings, "Tom <b>Hanks</b>", hops=1).triple_texts([0]) == [
        "Tom <b>Hanks</b> -> ACTED_IN -> Big"
    ]
    near = excerpt_around(settings, "fox", hops=1)
    assert near.n_edges == 2 and near.fetched.sentences[0].startswith(
        "Asked live: 2 triples within 1 hop of fox"
    )


def test_wide_excerpt_equals_the_copy(server, settings, tmp_path):
    file = copy_graph(server[0], tmp_path, CopyLimits(), KEY)
    triples = list(file.read())
    copy, near = (
        build_in_memory(triples, "films", "both", file.attributes),
        excerpt_around(settings, "Big", hops=6),
    )
    assert near.digest == copy.digest and near.columns.digest == copy.columns.digest


def test_hub_is_cut_with_a_note(settings):
    near = excerpt_around(settings, "Big", hops=2, edges=1)
    assert near.n_edges == 1 and "1 edges are the most that are fetched" in near.fetched.text


def test_older_servers_have_another_id_function(settings, monkeypatch):
    monkeypatch.setattr(bolt, "ID_FUNCTION", "idOfTheFuture")
    assert excerpt_around(settings, "Big", hops=6).n_edges == 3


@pytest.mark.parametrize("name", ["Nobody", "x' OR 1=1 //", "\\"])
def test_missing_node_is_a_readable_error(settings, name):
    with pytest.raises(UnknownEntity, match="was not found by its name"):
        LiveDatabase("films", LiveSettings(**settings)).fetch_graph("", [name])


def test_wrong_key_and_dead_database_are_readable_errors(server, settings, monkeypatch):
    asked = LiveDatabase("films", LiveSettings(**settings))
    monkeypatch.setenv("HOPSCOPE_KEY_FILMS", f"{server[0].url} root:wrong-word")
    with pytest.raises(BadInput, match="wants a name and password") as refused:
        asked.fetch_graph("", ["Big"])
    assert "wrong-word" not in str(refused.value)
    server[1].kill()
    server[1].wait()
    with pytest.raises(BadInput, match="cannot be reached, or broke off"):
        asked.fetch_graph("", ["Big"])
