"""Invalid texts of lines always give a readable error message."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.builds.registry import BUILD_GRAMMAR
from core.errors import BadParameter
from core.methods.catalogue import catalogue
from core.operators.text import parse_line

LINES = sorted(repr(method.line) for method in catalogue().values())
PIECES = st.sampled_from(
    [
        "(",
        ")",
        ">>",
        "=",
        ",",
        "[]",
        "{[]:1}",
        "{{}:1}",
        "'",
        '"',
        "\\ud800",
        "\x00",
        "**",
        "1e999",
        "²",
        "None",
        "lambda: 0",
    ]
)


@pytest.mark.parametrize(
    "text",
    [
        "PersonalizedPageRank(keep={[]:1})",
        "Answer(prompt={{}:1})",
        "BuiltGraph(build='rkg\\ud800')",
        "EgoNetwork(hops=1, hops=2)",
        "EgoNetwork(hops=10**9999)",
        "Branch(on='hops', arms={[]: 1}, otherwise=1)",
        "(" * 9000,
    ],
)
def test_known_bad_texts_give_readable_errors(text):
    with pytest.raises(BadParameter):
        parse_line(text)


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_changed_line_parses_or_gives_a_readable_error(data):
    text = data.draw(st.sampled_from(LINES))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = (
            text[:at]
            + data.draw(PIECES | st.text(max_size=3))
            + text[at + data.draw(st.integers(0, 6)) :]
        )
    only_sentences(parse_line, text)


@settings(max_examples=500, deadline=None)
@given(
    st.text(max_size=80)
    | st.lists(
        PIECES | st.sampled_from(["EgoNetwork", "Answer", "Branch", "Loop"]), max_size=12
    ).map("".join)
)
def test_any_text_parses_or_gives_a_readable_error(text):
    only_sentences(parse_line, text)
    only_sentences(BUILD_GRAMMAR.parse, text)


def only_sentences(parse, text):
    try:
        line = parse(text)
    except BadParameter as error:
        assert str(error)
    else:
        assert parse(repr(line)) == line  # An accepted line can be parsed again from its own text.
