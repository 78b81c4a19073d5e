"""Repair of the JSON in replies, and its running time."""

from __future__ import annotations

import time

import pytest

from core.models.chat.json_reply import JsonReply, json_reply


@pytest.mark.parametrize("again", ['"\\', '{"a": "\\"', ",", ', "', '["'])
def test_parsing_time_is_linear(again):
    begun = time.process_time()
    json_reply('{"names": "' + again * 30_000, ["other"])
    # Linear time takes a tenth of this bound; quadratic time takes a minute.
    assert time.process_time() - begun < 2


def test_unclosed_quote_leaves_no_trailing_comma():
    assert json_reply('5" tall: {"names": ["Ann", true,],}', ["names"]) == JsonReply(
        {"names": ["Ann", True]}
    )
    assert json_reply('{"names": ["Ann, ]", true,],}', ["names"]) == JsonReply(
        {"names": ["Ann, ]", True]}
    )
