"""Path retrieval, refinement and beams on five nodes, with hand-computed results."""

import pytest

from core.errors import BadParameter
from core.models.combine import ThresholdChooser
from core.operators import BeamSearch, EgoNetwork, RandomSelect, Rank, ShortestPaths, SimplePaths
from tests.notes import NoteWith

ONE_STEP = ["One -> directed_by -> Ann", "One -> has_genre -> Drama"]
TO_TWO = [
    "One -> directed_by -> Ann -> directed_by_reverse -> Two",
    "One -> directed_by -> Ann -> written_by_reverse -> Two",
]
TO_YEAR = [text + " -> release_year -> 1999" for text in TO_TWO]


@pytest.fixture
def whole(kit):
    return EgoNetwork(hops=4)(kit.state("One"), kit.context())


def test_one_shortest_path_per_target_and_relation(kit, whole):
    assert kit.texts(ShortestPaths()(whole, kit.context())) == [*ONE_STEP, *TO_TWO, *TO_YEAR]


def test_first_of_parallel_relations_as_in_the_code(kit, whole):
    assert kit.texts(ShortestPaths(parallel=False)(whole, kit.context())) == [
        *ONE_STEP,
        TO_TWO[0],
        TO_YEAR[0],
    ]


def test_cap_on_shortest_paths_is_reported(kit, whole):
    after = ShortestPaths(cap=3)(whole, kit.context())
    assert kit.texts(after) == [*ONE_STEP, TO_TWO[0]]
    assert after.trace[-1].notes == (NoteWith("Stopped at 3", "“One”"),)


def test_all_shortest_paths_count_parallel_edges(kit, whole):
    assert sorted(kit.texts(ShortestPaths(every=True)(whole, kit.context()))) == sorted(
        [*ONE_STEP, *TO_TWO, *TO_YEAR]
    )


def test_path_length_is_bounded_by_hops(kit, whole):
    assert kit.texts(ShortestPaths(hops=1)(whole, kit.context())) == ONE_STEP


def test_outward_paths_never_go_back(kit, whole):
    assert kit.texts(ShortestPaths(direction="out")(whole, kit.context())) == ONE_STEP


def test_simple_paths_are_complete_up_to_the_cap(kit, whole):
    assert sorted(kit.texts(SimplePaths(hops=4)(whole, kit.context()))) == sorted(
        [*ONE_STEP, *TO_TWO, *TO_YEAR]
    )
    capped = SimplePaths(hops=4, cap=3)(whole, kit.context())
    assert len(capped.paths) == 3 and kit.texts(capped)[:2] == ONE_STEP
    assert "there are more" in capped.trace[-1].notes[0]


def test_seed_outside_the_subgraph_has_no_paths(kit, whole):
    state = whole.replace(seeds=(kit.node("Two"),))
    inside = EgoNetwork(hops=0)(kit.state("One"), kit.context()).replace(seeds=state.seeds)
    assert kit.texts(ShortestPaths()(inside, kit.context())) == []


def test_rank_orders_cuts_and_records_the_rest(kit, whole):
    paths = ShortestPaths(parallel=False)(whole, kit.context())
    model = kit.Table({TO_TWO[0]: 0.9, ONE_STEP[1]: 0.5})
    after = Rank(keep=2)(paths, kit.context(encoder=model))
    assert kit.texts(after) == [TO_TWO[0], ONE_STEP[1]] and after.paths.scores == (0.9, 0.5)
    cut = [kit.graph.text(path) for path in after.trace[-1].before_cut.items]
    # Ties keep the order in which they were found.
    assert cut == [TO_TWO[0], ONE_STEP[1], ONE_STEP[0], TO_YEAR[0]]
    assert after.trace[-1].usage.texts == 4


def test_rank_by_a_model_may_return_fewer_paths(kit, whole):
    paths = ShortestPaths()(whole, kit.context())
    after = Rank(model="choose", keep=3)(
        paths, kit.context(choose=kit.Picker(TO_YEAR[0], ONE_STEP[0], note="told"))
    )
    assert kit.texts(after) == [TO_YEAR[0], ONE_STEP[0]] and after.paths.scores is None
    assert after.trace[-1].notes == ("told",) and after.trace[-1].usage.tokens_in == 10


def test_random_selection_is_fixed_by_the_seed(kit, whole):
    paths = ShortestPaths()(whole, kit.context())
    drawn = [
        kit.texts(RandomSelect(keep=2)(paths, kit.context(seed=s))) for s in (1, 1, 2, 3, 4, 5)
    ]
    assert drawn[0] == drawn[1] and len({tuple(d) for d in drawn}) > 1
    assert all(len(set(d)) == 2 and set(d) <= set(kit.texts(paths)) for d in drawn)


