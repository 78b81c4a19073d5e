"""Addresses of databases: valid ones, forbidden parts, and hosts that may be used."""

from __future__ import annotations

import pytest

from core.databases.address import BOLT, SPARQL, address_of
from core.errors import BadInput, BadParameter, ModelUnavailable
from core.models.api_keys import save_key


@pytest.mark.parametrize(
    "text, kind, url, database",
    [
        ("sparql+https://x.org/sparql/", SPARQL, "https://x.org/sparql", ""),
        (" http://localhost:7878/query", SPARQL, "http://localhost:7878/query", ""),
        ("bolt://localhost:7687", BOLT, "bolt://localhost:7687", ""),
        ("neo4j+s://x.org/films", BOLT, "neo4j+s://x.org", "films"),
    ],
)
def test_addresses(text, kind, url, database):
    found = address_of(text)
    assert (found.kind, found.url, found.database) == (kind, url, database)


@pytest.mark.parametrize(
    "text, said",
    [
        ("bolt://ann:secret-word@localhost", "holds no name and no password"),
        ("https://secret-word@x.org/sparql", "holds no name and no password"),
        ("ftp://x.org", "A database is named as"),
        ("bolts://x.org", "bolt"),
        ("sparql+bolt://x.org", "A database is named as"),
        ("bolt://", "names no host"),
        ("bolt://ann:secret-word@x.org:port", "is no address"),
        ("https://[x", "is no address"),
    ],
)
def test_invalid_addresses_are_refused(text, said):
    with pytest.raises(BadInput, match=said) as refused:
        address_of(text)
    assert "secret-word" not in str(refused.value)


def test_a_shared_hopscope_restricts_hosts(monkeypatch):
    monkeypatch.setenv("HOPSCOPE_SHARED", "1")
    assert address_of("bolt://localhost:7687").kind == BOLT
    for text in ("bolt://10.0.0.5:7687", "https://query.wikidata.org/sparql"):
        with pytest.raises(BadParameter, match="this computer alone"):
            address_of(text)
    with pytest.raises(BadInput, match="use bolt://"):
        address_of("neo4j://localhost:7687")
    monkeypatch.setenv("HOPSCOPE_ALLOWED_HOSTS", "query.wikidata.org,graphs:7687")
    assert (
        address_of("https://query.wikidata.org/sparql").kind == SPARQL
        and address_of("bolt://graphs:7687").kind == BOLT
    )
    with pytest.raises(BadParameter, match="HOPSCOPE_ALLOWED_HOSTS"):
        address_of("bolt://graphs:7688")


def test_a_key_is_for_one_address(monkeypatch, tmp_path):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.setenv("HOPSCOPE_KEY_MINE", "bolt://localhost:7687 neo4j:secret-word")
    assert address_of("bolt://localhost:7687/films").key("HOPSCOPE_KEY_MINE") == "neo4j:secret-word"
    with pytest.raises(ModelUnavailable, match="for another address") as refused:
        address_of("bolt://other:7687").key("HOPSCOPE_KEY_MINE")
    assert "secret-word" not in str(refused.value)
    save_key("bolt://graphs:7687", "neo4j:typed-word")
    assert (
        address_of("bolt://graphs:7687").key() == "neo4j:typed-word"
        and address_of("bolt://other:7687").key() == ""
    )
