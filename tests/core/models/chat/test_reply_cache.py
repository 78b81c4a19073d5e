"""Replies that are reused from memory or disk, and disks that cannot be used."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from core.evaluation.runs.row import without_caches
from core.models.base import ChatReply
from core.models.chat.client import ChatClient, ChatRequest
from core.models.chat.saved_replies import SavedReplies
from core.runtime.meter import metered
from core.types import Question, State, Step

ASK = [{"role": "user", "content": "Who?"}]


class CountingClient(ChatClient):
    """A client that counts its requests and repeats itself where a seed is given."""

    def __init__(self, kept=None, weights="weights"):
        super().__init__("scripted", 100)
        self.asked = 0
        if kept:
            self.save_replies_to(kept, weights)

    def _write_reply(self, request, collector, watch):
        self.asked += 1
        collector.add("so it goes on and " * 8 if request.seed else f"Reply {self.asked}.")
        collector.tokens_in, collector.tokens_out = 5, 3


@pytest.fixture
def kept(tmp_path):
    return SavedReplies(tmp_path / "replies.sqlite")


def test_reply_of_a_lane_is_saved(kept):
    first, heard = CountingClient(kept), []
    told = first.reply(ASK)
    later = CountingClient(SavedReplies(kept.file))
    again = later.reply(ASK, on_text=heard.append)
    assert (again.text, again.tokens_in, again.cached, later.asked) == (
        "Reply 1.",
        5,
        True,
        0,
    ) and not told.cached
    assert heard == ["Reply 1."]
    assert CountingClient(kept, "other weights").reply(ASK).cached is False


def test_repeating_reply_is_saved_with_its_text(kept):
    told = CountingClient(kept).reply(ASK, seed=1)
    again = CountingClient(kept).reply(ASK, seed=1)
    assert told.finish == "repeat" and told.words > 0 and again == replace(told, cached=True)


def test_saved_seconds_are_reported_and_counted_by_cold_runs(kept):
    kept.save(key_of(ASK), "", ChatReply("Ann", 5, 1, seconds=2.5))
    chat = CountingClient(kept)
    chat.forget()  # This clears the memory alone, not the disk.
    with metered() as meter:
        assert chat.reply(ASK).text == "Ann" and chat.reply(ASK).text == "Ann"
    assert (meter.saved_seconds, chat.asked) == (2.5, 0)
    state = State(
        Question("Who?"), trace=(Step("Answer", "generate", {}, 0.5, saved=meter.saved_seconds),)
    )
    assert [(step.seconds, step.saved) for step in without_caches(state).trace] == [(3.0, 0.0)]


def test_replies_of_lanes_do_not_measure_builds(kept):
    CountingClient(kept).reply(ASK)
    assert kept.mean_cost("weights") is None


def test_older_file_format_is_still_used(kept):
    with sqlite3.connect(kept.file) as base:
        base.execute(
            "create table replies (key text primary key, model text not null, text text not null, "
            "tokens_in integer not null, tokens_out integer not null, finish text not null, "
            "seconds real not null) without rowid"
        )
        base.execute(
            "insert into replies values (?, 'm', 'Ann', 5, 1, 'stop', 1.0)", (key_of(ASK),)
        )
    assert CountingClient(kept).reply(ASK).text == "Ann"
    assert CountingClient(kept).reply(ASK, seed=1).words > 0


def test_unusable_file_costs_no_answer(kept, caplog):
    kept.file.write_bytes(b"no database at all, " * 100)
    assert CountingClient(kept).reply(ASK).text == "Reply 1."
    assert "Kept replies were not read" in caplog.text and "was not kept" in caplog.text


def key_of(messages):
    return ChatRequest(tuple(messages), None, 256, 0, 0.0).key("weights")
