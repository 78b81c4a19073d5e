"""Chain ranking, case memory and hop prediction on five nodes.

The encoder's vectors count words.
"""

import numpy as np
import pytest

from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.environment import Environment
from core.errors import BadInput
from core.graph.algorithms.chains import chain_name, chain_of
from core.graph.building.build import build
from core.graph.names.lookup import name_lookup
from core.indexes.cases import _draw, case_key, load_cases
from core.operators import CaseMemory, ChainIntersection, ChainRanking, GraphReader, PredictHops
from core.operators.base import Context, Line, Recorder
from core.sources import GraphSource, SourceQuestion
from core.types import Question, State
from tests.films import Bag
from tests.notes import NoteWith
from tests.real_models import registry


@pytest.fixture
def solved(kit):
    """An empty list in the place of the user's own solved questions."""
    return kit.solved


def asked(kit, text, *seeds):
    state = kit.state(*seeds)
    return state.replace(question=Question(text, entities=tuple(seeds)))


def answers(kit, operator, text, *seeds):
    after = operator(asked(kit, text, *seeds), kit.context())
    return after, kit.graph.names(GraphReader()(after, kit.context()).reader)


def first_end(kit, operator, text, *seeds):
    """Name of the last node of the best path.

    The graph reader would also consider the expected type of answer.
    """
    return kit.graph.node_name(operator(asked(kit, text, *seeds), kit.context()).paths.items[0].end)


# Ann directed and wrote Two.
WHO_MADE_TWO = Question("who made Two", entities=("Two",), answers=("Ann",))
WHICH_BY_ANN = Question("what is there by Ann", entities=("Ann",), answers=("One", "Two"))
KINDS_BY_ANN = Question("which kinds by Ann", entities=("Ann",), answers=("Drama",))


def test_chain_in_the_questions_words_is_first(kit):
    after, found = answers(kit, ChainRanking(), "the genre of One", "One")
    assert (
        found == ["Drama"]
        and kit.texts(after)[0] == "One -> has_genre -> Drama"
        and after.paths.scores[0] == pytest.approx(1.0)
    )
    step = after.trace[-1]
    assert (
        step.notes[0].startswith("Best of 8 chains: the genre of X (1.00); ")
        and step.usage.texts == 1
    )
    assert step.frames[0].title == "the genre of X" and step.sizes["paths"] == len(after.paths)
    after, found = answers(
        kit,
        ChainRanking(chains=1),
        "the release year of the things directed by the director of One",
        "One",
    )
    assert found == ["1999"] and kit.texts(after) == [
        "One -> directed_by -> Ann -> directed_by_reverse -> Two -> release_year -> 1999"
    ]
    assert (
        kit.graph.names(after.subgraph.nodes) == sorted(["One", "Ann", "Two", "1999"], key=kit.node)
        and len(after.subgraph.edges) == 3
    )


def test_ends_of_more_walks_are_first(kit, tmp_path):
    triples = [
        ("a", "part", "m"),
        ("a", "part", "n"),
        ("m", "kind", "x"),
        ("m", "kind", "y"),
        ("n", "kind", "y"),
    ]
    graph = build(triples, tmp_path / "parts", "parts", "both")
    state = State(
        Question("the kind of the part of a", entities=("a",)), (name_lookup(graph).find("a"),)
    )
    after = ChainRanking(chains=1)(state, Context(graph, Environment(kit.Written())))
    assert [graph.text(path) for path in after.paths.items] == [
        "a -> part -> m -> kind -> y",
        "a -> part -> m -> kind -> x",
    ]


def test_chains_come_in_order_up_to_keep(kit):
    after, found = answers(kit, ChainRanking(chains=2), "the things directed by Ann", "Ann")
    assert (
        found == ["One", "Two"]
        and after.trace[-1].frames[0].considered == 2
        and len(after.trace[-1].frames) == 2
    )
    assert (
        list(after.paths.scores) == sorted(after.paths.scores, reverse=True)
        and len(set(after.paths.scores)) == 2
    )
    cut, _ = answers(kit, ChainRanking(chains=2, keep=1), "the things directed by Ann", "Ann")
    assert kit.texts(cut) == ["Ann -> directed_by_reverse -> One"]


