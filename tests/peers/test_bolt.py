"""Graphs copied over Bolt from a real database, ArcadeDB.

`make test-peers` installs it; Neo4j itself is in no package registry.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from core.databases import bolt
from core.databases.address import address_of
from core.databases.graph_copy import copy_graph
from core.databases.limits import CopyLimits
from core.errors import BadInput

PYTHON = Path(os.environ.get("HOPSCOPE_PEERS", ".venv-peers")) / "bin" / "python"
PASSWORD = "secret-word-1"
KEY = f"root:{PASSWORD}"
FILMS = """CREATE (tom:Person {name: 'Tom <b>Hanks</b>', born: 1956}),
(big:Movie:Comedy {title: 'Big', embedding: [0.1, 0.2], summary: 'A boy'}),
(tom)-[:ACTED_IN {role: 'Josh', description: 'as a boy'}]->(big), (coded:Studio {code: 'fox'}), (big)-[:MADE_BY]->(coded),
(coded)-[:NEAR]->(:Studio)"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of the films database, and its server process."""
    neo4j = pytest.importorskip("neo4j", reason="the driver of Bolt is not installed")
    with_it = (
        PYTHON.exists()
        and subprocess.run(
            [PYTHON, "-c", "import arcadedb_embedded"], capture_output=True
        ).returncode
        == 0
    )
    if not with_it:
        pytest.skip("needs arcadedb-embedded, which make test-peers installs")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("bolt")
    program = Path(__file__).with_name("bolt_server.py").absolute()
    command = [str(PYTHON.absolute()), str(program), str(folder), str(port), PASSWORD]
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert any(line.endswith("ready\n") for line in process.stdout)
        url = f"bolt://127.0.0.1:{port}"
        with (
            neo4j.GraphDatabase.driver(url, auth=("root", PASSWORD)) as driver,
            driver.session(database="films") as session,
        ):
            session.run(FILMS).consume()
        yield address_of(f"{url}/films"), process
    finally:
        process.kill()
        process.wait()


def read(server, tmp_path, limits=None, key=KEY, **how):
    file = copy_graph(server[0], tmp_path, limits or CopyLimits(), key, **how)
    triples = list(file.read())
    return triples, file.tally.sentences(), file.attributes


def test_nodes_have_names_types_and_descriptions(server, tmp_path):
    triples, notes, attributes = read(server, tmp_path)
    assert len(triples) == 3 and {
        ("Tom <b>Hanks</b>", "ACTED_IN", "Big"),
        ("Big", "MADE_BY", "fox"),
    } < set(triples)
    assert notes[0] == f"3 relationships and 4 nodes copied from {server[0].title}."
    assert "1 without a label, name or title: called by the property code." in notes
    assert any(
        note.startswith("Properties of nodes that were not copied:")
        and "embedding" in note
        and "born" in note
        for note in notes
    )
    assert (
        attributes.nodes["Big"]["description"] == "A boy"
        and "Comedy" in attributes.nodes["Big"]["type"]
    )


def test_limit_bounds_the_copy(server, tmp_path):
    triples, notes, _ = read(server, tmp_path, CopyLimits(2))
    assert len(triples) == 2 and notes[0].startswith("2 of 3 relationships and")


def test_query_can_return_paths(server, tmp_path):
    assert read(server, tmp_path, query="MATCH p=(:Person)-[*1..2]->() RETURN p")[0] == [
        ("Tom <b>Hanks</b>", "ACTED_IN", "Big"),
        ("Big", "MADE_BY", "fox"),
    ]


def test_query_changes_nothing(server, tmp_path):
    read(server, tmp_path, query="CREATE (:New)-[r:MADE]->(:New) RETURN r")
    with pytest.raises(BadInput, match="gives no relationships for this query"):
        read(server, tmp_path, query="MATCH (:New)-[r]->() RETURN r")


@pytest.mark.parametrize(
    "how, said",
    [
        ({"key": ""}, "wants a name and password"),
        ({"key": "root:wrong-word"}, "wants a name and password"),
        ({"query": "MATCHH (n)"}, "refuses the query: "),
        ({"query": "MATCH (n) RETURN n"}, "has to return relationships or paths"),
    ],
)
def test_refusal_is_a_readable_error(server, tmp_path, how, said):
    with pytest.raises(BadInput, match=said) as refused:
        read(server, tmp_path, **how)
    assert "word-1" not in str(refused.value) and "wrong-word" not in str(refused.value)


def test_older_servers_have_another_id_function(server, tmp_path, monkeypatch):
    monkeypatch.setattr(bolt, "ID_FUNCTION", "idOfTheFuture")
    assert len(read(server, tmp_path)[0]) == 3


def test_bytes_are_bounded(server, tmp_path):
    with pytest.raises(BadInput, match="sent more than"):
        read(server, tmp_path, CopyLimits(size=100))


def test_server_that_dies_during_a_copy_is_reported(server, tmp_path, monkeypatch):
    """This is the last test: the server is killed between relationships and nodes."""
    number = bolt._write_nodes

    def killed(*given):
        os.kill(server[1].pid, signal.SIGKILL)
        server[1].wait()
        return number(*given)

    monkeypatch.setattr(bolt, "_write_nodes", killed)
    with pytest.raises(BadInput, match="cannot be reached, or broke off"):
        read(server, tmp_path)
