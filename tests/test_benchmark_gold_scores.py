"""The scores of extraction beside a gold, worked out by hand on two chunks."""

from __future__ import annotations

import json

import pytest

from core.errors import BadInput
from tests.benchmarks.gold import Counts, Found, Gold, read_gold, scored

ROW = {
    "corpus": "made",
    "id": "made-1",
    "half": "dev",
    "text": "Amy Hood, CFO of Microsoft (MSFT), spoke in May 1999. Hood praised Azure.",
    "entities": [
        {"name": "Amy Hood", "type": "person", "mentions": ["Amy Hood", "Hood"]},
        {"name": "Microsoft", "type": "organisation", "mentions": ["Microsoft", "MSFT"]},
        {"name": "Azure", "type": "product", "mentions": ["Azure"]},
        {"name": "May 1999", "type": "date", "mentions": ["May 1999"]},
    ],
    "relations": [
        {"head": "Amy Hood", "label": "CFO of", "tail": "Microsoft"},
        {"head": "Amy Hood", "label": "praised", "tail": "Azure"},
    ],
}
GOLD = Gold.read(json.dumps(ROW))


def test_what_is_found_whole_scores_one():
    names = {"Amy Hood": "amy", "Hood": "amy", "Microsoft": "ms", "MSFT": "ms", "Azure": "azure"}
    relations = [("amy", "CFO of", "ms"), ("amy", "praises", "azure")]
    found = Found(names, {"amy": "person", "ms": "organisation", "azure": "product"}, relations)
    shares = scored(GOLD, found).shares()
    ones = (
        "precision",
        "recall",
        "precision, lenient",
        "recall, lenient",
        "types",
        "relation precision",
        "relation recall",
        "direction",
        "label",
    )
    assert {name: shares[name] for name in ones} == dict.fromkeys(ones, 1.0)
    assert (
        shares["entities"],
        shares["merges"],
        shares["wrong merges"],
        shares["missed merges"],
    ) == (3, 2, 0.0, 0.0)


def test_wrong_and_missed_ones_are_counted():
    names = {
        "Hood": "hood",
        "Amy Hood": "amy",
        "CFO": "amy",
        "the Microsoft": "ms",
        "new Azure": "azure",
        "May 1999": "date",
    }
    relations = [("ms", "appears with", "hood"), ("hood", "knows", "azure")]
    shares = scored(
        GOLD, Found(names, {"amy": "person", "ms": "place", "date": "concept"}, relations)
    ).shares()
    assert shares["entities"] == 4  # the date of the gold is counted on neither side
    # hood, amy and ms of four; Azure is missed
    assert (shares["precision"], shares["recall"]) == (3 / 4, 2 / 3)
    # new Azure ends with Azure
    assert (shares["precision, lenient"], shares["recall, lenient"]) == (1.0, 1.0)
    # CFO with her; Hood without
    assert (shares["merges"], shares["wrong merges"], shares["missed merges"]) == (1, 1.0, 1.0)
    assert (
        shares["relation precision"],
        shares["relation recall"],
        shares["direction"],
        shares["label"],
    ) == (1.0, 1.0, 0.5, 0.0)
    assert shares["types"] == 0.5


def test_nothing_found_is_no_failure():
    shares = scored(GOLD, Found({}, {}, [])).shares()
    assert shares["recall"] == 0.0 and shares["precision"] != shares["precision"]  # nan: of nothing


def test_counts_add_up():
    both = Counts(found=1, right=1)
    both.add(Counts(found=3))
    assert both.shares()["precision"] == 0.25


def test_a_half_without_chunks_is_refused(tmp_path):
    (tmp_path / "made.jsonl").write_text(f"{json.dumps(ROW)}\n\n", "utf-8")
    assert (
        [one.id for one in read_gold(tmp_path, "dev")]
        == ["made-1"]
        == [one.id for one in read_gold(tmp_path, "both")]
    )
    with pytest.raises(BadInput, match="no chunk of the half “test”"):
        read_gold(tmp_path, "test")
