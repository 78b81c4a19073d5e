"""Names and noun phrases of real sentences."""

from __future__ import annotations

import pytest

from core.builds import run_build
from core.builds.base import BuildContext, BuildState
from core.builds.chunkers import WholeDocuments
from core.builds.extract.mentions import MAX_JOINED_ENTITIES
from core.builds.extract.noun_phrases import NounPhrases
from core.builds.fact_store import FactStore
from tests.core.builds.kit import LetterModels, Texts


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


def facts(tmp_path, text):
    ctx = BuildContext(LetterModels())
    made = NounPhrases().apply(
        WholeDocuments().apply(BuildState(Texts(tmp_path, d=text)), ctx), ctx
    )
    assert made.facts is not None
    return made.facts[0], ctx.report


def names(found):
    return {entity.name: entity.type for entity in found.entities}


def test_names_have_types_and_dates_numbers_and_pronouns_are_no_names(tmp_path):
    found, _ = facts(
        tmp_path,
        "In May 1999, Barack Obama met 12 people in Paris. He had seen it before on Monday, twice.",
    )
    assert names(found) == {"Barack Obama": "person", "Paris": "place"}
    assert [(r.head, r.tail, r.weight) for r in found.relations] == [("Barack Obama", "Paris", 1.0)]


def test_a_relation_weighs_as_many_sentences_as_name_both(tmp_path):
    found, _ = facts(
        tmp_path,
        "John Smith visited Paris. Then John Smith moved to Paris in France. London is far away.",
    )
    assert {e.name: e.times for e in found.entities} == {
        "John Smith": 2,
        "Paris": 2,
        "France": 1,
        "London": 1,
    }
    assert {(r.head, r.tail): (r.weight, r.description) for r in found.relations} == {
        ("John Smith", "Paris"): (2.0, "John Smith visited Paris."),
        ("France", "John Smith"): (1.0, "Then John Smith moved to Paris in France."),
        ("France", "Paris"): (1.0, "Then John Smith moved to Paris in France."),
    }


def test_lower_case_text_still_has_noun_phrases(tmp_path):
    found, _ = facts(tmp_path, "the old queen of lotharingia met a young bishop near the river")
    assert {"old queen", "lotharingia", "young bishop", "river"} <= set(names(found))


def test_chinese_is_noted_and_not_parsed(tmp_path):
    found, report = facts(tmp_path, "安住在罗马。她认识鲍勃，鲍勃住在米兰。")
    assert not found.entities and "not in Latin letters" in report.notes[0]


def test_markup_and_braces_are_text(tmp_path):
    found, _ = facts(
        tmp_path, "Barack Obama wrote {name} to Angela Merkel in Berlin. <script>alert(1)</script>"
    )
    assert {"Barack Obama", "Berlin"} <= set(names(found))


def test_a_sentence_of_many_names_joins_each_with_those_near_it(tmp_path):
    countries = [
        "France",
        "Spain",
        "Italy",
        "Germany",
        "Poland",
        "Austria",
        "Norway",
        "Sweden",
        "Denmark",
        "Finland",
        "Greece",
        "Turkey",
    ]
    countries += [
        "Russia",
        "China",
        "India",
        "Japan",
        "Brazil",
        "Chile",
        "Peru",
        "Cuba",
        "Egypt",
        "Kenya",
        "Ghana",
        "Mali",
        "Chad",
        "Nepal",
    ]
    found, report = facts(tmp_path, f"She saw {', '.join(countries)} and Canada.")
    assert len(found.entities) > 20 and len(found.relations) <= MAX_JOINED_ENTITIES * len(
        found.entities
    )
    assert any("more than 11 entities" in note for note in report.notes)


def test_one_sentence_is_a_graph(tmp_path):
    graph = run_build(
        Texts(tmp_path, d="Barack Obama visited Paris."), "kg-noun-phrases", LetterModels()
    )
    assert graph.triple_texts(range(graph.n_edges)) == ["Barack Obama -> appears with -> Paris"]


def test_saved_facts_are_not_read_again(tmp_path, monkeypatch):
    first = Texts(
        tmp_path / "one", a="Barack Obama visited Paris.", b="Angela Merkel lives in Berlin."
    )
    run_build(first, "tkg-noun-phrases", LetterModels())
    asked = []
    real = NounPhrases.extract_facts

    def counted(self, texts, ctx):
        asked.extend(texts)
        return real(self, texts, ctx)

    monkeypatch.setattr(NounPhrases, "extract_facts", counted)
    second = first.changed(a=None, c="Angela Merkel met Barack Obama.")
    grown = run_build(second, "tkg-noun-phrases", LetterModels())
    assert asked == ["Angela Merkel met Barack Obama."]
    FactStore().file.unlink()
    afresh = run_build(Texts(tmp_path / "two", **second.texts), "tkg-noun-phrases", LetterModels())
    assert grown.digest == afresh.digest and len(asked) == 3
