"""The gold of entities and relations holds what its guidelines promise.

Its two passes agree as its README says.
"""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.benchmarks.gold_agreement import agreement, passes
from tests.benchmarks.gold_chunks import sentences

GOLD = Path(__file__).parent / "benchmarks" / "gold"
CORPORA = ("hotpotqa", "medical", "carol", "transcripts")
TYPES = {
    "person",
    "organisation",
    "place",
    "work",
    "event",
    "product",
    "concept",
    "date",
    "number",
    "group",
}
ARTICLES = re.compile(r"(?:the|an?) [a-z]")


def chunks(corpus: str) -> list[dict]:
    return [json.loads(line) for line in (GOLD / f"{corpus}.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("corpus", CORPORA)
def test_fifty_chunks_in_two_halves(corpus):
    rows = chunks(corpus)
    assert [row["id"] for row in rows] == [f"{corpus}-{at:02d}" for at in range(1, 51)]
    assert [row["half"] for row in rows] == ["dev", "test"] * 25
    assert {row["corpus"] for row in rows} == {corpus}
    assert len({row["text"] for row in rows}) == 50
    assert all(60 <= len(row["text"].split()) <= 140 for row in rows)


@pytest.mark.parametrize("corpus", CORPORA)
def test_mentions_are_in_the_text_word_for_word(corpus):
    for row in chunks(corpus):
        for entity in row["entities"]:
            assert entity["mentions"], (row["id"], entity)
            for mention in entity["mentions"]:
                assert re.search(rf"(?<!\w){re.escape(mention)}(?!\w)", row["text"]), (
                    row["id"],
                    mention,
                )
                assert not ARTICLES.match(mention), (row["id"], mention)


@pytest.mark.parametrize("corpus", CORPORA)
def test_a_form_belongs_to_one_entity(corpus):
    for row in chunks(corpus):
        names = Counter(entity["name"].casefold() for entity in row["entities"])
        forms = Counter(mention for entity in row["entities"] for mention in entity["mentions"])
        assert names.most_common(1)[0][1] == forms.most_common(1)[0][1] == 1, row["id"]
        assert {entity["type"] for entity in row["entities"]} <= TYPES


@pytest.mark.parametrize("corpus", CORPORA)
def test_relations_join_two_entities_of_the_chunk(corpus):
    for row in chunks(corpus):
        names = {entity["name"] for entity in row["entities"]}
        drawn = [
            tuple(relation[key] for key in ("head", "label", "tail"))
            for relation in row["relations"]
        ]
        assert len(set(drawn)) == len(drawn), row["id"]
        for head, label, tail in drawn:
            assert head in names and tail in names and head != tail and label.strip(), (
                row["id"],
                head,
                label,
                tail,
            )


@pytest.mark.parametrize("corpus", CORPORA)
def test_a_fact_hangs_on_each_date_and_number(corpus):
    for row in chunks(corpus):
        joined = {relation[end] for relation in row["relations"] for end in ("head", "tail")}
        assert {
            entity["name"] for entity in row["entities"] if entity["type"] in ("date", "number")
        } <= joined, row["id"]


def test_the_readme_says_how_much_there_is():
    rows = [row for corpus in CORPORA for row in chunks(corpus)]
    said = re.search(
        r"([\d,]+) entities and ([\d,]+) relations", (GOLD / "README.md").read_text("utf-8")
    )
    assert said.groups() == tuple(
        f"{sum(len(row[part]) for row in rows):,}" for part in ("entities", "relations")
    )


def test_sentences_join_to_the_text_and_do_not_end_at_a_title():
    text = "Mr. Scrooge met J. Marley. 'Humbug!' he said. It was 1843."
    assert sentences(text) == ["Mr. Scrooge met J. Marley. ", "'Humbug!' he said. ", "It was 1843."]


def test_agreement_worked_out_by_hand():
    """Three entities are in both passes, of four in one and three in the other.

    One of the three has other mentions, and one is of another type. One of two pairs is in both,
    turned.
    """
    one = {
        "id": "x",
        "entities": [
            {"name": "Ed Wood", "type": "person", "mentions": ["Ed Wood", "Wood"]},
            {"name": "Glen or Glenda", "type": "work", "mentions": ["Glen or Glenda"]},
            {"name": "Hollywood", "type": "place", "mentions": ["Hollywood"]},
            {"name": "1953", "type": "date", "mentions": ["1953"]},
        ],
        "relations": [
            {"head": "Ed Wood", "label": "made", "tail": "Glen or Glenda"},
            {"head": "Glen or Glenda", "label": "in", "tail": "1953"},
        ],
    }
    two = {
        "id": "x",
        "entities": [
            {"name": "Wood", "type": "person", "mentions": ["Wood"]},
            {"name": "Glen or Glenda", "type": "work", "mentions": ["Glen or Glenda"]},
            {"name": "Hollywood", "type": "concept", "mentions": ["Hollywood"]},
        ],
        "relations": [{"head": "Glen or Glenda", "label": "by", "tail": "Wood"}],
    }
    expected = {
        "entities": 6 / 7,
        "mentions": 4 / 7,
        "types": 2 / 3,
        "relations": 2 / 3,
        "directions": 0.0,
    }
    assert agreement([one], [two]) == pytest.approx(expected)
    assert agreement([one], [one]) == dict.fromkeys(expected, 1.0)


def test_the_readme_says_how_far_two_passes_agree():
    first, second = passes()
    assert len(first) == len(second) == 20
    said = re.findall(
        r"^\| (\w+)[^|]*\| (\.\d\d) \|$", (GOLD / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert dict(said) == {
        name: f"{value:.2f}".removeprefix("0") for name, value in agreement(first, second).items()
    }
