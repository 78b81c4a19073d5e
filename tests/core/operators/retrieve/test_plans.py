"""Relation plans on five nodes: the relations shown, the paths of a plan, and invalid replies."""

import json

import pytest

from core.graph.algorithms.local_adjacency import LocalAdjacency
from core.operators import EgoNetwork, RelationPlans
from core.operators.retrieve.plans import near_relations, parse_plans
from tests.core.operators.scripted import Script
from tests.notes import NoteWith

KNOWN = ["directed_by", "has_genre", "written_by"]


def run(kit, reply, *seeds, **told):
    chat = Script(reply)
    state = EgoNetwork(hops=4)(kit.state(*seeds), kit.context())
    return RelationPlans(**told)(state, kit.context(chat)), chat


def plans(*chains):
    return json.dumps({"plans": [list(chain) for chain in chains]})


def test_relations_are_ordered_by_distance_then_frequency(kit):
    # From One: directed_by (two edges) and has_genre (one) touch it, written_by is one step away,
    # release_year two.
    state = EgoNetwork(hops=4)(kit.state("One"), kit.context())
    order = near_relations(LocalAdjacency(kit.graph, state.subgraph, "both"), state.seeds)
    assert order == ["directed_by", "has_genre", "written_by", "release_year"]


def test_paths_follow_plans_in_either_direction(kit):
    after, chat = run(kit, plans(["directed_by", "directed_by"], ["has_genre"]), "One")
    assert kit.texts(after) == [
        "One -> directed_by -> Ann -> directed_by_reverse -> One",
        "One -> directed_by -> Ann -> directed_by_reverse -> Two",
        "One -> has_genre -> Drama",
    ]
    assert after.trace[-1].notes == (
        NoteWith("Plan 1", "directed_by → directed_by", "2 paths"),
        NoteWith("Plan 2", "has_genre", "1 path"),
    )
    assert (
        "directed_by\nhas_genre\nwritten_by\nrelease_year" in chat.asked[0]
        and "Entities of the question: One" in chat.asked[0]
    )
    items = chat.schemas[0]["properties"]["plans"]["items"]
    assert items["maxItems"] == 3 and items["items"]["enum"] == [
        "directed_by",
        "has_genre",
        "written_by",
        "release_year",
    ]


def test_direction_and_parallel_edges_are_respected(kit):
    after, _ = run(kit, plans(["directed_by"], ["written_by"]), "Two", direction="out")
    assert kit.texts(after) == ["Two -> directed_by -> Ann", "Two -> written_by -> Ann"]
    none, _ = run(kit, plans(["directed_by"]), "Ann", direction="out")
    assert none.paths.items == ()


def test_plans_are_followed_from_all_seeds_in_turn(kit):
    after, _ = run(kit, plans(["directed_by"], ["has_genre"]), "Two", "One")
    assert kit.texts(after) == [
        "Two -> directed_by -> Ann",
        "One -> directed_by -> Ann",
        "One -> has_genre -> Drama",
    ]


def test_plans_steps_and_paths_are_bounded(kit):
    after, _ = run(
        kit, plans(["directed_by"] * 5, ["has_genre"], ["written_by"]), "One", plans=2, hops=1
    )
    assert kit.texts(after) == ["One -> directed_by -> Ann", "One -> has_genre -> Drama"]
    cut, _ = run(kit, plans(["directed_by", "directed_by"], ["has_genre"]), "One", cap=1)
    assert (
        kit.texts(cut) == ["One -> directed_by -> Ann -> directed_by_reverse -> One"]
        and "the first 1 were kept" in cut.trace[-1].notes[-1]
    )


@pytest.mark.parametrize(
    "reply",
    [
        "I would look at the director.",
        "",
        '{"plans": []}',
        '{"plans": [["directed"]]}',
        "[[",
        '{"plans": 3}',
    ],
)
def test_reply_without_a_plan_finds_nothing_with_a_note(kit, reply):
    after, _ = run(kit, reply, "One")
    assert after.paths.items == () and "holds no plan of known relations" in " ".join(
        after.trace[-1].notes
    )
    assert after.trace[-1].usage.calls == 1


def test_plain_text_plans_are_parsed():
    assert parse_plans("1. directed_by -> directed_by_reverse\n- has_genre\nhas_genre", KNOWN) == (
        [("directed_by", "directed_by"), ("has_genre",)],
        [],
    )
    told, notes = parse_plans(plans(["directed_by", "shot_in"], ["written_by"]), KNOWN)
    assert told == [("written_by",)] and notes == [NoteWith(1, "2 plans", "unknown relations")]


def test_isolated_seed_needs_no_request(kit):
    from dataclasses import replace

    import numpy as np

    state = EgoNetwork(hops=0)(kit.state("One"), kit.context())
    after = RelationPlans()(
        replace(state, subgraph=replace(state.subgraph, edges=np.empty(0, np.int64))),
        kit.context(Script()),
    )
    assert after.paths.items == () and after.trace[-1].usage.calls == 0
