"""Prompts, answers by a language model, and answers without one."""

import numpy as np
import pytest

from core.environment import Environment
from core.errors import BadInput
from core.graph.building.build import build
from core.operators import Answer, BeamSearch, EgoNetwork, GraphReader, ShortestPaths, SimplePaths
from core.operators.base import Context
from core.types import Path, Question, Ranking, State
from tests.notes import NoteWith


@pytest.fixture
def paths(kit):
    whole = EgoNetwork(hops=4)(kit.state("One"), kit.context())
    return ShortestPaths(parallel=False)(whole, kit.context())


def user(state):
    return state.prompt.messages[-1]["content"]


def test_prompt_has_the_paths_in_order_and_the_question(kit, paths):
    after = Answer(paths=2)(paths, kit.context())
    lines = user(after).splitlines()
    assert lines[1:3] == kit.texts(paths)[:2] and "Question: a question" in lines
    assert after.answer == "Drama" and after.prompt.paths == 2 and after.trace[-1].usage.calls == 1


def test_examples_are_shown_before_the_question(kit, paths):
    roles = [
        [m["role"] for m in Answer(shots=s)(paths, kit.context()).prompt.messages]
        for s in (0, 1, 3)
    ]
    assert roles[0] == ["system", "user"]
    assert roles[1] == ["system", "user", "assistant", "user"] and len(roles[2]) == 8


def test_last_paths_are_left_out_of_a_full_prompt(kit, paths):
    room = kit.Parrot("").count_tokens(
        Answer()._messages(Question("a question"), kit.texts(paths)[:3])
    )
    after = Answer(max_tokens=10)(paths, kit.context(chat=kit.Parrot("x", context=room + 18)))
    assert (
        after.prompt.paths == 3
        and kit.texts(paths)[2] in user(after)
        and kit.texts(paths)[3] not in user(after)
    )
    assert "Only 3 of 4 paths fit" in after.trace[-1].notes[0]


def test_too_long_question_is_reported(kit, paths):
    with pytest.raises(BadInput, match="has room for"):
        Answer(max_tokens=10)(paths, kit.context(chat=kit.Parrot("x", context=20)))


def test_prompt_is_written_without_a_model(kit, paths):
    chat = kit.Parrot("never")
    after = Answer()(paths, Context(kit.graph, Environment(kit.Written(chat)), answering=False))
    assert after.answer is None and after.prompt.paths == 4 and not chat.asked


def test_braces_in_names_and_questions_are_kept(kit, paths):
    asked = paths.replace(question=Question("what is {paths} of {question}?"))
    assert "Question: what is {paths} of {question}?" in user(Answer()(asked, kit.context()))


def test_missing_paths_are_named_in_the_prompt(kit):
    empty = State(Question("q"), (0,), paths=Ranking("path", ()))
    assert "(no path was found)" in user(Answer()(empty, kit.context()))


def test_reader_returns_ends_of_paths_like_the_best(kit):
    # The best path is One -directed_by-> Ann. No other path has the same relations; with a genre
    # path as the best, the answer is Drama.
    whole = EgoNetwork(hops=4)(kit.state("Ann"), kit.context())
    # The paths are Ann <-directed_by- One, Ann <-directed_by- Two, Ann <-written_by- Two.
    found = SimplePaths(hops=1)(whole, kit.context())
    after = GraphReader()(found, kit.context())
    assert kit.graph.names(after.reader) == ["One", "Two"]


def test_reader_never_answers_with_a_question_entity(kit):
    one, drama = kit.node("One"), kit.node("Drama")
    edge = next(
        int(e) for e in range(kit.graph.n_edges) if kit.graph.relation_name(e) == "has_genre"
    )
    back = Path((one, drama, one), (edge, edge), (True, False))
    there = Path((one, drama), (edge,), (True,))
    state = State(Question("q"), (one,), paths=Ranking("path", (back, there)))
    assert kit.graph.names(GraphReader()(state, kit.context()).reader) == ["Drama"]
    assert GraphReader()(state.replace(paths=Ranking("path", (back,))), kit.context()).reader == ()


