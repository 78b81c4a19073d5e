"""The benchmark of documents at size: the corpus that it makes, and its steps on a small one."""

from __future__ import annotations

import json
from collections import Counter

from tests.benchmarks.documents_scale import NAMED, Cost, MadeEncoder, main
from tests.benchmarks.made_documents import documents, names, questions


def test_the_same_number_and_seed_give_the_same_documents_and_others_give_others():
    one = list(documents(30))
    assert one == list(documents(30)) and one != list(documents(30, seed=8))
    assert (
        len({document.text for document in one}) == len({document.title for document in one}) == 30
    )
    assert all(620 <= len(document.text) < 1100 for document in one)
    assert all(document.title in document.text for document in one)


def test_few_names_recur_often_and_most_once_or_twice():
    counted = Counter(
        name for document in documents(400) for name in names(800) if name in document.text
    )
    often = sorted(counted.values(), reverse=True)
    assert often[0] > 20 and often[len(often) // 2] <= 2


def test_the_gold_of_a_question_is_of_documents_that_name_what_it_asks_about():
    known = {document.id: document for document in documents(200)}
    asked = questions(200, 20)
    assert len(asked) == 20
    for question in asked:
        first = known[question.gold[0]]
        assert first.title in question.text
        for other in question.gold[1:]:
            assert known[other].title in question.text and known[other].title in first.text


def test_made_vectors_are_near_where_words_are_the_same():
    a, b, c = MadeEncoder().encode(
        ["the harbour of Oban", "the harbour of Leith", "nothing like it"]
    )
    assert abs(float(a @ a) - 1) < 1e-5 and a @ b > 0.5 > a @ c


def test_patterns_find_names_and_pairs_of_long_words():
    assert NAMED.findall("Ann Lee saw the marine harbour of Oban") == [
        "Ann Lee",
        "marine harbour",
        "Oban",
    ]


def test_each_step_is_measured_and_a_change_undone_gives_the_same_graph(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    file = tmp_path / "found.json"
    given = "--documents 40 --builds kg-noun-phrases --rows dalk --made vectors facts --changed 2"
    main([*given.split(), "--folder", str(tmp_path / "home"), "--json", str(file)])
    found = [Cost(**row) for row in json.loads(file.read_text("utf-8"))]
    assert [one.step for one in found if one.stage in ("in all", "dalk")] == [
        "build kg-noun-phrases",
        "ask kg-noun-phrases",
    ]
    notes = {one.stage: one.note for one in found}
    assert notes["added: the graph in all"] == "another graph than before"
    assert notes["removed: the graph in all"] == "the same graph as before"
    assert all(one.memory > 10 << 20 and one.processor >= 0 for one in found)
