"""Walks in the sentences of a language model, each once, or by the template."""

from __future__ import annotations

import pytest

from core.errors import StoreError
from core.graph.building.build import build_in_memory
from core.indexes.walk_sentences import WalkSentences
from core.types import Path
from tests.core.operators.scripted import Script

WALK, OTHER = Path((0, 1), (0,), (True,)), Path((1, 0), (0,), (False,))


@pytest.fixture
def make_sentences(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    graph = build_in_memory([("Ann", "wrote", "Rope")], "books")  # Ann is node 0, Rope is node 1.

    def make(chat, signature="one"):
        return WalkSentences(graph, lambda: chat, signature)

    return make


def test_each_walk_is_worded_once_and_saved(make_sentences):
    chat = Script(" Ann\nwrote Rope. ", "Rope was written by Ann.")
    first = make_sentences(chat)
    assert first([WALK, OTHER, WALK]) == [
        "Ann wrote Rope.",
        "Rope was written by Ann.",
        "Ann wrote Rope.",
    ]
    assert (
        len(chat.asked) == 2 and "Ann -> wrote -> Rope" in chat.asked[0] and first.usage.calls == 2
    )
    again = make_sentences(Script())  # A call of this model fails.
    assert again([OTHER]) == ["Rope was written by Ann."] and again.usage.calls == 0


def test_another_model_words_walks_again(make_sentences):
    make_sentences(Script("One."))([WALK])
    assert make_sentences(Script("Two."), "two")([WALK]) == ["Two."] and make_sentences(Script())(
        [WALK]
    ) == ["One."]
    assert make_sentences(Script()).wording != make_sentences(Script(), "two").wording


def test_an_empty_reply_is_replaced_by_the_template(make_sentences):
    walks = make_sentences(Script("  "))
    assert walks([WALK]) == ["Ann wrote Rope"] and walks.n_failed == 1


def test_sentences_before_a_failure_are_saved(make_sentences):
    with pytest.raises(IndexError):  # The script has no second reply.
        make_sentences(Script("Ann wrote Rope."))([WALK, OTHER])
    assert make_sentences(Script("Back."))([WALK, OTHER]) == ["Ann wrote Rope.", "Back."]


def test_a_damaged_file_is_reported(make_sentences):
    walks = make_sentences(Script("One."))
    walks([WALK])
    walks._rows.file.write_bytes(b"no database at all, but long enough to be looked at" * 99)
    with pytest.raises(StoreError, match="remove that file to start anew"):
        walks([WALK])


def test_a_server_words_many_walks_concurrently_in_order(make_sentences):
    from core.models.chat.openai import OpenAIChat
    from tests.core.evaluation.runs.test_flight import server

    walks = [
        WALK,
        OTHER,
        Path((0, 1, 0), (0, 0), (True, False)),
        Path((1, 0, 1), (0, 0), (False, True)),
    ]
    found = []
    for number in (1, 4):
        with server(together=number) as (address, seen):
            asked = make_sentences(
                OpenAIChat(address, "m", "m", max_concurrent=number), f"by {number}"
            )
            found.append(asked(walks))
            assert asked.usage.calls == 4 and seen.most == number
    assert found[0] == found[1]
