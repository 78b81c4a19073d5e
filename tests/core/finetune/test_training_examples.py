"""Training examples on the graph of five nodes, compared with hand-made ones."""

from __future__ import annotations

import pytest

from core.errors import BadInput
from core.finetune.dialogues import training_dialogues
from core.finetune.split import QuestionSplit, comparable_question
from core.finetune.training_examples import (
    TrainingExample,
    best_chain,
    take_turns,
    training_example,
)
from core.io.plain_data import from_plain, to_plain
from core.types import Path, Question
from tests.films import films  # noqa: F401


def asked(films, start: str, *answers: str) -> TrainingExample | None:  # noqa: F811
    from core.graph.names.lookup import name_lookup

    return training_example(
        films, Question("who", "q", answers=answers), (name_lookup(films).find(start),)
    )


def test_paths_to_answers_are_positive(films):  # noqa: F811
    made = asked(films, "One", "Ann")
    assert made.candidates("path").positives == ("One -> directed_by -> Ann",)
    assert made.candidates("path").negatives == (
        "One -> has_genre -> Drama",
    )  # The paths to Two and 1999 pass Ann.
    assert made.candidates("triple").positives == ("One, directed_by, Ann",) and made.candidates(
        "triple"
    ).negatives == ("One, has_genre, Drama",)
    assert made.candidates("relation").positives == ("directed_by",) == made.plan
    assert sorted(made.candidates("relation").negatives) == [
        "has_genre",
        "release_year",
        "written_by",
    ]
    assert from_plain(TrainingExample, to_plain(made)) == made


def test_reverse_steps_are_marked_in_paths_only(films):  # noqa: F811
    made = asked(films, "Drama", "Ann")
    assert made.candidates("path").positives == (
        "Drama -> has_genre_reverse -> One -> directed_by -> Ann",
    )
    assert made.candidates("path").negatives == ("Drama -> has_genre_reverse -> One",)
    assert made.candidates("triple").positives == ("One, has_genre, Drama", "One, directed_by, Ann")
    # A triple on the way to the answer never counts as wrong.
    assert made.candidates("triple").negatives == ()
    assert made.plan == ("has_genre", "directed_by")


def test_unreachable_answer_gives_no_example(films):  # noqa: F811
    assert asked(films, "One", "Nobody") is None and asked(films, "One", "One") is None


def test_chain_with_the_best_f1_is_right():
    ends = lambda *nodes: [Path((0, node), (node,), (True,)) for node in nodes]
    # F1: chain 4 finds three of three with one too many, 2 * 3 / (4 + 3); chain 2 finds one of
    # three, 2 / 4; chain 6 finds none.
    assert best_chain({(4,): ends(1, 2, 3, 9), (2,): ends(1), (6,): ends(8)}, {1, 2, 3}) == (4,)
    assert best_chain({(4, 5): ends(1), (2, 3): ends(1), (8,): ends(1)}, {1}) == (
        8,
    )  # Of equal chains the shorter wins, then the lower code.
    assert best_chain({(6,): ends(8)}, {1}) is None


def test_kinds_of_examples_alternate():
    assert take_turns(["a1", "a2", "a3", "b1", "b2", "c1"], lambda item: item[0]) == [
        "a1",
        "b1",
        "c1",
        "a2",
        "b2",
        "a3",
    ]


def test_dialogues_use_the_choosers_prompt(films):  # noqa: F811
    from core.models.base import Task
    from core.models.llm_chooser import choosing_messages, parse_numbers

    paths, _, relations, plan = training_dialogues([asked(films, "One", "Ann")], limit=4, seed=3)
    listed = paths.messages[1]["content"].split(":\n")[1].split("\n\n")[0].splitlines()
    texts = [line.split(". ", 1)[1] for line in listed]
    assert paths.messages == choosing_messages(Task("who", "path"), texts, 2)
    numbers, notes = parse_numbers(paths.reply, texts)
    assert (
        [texts[n - 1] for n in numbers] == ["One -> directed_by -> Ann"]
        and not notes
        and paths.right == set(numbers)
    )
    assert len(relations.right) == 1 and relations.shown == 4
    assert (
        plan.reply == '{"plans": [["directed_by"]]}'
        and "Entities of the question: One" in plan.messages[1]["content"]
    )


def test_plan_prompts_equal_the_operators(kit, films):  # noqa: F811
    from core.operators.retrieve.plans import RelationPlans

    parrot = kit.Parrot('{"plans": [["directed_by"]]}')
    state = kit.state("One")
    from core.finetune.training_examples import CANDIDATE_RETRIEVAL

    for operator in CANDIDATE_RETRIEVAL.operators[:1]:
        state = operator(state, kit.context())
    RelationPlans()(state, kit.context(chat=parrot))
    plan = training_dialogues(
        [training_example(films, Question("a question", "q", answers=("Ann",)), state.seeds)],
        4,
        0,
        ("plan",),
    )[0]
    words = lambda messages: [sorted(message["content"].split()) for message in messages]
    assert words(plan.messages) == words(
        parrot.asked[0]
    )  # Only the order of the relations differs.


def test_test_sets_are_never_trained_on():
    for name in ("metaqa-2hop", "metaqa-2hop-test", "metaqa-1hop-dev,metaqa-2hop-test"):
        with pytest.raises(BadInput, match="metaqa-2hop-test is a test set"):
            QuestionSplit(name)
    with pytest.raises(BadInput, match="none are left to train on"):
        QuestionSplit(questions=20, held=20)


def test_training_and_test_parts_are_disjoint(movies):
    split = QuestionSplit("metaqa-1hop-dev,pathquestion-2hop", questions=60, held=10)
    assert split.test_names == (
        "metaqa-1hop-test",
        "pathquestion-2hop",
    )  # The first comes with a test set; the second is split to get one.
    train, held = split.draw_questions(lambda name: movies)
    unseen = split.draw_test_questions(10**6, lambda name: movies)
    assert (len(train), len(held)) == (100, 20)
    assert len(unseen) == 5007 + 1908 // 5
    parts = [{comparable_question(one) for one in part} for part in (train, held, unseen)]
    assert not parts[0] & parts[1] and not parts[0] & parts[2] and not parts[1] & parts[2]
    assert [one.question.id for one in split.draw_questions(lambda name: movies)[0]] == [
        one.question.id for one in train
    ]
