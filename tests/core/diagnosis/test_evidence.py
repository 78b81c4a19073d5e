"""Evidence that the words of an answer rest on, on the five films nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.diagnosis.evidence import answer_evidence
from core.operators import Answer, EgoNetwork, GraphReader, Rank, ShortestPaths

ANN, DRAMA = "One -> directed_by -> Ann", "One -> has_genre -> Drama"
TWO = "One -> directed_by -> Ann -> directed_by_reverse -> Two"


@pytest.fixture
def answered(kit):
    """`answered(text)`: a state with Ann, Drama and Two on its paths.

    The reader's answer is Ann, and the model's answer is the text.
    """

    def make(text="Ann", shown=32):
        state, chat = kit.state("One"), kit.Parrot(text)
        table = kit.Table({ANN: 0.9, DRAMA: 0.5, TWO: 0.1})
        context = kit.context(chat, encoder=table)
        for operator in (
            EgoNetwork(hops=2),
            ShortestPaths(parallel=False),
            Rank(),
            GraphReader(),
            Answer(paths=shown),
        ):
            state = operator(state, context)
        return state

    return make


def told(kit, state, text=""):
    found = answer_evidence(kit.graph, state, text)
    return [
        (one.text, kit.graph.node_name(one.node), [kit.graph.text(path) for path in one.paths])
        for one in found
    ]


def lines(state, one):
    every = "\n".join(message["content"] for message in state.prompt.messages).split("\n")
    return [every[place] for place in one.lines]


def test_names_of_the_reader_and_of_the_model(kit, answered):
    state = answered()
    assert told(kit, state) == [("Ann", "Ann", [ANN])]
    assert told(kit, state, "Drama, by ANN") == [
        ("Ann", "Ann", [ANN]),
        ("Drama", "Drama", [DRAMA]),
        ("ANN", "Ann", [ANN]),
    ]
    assert told(kit, state, "Ann and ann") == [("Ann", "Ann", [ANN]), ("ann", "Ann", [ANN])]


def test_only_whole_words_of_kept_paths(kit, answered):
    state = answered()
    # 1999 is on no path, One is the question's own
    assert told(kit, state, "Annie, Twofold, 1999, One")[1:] == []
    assert told(kit, state, "(Two)")[1:] == [("Two", "Two", [TWO])]


def test_the_lines_of_the_prompt_that_hold_a_name(kit, answered):
    state = answered()
    ann, two = answer_evidence(kit.graph, state, "Two")
    assert lines(state, ann) == [ANN, TWO] and lines(state, two) == [TWO]
    ann, two = answer_evidence(kit.graph, answered(shown=1), "Two")
    assert lines(state, ann) == [ANN] and two.lines == ()  # the prompt shows one path


def test_lines_are_counted_over_all_messages(kit, answered):
    state = answered()
    system, user = (message["content"] for message in state.prompt.messages)
    first = len(system.split("\n")) + user.split("\n").index(ANN)
    assert answer_evidence(kit.graph, state)[0].lines == (first, first + 2)


def test_lines_of_an_own_prompt_are_those_of_its_system_message_too(kit):
    state = kit.state("One")
    context = kit.context(kit.Parrot("Ann"), encoder=kit.Table({ANN: 0.9, DRAMA: 0.5, TWO: 0.1}))
    answer = Answer(template="Facts on Ann:\n{paths}\n---\nQ: {question}")
    for operator in (EgoNetwork(hops=2), ShortestPaths(parallel=False), Rank(), answer):
        state = operator(state, context)
    system, user = (message["content"] for message in state.prompt.messages)
    assert system.split("\n")[1] == ANN and user == f"Q: {state.question.text}"
    (ann,) = answer_evidence(kit.graph, state, "Ann")
    assert lines(state, ann) == ["Facts on Ann:", ANN, TWO]


def test_turns_of_solved_examples_are_no_evidence(kit, answered):
    state = answered()
    turns = [{"role": "user", "content": ANN}, {"role": "assistant", "content": "Ann"}]
    system, user = state.prompt.messages
    messages = (system, *turns, user)
    shown = state.replace(prompt=replace(state.prompt, messages=messages))
    (ann,) = answer_evidence(kit.graph, shown)
    first = sum(len(one["content"].split("\n")) for one in messages[:3])
    assert lines(shown, ann) == [ANN, TWO] and min(ann.lines) >= first


def test_nothing_rests_on_paths_where_there_are_none(kit):
    state = Answer(prompt="question-only")(kit.state("One"), kit.context(kit.Parrot("Ann")))
    assert answer_evidence(kit.graph, state, "Ann") == ()
    empty = EgoNetwork(hops=0) >> ShortestPaths(parallel=False) >> GraphReader()
    state = kit.state("One")
    for operator in empty:
        state = operator(state, kit.context())
    assert answer_evidence(kit.graph, state, "Ann") == ()
