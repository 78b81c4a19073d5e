"""Grammars that accept exactly a list of texts, with shared prefixes written once.

A real model is held to such a grammar.
"""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.models.chat.grammar import choice_grammar, trie_rules


def schema(*texts, name="path"):
    return {
        "type": "object",
        "properties": {name: {"type": "string", "enum": list(texts)}},
        "required": [name],
    }


def sentences(rules, name="t"):
    """Every sentence of a grammar without loops, by an independent parser."""
    known = dict(line.split(" ::= ", 1) for line in rules.split("\n"))

    def of(rule):
        for alternative in re.findall(r'"((?:[^"\\]|\\.)*)"(?: ([\w-]+))?', known[rule]):
            literal = re.sub(r"\\(.)", r"\1", alternative[0])
            for rest in of(alternative[1]) if alternative[1] else ("",):
                yield literal + rest

    return list(of(name))


def test_shared_prefixes_are_written_once():
    rules = trie_rules(["A -> r -> B", "A -> r -> C", "A -> s -> B", "A -> s"], "t")
    assert rules.splitlines() == [
        't ::= "A -> " t-1',
        't-1 ::= "r -> " t-2 | "s" t-3',
        't-3 ::= "" | " -> B"',
        't-2 ::= "B" | "C"',
    ]


@given(st.lists(st.text(max_size=8), min_size=1, max_size=12))
def test_grammar_accepts_exactly_the_texts(texts):
    # The parser above splits the grammar into lines.
    plain = [re.sub(r"\s", "_", text) for text in texts]
    assert sorted(sentences(trie_rules(plain, "t"))) == sorted(set(plain))


@given(st.lists(st.text(max_size=8), min_size=1, max_size=8))
def test_each_sentence_fits_the_schema(texts):
    rules = choice_grammar(schema(*texts)).split("\n")
    assert rules[0] == 'root ::= "{\\"path\\": " text "}"'
    told = sentences("\n".join(rules[1:]), "text")
    assert sorted(json.loads(text) for text in told) == sorted(set(texts))


@pytest.mark.parametrize(
    "other",
    [
        None,
        {"type": "object", "properties": {"choices": {"type": "array"}}, "required": ["choices"]},
        {
            "type": "object",
            "properties": {"a": {"enum": ["x"]}, "b": {"enum": ["y"]}},
            "required": ["a", "b"],
        },
        {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"enum": ["x"]}}},
    ],
)
def test_other_schemas_have_no_grammar(other):
    assert choice_grammar(other) is None


def test_real_model_writes_one_of_the_texts(qwen):
    paths = [f'Night "Ferry" {i} -> directed_by -> Åke {i}' for i in range(300)]
    ask = [{"role": "user", "content": 'Who directed Night "Ferry" 217? Write the path as JSON.'}]
    told = json.loads(qwen.reply(ask, schema=schema(*paths), max_tokens=40).text)
    assert told == {"path": paths[217]}
