"""The benchmark runs beside other programs, and ours is at work on a few passages.

The tests look at what the others are replied to, and what is counted.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import pytest

from core.builds.extract.model_replies import EXTRACTION_SCHEMAS, parse_lists
from core.builds.group.reports import read_report, report_schema
from tests.benchmarks import peers
from tests.peers.instant import END, LIGHT, NANO, Instant

FACTS: dict[str, Any] = {
    "Ann (0)": [
        [["Ann", "person", "She cooks."], ["Rome", "place", "A city."]],
        [["Ann", "Rome", "lives", "Ann lives in Rome."]],
    ]
}


def said(text):
    """A prompt of one message."""
    return [{"role": "user", "content": text}]


def test_each_program_is_replied_to_in_its_own_form_with_the_same_facts():
    replies = Instant(FACTS)
    ours = parse_lists(
        replies(said("Text: Ann (0)\nAnn lives in Rome."), EXTRACTION_SCHEMAS["rkg"]),
        EXTRACTION_SCHEMAS["rkg"],
    )
    assert (
        ours is not None
        and ours.is_whole
        and [one["name"] for one in ours.lists["entities"]] == ["Ann", "Rome"]
    )
    assert ours.lists["relations"] == [
        {
            "source": "Ann",
            "target": "Rome",
            "description": "Ann lives in Rome.",
            "keywords": "lives",
        }
    ]
    rows = replies(said(f"Fields by {LIGHT}\n```\nAnn (0)\nAnn lives in Rome.\n```")).split("\n")
    assert rows[0] == LIGHT.join(["entity", "Ann", "person", "She cooks."]) and rows[-1] == END
    assert rows[2] == LIGHT.join(["relation", "Ann", "Rome", "lives", "Ann lives in Rome."])
    nano = replies(said(f"Fields by {NANO}\nText: Ann (0)\nAnn lives in Rome."))
    assert nano == (
        '("entity"<|>Ann<|>person<|>She cooks.)##("entity"<|>Rome<|>place<|>A city.)##'
        '("relationship"<|>Ann<|>Rome<|>Ann lives in Rome.<|>1)<|COMPLETE|>'
    )


def test_a_report_keywords_and_what_is_unknown_are_replied_to_as_well():
    replies = Instant(FACTS)
    report = read_report(replies(said("Entities:"), report_schema(500)))
    assert report is not None and report.title == "A group"
    asked: dict[str, Any] = {"properties": {"high": {}, "low": {}}}
    assert json.loads(replies(said("Question: Where does Ann live now?\nKeywords:"), asked)) == {
        "high": ["does", "live"],
        "low": ["Ann"],
    }
    assert json.loads(replies(said("IMPACT SEVERITY RATING"), None))["rating"] == 5.0
    assert replies(said("Sum this up.")).startswith("What is said of it")


def test_medians_are_of_a_question_each_and_a_program_without_a_step_says_so():
    row = lambda seconds: {"processor": seconds, "clock": 2 * seconds, "encoded": ["a"], "calls": 3}
    built = {**row(1.0), "nodes": 2, "edges": 1}
    one = lambda seconds: {
        "rows": {"build": built, "ask": row(seconds)},
        "memory": 10,
        "version": "1",
    }
    runs = [one(3.0), one(9.0), one(6.0)]
    found = peers.medians(runs, "ask", 4)
    assert found is not None and (found["processor"], found["clock"], found["least"]) == (
        2.0,
        4.0,
        1.0,
    )
    assert peers.medians(runs, "delete", 4) is None
    options = argparse.Namespace(passages=400, encoder=False)
    lines = list(peers.table({"hopscope, rich graph": runs, "lightrag-hku": runs}, options, 4))
    assert any("5 deleted" in line and "has no such function" in line for line in lines)
    assert any("a question" in line and "1.00 of hopscope, rich graph" in line for line in lines)


@pytest.mark.parametrize("name", peers.OURS)
def test_ours_takes_all_steps_on_a_few_passages(name, tmp_path, monkeypatch):
    facts = {f"Ann ({number})": FACTS["Ann (0)"] for number in range(12)}
    documents = [
        [f"d{number}", f"{key}\nAnn lives in Rome since {1900 + number}."]
        for number, key in enumerate(facts)
    ]
    known = {
        "start": documents[10:],
        "base": documents[:6],
        "added": documents[6:8],
        "facts": facts,
        "removed": ["d5"],
    }
    known |= {
        "changed": [["d0", documents[8][1]]],
        "questions": ["Where does Ann live?", "Who lives in Rome?"],
    }
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    peers.ours(name, known, "", str(tmp_path / "out.json"))
    out = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert (
        list(out["rows"]) == list(peers.STEPS)
        and out["rows"]["build"]["nodes"] == 2
        and out["rows"]["build"]["edges"] == 1
    )
    calls = {step: row["calls"] for step, row in out["rows"].items()}
    assert calls["build"] >= 6 and calls["add"] >= 2 and calls["change"] >= 1


def test_programs_that_are_not_installed_are_said_to_be_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(peers, "PEERS", tmp_path / "python")
    with pytest.raises(SystemExit):
        peers.main(["--only", "nano-graphrag"])
    assert "make test-peers" in capsys.readouterr().err
    assert sys.modules.get("nano_graphrag") is None
