"""Expected content of the importers' examples, the same for all of a kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.importing import IMPORTERS, Importer, ReadFile
from core.io.home import ROOT

EXAMPLES = ROOT / "data/formats"
KEYS = [key for key, one in IMPORTERS.items() if one.example]
TRIPLES = [("Anna", "sails", "The Gull"), ("The Gull", "built in", "Turku")]
TEXT = "Anna sails The Gull, which was built in Turku."
QUESTION, ANSWER, DOCUMENT = "Where was The Gull built?", "Turku", "gull"
WITHOUT_RELATIONS = ("graph/edges", "graph/pajek")
WITHOUT_ANSWERS = ("questions/queries", "questions/topics")


def example(key: str) -> Path:
    """Path of an importer's example."""
    return EXAMPLES / IMPORTERS[key].example


TEXTS = [key for key in KEYS if example(key).suffix not in (".zip", ".parquet", ".arrow")]
PACKED = [key for key in TEXTS if b"\0" not in example(key).read_bytes() and "cases" not in key]

OF_THEIR_OWN = (  # Formats that state or fix their encoding.
    *("ntriples", "turtle", "nquads", "trig", "rdfxml", "n3", "graphml", "gexf", "nodes"),
    *("pdf", "eml"),
)
RECODED = [key for key in PACKED if not key.endswith(OF_THEIR_OWN) and not key.startswith("set")]
SLOW = ("html", "epub", "eml", "ipynb")  # Files of these formats are read in a separate process.
IN_PROCESS = [key for key in PACKED if not key.endswith(SLOW)]


def check(one: Importer, found: ReadFile) -> None:
    """Assert that the items are those of the examples of this kind."""
    CHECKS[one.kind](one.key, list(found.items))
    assert found.words


def _graph(key: str, items: list[Any]) -> None:
    links = [(head, "connected_to", tail) for head, _, tail in TRIPLES]
    assert sorted(items) == sorted(links if key in WITHOUT_RELATIONS else TRIPLES)


def _documents(key: str, items: list[Any]) -> None:
    assert TEXT in items[0].text


def _questions(key: str, items: list[Any]) -> None:
    (question,) = items
    assert question.text == QUESTION
    assert question.answers == (() if key in WITHOUT_ANSWERS else (ANSWER,)) or key.endswith("text")


def _run(key: str, items: list[Any]) -> None:
    (row,) = items
    assert QUESTION == row.question or row.id == "q1"
    assert row.answer == ANSWER or row.documents[0].id == DOCUMENT


def _index(key: str, items: list[Any]) -> None:
    counts = dict(items)
    assert counts["documents"] and counts["chunks"] and counts["entities"] and counts["relations"]


def _cases(key: str, items: list[Any]) -> None:
    (case,) = items
    assert case.question and case.methods


CHECKS = {
    "graph": _graph,
    "documents": _documents,
    "set": _documents,
    "questions": _questions,
    "run": _run,
    "index": _index,
    "cases": _cases,
}