def test_surplus_step_costs_its_price(kit):
    # "what directed X" has three words and allows one step. "the director of X" shares 1 of 4
    # words, which is 1 of the question's 3: F1 2/7. "the things directed by the director of X"
    # shares 2 of 8 and 2 of 3: F1 4/11, with one step too many.
    ranked = lambda price: ChainRanking(price=price).rank_chains(
        asked(kit, "what directed One", "One"), kit.context(), Recorder()
    )
    free, dear = ({words: score for _, score, words in ranked(price)} for price in (0.0, 0.1))
    one, two = "the director of X", "the things directed by the director of X"
    assert (free[one], free[two]) == pytest.approx((2 / 7, 4 / 11)) and (
        dear[one],
        dear[two],
    ) == pytest.approx((2 / 7, 4 / 11 - 0.1))
    # This chain has two steps too many.
    assert dear[f"the writer of {two}"] == pytest.approx(free[f"the writer of {two}"] - 0.2)
    assert [
        first_end(kit, ChainRanking(price=price), "what directed One", "One")
        for price in (0.0, 0.1)
    ] == ["Two", "Ann"]


@pytest.mark.parametrize(
    "text, room",
    [
        ("who directed One?", 1),
        ("One's director", 4 / 3),
        ("who is the one that directed One", 7 / 3),
    ],
)
def test_question_allows_one_step_per_three_words(kit, text, room):
    state = asked(kit, text, "One")
    free, dear = (
        ChainRanking(price=price).rank_chains(state, kit.context(), Recorder())
        for price in (0.0, 0.1)
    )
    lost = {chain: score for chain, score, _ in free}
    assert dear and all(
        lost[chain] - score == pytest.approx(0.1 * max(0, len(chain) - room))
        for chain, score, _ in dear
    )


def test_dependent_operators_pass_the_price_on(kit, solved):
    solved.append(KINDS_BY_ANN)  # This case is unlike the question.
    for price, found, hops in ((0.0, "Two", 2), (0.1, "Ann", 1)):
        for operator in (CaseMemory("own", price=price), ChainIntersection(price=price)):
            assert first_end(kit, operator, "what directed One", "One") == found, operator
        assert (
            PredictHops("own", price=price)(
                asked(kit, "what directed One", "One"), kit.context()
            ).hops
            == hops
        )


def test_seed_without_chains_has_no_paths(kit):
    after, found = answers(kit, ChainRanking(direction="out"), "what is Ann", "Ann")
    assert (
        found == [] and len(after.paths) == 0 and kit.graph.names(after.subgraph.nodes) == ["Ann"]
    )


def test_case_has_every_chain_that_solves_it(kit, solved):
    solved += [
        WHO_MADE_TWO,
        WHICH_BY_ANN,
        Question("who made Nobody", entities=("Nobody",), answers=("Ann",)),
    ]
    known = load_cases(kit.graph, Bag(), "own", 1, 3, own_cases=solved)
    # A case whose entity the graph lacks is left out.
    assert known.texts == ("who made X", "what is there by X")
    assert known.chains == (((0,), (6,)), ((1,),)) and known.fits == (1.0, 1.0)
    assert [place for place, _ in known.rank_cases(Bag().encode(["what is there by X"])[0])] == [
        1,
        0,
    ]


def test_nearest_case_gives_the_chain(kit, solved):
    solved += [WHO_MADE_TWO, WHICH_BY_ANN]
    after, found = answers(kit, CaseMemory("own", ranking=0.0), "who made One", "One")
    assert found == ["Ann"] and after.paths.scores[0] == 1.0
    told = after.trace[-1].notes
    # No triple says who wrote One.
    assert told[0] == NoteWith(2, 1, "voted", "“who made X” (1.00)", "directed_by")
    assert "made from templates" in told[1]


