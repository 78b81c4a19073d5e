"""Messages of the browser change the line of a session."""

from __future__ import annotations

import pytest

from core.drafts.draft import parse_draft
from core.drafts.slots import Slot
from core.errors import BadParameter
from core.operators.text import RETRIEVAL_GRAMMAR, parse_line
from pages.parts.build.bench import Bench
from pages.parts.build.line_drawing import line_data

LINE = "PersonalizedPageRank() >> ShortestPaths() >> Rank() >> Answer()"  # keys 1 to 4


def bench(text: str = LINE) -> Bench:
    made = Bench()
    made.load(parse_line(text))
    return made


def known(text, parameter) -> None:
    if "nobody" in text:
        raise BadParameter("There is no model “nobody”.")


def hear(one: Bench, *edits, who: str = "a") -> None:
    one.apply_message(
        {
            "who": who,
            "edits": [{"n": n, **edit} for n, edit in enumerate(edits, one.last_edit[1] + 1)],
        },
        known,
    )


def test_an_edit_is_done_once_though_it_is_sent_again():
    one = bench()
    edits = [{"n": 1, "do": "remove", "key": 3}, {"n": 2, "do": "duplicate", "key": 2}]
    for sent in (edits[:1], edits, edits, edits[1:]):
        one.apply_message({"who": "a", "edits": sent}, known)
    assert (
        one.draft.text == "PersonalizedPageRank() >> ShortestPaths() >> ShortestPaths() >> Answer()"
        and one.last_edit == ("a", 2)
    )


def test_a_second_tab_or_a_page_drawn_anew_counts_from_one():
    one = bench()
    hear(one, {"do": "remove", "key": 4})
    one.apply_message({"who": "b", "edits": [{"n": 1, "do": "remove", "key": 3}]}, known)
    assert one.draft.text == "PersonalizedPageRank() >> ShortestPaths()"


def test_what_was_put_is_chosen_and_what_was_taken_leaves_its_place():
    one = bench()
    assert one.selected_position == Slot(3)  # before the answer
    hear(one, {"do": "insert", "slot": "1", "name": "FilterSubgraph"})
    assert one.selected_position == 5
    hear(one, {"do": "remove", "key": 5})
    assert one.selected_position == Slot(1)
    hear(one, {"do": "duplicate", "key": 2})
    assert one.selected_position == one.draft.bricks[2].key
    hear(one, {"do": "undo"}, {"do": "choose", "key": 1})
    assert one.selected_position == 1
    hear(one, {"do": "remove", "key": 1}, {"do": "choose", "key": 1})
    # it is not there any more: before the first brick that lacks something
    assert one.selected_position == Slot(0)


def test_a_step_that_is_taken_goes_on_to_the_next_place_until_one_answers():
    one = Bench()
    hear(one, {"do": "insert", "slot": "0", "name": "PersonalizedPageRank", "onward": True})
    assert one.selected_position == Slot(1)
    hear(one, {"do": "insert", "slot": "1", "name": "ShortestPaths", "onward": True})
    assert one.selected_position == Slot(2)
    hear(one, {"do": "insert", "slot": "1", "name": "FilterSubgraph", "onward": True})
    assert one.selected_position == Slot(2)  # between two steps as well
    hear(one, {"do": "insert", "slot": "3", "name": "Answer", "onward": True})
    assert (
        one.selected_position == 4
        and one.draft.text
        == "PersonalizedPageRank() >> FilterSubgraph() >> ShortestPaths() >> Answer()"
    )


def test_the_next_place_in_a_row_of_a_loop_is_in_that_row():
    one = bench("SparseNodes() >> Loop(body=NeighbourNodes())")
    hear(one, {"do": "insert", "slot": "2.body.0", "name": "SparseNodes", "onward": True})
    assert str(one.selected_position) == "2.body.1"


def test_a_loop_or_branch_that_is_taken_goes_on_in_its_first_row():
    one = bench("SparseNodes() >> NeighbourNodes()")
    hear(one, {"do": "insert", "slot": "1", "name": "Loop", "onward": True})
    loop = one.draft.bricks[1]
    assert one.selected_position == Slot(len(loop.arms["body"]), loop.key, "body")
    hear(one, {"do": "insert", "slot": "0", "name": "Branch", "onward": True})
    assert one.selected_position == Slot(0, one.draft.bricks[0].key, "1")


def test_undo_and_redo_look_at_what_they_change():
    one = bench()
    hear(one, {"do": "duplicate", "key": 2}, {"do": "choose", "key": 1}, {"do": "undo"})
    assert one.selected_position == Slot(2)
    hear(one, {"do": "redo"})
    assert one.selected_position == 5
    hear(one, {"do": "remove", "key": 1}, {"do": "undo"})
    assert one.selected_position == 1


def test_a_line_that_lacks_something_is_kept_and_cannot_be_run():
    one = bench()
    hear(one, {"do": "remove", "key": 1})
    assert one.draft.text == "ShortestPaths() >> Rank() >> Answer()" and one.line is None
    shown = line_data(one, {})["bricks"]
    assert [bool(brick["fault"]) for brick in shown] == [True, False, False]
    hear(one, {"do": "undo"})
    assert repr(one.line) == LINE
    hear(one, {"do": "redo"}, {"do": "redo"})
    assert one.line is None


