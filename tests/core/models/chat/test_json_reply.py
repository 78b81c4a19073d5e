"""Repair of the JSON in replies, and its running time."""

from __future__ import annotations

import pytest

from core.models.chat.json_reply import JsonReply, json_reply
from tests.timing import is_linear


@pytest.mark.parametrize("again", ['"\\', '{"a": "\\"', ",", ', "', '["'])
def test_parsing_time_is_linear(again):
    assert is_linear(lambda times: json_reply('{"names": "' + again * times, ["other"]), 32_000)


def test_unclosed_quote_leaves_no_trailing_comma():
    assert json_reply('5" tall: {"names": ["Ann", true,],}', ["names"]) == JsonReply(
        {"names": ["Ann", True]}
    )
    assert json_reply('{"names": ["Ann, ]", true,],}', ["names"]) == JsonReply(
        {"names": ["Ann, ]", True]}
    )