def test_votes_match_hand_computed_weights(kit, solved):
    # "which kinds by X" is the question itself. "what kinds by X" shares 3 of 4 words: cosine 3/4,
    # weight (3/4)^48 = 0.000001.
    solved += [Question("which kinds by Two", entities=("Two",), answers=("1999",)), KINDS_BY_ANN]
    memory = CaseMemory("own", alike=0.5, ranking=0.0)
    after, found = answers(kit, memory, "what kinds by Ann", "Ann")
    (votes,) = after.trace[-1].notes
    # From Ann only chain (1, 4) of the second case leads anywhere, since release_year starts at
    # films.
    assert (
        found == ["Drama"]
        and "1 voted" in votes
        and "directed_by_reverse -> has_genre" in votes
        and "(0.75)" in votes
    )


def test_vote_weight_is_the_48th_power_of_the_cosine(kit, solved):
    # "what exactly about X" shares 3 words with "what about X": cosine 3 / (3 x 4) ^ 0.5, and its
    # 48th power is (3/4) ^ 24. The chains "the director of the thing X" and "the genre of the thing
    # X" are equally similar to the question, so the votes are 1 and (3/4) ^ 24.
    solved += [Question("what about Two", entities=("Two",), answers=("Ann",))]
    solved += [Question("what exactly about One", entities=("One",), answers=("Drama",))]
    after, found = answers(kit, CaseMemory("own", ranking=0.0), "what about One", "One")
    assert found == ["Ann"] and after.paths.scores == pytest.approx(
        (1 / (1 + 0.75**24), 0.75**24 / (1 + 0.75**24)), rel=1e-4
    )


def test_chain_ranking_votes_like_a_case(kit, solved):
    # A case of cosine 1 and chain ranking vote for the director; only chain ranking votes for the
    # others.
    solved.append(Question("what about Two", entities=("Two",), answers=("Ann",)))
    state, director = asked(kit, "what about One", "One"), (0,)
    ranked = ChainRanking().rank_chains(state, kit.context(), Recorder())
    worth = {
        chain: (0.8**48 + (chain == director)) * np.exp(30 * score) for chain, score, _ in ranked
    }
    after = CaseMemory("own", ranking=0.8)(state, kit.context())
    best = sorted(worth.values(), reverse=True)
    assert list(dict.fromkeys(after.paths.scores)) == pytest.approx(
        [one / sum(best) for one in best[:3]]
    )


def test_dissimilar_case_does_not_outvote_chain_ranking(kit, solved):
    # "who made X" and "the genre of X" share one of 3 and 4 words: cosine 1 / 12 ^ 0.5 = 0.29,
    # whose 48th power is almost 0.
    solved.append(WHO_MADE_TWO)
    _, alone = answers(kit, CaseMemory("own", alike=0.2, ranking=0.0), "the genre of One", "One")
    after, both = answers(kit, CaseMemory("own", alike=0.2), "the genre of One", "One")
    assert (alone, both) == (["Ann"], ["Drama"])
    assert after.trace[-1].notes[-1] == NoteWith("Not alike enough", "has_genre", "directed_by")
    # The question is encoded once for its neighbours and once for the chains.
    assert after.trace[-1].usage.texts == 2


def test_question_is_never_its_own_case(kit, solved):
    solved.append(WHO_MADE_TWO)
    after, _ = answers(kit, CaseMemory("own"), "who made Two", "Two")
    assert NoteWith("None of 1", "chain ranking") in after.trace[-1].notes
    after, found = answers(kit, CaseMemory("own"), "the genre of One", "One")
    assert found == ["Drama"] and "chain ranking decides" in after.trace[-1].notes[0]


def test_memory_without_cases_on_the_graph_is_refused(kit, solved):
    """A case does not count if the graph lacks its entity.

    Hops are predicted all the same, and the note says how.
    """
    solved.append(Question("who made Nine", entities=("Nine",), answers=("Ann",)))
    told = "has no solved question on the graph “films”: .* of own, and none of them has its entities and an answer there"
    with pytest.raises(BadInput, match=told):
        CaseMemory("own")(asked(kit, "the genre of One", "One"), kit.context())
    after = PredictHops("own")(asked(kit, "the genre of One", "One"), kit.context())
    assert after.hops == 1 and after.trace[-1].notes[-1] == NoteWith(
        "no solved question", "chain ranking"
    )


