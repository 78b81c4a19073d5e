"""The command `build` with the address of a database instead of a file."""

from __future__ import annotations

import pytest

from core.cli import main
from core.databases.limits import CopyLimits
from core.errors import BadInput
from core.graph.store import Graph
from tests.core.databases.endpoint import endpoint
from tests.core.databases.test_sparql import FILMS, chain


@pytest.fixture
def served():
    with endpoint() as one:
        yield one


def test_a_graph_is_built(served, tmp_path, capsys):
    served.load(FILMS)
    assert (
        main(
            [
                "build",
                f"sparql+{served.url}",
                "--out",
                str(tmp_path / "g"),
                "--literals",
                "leave-out",
                "--drop-relations",
                "year*",
            ]
        )
        == 0
    )
    assert Graph.open(tmp_path / "g").triple_texts([0, 1]) == [
        "Inception -> directed by -> Christopher Nolan",
        "f2 -> directed by -> Christopher Nolan",
    ]
    said = capsys.readouterr().out
    assert (
        "3 entities, 2 triples, 1 relations" in said and "2 triples copied from 127.0.0.1" in said
    )


def test_a_dry_run_copies_a_little_and_builds_nothing(served, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("core.commands.build.DRY_RUN_COPIED_TRIPLES", 20)
    served.load(chain(40))
    assert main(["build", served.url, "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert (
        said.count(" -> next -> ") == 10
        and "20 of 40 triples copied" in said
        and not list(tmp_path.iterdir())
    )


@pytest.mark.parametrize(
    "options, said",
    [
        (["--format", "turtle", "--out", "g"], "copied from one database"),
        (["more.tsv", "--out", "g"], "copied from one database"),
        ([], "Name the folder of the graph"),
        (["--query", "DROP ALL", "--out", "g"], "SELECT of three variables"),
        (["--key", "HOME", "--out", "g"], "only HOPSCOPE_KEY_"),
        (["--language", "<x>", "--out", "g"], "tag of a language"),
    ],
)
def test_unsuitable_options_give_an_error_sentence(
    served, tmp_path, capsys, monkeypatch, options, said
):
    monkeypatch.chdir(tmp_path)
    assert main(["build", served.url, *options]) != 0
    assert said in capsys.readouterr().err and not served.queries


def test_a_copy_of_no_triples_is_refused(served, capsys):
    with pytest.raises(SystemExit):
        main(["build", served.url, "--limit", "0", "--out", "g"])
    assert "a whole number of at least 1, not “0”" in capsys.readouterr().err and not served.queries
    with pytest.raises(BadInput, match="At least one triple"):
        CopyLimits(triples=0)


def test_a_password_in_an_address_is_refused_and_not_repeated(tmp_path, capsys):
    assert (
        main(["build", "bolt://ann:secret-word@localhost:7687", "--out", str(tmp_path / "g")]) != 0
    )
    err = capsys.readouterr().err
    assert "holds no name and no password" in err and "secret-word" not in err