def test_question_entity_is_answered_only_if_allowed(tmp_path):
    """The spouse of Ann's spouse is Ann herself, on a graph of five nodes."""
    triples = [
        ("Ann", "spouse", "Bob"),
        ("Bob", "spouse", "Ann"),
        ("Bob", "parent", "Cy"),
        ("Cy", "spouse", "Di"),
        ("Di", "parent", "Ed"),
    ]
    graph = build(triples, tmp_path / "g", "g")
    ann, bob, cy = (graph.nodes_named(name)[0] for name in ("Ann", "Bob", "Cy"))
    edge = {
        triple: e
        for e, triple in enumerate(
            zip(*(column.tolist() for column in graph.triples(np.arange(5))))
        )
    }
    spouse, parent = (graph.relation_names.index(name) for name in ("spouse", "parent"))
    there, again = edge[ann, spouse, bob], edge[bob, spouse, ann]
    back = Path((ann, bob, ann), (there, again), (True, True))
    # To Bob and back over the same triple is no answer.
    same = Path((ann, bob, ann), (there, there), (True, False))
    child = Path((ann, bob, cy), (there, edge[bob, parent, cy]), (True, True))
    state = State(
        Question("the spouse of the spouse of Ann"),
        (ann,),
        paths=Ranking("path", (Path((ann,)), same, back, child)),
    )
    assert graph.names(GraphReader()(state, Context(graph, Environment(None))).reader) == ["Cy"]
    assert graph.names(
        GraphReader(itself=True)(state, Context(graph, Environment(None))).reader
    ) == ["Ann"]
    only = state.replace(paths=Ranking("path", (Path((ann,)), same)))
    assert GraphReader(itself=True)(only, Context(graph, Environment(None))).reader == ()
    assert repr(GraphReader(itself=True)) == "GraphReader(itself=True)" and not GraphReader().itself


def test_beam_can_return_to_the_question_entity(tmp_path, kit):
    graph = build(
        [("Ann", "spouse", "Bob"), ("Bob", "spouse", "Ann"), ("Bob", "parent", "Cy")],
        tmp_path / "g",
        "g",
    )
    ann = graph.nodes_named("Ann")[0]
    line = EgoNetwork(hops=2) >> BeamSearch(hops=2, direction="out", rank="steps")
    state = State(Question("the spouse of the spouse of Ann"), (ann,))
    table = kit.Table({"Ann -> spouse -> Bob": 0.5, "Ann -> spouse -> Bob -> spouse -> Ann": 0.9})
    context = Context(graph, Environment(kit.Written(encoder=table)))
    for operator in line:
        state = operator(state, context)
    assert graph.names(GraphReader(itself=True)(state, context).reader) == ["Ann"]
    assert graph.names(GraphReader()(state, context).reader) == ["Bob"]


def test_repeating_answer_is_reported(kit):
    from core.models.base import ChatReply

    class EndlessChat(kit.Parrot):
        def reply(self, messages, **_):
            return ChatReply("Adventure", 10, 20, "repeat", words=8)

    after = Answer(prompt="question-only")(kit.state("One"), kit.context(EndlessChat("")))
    assert after.answer == "Adventure"
    assert after.trace[-1].notes == (NoteWith("repeated itself", "8 words"),)


def test_walks_are_shown_as_joined_sentences(kit, paths):
    after = Answer(prompt="walks", paths=2)(paths, kit.context())
    assert "Context: One directed by Ann; One has genre Drama\n" in user(after)
    assert (
        "I do not know the answer" in after.prompt.messages[0]["content"]
        and after.prompt.paths == 2
    )


def test_triples_are_bracketed_and_answer_marks_removed(kit, paths):
    after = Answer(prompt="triples")(
        paths, kit.context(chat=kit.Parrot("Both fit.\nans: Ann\nAns:  Drama\nans: Ann"))
    )
    lines = user(after).splitlines()
    assert lines[1:4] == [
        "(One, directed_by, Ann)",
        "(One, has_genre, Drama)",
        "(One, directed_by, Ann) (Two, directed_by, Ann)",
    ]
    assert after.answer == "Ann, Drama" and after.prompt.paths == 4
    plain = Answer(prompt="triples")(paths, kit.context(chat=kit.Parrot(" Ann and Drama ")))
    assert plain.answer == "Ann and Drama"


def test_question_without_context_may_be_declined(kit):
    after = Answer(prompt="question-or-decline")(kit.state("One"), kit.context())
    assert "I do not know the answer" in after.prompt.messages[0][
        "content"
    ] and "Context" not in user(after)