def test_solved_questions_can_be_a_file(kit, solved, tmp_path):
    file = tmp_path / "solved.csv"
    file.write_text("question,answers,entities\nwho made Two,Ann,Two\n")
    after, found = answers(kit, CaseMemory(str(file)), "who made One", "One")
    assert found == ["Ann"] and after.trace[-1].notes[0].startswith("Of 1 solved questions 1 voted")


def test_new_case_counts_at_once(kit, solved):
    line, prefixes = Line((CaseMemory("own"),)), PrefixCache()

    def reader():
        lane = LaneRun(
            SourceQuestion(
                GraphSource.of(kit.graph),
                Question("what of One", entities=("One",)),
                (kit.node("One"),),
            ),
            line,
            kit.context().environment,
            prefixes,
        )
        lane.retrieve(LaneListener())
        return kit.graph.names(lane.state.reader), lane.state.trace[0].notes[0]

    with pytest.raises(BadInput, match="no solved question"):
        reader()
    solved.append(Question("what of Two", entities=("Two",), answers=("Ann",)))
    assert reader() == (
        ["Ann"],
        NoteWith(1, 1, "voted", "“what of X” (1.00)", "directed_by"),
    )


def test_hops_follow_the_nearest_cases(kit, solved):
    solved += [WHO_MADE_TWO, KINDS_BY_ANN]
    state = PredictHops("own")(asked(kit, "which kinds are by Ann", "Ann"), kit.context())
    # 4 of 5 words are shared: cosine 4 / (2 x 5 ^ 0.5) = 0.89.
    assert state.hops == 2 and state.trace[-1].sizes == {"hops": 2}
    assert (
        "1 voted: “which kinds by X” (0.89) for directed_by_reverse -> has_genre"
        in state.trace[-1].notes[0]
    )
    alone = PredictHops("own", alike=1.0)(asked(kit, "the genre of One", "One"), kit.context())
    # The best chain is the genre of X.
    assert alone.hops == 1 and "chain ranking decides" in alone.trace[-1].notes[-1]


def test_case_sample_is_fixed():
    few = _draw(("metaqa-1hop-dev", "metaqa-2hop-dev"), 4)
    assert (
        len(few) == 8
        and len({case_key(question) for question in few}) == 8
        and few == _draw(("metaqa-1hop-dev", "metaqa-2hop-dev"), 4)
    )
    assert {question.hops for question in few[:4]} == {1} and {
        question.hops for question in few[4:]
    } == {2}
    with pytest.raises(BadInput, match="metaqa-9hop"):
        _draw(("metaqa-9hop",), 4)


def test_results_are_reproducible(kit):
    runs = [ChainRanking()(asked(kit, "who made One", "One"), kit.context()) for _ in range(2)]
    assert (
        runs[0].paths.items == runs[1].paths.items and runs[0].paths.scores == runs[1].paths.scores
    )
    assert np.array_equal(runs[0].subgraph.nodes, runs[1].subgraph.nodes)


@pytest.mark.parametrize(
    "text, entity, chain",
    [
        ("which person directed the movie Inception", "Inception", "directed_by"),
        ("which films did Christopher Nolan direct", "Christopher Nolan", "directed_by_reverse"),
        (
            "what are the genres of the films directed by Christopher Nolan",
            "Christopher Nolan",
            "directed_by_reverse -> has_genre",
        ),
    ],
)
def test_real_encoder_finds_chains_of_the_movie_graph(movies, text, entity, chain):
    state = State(Question(text, entities=(entity,)), (name_lookup(movies).find(entity),))
    after = ChainRanking()(state, Context(movies, Environment(registry())))
    assert chain_name(movies, chain_of(movies, after.paths.items[0])) == chain, after.trace[
        -1
    ].notes
