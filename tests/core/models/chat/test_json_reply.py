"""Repair of the JSON in replies, and its running time."""

from __future__ import annotations

import time

import pytest

from core.models.chat.json_reply import JsonReply, json_reply


@pytest.mark.parametrize("again", ['"\\', '{"a": "\\"', ",", ', "', '["'])
def test_reading_takes_time_in_proportion_to_the_reply(again):
    begun = time.process_time()
    json_reply('{"names": "' + again * 30_000, ["other"])
    # Linear time takes a tenth of this bound; quadratic time takes a minute.
    assert time.process_time() - begun < 2


def test_a_quote_without_an_end_leaves_no_comma_behind_it():
    assert json_reply('5" tall: {"names": ["Ann", true,],}', ["names"]) == JsonReply(
        {"names": ["Ann", True]}
    )
    assert json_reply('{"names": ["Ann, ]", true,],}', ["names"]) == JsonReply(
        {"names": ["Ann, ]", True]}
    )
