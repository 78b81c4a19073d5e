"""Replies saved on disk, and replies that are stopped when they repeat objects."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.errors import BadInput, ModelUnavailable, StoreError
from core.models.base import ChatReply
from core.models.chat.lanes import ObjectRepeatCollector, make_concurrent_chat
from core.models.chat.llama import LlamaChat
from core.models.chat.saved_replies import CachedChat, SavedReplies, write_shipped

ASK = [{"role": "user", "content": "Who?"}]


class CountingParrot:
    context = 100

    def __init__(self):
        self.asked = 0

    def reply(self, messages, **_):
        self.asked += 1
        return ChatReply(f"Reply {self.asked}.", 3, 2, seconds=1.5)

    def count_tokens(self, messages):
        return 1


@pytest.fixture
def kept(tmp_path):
    return SavedReplies(tmp_path / "replies.sqlite")


def test_reply_is_saved_by_weights(kept):
    parrot, heard = CountingParrot(), []
    chat = CachedChat(lambda: parrot, "weights", kept)
    assert chat.reply(ASK).text == "Reply 1." and not chat.reply(ASK, seed=1).cached
    again = CachedChat(lambda: parrot, "weights", SavedReplies(kept.file)).reply(
        ASK, on_text=heard.append
    )
    assert (again.text, again.cached, again.seconds, heard) == ("Reply 1.", True, 1.5, ["Reply 1."])
    assert CachedChat(lambda: parrot, "other", kept).reply(ASK).text == "Reply 3."
    assert kept.mean_cost("weights") == (1.5, 3.0, 2.0) and kept.mean_cost("nobody") is None


def test_parallel_replies_are_saved_with_shared_time(kept):
    """Two concurrent replies of 1.5 seconds each take 1.5 seconds of wall-clock time, not 3."""
    both = threading.Barrier(2)

    class SimultaneousParrot(CountingParrot):
        def reply(self, messages, **how):
            both.wait()
            time.sleep(0.2)
            found = super().reply(messages)
            both.wait()
            return found

    def both_ready():
        # The lookup of saved replies takes long on a busy disk, so both requests meet here first.
        both.wait()
        return SimultaneousParrot()

    chat = CachedChat(both_ready, "weights", kept)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda seed: chat.reply(ASK, seed=seed), range(2)))
    assert sum(reply.seconds for reply in found) == pytest.approx(1.5, rel=0.1)


def test_model_is_loaded_only_for_missing_replies(kept):
    def absent():
        raise ModelUnavailable("It is not here.")

    CachedChat(CountingParrot, "weights", kept).reply(ASK)
    chat = CachedChat(absent, "weights", kept)
    assert chat.reply(ASK).text == "Reply 1." and chat.count_tokens(ASK) > 0
    with pytest.raises(ModelUnavailable):
        chat.reply(ASK, max_tokens=3)


def test_own_replies_precede_shipped_ones(kept, tmp_path):
    parrot = CountingParrot()
    chat = CachedChat(lambda: parrot, "weights", kept)
    chat.reply(ASK)
    (key,) = chat.used_keys
    shipped = tmp_path / "shipped.jsonl.gz"
    write_shipped(shipped, [(key, ChatReply("Shipped.", 1, 1))])
    both = SavedReplies(kept.file, [shipped, tmp_path / "absent.jsonl.gz"])
    assert (
        both.find(key).text == "Reply 1."
        and SavedReplies(tmp_path / "empty.sqlite", [shipped]).find(key).text == "Shipped."
    )
    assert SavedReplies(tmp_path / "empty.sqlite", [shipped]).find("other") is None


def test_damaged_file_is_a_readable_error(tmp_path):
    (tmp_path / "replies.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match="remove that file"):
        SavedReplies(tmp_path / "replies.sqlite").find("key")
    (tmp_path / "shipped.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(BadInput, match="shipped.jsonl.gz"):
        SavedReplies(tmp_path / "own.sqlite", [tmp_path / "shipped.jsonl.gz"]).find("key")


def test_two_writers_lose_no_reply(kept):
    other = sqlite3.connect(kept.file)
    kept.save("a", "m", ChatReply("A"))
    SavedReplies(kept.file).save("b", "m", ChatReply("B"))
    assert (kept.find("a").text, kept.find("b").text) == ("A", "B")
    other.close()


def collector(schema=True):
    return ObjectRepeatCollector(10, None, {"type": "object"} if schema else None, None)


def test_reply_stops_at_the_third_repeated_object():
    same = [{"source": "a", "target": 'b}"', "description": str(i)} for i in range(5)]
    text = json.dumps({"entities": [{"name": "a", "type": "t"}], "relations": same})
    one = collector()
    stopped = [one.add(character) for character in text].index(True)
    assert text[: stopped + 1].count('"description"') == 3
    whole = collector()
    assert whole.add(text) and whole.make_reply(1.0).finish == "repeat"


def test_different_objects_are_not_stopped():
    one = collector()
    assert not one.add(json.dumps([{"source": "a", "target": str(i)} for i in range(50)]))
    one.finish = "stop"
    assert one.make_reply(1.0).finish == "stop"


def test_only_the_embedded_model_has_parallel_lanes(tmp_path):
    parrot = CountingParrot()
    assert make_concurrent_chat(parrot, 4) is parrot
    lanes = make_concurrent_chat(LlamaChat(tmp_path / "no.gguf", "m", 512), 3)
    assert (lanes.max_concurrent, lanes.context, lanes.loaded) == (3, 512, False)
    with pytest.raises(ModelUnavailable):
        lanes.reply(ASK)


def test_many_replies_are_found_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("core.io.rows.KEYS_PER_QUERY", 2)
    write_shipped(
        tmp_path / "shipped.jsonl.gz", [("a", ChatReply("shipped")), ("d", ChatReply("shipped"))]
    )
    replies = SavedReplies(tmp_path / "replies.sqlite", [tmp_path / "shipped.jsonl.gz"])
    for key in ("a", "b", "c"):
        replies.save(key, "m", ChatReply(f"kept {key}"))
    found = replies.find_all(dict.fromkeys("abcde", 0))
    assert {key: reply.text for key, reply in found.items()} == {
        "a": "kept a",
        "b": "kept b",
        "c": "kept c",
        "d": "shipped",
    }
    assert (
        all(reply.cached and reply == replies.find(key) for key, reply in found.items())
        and replies.find_all({}) == {}
    )
