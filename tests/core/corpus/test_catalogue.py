"""Shipped corpora, and a person's own corpora, by name."""

from __future__ import annotations

import numpy as np
import pytest

from core.builds.extract.language_rules import read_by_rule
from core.corpus import (
    Document,
    corpora,
    new_folder,
    open_corpus,
    remove_corpus,
    write_corpus,
)
from core.errors import BadInput
from core.indexes.words import Postings
from core.languages import language_of_question, languages

SHIPPED = {
    "hotpotqa": (562, 57),
    "2wikimultihopqa": (6119, 45),
    "christmas-carol": (1, 12),
    "graphrag-bench-medical": (1, 1077),
    "cacm": (3204, 52),
    "scifact": (5183, 809),
    "silbertal": (16, 10),
    "qingshui": (16, 10),
    "marj": (16, 10),
}


@pytest.fixture
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_corpora_open_with_their_questions(own_home, name):
    corpus = open_corpus(name)
    assert (corpus.n_documents, len(corpus.questions(name))) == SHIPPED[name]
    assert corpus.title and corpus.licence and corpus.source and not corpus.own
    assert all(id in corpus for question in corpus.questions(name) for id in question.gold)
    assert {question.text for question in corpus.questions(name)} >= set(corpus.examples)
    assert all(corpus.table.texts("text"))
    with pytest.raises(BadInput, match="make one of your own"):
        corpus.add([Document("x", "y")])


def test_the_answers_to_the_carol_stand_in_it(own_home):
    corpus = open_corpus("christmas-carol")
    text = corpus.document_at(0).text
    assert len(text.encode()) == 159_025
    for question in corpus.questions("christmas-carol"):
        assert question.answers and all(answer in text for answer in question.answers)


@pytest.mark.parametrize(
    ("name", "code", "named"),
    [
        (
            "silbertal",
            "de",
            {
                "Klara Stettner",
                "Bergheim",
                "Jakob Unterrainer",
                "Die Nacht im Tunnel",
                "Maschinenfabrik Lindau",
            },
        ),
        ("qingshui", "zh", {"李明山", "青石桥", "沈若兰", "河上的灯", "清水博物馆"}),
        ("marj", "ar", {"سليم حداد", "يوسف البحري", "جسر الوادي", "مكتبة المرج", "مصابيح الميناء"}),
    ],
)
def test_small_corpora_in_other_languages(own_home, name, code, named):
    if code == "zh":
        pytest.importorskip("rjieba")
    corpus = open_corpus(name)
    assert corpus.language.code == code and not corpus.language.other_languages
    texts, ids = corpus.table.texts("text"), corpus.table.texts("id")
    found = Postings.from_texts(texts, code)
    for question in corpus.questions(name):
        assert language_of_question(question.text) == code and question.answers
        assert any(
            answer in corpus.document(gold).text
            for gold in question.gold
            for answer in question.answers
        )
        best = np.argsort(-found.bm25(question.text), kind="stable")[:4]
        assert set(question.gold) <= {ids[row] for row in best}
    entities = {
        entity.name for facts in read_by_rule(languages()[code], texts) for entity in facts.entities
    }
    assert named <= entities and not entities & languages()[code].stop_words


def test_hotpotqa_has_answers_and_two_gold_paragraphs(own_home):
    asked = {question.id: question for question in open_corpus("hotpotqa").questions("hotpotqa")}
    first = asked["5a8b57f25542995d1e6f1371"]
    assert (first.text, first.answers) == (
        "Were Scott Derrickson and Ed Wood of the same nationality?",
        ("yes",),
    )
    assert first.gold == ("Scott Derrickson", "Ed Wood") and all(
        len(question.gold) == 2 for question in asked.values()
    )
    assert open_corpus("hotpotqa").document("Ed Wood").text.startswith("Edward Davis Wood Jr.")


def test_cacm_has_its_references(own_home):
    corpus = open_corpus("cacm")
    assert len(corpus.links) == 28_410 and all(
        link.source in corpus and link.target in corpus for link in corpus.links[::97]
    )
    assert {link.type for link in corpus.links} == {
        "citation",
        "bibliographic coupling",
        "co-citation",
    }


def test_shipped_corpora_are_read_again_only_for_another_version(own_home, monkeypatch):
    first = open_corpus("hotpotqa")
    stamp = (first.folder / "corpus.json").stat().st_mtime_ns
    assert (
        open_corpus("hotpotqa") is first
        and (first.folder / "corpus.json").stat().st_mtime_ns == stamp
    )
    monkeypatch.setattr("core.corpus.catalogue.READING_VERSION", 99)
    assert open_corpus("hotpotqa") is not first and open_corpus("hotpotqa").digest == first.digest


def test_a_corpus_of_ones_own_is_known_until_it_is_removed(own_home):
    write_corpus(new_folder("mine"), [Document("a", "One sentence.")], "Mine")
    assert list(corpora()) == [*sorted(SHIPPED), "mine"] and open_corpus("mine").title == "Mine"
    with pytest.raises(BadInput, match="already a corpus “mine”"):
        new_folder("mine")
    remove_corpus("mine")
    assert "mine" not in corpora()
    with pytest.raises(BadInput, match="no corpus “mine”"):
        open_corpus("mine")


@pytest.mark.parametrize(
    "name", ["", "..", "../x", "a/b", "A", "a b", ".x", "-x", "x" * 41, "con\0", "a.lock", "ü"]
)
def test_a_name_that_is_no_safe_folder_is_refused(own_home, name):
    with pytest.raises(BadInput, match="cannot be a corpus's name"):
        new_folder(name)
    with pytest.raises(BadInput, match="no corpus"):
        open_corpus(name)


def test_shipped_corpora_are_neither_overwritten_nor_removed(own_home):
    with pytest.raises(BadInput, match="already"):
        new_folder("hotpotqa")
    with pytest.raises(BadInput, match="cannot be removed"):
        remove_corpus("hotpotqa")


def test_a_damaged_corpus_is_left_out(own_home):
    write_corpus(new_folder("mine"), [Document("a", "One sentence.")])
    (own_home / "corpora" / "mine" / "corpus.json").write_text("{}")
    assert list(corpora()) == sorted(SHIPPED)
