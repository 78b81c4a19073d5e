"""The expected type of answer, and the graph reader that uses it, on five nodes."""

import numpy as np
import pytest

from core.environment import Environment
from core.graph.building.build import build
from core.operators import EgoNetwork, GraphReader, ShortestPaths
from core.operators.base import Context
from core.operators.expected_answer import (
    NUMBER_ANSWER,
    PERSON_ANSWER,
    THING_ANSWER,
    TIME_ANSWER,
    ExpectedAnswer,
    expect_answer,
    leads_to_person,
    type_of_name,
)
from core.types import Path, Question, Ranking, State


@pytest.mark.parametrize(
    "question, wanted",
    [
        ("who directed Two", ExpectedAnswer(PERSON_ANSWER, "direct")),
        ("Two was written by who", ExpectedAnswer(PERSON_ANSWER, "writ")),
        ("who is it that Two is by", ExpectedAnswer(PERSON_ANSWER)),
        ("which person wrote Two", ExpectedAnswer(PERSON_ANSWER, "writ")),
        ("when did Two come out", ExpectedAnswer(TIME_ANSWER)),
        ("what was the release date of Two", ExpectedAnswer(TIME_ANSWER)),
        ("what year is Two of", ExpectedAnswer(TIME_ANSWER)),
        ("how many are there", ExpectedAnswer(NUMBER_ANSWER)),
        ("what are the main genres of Two", ExpectedAnswer(THING_ANSWER, "genr")),
        (
            "which films did Ann direct",
            ExpectedAnswer(THING_ANSWER),
        ),  # No relation has this name, so any node with relations fits.
        ("what kind of film is Two", ExpectedAnswer()),
        ("what does Ann do", ExpectedAnswer()),
        ("tell me about Two", ExpectedAnswer()),
    ],
)
def test_expected_type_follows_from_the_question(films, question, wanted):
    assert expect_answer(films, question, ("Two", "Ann")) == wanted


def test_words_of_an_entity_set_no_expected_type(films):
    assert expect_answer(films, "which genre has Who When", ("Who When",)) == ExpectedAnswer(
        THING_ANSWER, "genr"
    )


@pytest.mark.parametrize(
    "name, told",
    [
        ("1999", TIME_ANSWER),
        ("1999-05-02", TIME_ANSWER),
        ("12 May 1999", TIME_ANSWER),
        ("6.7", NUMBER_ANSWER),
        ("12,000", NUMBER_ANSWER),
        ("Ann", ""),
        ("2001: A Space Odyssey", ""),
        ("", ""),
    ],
)
def test_names_have_types_by_their_form(name, told):
    assert type_of_name(name) == told


@pytest.mark.parametrize(
    "relation, somebody",
    [
        ("directed_by", True),
        ("starred_actors", True),
        ("people.person.spouse", True),
        ("has_genre", False),
        ("release_year", False),
        ("in_language", False),
    ],
)
def test_relations_that_lead_to_persons(relation, somebody):
    assert leads_to_person(relation) == somebody


def reader_answers(kit, question, start, asked=True, *first):
    """The reader's answers, after a sort that puts paths to the nodes `first` in front."""
    state = State(Question(question), (kit.node(start),))
    for operator in (EgoNetwork(hops=1), ShortestPaths()):
        state = operator(state, kit.context())
    paths = sorted(state.paths.items, key=lambda path: kit.graph.node_name(path.end) not in first)
    return kit.graph.names(
        GraphReader(asked=asked)(
            state.replace(paths=Ranking("path", tuple(paths))), kit.context()
        ).reader
    )


@pytest.mark.parametrize(
    "question, asked, told",
    [
        ("which person directed Two", True, ["Ann"]),
        # The first path is used, whatever the question asks for.
        ("which person directed Two", False, ["1999"]),
        ("when was Two released", True, ["1999"]),
        ("what genre has Two", True, ["1999"]),  # No path leads to a genre, so the first is used.
        ("what about Two", True, ["1999"]),
    ],
)
def test_who_questions_get_no_years(kit, question, asked, told):
    assert reader_answers(kit, question, "Two", asked, "1999") == told


def test_which_films_expects_nodes_with_relations(kit):
    assert set(reader_answers(kit, "which films did Ann direct", "Ann")) <= {"One", "Two"}


def test_person_with_the_named_role_is_chosen(tmp_path):
    graph = build(
        [("Two", "directed_by", "Ann"), ("Two", "written_by", "Bob")], tmp_path / "g", "g"
    )
    two, ann, bob = (graph.nodes_named(name)[0] for name in ("Two", "Ann", "Bob"))
    paths = Ranking("path", (Path((two, ann), (0,), (True,)), Path((two, bob), (1,), (True,))))
    for question, told in (
        ("who wrote Two", "Bob"),
        ("who directed Two", "Ann"),
        ("who is behind Two", "Ann"),
    ):
        state = State(Question(question), (two,)).replace(paths=paths)
        assert graph.names(GraphReader()(state, Context(graph, Environment(None))).reader) == [told]


def test_director_who_also_wrote_is_found_by_either_triple(tmp_path):
    triples = [
        ("Two", "written_by", "Ann"),
        ("Two", "directed_by", "Ann"),
        ("Two", "written_by", "Bob"),
        ("Six", "directed_by", "Cy"),
        ("Six", "of", "Two"),
    ]
    graph = build(triples, tmp_path / "g", "g")
    two, ann, six, cy = (graph.nodes_named(name)[0] for name in ("Two", "Ann", "Six", "Cy"))
    edge = {
        (h, r, t): e
        for e, (h, r, t) in enumerate(
            zip(*(column.tolist() for column in graph.triples(np.arange(5))))
        )
    }
    by = {name: code for code, name in enumerate(graph.relation_names)}
    wrote = Path((two, ann), (edge[two, by["written_by"], ann],), (True,))
    bob = Path(
        (two, graph.nodes_named("Bob")[0]),
        (edge[two, by["written_by"], graph.nodes_named("Bob")[0]],),
        (True,),
    )
    far = Path(
        (two, six, cy), (edge[six, by["of"], two], edge[six, by["directed_by"], cy]), (False, True)
    )
    state = State(Question("who directed Two"), (two,)).replace(
        paths=Ranking("path", (wrote, bob, far))
    )
    # Bob only wrote it, and Cy belongs to another film.
    assert graph.names(GraphReader()(state, Context(graph, Environment(None))).reader) == ["Ann"]


def test_text_of_the_line_is_unchanged():
    assert (
        repr(GraphReader()) == "GraphReader()"
        and repr(GraphReader(asked=False)) == "GraphReader(asked=False)"
    )
