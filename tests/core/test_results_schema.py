"""Comparisons keep to the schema of `ask --json`.

It is a schema, and what is printed of comparisons on triples and on documents keeps to it.
"""

from __future__ import annotations

import json

import pytest

from core.cli import main
from core.io.home import ROOT

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
SCHEMA = json.loads((ROOT / "core" / "results.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def asked(capsys, *arguments: str) -> dict:
    main(["ask", *arguments, "--no-llm", "--json"])
    return json.loads(capsys.readouterr().out)


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_comparison_on_triples_keeps_to_it(capsys):
    lines = (
        "EgoNetwork(hops=1) >> ShortestPaths(hops=1) >> Answer()",
        "EgoNetwork(hops=1) >> ShortestPaths(hops=1) >> Rank(model='no-such')",
    )
    found = asked(
        capsys,
        "who directed Inception",
        *(f"--method={line}" for line in lines),
        "--answer",
        "Christopher Nolan",
        "--influence",
    )
    assert [lane["status"] for lane in found["lanes"]] == ["done", "failed"] and found["lanes"][0][
        "funnel"
    ]
    VALIDATOR.validate(found)


def test_a_comparison_on_documents_keeps_to_it(capsys):
    found = asked(
        capsys,
        "Who is Scrooge's nephew?",
        "--corpus",
        "christmas-carol",
        "--method",
        "bm25",
        "--gold",
        "stave-1",
    )
    assert found["corpus"] == "christmas-carol" and found["lanes"][0]["hits"]["chunk"]
    VALIDATOR.validate(found)


def test_it_refuses_what_is_none():
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate({"question": "who?", "lanes": []})
