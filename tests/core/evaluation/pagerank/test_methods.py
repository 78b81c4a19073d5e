"""Comparisons of PageRank methods: what they start from, and what is kept of them."""

import json
import time

import pytest

from core.errors import BadInput, Cancelled, HopscopeError, StoreError
from core.evaluation.pagerank import methods as comparing
from core.evaluation.pagerank.methods import (
    FILE,
    HISTORY,
    MethodConfig,
    compare,
    saved_comparisons,
    starts,
)
from core.graph.building.build import build
from core.indexes.place import index_folder
from core.io import digests
from core.watch import Watch
from tests.films import TRIPLES

QUESTIONS = "who directed [One]\tAnn\nwhat is [Three]\tDrama\nwho wrote [Two]\tAnn|Ben\n"


@pytest.fixture
def films(tmp_path):
    return build(TRIPLES, tmp_path / "films", "films", "both")


@pytest.fixture
def asked(tmp_path):
    file = tmp_path / "asked.txt"
    file.write_text(QUESTIONS, "utf-8")
    return str(file)


def told(text, share=None):
    pass


def go_on():
    pass


def test_questions_without_their_entity_in_the_graph_are_left_out(films, asked):
    found = starts(films, MethodConfig(("auto",), asked, 3))
    assert sorted(question.text for question in found) == ["who directed One", "who wrote Two"]
    drawn = starts(films, MethodConfig(("auto",), count=3, seed=1))
    assert drawn == starts(films, MethodConfig(("auto",), count=3, seed=1)) and len(set(drawn)) == 3
    assert len(starts(films, MethodConfig(("auto",), count=99))) == films.n_nodes


def test_a_comparison_is_measured_and_kept(films, asked):
    wish = MethodConfig(("exact", "auto"), asked, 3, keep=3)
    done = compare(films, wish, Watch(go_on, told))
    exact, push = done.rows
    # all five nodes hang together; Ann is among the best three of both films, Ben is no node: (1 + 1/2) / 2
    assert (exact.recall, exact.answer_recall, exact.components, exact.questions) == (
        1.0,
        0.75,
        1.0,
        2,
    )
    assert (
        push.ran == "relaxation"
        and not exact.ran
        and push.recall == 1.0
        and 0 < push.median_ms <= push.p95_ms
    )
    assert saved_comparisons(films) == [done]


def test_the_newest_comes_first_and_the_oldest_go(films):
    for seed in range(HISTORY + 2):
        compare(films, MethodConfig(("auto",), count=1, seed=seed), Watch(go_on, told))
    assert [one.config.seed for one in saved_comparisons(films)] == list(range(HISTORY + 1, 1, -1))


def test_nothing_to_compare_is_a_sentence_and_keeps_nothing(films, asked, tmp_path):
    with pytest.raises(BadInput, match="at least one method"):
        compare(films, MethodConfig(()), Watch(go_on, told))
    other = tmp_path / "other.txt"
    other.write_text("what is [Three]\tDrama\n", "utf-8")
    with pytest.raises(BadInput, match="random entities"):
        compare(films, MethodConfig(("auto",), str(other)), Watch(go_on, told))

    def cancelled():
        raise Cancelled()

    with pytest.raises(Cancelled):
        compare(films, MethodConfig(("auto",)), Watch(cancelled, told))
    assert saved_comparisons(films) == [] and not (index_folder(films) / FILE).exists()


@pytest.mark.parametrize(
    "text", ["", "[]", '{"version": 1}', '{"version": 1, "comparisons": [{"wish": {}}]}']
)
def test_a_damaged_file_is_named(films, text):
    (index_folder(films) / FILE).write_text(text, "utf-8")
    with pytest.raises(StoreError, match=FILE):
        saved_comparisons(films)


def test_what_another_version_kept_is_let_go(films):
    file = index_folder(films) / FILE
    file.write_text(json.dumps({"version": 0}), "utf-8")
    assert saved_comparisons(films) == []
    compare(films, MethodConfig(("auto",), count=1), Watch(go_on, told))
    known = digests.check_marked(json.loads(file.read_text("utf-8")))
    del known["comparisons"][0]["rows"][0]["edges"]
    file.write_text(json.dumps(known), "utf-8")
    assert saved_comparisons(films) == []


def test_what_was_kept_before_the_chosen_method_was_recorded_still_opens(films):
    compare(films, MethodConfig(("auto",), count=1), Watch(go_on, told))
    file = index_folder(films) / FILE
    known = digests.check_marked(json.loads(file.read_text("utf-8")))
    row = known["comparisons"][0]["rows"][0]
    row["method"] = "push"
    del row["ran"]
    file.write_text(json.dumps(known), "utf-8")
    assert [(row.method, row.ran) for row in saved_comparisons(films)[0].rows] == [("push", "")]


def stuck(folder, digest, wish, watch):
    watch.report("PageRank by a method that never looks up", 0.5)
    time.sleep(600)


def test_a_large_graph_is_measured_in_another_process_with_the_same_result(
    films, asked, monkeypatch
):
    here, said = compare(films, MethodConfig(("auto",), asked, 3, keep=3), Watch(go_on, told)), []
    monkeypatch.setattr("core.graph.storage.opening.LARGE", 0)
    apart = compare(
        films,
        MethodConfig(("auto",), asked, 3, keep=3),
        Watch(go_on, lambda text, share=None: said.append(text)),
    )
    measured = lambda done: [
        (row.method, row.questions, row.recall, row.answer_recall, row.components)
        for row in done.rows
    ]
    assert measured(apart) == measured(here) and any("question 2 of 2" in text for text in said)
    build([*TRIPLES, ("Two", "has_genre", "Drama")], films.folder, "films", "both")
    with pytest.raises(HopscopeError, match="built anew just now"):
        compare(films, MethodConfig(("auto",)), Watch(go_on, told))


def test_a_cancel_takes_effect_in_the_middle_of_a_method(films, monkeypatch):
    said = []
    monkeypatch.setattr("core.graph.storage.opening.LARGE", 0)
    monkeypatch.setattr(comparing, "_measured", stuck)

    def check():
        if "PageRank by a method that never looks up" in said:
            raise Cancelled()

    with pytest.raises(Cancelled):
        compare(
            films, MethodConfig(("auto",)), Watch(check, lambda text, share=None: said.append(text))
        )
    assert saved_comparisons(films) == []
