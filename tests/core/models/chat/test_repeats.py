"""Repeating replies are stopped at the same place, however the stream is split.

Lists whose entries differ are left alone.
"""

from __future__ import annotations

import itertools
import json

import pytest

from core.errors import RunCancelled
from core.models.chat.openai import OpenAIChat
from core.models.chat.repeats import RepeatDetector
from core.watch import Watch
from tests.core.models.test_chat import serving

FILMS = (
    "War, Drama, War and Peace, War Horse, The War, War Games, War of the Worlds, Drama, War, "
    "Peace, War, War Room, War Dogs"
)


def detect_repeats(text: str, size: int = 1) -> RepeatDetector:
    """The detector after `text` was added in pieces of `size` until it stopped the reply."""
    repeats = RepeatDetector()
    for start in range(0, len(text), size):
        if repeats.add(text[start : start + size]):
            break
    else:
        repeats.end()
    return repeats


@pytest.mark.parametrize(
    "text, kept",
    [
        ("Adventure, " * 100, "Adventure"),
        ("The genres are " + "Adventure, " * 100, "The genres are Adventure"),
        ("Adventure, Comedy, " * 50, "Adventure, Comedy"),
        ("Drama, " + "War, Peace, and Love, " * 20, "Drama, War, Peace, and Love"),
        ("He directed it. " * 40, "He directed it."),
        ("Adventure\n" * 60, "Adventure"),
        ("".join(f"{i}. Adventure\n" for i in range(1, 60)), "1. Adventure"),
        ("- Drama\n" + "- War\n" * 60, "- Drama\n- War"),
        ("ha " * 100, "ha"),
        ("冒険、" * 60, "冒険、"),
    ],
)
def test_repeated_text_is_kept_once_however_split(text, kept):
    found = [detect_repeats(text, size) for size in (1, 2, 3, 7, len(text))]
    assert [one.text_once for one in found] == [kept] * 5
    assert len({one.repetition for one in found}) == 1


@pytest.mark.parametrize(
    "text",
    [
        FILMS,
        "Star Wars, Star Wars, Star Wars, Star Trek",
        "New York, New York",
        "Boat Boat Boat",
        "\n".join(f"{i}. Film {i}" for i in range(1, 80)),
        ", ".join(str(year) for year in range(1950, 2020)),
        "|---|---|---|---|---|---|---|---|---|---|\n" + "-" * 80 + "." * 80,
        " ".join("".join(letters) for letters in itertools.permutations("abcde")),
        "",
    ],
)
def test_other_text_is_unchanged(text):
    for size in (1, 3, max(1, len(text))):
        repeats = detect_repeats(text, size)
        assert repeats.repetition is None and repeats.text_once == text


def test_repeats_are_stopped_soon():
    repeats, pieces = RepeatDetector(), 0
    while not repeats.add("Adventure, "):
        pieces += 1
    # Eight times a word and its comma are sixteen tokens.
    assert pieces == 7 and repeats.repetition[1] == 8


def stream_of(pieces, handler) -> None:
    """Stream these pieces until the client disconnects."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.end_headers()
    for piece in pieces:
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        chunk["choices"] = [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]
        try:
            handler.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        except OSError:
            return


def test_repeating_server_is_disconnected():
    pieces: list[str] = []
    with serving(lambda handler, body: stream_of(itertools.repeat("Adventure, "), handler)) as (
        url,
        _,
    ):
        reply = OpenAIChat(url, "m", "endless").reply(
            [{"role": "user", "content": "genres"}], on_text=pieces.append
        )
    assert (reply.text, reply.finish, reply.words, len(pieces)) == ("Adventure", "repeat", 8, 8)


def test_reply_with_schema_has_no_repeat_guard():
    text = json.dumps({"numbers": [7] * 40})
    with serving(lambda handler, body: stream_of([text], handler)) as (url, _):
        chat = OpenAIChat(url, "m", "schema")
        # The stream has no end, which a repeat guard would hide.
        with pytest.raises(Exception, match="ended before the reply did"):
            chat.reply([{"role": "user", "content": "numbers"}], schema={"type": "object"})


def test_silent_server_can_be_cancelled():
    import threading
    import time

    over, ended, start = threading.Event(), threading.Event(), time.monotonic()

    def check() -> None:
        if time.monotonic() - start > 0.2:
            raise RunCancelled

    def silent(handler, body) -> None:
        over.wait(30)
        ended.set()

    with serving(silent) as (url, _):
        with pytest.raises(RunCancelled):
            OpenAIChat(url, "m", "silent").reply(
                [{"role": "user", "content": "hello"}], watch=Watch(check)
            )
        assert not ended.is_set()
        over.set()
