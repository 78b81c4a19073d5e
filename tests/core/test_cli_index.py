"""`hopscope index` makes, lists and deletes vectors.

It tells of a limit or an unknown kind.
"""

import pytest

from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.engine import Engine
from core.graph.building.build import build
from tests.films import TRIPLES, Bag
from tests.notes import NoteWith
from tests.real_models import registry


@pytest.fixture
def films(tmp_path, monkeypatch):
    """The films graph in a folder of its own, and an engine whose encoder counts words."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("core.models.registry.Registry.encoder", lambda self, name="encoder": Bag())
    engine = Engine(registry())
    monkeypatch.setattr("core.cli._make_engine", lambda: engine)
    return build(TRIPLES, tmp_path / "films", "films", "both")


def test_vectors_are_made_listed_and_deleted(films, capsys):
    graph = ["--graph", str(films.folder)]
    assert main(["index", "vectors", *graph, "--of", "triples"]) == EXIT_OK
    told = capsys.readouterr().out.splitlines()
    assert told[0] == NoteWith("5 triples of films", 512, "faiss SQfp16")
    assert told[1].startswith("Its last build encoded 5 and took 0 from an earlier content, in ")
    assert main(["index", "list", *graph]) == EXIT_OK
    listed = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert (
        "ready" in listed["vectors-triples"]
        and "5 of 5 triples" in listed["vectors-triples"]
        and "not built" in listed["vectors-nodes"]
    )
    assert main(["index", "delete", "vectors-triples", *graph]) == EXIT_OK
    assert capsys.readouterr().out == NoteWith("triples of films", "deleted")
    assert main(["index", "list", *graph]) == EXIT_OK and "ready" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "wrong, told",
    [
        (["vectors", "--limit", "4"], "--of nodes --limit 5"),
        (["vectors", "--workers", "-1"], "at least 0, not -1"),
        (["delete", "vectors-node"], "Did you mean “vectors-nodes”"),
    ],
)
def test_what_cannot_be_is_told(films, capsys, wrong, told):
    assert (
        main(["index", *wrong, "--graph", str(films.folder)]) == EXIT_WRONG_INPUT
        and told in capsys.readouterr().err
    )
