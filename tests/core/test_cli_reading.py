"""Readers asked again on the command line: `ask --reading`, and `evaluate --reading` under a cap."""

from __future__ import annotations

import json

import pytest

from core.cli import EXIT_OK, main
from core.engine import Engine
from core.errors import ModelFailed
from core.graph.building.build import build
from core.runtime.account import charge
from core.types import Usage
from tests.core.diagnosis.test_reading import MISLED, RANKED, SCORES, Rules
from tests.films import TRIPLES, Parrot, Table, Written

WITHOUT_MODEL = RANKED.replace(" >> Answer()", "")


@pytest.fixture
def tell(tmp_path, monkeypatch, capsys):
    """`tell(chat, *arguments)`: exit code, output and errors of a command on the films."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    build(TRIPLES, tmp_path / "home" / "graphs" / "films", "films")
    engines = []

    def run(chat, *arguments):
        engine = Engine(Written(chat, encoder=Table(SCORES)))
        engines.append(engine)
        code = main([*arguments, "--graph", "films"], lambda: engine)
        out = capsys.readouterr()
        return code, out.out, out.err

    yield run
    for engine in engines:
        engine.evaluations.stop()
        engine.jobs.stop()


def asked(line, answer="1999"):
    question = ("ask", "when was Two released", "--entity", "Two", "--answer", answer)
    return (*question, "--method", line, "--reading")


def test_the_answers_of_a_model_are_printed_with_their_contexts_and_the_repair(tell):
    """The first two of three paths are enough, as the third misleads the model."""
    code, out, err = tell(Rules(*MISLED), *asked(RANKED))
    assert code == EXIT_OK and "8 calls" in err  # seven are made, at most two repairs are tried
    lines = [line.split() for line in out.splitlines() if " tokens  " in line]
    truths = [words[words.index("tokens") - 2] for words in lines]
    assert truths == ["wrong", "wrong", "wrong", "right", "right", "wrong", "right"]
    assert "Lost in reading: the evidence is in the prompt, 1st of 3 paths" in out
    assert "  Keep 2 paths → right: " in out and "paths=2" in out


def test_the_object_has_the_answers_and_the_repair(tell):
    code, out, _ = tell(Rules(*MISLED), *asked(RANKED), "--json")
    reading = json.loads(out)["lanes"][0]["reading"]
    counts = [reading[key] for key in ("by", "items", "evidence", "needed", "missing")]
    assert code == EXIT_OK and counts == ["model", 3, [1], 1, 0]
    assert [(one["context"], one["right"], one["items"]) for one in reading["answers"]] == [
        ("as retrieved", False, 3),
        ("nothing", False, 0),
        ("in reverse order", False, 3),
        ("the first half", True, 2),
        ("the evidence alone", True, 1),
        ("without the 2nd", False, 2),
        ("without the 3rd", True, 2),
    ]
    assert all(one["tokens"] and not one["fault"] for one in reading["answers"])
    assert "paths=2" in reading["repair"]


def test_without_a_model_no_tokens_are_printed(tell):
    code, out, err = tell(None, *asked(WITHOUT_MODEL), "--no-llm")
    assert code == EXIT_OK and "  Read right." in out and "calls" not in err
    assert "tokens" not in out and "    nothing              wrong" in out
    (lane,) = json.loads(tell(None, *asked(WITHOUT_MODEL), "--no-llm", "--json")[1])["lanes"]
    assert lane["reading"]["by"] == "reader" and lane["reading"]["repair"] == ""
    assert {one["tokens"] for one in lane["reading"]["answers"]} == {0}


def test_what_cannot_be_asked_again_and_a_model_that_fails_are_said(tell):
    code, out, err = tell(Parrot("Ann"), *asked("Answer(prompt='question-only')"))
    assert code == EXIT_OK and "its prompt shows no path" in err and "as retrieved" not in out

    class FailingParrot(Parrot):
        def reply(self, messages, **how):
            if "no path was found" in messages[-1]["content"]:
                raise ModelFailed("It went away.")
            return super().reply(messages, **how)

    code, out, err = tell(FailingParrot("Ann", 4096), *asked(RANKED), "--json")
    assert code == EXIT_OK and "It went away." in err
    assert "reading" not in json.loads(out)["lanes"][0]


class ChargedParrot(Parrot):
    """A model whose calls cost 100 tokens."""

    def reply(self, messages, **how):
        charge("answer", Usage(1, 90, 10))
        return super().reply(messages, **how)


def test_readings_of_an_evaluation_stop_at_its_cap_and_the_shares_are_printed(tell, tmp_path):
    """Two answers cost 200 tokens, and a question read again may cost 200 more."""
    rows = [("One", "Drama"), ("Two", "1999")]
    text = "".join(f"{name},about {name},{answer},{name}\n" for name, answer in rows)
    (tmp_path / "q.csv").write_text(f"id,question,answers,entities\n{text}", "utf-8")
    command = ("evaluate", "--set", str(tmp_path / "q.csv"), "--methods", RANKED, "--reading")
    chat = ChargedParrot("Drama", 4096)
    code, out, err = tell(chat, *command, "--cap", "350 tokens", "--json")
    (shares,) = json.loads(out)["reading"]
    assert code != EXIT_OK and "200 of 350 tokens" in err and "0 of 2 questions" in err
    assert (shares["n"], shares["known"]["n"], len(chat.asked)) == (2, 0, 2)
    code, out, _ = tell(chat, *command, "--cap", "100000 tokens", "--json")
    (shares,) = json.loads(out)["reading"]
    assert code == EXIT_OK and (shares["known"]["n"], len(chat.asked)) == (2, 6)