def test_beam_of_one_follows_the_best_step(kit, whole):
    # Hop 1: Ann beats Drama. Hop 2: of the two steps to Two and the step back to One, written_by
    # wins. Hop 3: 1999.
    model = kit.Table({ONE_STEP[0]: 0.6, ONE_STEP[1]: 0.5, TO_TWO[1]: 0.7, TO_YEAR[1]: 0.9})
    after = BeamSearch(width=1, hops=3)(whole, kit.context(encoder=model))
    assert kit.texts(after) == [TO_YEAR[1], TO_TWO[1], ONE_STEP[0]]
    frames = after.trace[-1].frames
    assert [(f.title, f.considered, len(f.ranking)) for f in frames] == [
        ("hop 1", 2, 1),
        ("hop 2", 3, 1),
        ("hop 3", 3, 1),
    ]
    # From Two there are three steps at hop 3: back to Ann by two edges, and on to 1999.


def test_wide_beam_without_revisits_finds_simple_paths(kit, whole):
    beam = BeamSearch(width=100, hops=4, revisit=False)(whole, kit.context(encoder=kit.Table({})))
    assert sorted(kit.texts(beam)) == sorted(kit.texts(SimplePaths(hops=4)(whole, kit.context())))


def test_beam_may_revisit_as_in_the_paper(kit, whole):
    after = BeamSearch(width=100, hops=2)(whole, kit.context(encoder=kit.Table({})))
    assert "One -> has_genre -> Drama -> has_genre_reverse -> One" in kit.texts(after)


def test_fanout_takes_the_first_steps_in_edge_order(kit, whole):
    model = kit.Table({ONE_STEP[1]: 1.0})
    after = BeamSearch(width=8, hops=1, fanout=1)(whole, kit.context(encoder=model))
    # The better step to Drama comes second and is never scored.
    assert kit.texts(after) == [ONE_STEP[0]]


def test_triple_scores_use_only_the_new_triple(kit, whole):
    model = kit.Table({"One -> directed_by -> Ann": 0.4, "Two -> written_by -> Ann": 0.8})
    after = BeamSearch(width=1, hops=2, unit="triple", rank="steps")(
        whole, kit.context(encoder=model)
    )
    assert kit.texts(after) == [TO_TWO[1], ONE_STEP[0]]
    # These are the means of (0.4, 0.8) and of (0.4).
    assert after.paths.scores == pytest.approx((0.6, 0.4))
    assert model.seen[1] == [
        "One -> directed_by -> Ann",
        "Two -> directed_by -> Ann",
        "Two -> written_by -> Ann",
    ]


@pytest.mark.parametrize("prune", ["top", "mean"])
def test_threshold_ends_a_beam(kit, whole, prune):
    # Hop 1: only Ann reaches .5. Hop 2: the step by written_by. Hop 3: nothing.
    model = ThresholdChooser(kit.Table({ONE_STEP[0]: 0.5, TO_TWO[1]: 0.9, TO_YEAR[1]: 0.4}), 0.5)
    after = BeamSearch(hops=4, prune=prune)(whole, kit.context(encoder=model))
    assert kit.texts(after) == [TO_TWO[1], ONE_STEP[0]]


def test_threshold_selects_paths(kit, whole):
    paths = ShortestPaths()(whole, kit.context())
    after = Rank()(
        paths,
        kit.context(encoder=ThresholdChooser(kit.Table({ONE_STEP[1]: 0.7, TO_TWO[0]: 0.4}), 0.4)),
    )
    assert kit.texts(after) == [ONE_STEP[1], TO_TWO[0]]


def test_mean_pruning_keeps_scores_of_at_least_the_mean(kit, whole):
    # Hop 1 has the scores 1.0 and 0.0 with mean 0.5, so one of two stays. Equal scores all stay.
    one = BeamSearch(hops=1, prune="mean")(
        whole, kit.context(encoder=kit.Table({ONE_STEP[0]: 1.0}))
    )
    both = BeamSearch(hops=1, prune="mean")(whole, kit.context(encoder=kit.Table({})))
    assert kit.texts(one) == [ONE_STEP[0]] and sorted(kit.texts(both)) == ONE_STEP
    assert (
        len(
            BeamSearch(hops=1, prune="mean", limit=1)(
                whole, kit.context(encoder=kit.Table({}))
            ).paths
        )
        == 1
    )


def test_empty_pick_ends_a_beam(kit, whole):
    after = BeamSearch(model="choose")(
        whole, kit.context(choose=kit.Picker(), encoder=kit.Table({}))
    )
    assert kit.texts(after) == [] and len(after.trace[-1].frames) == 1


@pytest.mark.parametrize(
    "beam", [BeamSearch(model="choose", prune="mean"), BeamSearch(model="choose", rank="steps")]
)
def test_score_settings_need_a_scorer(kit, whole, beam):
    with pytest.raises(BadParameter, match="only with a scorer"):
        beam(whole, kit.context(choose=kit.Picker(ONE_STEP[0]), encoder=kit.Table({})))


@pytest.mark.parametrize(
    "beam, told",
    [
        (BeamSearch(), "beam 8 wide, 4 hops, encoder"),
        (BeamSearch(unit="triple"), "beam 8 wide of triples, 4 hops, encoder"),
        (BeamSearch(prune="percentile"), "beam above percentile 90, 4 hops, encoder"),
        (
            BeamSearch(prune="mean", stop="choose"),
            "beam above the mean, 4 hops, encoder, stopped by language model",
        ),
    ],
)
def test_beam_is_described_in_words(beam, told):
    assert beam.words() == told
