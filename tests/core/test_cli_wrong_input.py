"""Wrong input of a person is refused with a sentence and the exit code 2.

It is refused before anything takes its time.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from core import cli
from core.__main__ import begin
from core.cli import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_WRONG_INPUT, main
from core.io.home import ROOT
from tests.notes import NoteWith

NOBODY = pytest.fail  # a command that asked for an engine would have begun


def code_of(arguments: list[str]) -> object:
    """The exit code of a command, whoever ends it."""
    try:
        return main(arguments, lambda: NOBODY("it began"))
    except SystemExit as ended:
        return ended.code


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "line, said",
    [
        ("build nothing.tsv --dry-run", "nothing.tsv cannot be read: No such file"),
        ("build nothing.tsv --out graph", "nothing.tsv cannot be read: No such file"),
        ("build triples.tsv --out graph --limit -1", "a whole number of at least 1, not “-1”"),
        (
            "questions nothing.csv --graph nations --name mine",
            "nothing.csv cannot be read: No such file",
        ),
        ("questions . --graph nations --name mine", "cannot be read: Is a directory"),
        ("questions bad.json --graph nations --name mine", "bad.json, line 1: not JSON"),
        ("cases demo --out nowhere/cases.json", "nowhere/cases.json cannot be written"),
        ("cases study --out nowhere/cases.json", "nowhere/cases.json cannot be written"),
        ("judge 99999999999999999999", "There is no evaluation number 99999999999999999999."),
        ("judge 1 --html nowhere/page.html", "nowhere/page.html cannot be written"),
        ("serve --port 99999", "a whole number from 1 to 65535, not “99999”"),
        ("mcp --http -1", "a whole number from 1 to 65535, not “-1”"),
        ("run --port 0", "a whole number from 1 to 65535, not “0”"),
        ("demo --port x", "a whole number from 1 to 65535, not “x”"),
        ("ask Who --seed -1", "a whole number of at least 0, not “-1”"),
        ("evaluate --set metaqa-2hop-dev --seed ½", "a whole number of at least 0, not “½”"),
        ("finetune encoder --epochs 0", "a whole number of at least 1, not “0”"),
        ("finetune reranker --epochs -1", "a whole number of at least 0, not “-1”"),
        ("corpus build christmas-carol --lanes 0", "a whole number of at least 1, not “0”"),
        (
            "corpus write-questions christmas-carol --users 0",
            "a whole number of at least 1, not “0”",
        ),
    ],
)
def test_wrong_input_is_said_in_a_sentence(line, said, tmp_path, capsys):
    (tmp_path / "bad.json").write_text('{"question": [1,')
    (tmp_path / "triples.tsv").write_text("Ann\tknows\tBob\n")
    assert code_of(line.split(" ")) == EXIT_WRONG_INPUT
    printed = capsys.readouterr()
    assert (
        said in printed.err.replace(f"{tmp_path}/", "")
        and "Traceback" not in printed.err
        and not printed.out
    )


def test_an_interruption_while_a_command_is_loaded_is_one_sentence(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "parser", interrupted)
    monkeypatch.setattr("core.io.home.keep_private", lambda: None)  # both are for the whole process
    monkeypatch.setattr("core.sharing.set_person_source", lambda who: None)
    assert begin() == EXIT_INTERRUPTED and capsys.readouterr().err == "hopscope: Interrupted.\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is full")
def test_output_onto_a_full_disk_is_one_sentence():
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "core", "cases", "list"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (ended.returncode, ended.stderr) == (EXIT_FAILED, NoteWith("hopscope", "disk is full"))
