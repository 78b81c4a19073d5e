"""A home that cannot be written is still listed and asked. It is said what cannot be saved."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from core.builds.fact_store import FactStore
from core.cases.examples import EXAMPLE_FOLDER
from core.cases.file import CASES_EXTENSION
from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.datasets import open_graph
from core.environment import Environment
from core.evaluation.runs.store import Store, evaluations_file
from core.indexes.chains import chain_index
from core.indexes.index_state import index_stamp, index_states, leftovers
from core.io.home import ROOT
from core.models.base import ChatReply
from core.models.chat.saved_replies import SavedReplies
from core.models.registry import Registry
from tests.films import Bag
from tests.unwritable import WAYS, home_on_a_disk

CASES = next(iter(sorted(EXAMPLE_FOLDER.glob(f"*{CASES_EXTENSION}"))))
LINE = "EgoNetwork() >> ShortestPaths()"


SETUP = """
import sys
from core.cli import main
from core.graph.building.build import build
from core.io.home import home_folder
from core.models.base import REPLY
from core.models.chat.saved_replies import SavedReplies

cases, questions, line = sys.argv[1:]
build([("Two", "directed_by", "Ann"), ("One", "directed_by", "Ann"), ("One", "has_genre", "Drama")], home_folder() / "graphs" / "mine", "mine")
SavedReplies().save("a", "m", REPLY("words", 1, 1))
code = main(["cases", "import", cases])
sys.exit(code or main(["evaluate", "--set", questions, "--graph", "mine", "--methods", line, "--no-llm"]))
""".replace("REPLY", ChatReply.__name__)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder with a filled home and a file of questions.

    The home holds a graph, saved cases, an evaluation and a reply. The process that made them has
    let go of them.
    """
    folder = tmp_path_factory.mktemp("filled")
    (folder / "q.csv").write_text("question,answers,entities\nwho directed One,Ann,One\n")
    environment = os.environ | {"HOPSCOPE_HOME": str(folder / "home")}
    line = [sys.executable, "-c", SETUP, str(CASES), str(folder / "q.csv"), LINE]
    subprocess.run(line, env=environment, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(params=WAYS)
def place(request, filled, tmp_path, monkeypatch):
    """The filled home on a disk that cannot be written."""
    with home_on_a_disk(tmp_path / "disk") as found:
        shutil.copytree(filled / "home", found.folder, dirs_exist_ok=True)
        shutil.copy(filled / "q.csv", tmp_path / "q.csv")
        monkeypatch.setenv("HOPSCOPE_HOME", str(found.folder))
        found.close(request.param)
        yield found


def test_saved_cases_are_listed_and_none_is_added(place, capsys):
    assert main(["cases", "list"]) == EXIT_OK
    out = capsys.readouterr()
    assert out.err.startswith("hopscope: Nothing can be saved: ") and len(out.out.splitlines()) > 3
    assert not all(line.startswith("example-") for line in out.out.splitlines())
    others = sorted(EXAMPLE_FOLDER.glob(f"*{CASES_EXTENSION}"))[-1]
    assert (
        main(["cases", "import", str(others)]) == EXIT_WRONG_INPUT
        and "hopscope: Nothing can be saved: " in capsys.readouterr().err
    )


def test_a_question_is_asked_and_answered(place, capsys):
    for line in (LINE, "ChainRanking(steps=2) >> Answer()"):
        assert (
            main(["ask", "who directed One", "--graph", "mine", "--no-llm", "--method", line])
            == EXIT_OK
        )
        out = capsys.readouterr()
        assert "Ann" in out.out and out.err.startswith("hopscope: Nothing can be saved: ")


def test_evaluations_are_read_and_none_is_begun(place, tmp_path, capsys):
    (run,) = Store(evaluations_file()).runs()
    assert run.done == 1 and len(Store(evaluations_file()).rows(run.id)) == 1
    line = [
        "evaluate",
        "--set",
        str(tmp_path / "q.csv"),
        "--graph",
        "mine",
        "--methods",
        LINE,
        "--no-llm",
        "--again",
    ]
    assert (
        main(line) == EXIT_WRONG_INPUT
        and "hopscope: Nothing can be saved: " in capsys.readouterr().err
    )


def test_what_is_kept_to_save_time_is_read_and_not_written(place):
    replies, facts = SavedReplies(), FactStore()
    replies.save("b", "m", ChatReply("more", 1, 1))
    assert (
        replies.find("a").text == "words" and replies.find("b") is None and facts.load([b"k"]) == {}
    )


def test_indexes_are_listed_and_made_in_memory(place):
    graph, encoder = open_graph("mine"), Bag()
    assert index_stamp(graph, Environment(models=Registry()))[1] == () and leftovers(graph) == []
    assert all(one.saved == () for one in index_states(graph, Environment(models=Registry())))
    index = chain_index(graph, encoder, 2)
    assert len(index) and chain_index(graph, encoder, 2) is index


def test_what_is_new_is_refused_with_the_reason(place, tmp_path, capsys):
    for line in (
        ["questions", str(tmp_path / "q.csv"), "--graph", "mine", "--name", "asked"],
        ["corpus", "add", str(tmp_path / "q.csv"), "--name", "texts", "--columns", "text=question"],
        [
            "build",
            str(tmp_path / "q.csv"),
            "--columns",
            "1,2,3",
            "--out",
            str(place.folder / "graphs" / "new"),
        ],
    ):
        assert main(line) == EXIT_WRONG_INPUT
        error = capsys.readouterr().err
        assert (
            error.startswith("hopscope: Nothing can be saved: ")
            and error.count("hopscope: ") >= 2
            and "Traceback" not in error
        )
