"""Repair of the JSON in replies, and its running time."""

from __future__ import annotations

import pytest

from core.models.chat.json_reply import JsonReply, json_reply
from tests.timing import growth


@pytest.mark.parametrize("again", ['"\\', '{"a": "\\"', ",", ', "', '["'])
def test_parsing_time_is_linear(again):
    read = lambda times: json_reply('{"names": "' + again * times, ["other"])
    # Eight times as much text; quadratic time is 64 times as long.
    assert growth(lambda: read(4_000), lambda: read(32_000), tries=3) < 24


def test_unclosed_quote_leaves_no_trailing_comma():
    assert json_reply('5" tall: {"names": ["Ann", true,],}', ["names"]) == JsonReply(
        {"names": ["Ann", True]}
    )
    assert json_reply('{"names": ["Ann, ]", true,],}', ["names"]) == JsonReply(
        {"names": ["Ann, ]", True]}
    )
