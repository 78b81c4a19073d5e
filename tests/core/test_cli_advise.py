"""`corpus advise` on the command line: killed in the middle, taken up again, and shown once more."""

from __future__ import annotations

import json
import signal
import sys

import pytest

from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.corpus import new_folder, open_corpus, write_corpus
from core.evaluation.advice.advice_state import load_advice
from core.evaluation.runs.store import Store
from tests.core.evaluation.advice.kit import documents
from tests.core.evaluation.runs.test_runner import started

COMMAND = [
    sys.executable,
    "-m",
    "core",
    "corpus",
    "advise",
    "coast",
    "--questions",
    "names",
    "--minutes",
    "1",
]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    write_corpus(new_folder("coast"), documents(), "The coast")
    return tmp_path


def test_killed_in_the_middle_it_goes_on_with_the_same_questions(home, capsys):
    """After kill -9 among the first answers, the same command asks the same questions.

    What was answered stays as it was.
    """
    process = started(COMMAND, home, 5)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    stopped, asked = (
        load_advice(open_corpus("coast")),
        open_corpus("coast").questions("coast-made"),
    )
    store = Store(home / "evaluations.sqlite")
    early = {(row.method, row.question.id): row.outcome for row in store.rows(stopped.run)}
    assert not stopped.done and 5 <= len(early) < 7 * stopped.size
    assert main([*COMMAND[3:], "--json"]) == EXIT_OK
    printed = capsys.readouterr()
    found, advice = json.loads(printed.out).values()
    late = {(row.method, row.question.id): row.outcome for row in store.rows(advice["run"])}
    assert (
        advice["done"]
        and advice["run"] == stopped.run
        and open_corpus("coast").questions("coast-made") == asked
    )
    assert len(late) == 7 * advice["size"] and all(
        late[pair] == outcome for pair, outcome in early.items()
    )
    assert (
        found["needed"] in ("no", "partly", "yes") and "no language model is asked" in printed.err
    )
    assert main(COMMAND[3:]) == EXIT_OK  # nothing is left to do
    out = capsys.readouterr().out
    assert (
        out.splitlines()[0] == found["headline"]
        and "These are made questions, not yours" in out
        and "coast-made" in out
    )


def test_what_cannot_be_is_a_sentence(home, capsys):
    assert main(["corpus", "advise", "nowhere"]) == EXIT_WRONG_INPUT
    assert "There is no corpus “nowhere”" in capsys.readouterr().err
    assert main(["corpus", "advise", "coast", "--minutes", "0"]) == EXIT_WRONG_INPUT
    assert "1 to 1,440 minutes, not 0" in capsys.readouterr().err
