"""Names and phrases found by rules, in languages without an installed parser."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial

import pytest

from core.builds import run_build
from core.builds.extract import reader_choice, worker_extraction
from core.builds.extract.language_rules import facts_in
from core.builds.extract.noun_phrases import NounPhrases
from core.builds.merge.passages import Mentions
from core.builds.run import build_context
from core.corpus.sentences import sentence_spans
from core.languages import languages
from tests.core.builds.kit import LetterModels, Texts
from tests.notes import NoteWith

GERMAN = (
    "Die Zahnradbahn führt von Bergheim auf den Silberkogel. Sie wurde am 3. Oktober "
    "1896 von der Ingenieurin Klara Stettner entworfen. "
    "Klara Stettner wurde in Bergheim geboren. „Der blaue Zug“ heißt ein Roman von Jonas "
    "Wieland über die Bahn."
)
CHINESE = "北京大学创建于1898年，位于北京市。李明山设计了青石桥，青石桥横跨清水河。王晓兰写了《河上的灯》。"
ARABIC = (
    "تقع جامعة النور في مدينة المرج. ولدت ليلى منصور في مدينة المرج. كتبت ليلى منصور رواية "
    "«مصابيح الميناء»."
)


def types_by_name(text: str, code: str) -> dict[str, str]:
    return {one.name: one.type for one in facts_in(text, languages()[code]).entities}


def test_german_nouns_with_an_article_are_no_names():
    found = types_by_name(GERMAN, "de")
    assert {"Bergheim", "Klara Stettner", "Jonas Wieland"} <= {
        name for name, kind in found.items() if kind == "name"
    }
    assert found["Der blaue Zug"] == "work" and found["Zahnradbahn"] == "concept"
    assert not {"Oktober", "Roman", "Bahn", "Die", "Sie", "Ingenieurin Klara Stettner"} & set(found)
    assert types_by_name("Der Bürgermeister Anton Rieß kam.", "de") == {"Anton Rieß": "name"}
    assert types_by_name("Das Museum in Frankfurt am Main öffnete.", "de") == {
        "Frankfurt am Main": "name"
    }


def test_two_particles_after_a_german_noun_are_no_name():
    assert types_by_name("Der Sohn von de Weg kam.", "de") == {}
    assert types_by_name("Ein Roman von de Anton Rieß kam.", "de") == {"Anton Rieß": "name"}


def test_a_sentence_relates_its_names():
    facts = facts_in(GERMAN, languages()["de"])
    joined = {frozenset((one.head, one.tail)): one.description for one in facts.relations}
    assert (
        joined[frozenset(("Klara Stettner", "Bergheim"))]
        == "Klara Stettner wurde in Bergheim geboren."
    )
    assert frozenset(("Klara Stettner", "Der blaue Zug")) not in joined


def test_first_words_are_names_only_if_they_occur_elsewhere():
    assert types_by_name(
        "Trois ponts existent. Le pont relie Aubin à Morel. Aubin est petite.", "fr"
    ) == {"Aubin": "name", "Morel": "name"}
    assert types_by_name("Мост построил Павел Орлов. Павел Орлов жил в Логу.", "ru") == {
        "Павел Орлов": "name",
        "Логу": "name",
    }
    assert types_by_name("Le Musée de la Rivière est à Saint-Aubin.", "fr") == {
        "Musée de la Rivière": "name",
        "Saint-Aubin": "name",
    }


def test_chinese_by_a_dictionary_and_without_one(monkeypatch):
    pytest.importorskip("rjieba")
    found = types_by_name(CHINESE, "zh")
    assert (
        found["李明山"] == "person"
        and found["河上的灯"] == "work"
        and found["北京大学"] == "organisation"
    )
    assert {"青石桥", "清水河", "王晓兰"} <= set(found) and "位于" not in found
    monkeypatch.setitem(sys.modules, "rjieba", None)
    assert {"青石桥", "河上的灯"} <= set(
        types_by_name(CHINESE, "zh")
    )  # Repeated words, and quoted ones.


def test_arabic_japanese_korean_and_hindi():
    found = types_by_name(ARABIC, "ar")
    assert {"جامعة النور", "مدينة المرج", "ليلى منصور", "مصابيح الميناء"} <= set(found) and found[
        "مصابيح الميناء"
    ] == "work"
    assert not any(name.startswith("تقع") for name in found)
    assert {"東京タワー", "東京都港区芝公園"} <= set(
        types_by_name("東京タワーは東京都港区芝公園にある総合電波塔です。", "ja")
    )
    assert set(
        types_by_name(
            "서울대학교는 관악구에 있다. 서울대학교의 도서관은 크다. 관악구는 서울에 있다.", "ko"
        )
    ) == {"서울대학교", "관악구"}
    assert "यमुना नदी" in types_by_name("आगरा यमुना नदी पर है। यमुना नदी लंबी है।", "hi")


@pytest.mark.parametrize("code", sorted(languages()))
def test_any_text_can_be_read(code):
    for text in (
        "",
        " \n ",
        "1999",
        "<script>alert('x')</script>",
        "«" * 500,
        "Ab " * 2000,
        "的" * 3000,
        "\ud800 x",
        "ال" * 900,
    ):
        facts = facts_in(text, languages()[code])
        assert all(one.name.strip() for one in facts.entities)


def test_a_build_uses_the_language_of_its_corpus(tmp_path):
    texts = Texts(tmp_path, a=GERMAN)
    graph = run_build(texts, "kg-noun-phrases", LetterModels())
    names = set(graph.names(range(graph.n_nodes)))
    assert "Klara Stettner" in names and "Sie" not in names
    ctx = build_context(texts, LetterModels())
    assert ctx.language == "de" and NounPhrases().signature(ctx) == "rules 1 de"
    assert reader_choice.reader_words("de") == "by rules, as no parser for German is installed"
    list(NounPhrases().extract_facts([GERMAN], ctx))
    assert ctx.report.notes == [NoteWith("by rules", "German")]


def test_workers_use_the_language_of_the_corpus_too(tmp_path, monkeypatch):
    class InlineWorkers:
        def run_each(self, work, items, watch):
            yield from ((item, work(item)) for item in items)

    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    ctx, fresh = (
        build_context(Texts(tmp_path, a=GERMAN), LetterModels()),
        partial(Mentions, "unicode"),
    )
    alone = worker_extraction.collect_facts(NounPhrases(), fresh, ctx, [GERMAN])
    (gathered,) = worker_extraction.collect_over_workers(
        NounPhrases(), fresh, [[GERMAN]], replace(ctx, workers=InlineWorkers())
    )
    assert list(gathered.names) == list(alone.names) and "Klara Stettner" in gathered.names


def test_an_unknown_package_named_like_a_model_is_never_loaded(monkeypatch):
    reader_choice.model_of.cache_clear()
    monkeypatch.setattr(reader_choice, "version", lambda package: "999.9.9")
    monkeypatch.setattr(reader_choice, "_parser", lambda package: pytest.fail("loaded"))
    assert reader_choice.model_of("de") == ""
    reader_choice.model_of.cache_clear()


def test_sentences_follow_the_language():
    cut = lambda text, code="": [text[start:end] for start, end in sentence_spans(text, code)]
    assert cut("Sie kam am 3. Oktober an. Er z. B. Nicht.", "de") == [
        "Sie kam am 3. Oktober an.",
        "Er z. B. Nicht.",
    ]
    assert cut("أين ليلى؟ هي هنا.") == ["أين ليلى؟", "هي هنا."]
    assert cut("यह पुल है। वह नदी है।") == ["यह पुल है।", "वह नदी है।"]
    assert cut("It was no. 3. October came.") == cut("It was no. 3. October came.", "en")


def test_a_spacy_model_is_read_without_an_import_of_its_package(tmp_path, monkeypatch):
    import spacy

    package = tmp_path / "de_core_news_sm"
    package.mkdir()
    spacy.blank("de").to_disk(package / "de_core_news_sm-3.8.0")
    (package / "__init__.py").write_text("raise RuntimeError('must never be imported')")
    about = tmp_path / "de_core_news_sm-3.8.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: de_core_news_sm\nVersion: 3.8.0\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    reader_choice.model_of.cache_clear()
    try:
        assert reader_choice.model_of("de") == "de_core_news_sm"
        assert reader_choice.reader_signature("de") == "de_core_news_sm 3.8.0"
    finally:
        reader_choice.model_of.cache_clear()
        reader_choice._parser.cache_clear()
