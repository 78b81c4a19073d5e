"""Merged and cut hits, tables with budgets, and their prompts."""

import pytest

from core.errors import BadInput
from core.operators.texts.tables import text_of_tables
from core.types import ContextTable, Question, Ranking, State
from tests.core.operators.texts.kit import plain
from tests.core.operators.texts.test_neighbours_and_scores import at, step
from tests.films import Parrot, Written


def chunks(*scored):
    return Ranking("chunk", *zip(*scored))


@pytest.mark.parametrize(
    "order, items, scores",
    [
        ("in turn", (0, 3, 2, 1), (1, 1 / 2, 1 / 3, 1 / 4)),
        ("first", (0, 2, 3, 1), (1, 1 / 2, 1 / 3, 1 / 4)),
        ("score", (3, 0, 2, 1), (0.9, 0.8, 0.7, 0.1)),
    ],
)
def test_merged_hits_are_unique(told, order, items, scores):
    state = State(
        Question("q"),
        chunks=chunks((3, 0.9), (2, 0.7), (1, 0.1)),
        waiting=(chunks((0, 0.8), (2, 0.4)),),
    )
    after = step(told, "Merge", state, order=order)
    assert (
        after.chunks.items == items
        and after.chunks.scores == pytest.approx(scores)
        and after.waiting == ()
    )


def test_kinds_found_by_one_search_are_kept(told):
    state = State(Question("q"), chunks=chunks((3, 0.9)), waiting=(Ranking("node", (1,), (0.5,)),))
    after = step(told, "Merge", state)
    assert after.nodes.items == (1,) and after.chunks.items == (3,)


def test_hits_are_cut_by_tokens(told):
    # Chunk 3 has 31 characters, 9 tokens; chunk 2 has 63, 18 tokens.
    state = State(Question("q"), chunks=chunks((3, 0.9), (2, 0.7)))
    assert step(told, "Truncate", state, budget=26).chunks.items == (3,)
    assert step(told, "Truncate", state, budget=27).chunks.items == (3, 2)


def test_hits_are_cut_by_whole_rows(told):
    # "Tim person A lame son." has 22 characters, 7 tokens, of which the description has 11, 4
    # tokens. "Cratchit person Scrooge's poor clerk." has 37, 11 tokens.
    state = at(told, Tim=1.0, Cratchit=0.5).replace(chunks=chunks((3, 0.9), (2, 0.7)))
    after = step(told, "Truncate", state, budget=17, of="nodes", rows=True)
    assert told.names(after) == ["Tim"] and after.chunks.items == (3, 2)
    assert told.names(step(told, "Truncate", state, budget=18, of="nodes", rows=True)) == [
        "Tim",
        "Cratchit",
    ]
    assert told.names(step(told, "Truncate", state, budget=11, of="nodes")) == ["Tim", "Cratchit"]


def test_tables_have_the_columns_of_the_graph(told):
    state = step(told, "IncidentRelations", at(told, Tim=1.0))
    entities, relations = step(told, "ContextTables", state).tables
    assert entities.header == ("entity", "type", "description") and entities.rows == (
        ("Tim", "person", "A lame son."),
    )
    assert relations.header == ("source", "relation", "target", "keywords", "description", "weight")
    assert relations.rows == (
        ("Tim", "son of", "Cratchit", "family", "Tim is the youngest son.", "1"),
    )


def test_tables_are_cut_at_their_budgets(told):
    # "carol#1 Fred, ..." has 94 characters, 27 tokens.
    state = State(Question("q"), chunks=chunks((1, 0.9), (2, 0.7)))
    (table,) = step(told, "ContextTables", state, sources=30).tables
    assert table.items == (1,) and table.left_out == 1


def test_table_syntax_in_texts_is_escaped():
    table = ContextTable(
        "chunk", ("source", "text"), (('a"b', "one,\ntwo {question} <script>"),), (0,)
    )
    assert text_of_tables([table]) == 'Sources\nsource,text\n"a""b","one,\ntwo {question} <script>"'


def test_braces_in_texts_are_kept(told):
    from core.operators.texts.answer.generate import prompt_of

    table = ContextTable("chunk", ("source", "text"), (("a", "{question} {tables}"),), (0,))
    assert "{question} {tables}" in prompt_of(Question("who?"), (table,)).messages[1]["content"]


def test_prompt_counts_its_contents(told):
    state = told.state(
        (
            "EmbedQuery() >> VectorNodes(keep=1) >> IncidentRelations() >> VectorChunks(keep=2) "
            ">> AnswerFromTables()"
        ),
        "a lame son",
    )
    assert (
        dict(state.prompt.hits) == {"node": 1, "triple": 1, "chunk": 2} and state.answer == "Drama"
    )


def test_longest_table_is_shortened_first(told):
    chat = Parrot("Scrooge", context=256 + 8 + 110)
    line = "EmbedQuery() >> VectorNodes(keep=1) >> SparseChunks(keep=3) >> AnswerFromTables()"
    after = told.state(line, "clerk Scrooge Marley", models=Written(chat))
    assert after.prompt.hits["chunk"] < 3 and after.prompt.hits["node"] == 1
    assert "rows fit into the model's context" in after.trace[-1].notes[0]


def test_question_that_does_not_fit_is_refused(told):
    with pytest.raises(BadInput, match="question alone needs"):
        told.state(
            "SparseChunks() >> AnswerFromTables()",
            "clerk",
            models=Written(Parrot("x", context=266)),
        )


def test_prompt_is_written_without_a_model(told):
    after = told.state("SparseChunks(keep=1) >> AnswerFromTables()", "clerk", answering=False)
    assert (
        after.answer is None
        and "carol#1" in after.prompt.messages[1]["content"]
        and dict(after.prompt.hits) == {"chunk": 1}
    )


def test_empty_tables_are_reported(told):
    after = told.state("EmbedQuery() >> VectorNodes() >> AnswerFromTables()", on=plain())
    assert "(nothing was found)" in after.prompt.messages[1]["content"]


def test_excerpt_is_the_nearest_sentence(told):
    after = told.state("SparseChunks() >> NearestSentence()", "Scrooge was his partner")
    assert (
        after.excerpt.text == "Scrooge was his partner."
        and after.excerpt.chunk == 0
        and after.answer is None
    )