@pytest.mark.parametrize(
    "value, part",
    [
        ("many", "whole number"),
        (0, "at least 1"),
        (True, "whole number"),
        (None, "whole number"),
        ([1], "whole number"),
    ],
)
def test_a_value_that_cannot_be_is_said_at_its_field_and_changes_nothing(value, part):
    one = bench()
    hear(one, {"do": "choose", "key": 3}, {"do": "set", "key": 3, "name": "keep", "value": value})
    field = next(field for field in line_data(one, {})["form"]["fields"] if field["name"] == "keep")
    assert part in field["error"] and field["typed"] == str(value) and field["value"] == 32
    assert one.draft.text == LINE
    hear(one, {"do": "set", "key": 3, "name": "keep", "value": 8})
    assert one.rejected_change is None and "Rank(keep=8)" in one.draft.text


def test_a_prompt_of_one_s_own_has_a_field_of_several_lines():
    one = bench()
    key = max(brick.key for brick in one.draft.iter_bricks())
    hear(
        one,
        {"do": "choose", "key": key},
        {"do": "set", "key": key, "name": "template", "value": "<b>Facts</b>:\n{pahts} {question}"},
    )
    field = next(
        field for field in line_data(one, {})["form"]["fields"] if field["name"] == "template"
    )
    assert (
        field["kind"] == "lines"
        and "Did you mean “paths”?" in field["error"]
        and one.draft.text == LINE
    )
    hear(
        one,
        {"do": "set", "key": key, "name": "template", "value": "<b>Facts</b>:\n{paths} {question}"},
    )
    assert (
        one.rejected_change is None
        and one.line.operators[-1].template == "<b>Facts</b>:\n{paths} {question}"
    )


def test_a_model_that_nobody_knows_is_said_at_its_field():
    one = bench()
    hear(one, {"do": "set", "key": 3, "name": "model", "value": "prefilter(encoder, nobody, 3)"})
    assert "nobody" in one.rejected_change.sentence and one.draft.text == LINE
    hear(one, {"do": "set", "key": 3, "name": "model", "value": "prefilter(bm25, choose, 8)"})
    assert "Rank(model='prefilter(bm25, choose, 8)')" in one.draft.text


def test_the_text_is_another_view_of_the_same_line():
    one = bench()
    hear(
        one,
        {"do": "as-text", "on": True},
        {"do": "text", "text": "EgoNetwork(hops=1) >> SimplePaths()"},
    )
    assert [brick.given["hops"] for brick in one.draft.bricks] == [1, 3]
    hear(one, {"do": "text", "text": "EgoNetwork(hops="})
    shown = line_data(one, {})
    assert (
        shown["typed"] == "EgoNetwork(hops="
        and shown["trouble"]
        and shown["text"] == "EgoNetwork(hops=1) >> SimplePaths()"
    )
    hear(one, {"do": "undo"})
    assert one.draft.text == LINE and one.rejected_change is None


@pytest.mark.parametrize(
    "edit",
    [
        {"do": "set", "key": 99, "name": "keep", "value": 3},
        {"do": "set", "key": 3, "name": "nothing", "value": 3},
        {"do": "insert", "slot": "9.x.1", "name": "Rank"},
        {"do": "insert", "slot": "1", "name": "__class__"},
        {"do": "choose", "slot": "nowhere"},
        {"do": "fly"},
    ],
)
def test_a_message_that_means_nothing_changes_nothing(edit):
    one = bench()
    hear(one, edit)
    assert one.draft.text == LINE
    line_data(one, {})


def test_on_triples_the_palette_does_not_begin_with_graphs_of_texts():
    shown = {on: line_data(Bench(), {}, documents=on)["palette"]["groups"] for on in (True, False)}
    texts, triples = ([group["stage"] for group in shown[on]] for on in (True, False))
    assert texts[0] == "graph" and triples[-1] == "graph" and sorted(texts) == sorted(triples)


def test_the_palette_has_what_fits_and_says_why_the_rest_does_not():
    shown = line_data(bench("EgoNetwork()"), {})["palette"]
    names = [row["name"] for group in shown["groups"] for row in group["rows"]]
    assert (
        shown["count"] == len(names)
        and {"ShortestPaths", "FilterSubgraph"} <= set(names)
        and "Rank" not in names
    )
    # the stages that come behind it as a rule are the first
    assert shown["groups"][0]["stage"] == "extract"
    rank = next(one for one in shown["others"] if "Rank" in one["titles"])
    assert (
        rank["why"] == "reads paths, and nothing before it finds any."
        and "Answer" in rank["titles"]
    )
    assert shown["more"] == sum(len(one["titles"]) for one in shown["others"])


def test_a_brick_shows_what_differs_from_the_default():
    one = bench("PersonalizedPageRank(keep=2000, damping=0.5) >> ShortestPaths()")
    first, second = line_data(one, {})["bricks"]
    assert first["given"] == [["Nodes to keep", "2,000"], ["Damping", "0.5"]]
    assert second["given"] == [] and second["words"] == ""


def test_bricks_hold_bricks():
    one = bench("SparseNodes() >> Loop(body=NeighbourNodes() >> SparseNodes(), budget=9)")
    loop = line_data(one, {})["bricks"][1]
    assert [inner["title"] for inner in loop["arms"][0]["bricks"]] == [
        "Neighbours",
        "Entities by words",
    ]
    assert loop["given"] == [["Nodes in all", "9"]]
    hear(one, {"do": "insert", "slot": "2.body.2", "name": "NeighbourNodes"})
    assert one.draft.text.count("NeighbourNodes()") == 2 and one.line is not None


def test_every_draft_has_a_form_for_each_brick(movies):
    for name in RETRIEVAL_GRAMMAR.operators:
        one = Bench()
        hear(one, {"do": "insert", "slot": "0", "name": name})
        form = line_data(one, {})["form"]
        assert form["title"] and all(field["kind"] for field in form["fields"]), name


def test_a_hostile_text_stays_text():
    assert parse_draft("OwnRetriever(name='<img src=x onerror=alert(1)>')").text.count("<img") == 1
