"""Early stopping: the request, the parsed reply, and a beam that ends."""

import pytest

from core.models.base import ChatReply, Task
from core.operators import BeamSearch, EgoNetwork
from core.operators.stop import STOP_SCHEMA, are_paths_sufficient
from core.watch import NO_WATCH
from tests.notes import NoteWith

ANN, DRAMA = "One -> directed_by -> Ann", "One -> has_genre -> Drama"


class StopJudge:
    """A chat model that returns recorded replies in turn and counts words as tokens."""

    def __init__(self, *replies, context=4096):
        self.replies, self.context, self.asked = list(replies), context, []

    def count_tokens(self, messages):
        return sum(len(message["content"].split()) for message in messages)

    def reply(self, messages, *, schema=None, max_tokens=256, seed=0, watch=NO_WATCH, **_):
        self.asked.append((messages, schema))
        return ChatReply(self.replies.pop(0), 10, 2)


@pytest.mark.parametrize(
    "reply, said, told",
    [
        ('{"sufficient": "yes"}', True, "found the paths sufficient"),
        ('{"sufficient": "no"}', False, "wanted more"),
        ("Yes, Ann.", True, "found the paths sufficient"),
        ("no", False, "wanted more"),
        ('{"sufficient": "maybe"}', False, '(“{"sufficient": "maybe"}”) is neither'),
        ("yesterday", False, "neither"),
        ("[1]", False, "neither"),
    ],
)
def test_reply_is_parsed(reply, said, told):
    assert are_paths_sufficient(StopJudge(reply), Task("q"), [ANN])[0] is said
    assert told in are_paths_sufficient(StopJudge(reply), Task("q"), [ANN])[2]


def test_prompt_shows_the_paths_and_requests_json():
    judge = StopJudge('{"sufficient": "no"}')
    _, usage, _ = are_paths_sufficient(judge, Task("who {paths}\ndirected One"), [ANN, "a\nb"])
    (system, user), schema = judge.asked[0]
    assert (
        f"{ANN}\na b\n" in user["content"]
        and "who {paths} directed One" in user["content"]
        and schema == STOP_SCHEMA
    )
    assert (usage.calls, usage.tokens_in, usage.tokens_out) == (1, 10, 2)


def test_long_prompt_is_cut_with_a_note():
    judge = StopJudge('{"sufficient": "no"}', context=200)
    told = are_paths_sufficient(judge, Task("q"), [f"{ANN} {i}" for i in range(64)])[2]
    assert told.endswith("(shown 16 of 64)") and judge.count_tokens(judge.asked[0][0]) <= 184


def beam(kit, judge, **parameters):
    context = kit.context(chat=judge, encoder=kit.Table({ANN: 0.6}))
    return BeamSearch(width=1, hops=3, stop="choose", **parameters)(
        EgoNetwork(hops=4)(kit.state("One"), context), context
    )


def test_beam_ends_when_the_paths_suffice(kit):
    judge = StopJudge('{"sufficient": "yes"}')
    after = beam(kit, judge)
    assert kit.texts(after) == [ANN] and len(after.trace[-1].frames) == 1
    assert after.trace[-1].notes == (NoteWith("hop 1", "sufficient"),)
    # The prompt shows only the paths that the beam kept.
    assert after.trace[-1].usage.calls == 1 and DRAMA not in judge.asked[0][0][1]["content"]


def test_beam_continues_when_paths_do_not_suffice(kit):
    judge = StopJudge('{"sufficient": "no"}', "I cannot say")
    after = beam(kit, judge)
    assert [len(path) for path in after.paths.items] == [1, 2, 3] and not judge.replies
    assert (
        "After hop 2, the language model's reply (“I cannot say”) is neither yes nor no"
        in after.trace[-1].notes[1]
    )


def test_default_makes_no_request(kit):
    context = kit.context(chat=StopJudge(), encoder=kit.Table({}))
    assert (
        BeamSearch(hops=3)(EgoNetwork(hops=4)(kit.state("One"), context), context)
        .trace[-1]
        .usage.calls
        == 0
    )


def test_stop_judgement_counts_as_a_model_step():
    from core.engine import Engine
    from core.methods.catalogue import find_method
    from core.models.registry import Registry

    asks = lambda stop: Engine(Registry())._is_slow_lane(
        find_method(f"PersonalizedPageRank() >> BeamSearch(stop='{stop}') >> Answer()")
    )
    assert asks("choose") and not asks("never")
