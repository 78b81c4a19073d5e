"""Paths generated under constraint, one after the other, and servers without constraints."""

import json

from core.operators import DecodedPaths, EgoNetwork, SimplePaths
from tests.core.operators.scripted import Script
from tests.notes import NoteWith

GENRE, ANN = "One -> has_genre -> Drama", "One -> directed_by -> Ann"


def run(kit, *replies, **told):
    state = EgoNetwork(hops=1)(kit.state("One"), kit.context())
    state = SimplePaths(hops=1)(state, kit.context())  # ANN comes first, then GENRE.
    chat = Script(*replies)
    return DecodedPaths(**told)(state, kit.context(chat)), chat


def path(text):
    return json.dumps({"path": text})


def test_paths_are_generated_once_each(kit):
    after, chat = run(kit, path(GENRE), path(ANN), keep=5)
    assert kit.texts(after) == [GENRE, ANN] and after.trace[-1].usage.calls == 2
    assert [schema["properties"]["path"]["enum"] for schema in chat.schemas] == [
        [ANN, GENRE],
        [ANN],
    ]
    # No path is shown.
    assert "->" not in chat.asked[0] and "Entities of the question: One" in chat.asked[0]


def test_numbers_of_paths_and_candidates_are_bounded(kit):
    after, chat = run(kit, path(ANN), keep=1)
    assert kit.texts(after) == [ANN] and len(chat.asked) == 1
    after, chat = run(kit, path(ANN), limit=1)
    assert (
        chat.schemas[0]["properties"]["path"]["enum"] == [ANN]
        and "the first 1 of 2 paths" in after.trace[-1].notes[0]
    )


def test_reply_without_a_path_ends_the_generation(kit):
    after, _ = run(kit, path(GENRE), path("One -> has_genre -> Comedy"))
    assert (
        kit.texts(after) == [GENRE]
        and "none of the paths; no more were asked for" in after.trace[-1].notes[0]
    )


def test_failed_generation_keeps_the_first_paths(kit):
    for reply in ("Drama", "", '{"path": ["One"]}', "[1]"):
        after, _ = run(kit, reply, keep=1)
        assert kit.texts(after) == [ANN] and after.trace[-1].notes[-1] == NoteWith(
            "first 1", "in the given order"
        )


def test_plain_text_path_counts(kit):
    after, _ = run(kit, f" {GENRE}\n", keep=1)
    assert kit.texts(after) == [GENRE]


def test_no_paths_need_no_request(kit):
    from core.types import Ranking

    after = DecodedPaths()(
        kit.state("One").replace(paths=Ranking("path", ())), kit.context(Script())
    )
    assert after.paths.items == () and after.trace[-1].usage.calls == 0
