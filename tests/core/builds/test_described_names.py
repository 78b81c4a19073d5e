"""Names found by a parser and described by a language model with fixed replies."""

from __future__ import annotations

import json

import pytest

from core.builds.base import BuildContext
from core.builds.extract.described_names import DescribedNames
from tests.core.builds.test_language_model import ChatModels

CAROL = "Ebenezer Scrooge and Jacob Marley were partners in London. Marley died on Christmas Eve."


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


def describe_text(say, text=CAROL, **how):
    models = ChatModels(say)
    ctx = BuildContext(models)
    ((_, facts),) = DescribedNames(**how).extract_facts([text], ctx)
    return facts, models.writer.asked


def reply(links=(), **about):
    return {"about": {"Ebenezer Scrooge": "A partner in London.", **about}, "links": list(links)}


def test_names_come_from_the_parser_and_descriptions_from_the_model():
    facts, asked = describe_text(
        lambda *_: reply([["Ebenezer Scrooge", "was  partner of", "Jacob Marley", "Business"]])
    )
    told = {entity.name: entity.description for entity in facts.entities}
    assert (
        told["Ebenezer Scrooge"] == "A partner in London."
        and told["Jacob Marley"] == ""
        and "London" in told
    )
    (relation,) = facts.relations
    assert (relation.head, relation.name, relation.tail) == (
        "Ebenezer Scrooge",
        "was partner of",
        "Jacob Marley",
    )
    assert (
        relation.description == "Ebenezer Scrooge was partner of Jacob Marley"
        and relation.keywords == "business"
    )
    assert len(asked) == 1 and CAROL in asked[0] and '"Jacob Marley"' in asked[0]


@pytest.mark.parametrize(
    "text", ["I cannot.", "[]", '{"about": []}', '{"about": {}, "links": 3}', '{"about": {"Eb']
)
def test_a_reply_that_cannot_be_read_leaves_the_names(text):
    facts, _ = describe_text(lambda *_: text)
    assert (
        facts.unreadable == 1
        and not facts.relations
        and "Jacob Marley" in [entity.name for entity in facts.entities]
    )


@pytest.mark.parametrize(
    "link",
    [
        ["Ebenezer Scrooge", "is", "Ebenezer Scrooge", "self"],
        ["Ebenezer Scrooge", "met", "Bob Cratchit", "work"],  # Bob Cratchit is not in the text.
        ["Ebenezer Scrooge", "Jacob Marley"],
        "Ebenezer Scrooge met Jacob Marley",
        ["Ebenezer Scrooge", 3, "Jacob Marley", ""],
    ],
)
def test_an_invalid_link_is_left_out_and_counted(link):
    facts, _ = describe_text(lambda *_: reply([link]))
    itself = link[0] == link[2] if len(link) == 4 else False
    assert not facts.relations and facts.dropped == len(facts.notes) == (not itself)


def test_a_link_without_a_keyword_in_a_code_fence_is_read():
    told = json.dumps({"links": [["Ebenezer Scrooge", "met", "Jacob Marley"]]})
    facts, _ = describe_text(lambda *_: f"Here:\n```json\n{told}\n```")
    assert [(one.name, one.keywords) for one in facts.relations] == [
        ("met", "")
    ] and not facts.notes


def test_a_pair_is_linked_once_in_any_direction():
    links = [
        ["Ebenezer Scrooge", "partner of", "Jacob Marley", "firm"],
        ["Jacob Marley", "partner of", "Ebenezer Scrooge", "firm"],
    ]
    assert len(describe_text(lambda *_: reply(links))[0].relations) == 1


def test_the_reply_schema_has_each_name_once():
    schema = DescribedNames(links=2)._schema(["Ann", "Bob"])
    assert schema["properties"]["about"]["required"] == ["Ann", "Bob"]
    ends = schema["properties"]["links"]["items"]["prefixItems"]
    assert (
        ends[0] == ends[2] == {"enum": ["Ann", "Bob"]}
        and schema["properties"]["links"]["maxItems"] == 2
    )


def test_a_text_without_names_causes_no_call():
    facts, asked = describe_text(lambda *_: json.dumps(reply()), "It was so, and then it was not.")
    assert not facts.entities and not asked


def test_braces_and_markup_are_text():
    text = "Ebenezer Scrooge wrote {names} and <script>alert(1)</script> to Jacob Marley."
    _, asked = describe_text(lambda *_: reply(), text)
    assert asked[0].endswith(text)


def test_each_chunk_causes_one_call():
    calls = []
    models = ChatModels(lambda *_: calls.append(1) or reply())
    for _ in range(2):
        list(DescribedNames().extract_facts([CAROL], BuildContext(models)))
    assert len(calls) == 1
