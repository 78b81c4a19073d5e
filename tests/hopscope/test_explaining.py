"""What a comparison says of itself: verdict, losses, influence, repairs, and what is taken away."""

from __future__ import annotations

import json

import pytest

import hopscope as hs
from core.cli import main

FILMS = [
    ("One", "directed_by", "Ann"),
    ("Two", "directed_by", "Ann"),
    ("Two", "written_by", "Bea"),
]
QUESTION = "films directed by Ann"
NEAR = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
NARROW = f"{NEAR} >> Rank(keep=1)"
TEXTS = {
    "ada": "Ada Lovelace wrote notes on the engine.",
    "charles": "Charles Babbage built an engine of brass.",
    "mary": "Mary wrote novels.",
}


@pytest.fixture(scope="module")
def films():
    return hs.graph(FILMS, "explained-films", progress=False).name


def asked(films, *methods):
    return hs.compare(
        QUESTION,
        list(methods),
        graph=films,
        entities=["Ann"],
        answers=["One", "Two"],
        progress=False,
    )


def test_step_that_lost_an_answer_is_named(films):
    found = asked(films, NARROW, NEAR)
    narrow, near = found.why_lost()
    (left,) = found[0].answers
    assert narrow["lost"] == [{"One": "Two", "Two": "One"}[left]]
    assert (narrow["stage"], narrow["step"], narrow["cause"]) == ("paths", "Rank", "ranked too low")
    assert (near["stage"], near["lost"], near["method"]) == (None, [], NEAR)
    assert [(lane.n_right, lane.n_answers) for lane in found.verdict.lanes] == [(1, 2), (2, 2)]
    assert str(found.verdict) == found.verdict.text != ""


def test_lost_words_of_documents_are_named():
    corpus = hs.corpus("explained-words", TEXTS).name
    found = hs.compare("Who wrote novels?", "bm25", corpus=corpus, answers=["Zeno"], progress=False)
    (row,) = found.why_lost()
    assert row["stage"] == "corpus" and row["lost"] == ["Zeno"]
    without_answers = hs.compare("Who wrote novels?", "bm25", corpus=corpus, progress=False)
    with pytest.raises(hs.HopscopeError, match="No correct answer is known"):
        without_answers.why_lost()


def test_node_is_taken_away_as_on_the_command_line(films, capsys):
    found = asked(films, NEAR)
    assert found.change == found[0].change == "" and set(found[0].answers) == {"One", "Two"}
    less = found.without("Two", progress=False)
    assert less[0].answers == ["One"] and less.data["edits"] == ["without Two"]
    words = ("--entity", "Ann", "--answer", "One", "--answer", "Two", "--no-llm", "--json")
    assert (
        main(["ask", QUESTION, "--graph", films, "--method", NEAR, "--without", "Two", *words]) == 0
    )
    printed = json.loads(capsys.readouterr().out)
    assert less.change == printed["without"]["text"]
    assert less[0].change == printed["lanes"][0]["beside"]["text"] in less._repr_html_()
    assert less.without("One", progress=False)[0].answers == []
    with pytest.raises(hs.HopscopeError, match="called “Three”"):
        found.without("Three", progress=False)


def test_path_is_taken_away_with_its_triple_alone(films):
    found = asked(films, NEAR)
    path = next(path for path in found[0].paths if path.endswith("Two"))
    less = found.without(path, progress=False)
    assert less.data["edits"] == ["without Two -> directed_by -> Ann"]
    assert less[0].answers == ["One"] and less.data["lanes"][0]["graph"]["nodes"] == 4


def test_passage_is_taken_away_by_its_id():
    corpus = hs.corpus("explained-letters", TEXTS).name
    found = hs.compare("Who built an engine of brass?", "bm25", corpus=corpus, progress=False)
    first = found[0].hits["chunk"][0]["id"]
    less = found.without(first, progress=False)
    assert first == "charles"
    assert first not in [hit["id"] for hit in less[0].hits["chunk"]]
    assert less.data["edits"] == ["without the passage charles"] and less.change


def test_answer_rests_on_the_path_to_it(films):
    found = asked(films, NEAR)
    (rests,) = found.influence(progress=False)
    assert rests["method"] == NEAR and {item["name"] for item in rests["items"]} == {
        *found[0].paths
    }
    (first,) = [item for item in rests["items"] if item["changes"]]
    # Of two names one is left: the F1 is 2 / 3.
    assert first["name"].endswith(found[0].answers[0]) and first["smallest"]
    assert first["influence"] == pytest.approx(1 - 2 / 3, abs=1e-6)
    assert found.data["lanes"][0]["influence"][0]["items"] == rests["items"]
    (unmeasured,) = found.influence(llm=True, progress=False)
    assert unmeasured["items"] == [] and unmeasured["text"] == "It gave no answer."


def test_offered_repair_is_run_beside_its_method(films):
    found = asked(films, NARROW)
    (repair,) = found.repairs(progress=False)
    assert (repair.method, repair.right, repair.of) == (NARROW, 2, 2)
    before, after = repair.run(progress=False)
    assert before.answers == found[0].answers and set(after.answers) == {"One", "Two"}
    assert (
        after.method == repair.spec
        and hs.compare(QUESTION, repair.spec, graph=films, entities=["Ann"], progress=False)[
            0
        ].answers
        == after.answers
    )
    wide = NARROW.replace("keep=1", "keep=64")
    assert asked(films, NARROW, wide).repairs(progress=False) == []  # the other lane shows it
