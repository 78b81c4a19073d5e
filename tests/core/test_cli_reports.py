"""`hopscope reports`: whose reports are written, what is said, and going on after a stop."""

import json

import pytest

from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.engine import Engine
from core.graph.algorithms import igraph_library
from core.graph.building.build import build
from core.models.base import ChatReply
from tests.films import TRIPLES, Written
from tests.notes import NoteWith


class ReportWriter:
    """Writes the same report each time; after `most` reports a person presses Ctrl-C."""

    context = 4096

    def __init__(self):
        self.written, self.most = 0, 99

    def reply(self, messages, **_):
        if self.written == self.most:
            raise KeyboardInterrupt
        self.written += 1
        return ChatReply(json.dumps({"title": "t", "summary": "s", "findings": []}), 1, 1)


@pytest.fixture
def films(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    graph, writer = build(TRIPLES, tmp_path / "films", "films", "both"), ReportWriter()
    engine = Engine(Written(writer))
    monkeypatch.setattr("core.cli._make_engine", lambda: engine)
    return graph, writer


def test_the_reports_of_named_entities_and_then_of_all(films, capsys):
    graph, writer = films
    told = ["--graph", str(graph.folder)]
    # one community
    assert (
        main(["reports", *told, "--entity", "One", "--entity", "Drama"]) == EXIT_OK
        and writer.written == 1
    )
    assert capsys.readouterr().out == NoteWith("1 reports", "0 were there", 2, "films")
    assert main(["reports", *told, "--all"]) == EXIT_OK and writer.written == 2
    assert capsys.readouterr().out == NoteWith("1 reports", "1 were there", 2, "films")


def test_communities_without_igraph_are_named(films, capsys, monkeypatch):
    graph, _ = films
    for is_there in (True, False):
        monkeypatch.setattr(igraph_library, "has_igraph", lambda: is_there)  # noqa: B023
        assert main(["reports", "--graph", str(graph.folder), "--entity", "One"]) == EXIT_OK
        assert (igraph_library.WITHOUT_IGRAPH_NOTE in capsys.readouterr().err) is not is_there


def test_ctrl_c_keeps_what_was_written(films, capsys):
    graph, writer = films
    writer.most = 1
    assert main(["reports", "--graph", str(graph.folder), "--all"]) == 130
    writer.most = 99
    assert (
        main(["reports", "--graph", str(graph.folder), "--all"]) == EXIT_OK and writer.written == 2
    )
    assert "1 reports written, 1 were there" in capsys.readouterr().out


def test_the_entities_of_a_question_file(films, tmp_path):
    graph, writer = films
    file = tmp_path / "asked.txt"
    file.write_text(
        "what genre is [One]\tDrama\nwho directed [Drama]\tAnn\nwhen was [Two] released\t1999\n",
        "utf-8",
    )
    assert (
        main(["reports", "--graph", str(graph.folder), "--set", str(file)]) == EXIT_OK
        and writer.written == 2
    )


@pytest.mark.parametrize(
    "wrong, told",
    [
        ([], "Say whose reports"),
        (["--all", "--size", "1"], "at least 2"),
        (["--entity", "Nobody"], "is not in the graph"),
    ],
)
def test_wrong_input_is_told(films, capsys, wrong, told):
    assert (
        main(["reports", "--graph", str(films[0].folder), *wrong]) == EXIT_WRONG_INPUT
        and told in capsys.readouterr().err
    )
