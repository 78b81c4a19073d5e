"""Search terms of texts in other languages, and questions in these languages."""

from __future__ import annotations

import pytest

from core.graph.building.build import build
from core.graph.names.language import language_code
from core.graph.names.lookup import name_lookup
from core.indexes.words import Postings
from core.languages.terms import content_words, plain_words, search_terms, stem_word
from core.operators.expected_answer import NUMBER_ANSWER, PERSON_ANSWER, TIME_ANSWER, expect_answer

TRIPLES = [
    ("Ada Quill", "wrote", "The Salt Road"),
    ("Élodie Brandt", "built", "Café Noir"),
    ("O’Neil", "owns", "Marigold"),
    ("It", "directed by", "Greta Sool"),
    ("Who", "played by", "A Band"),
    ("Wer", "gespielt von", "Die Band"),
    ("北京大学", "位于", "北京"),
    ("東京タワー", "所在地", "東京"),
    ("جامعة القاهرة", "تقع في", "القاهرة"),
    ("서울대학교", "위치", "관악구"),
]


@pytest.fixture
def graph(tmp_path):
    return build(TRIPLES, tmp_path / "g", "g")


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("北京大学位于哪里", ["北京大学"]),  # The longest name.
        ("北京有哪些大学？", ["北京"]),
        ("東京タワーはどこにありますか", ["東京タワー"]),
        ("أين تقع جامعة القاهرة؟", ["جامعة القاهرة"]),
        ("أين تقع جَامِعَة القَاهِرَة؟", ["جامعة القاهرة"]),  # Written with vowels.
        ("서울대학교는 어디에 있습니까?", ["서울대학교"]),
        ("what does O'Neil own", ["O’Neil"]),
        ("Is Marigold O'Neil's?", ["Marigold", "O’Neil"]),
        ("what does O‘Neil own", ["O’Neil"]),
        ("who built the cafe noir", ["Café Noir"]),
        ("who directed It?", ["It"]),
    ],
)
def test_names_in_questions(graph, question, named):
    assert (
        graph.names([link.mention.node for link in name_lookup(graph).find_links(question)])
        == named
    )


def test_names_are_looked_up_without_accents_and_apostrophes(graph):
    found = lambda name: graph.names(name_lookup(graph).find_alike(name))
    assert found("O'Neil") == found("o`neil") == ["O’Neil"]
    assert (
        found("cafe noir") == ["Café Noir"]
        and found("Cafe") == []
        and name_lookup(graph).find("Elodie Brandt") == name_lookup(graph).find("Élodie Brandt")
    )


def test_english_terms_are_unchanged():
    text = "Scrooge's partner, Marley -> dead.door_nail (1843); Café"
    assert (
        search_terms(text)
        == search_terms(text, "en")
        == ["scrooge", "s", "partner", "marley", "dead", "door", "nail", "1843", "café"]
    )
    assert stem_word("directed", "en") == "directed" and plain_words("cafe\u0301") == ["café"]


def test_words_are_stemmed_and_cut():
    assert search_terms("Brücken", "de") == search_terms("Brücke", "de") and search_terms(
        "мосты", "ru"
    ) == search_terms("мост", "ru")
    assert search_terms("الجسور", "ar") == search_terms("جسور", "ar") and search_terms(
        "الجِسْر", "ar"
    ) == search_terms("الجسر", "ar")
    assert search_terms("青石桥") == ["青", "石", "桥", "青石", "石桥"] and search_terms(
        "ab青"
    ) == ["ab", "青"]
    assert content_words("谁设计了青石桥？", "zh") and "谁" not in content_words(
        "谁设计了青石桥？", "zh"
    )


def test_pairs_of_letters_find_the_word_not_the_letters():
    found = Postings.from_texts(["东西京北", "他去北京了", "河水清石"], "zh").bm25("北京")
    assert found.argmax() == 1 and found[1] > 1.5 * found[0] > 0 == found[2]


def test_inflected_words_are_found():
    texts = ["Die alten Brücken der Stadt wurden erneuert.", "Der Turm steht am Markt."]
    assert (
        Postings.from_texts(texts, "de").bm25("Brücke").tolist()[0]
        > 0
        == Postings.from_texts(texts).bm25("Brücke").tolist()[0]
    )


ASKED = {
    "de": ["Wer baute die Brücke?", "Wann wurde sie gebaut?", "Wie viele Bögen hat sie?"],
    "fr": [
        "Qui a construit le pont ?",
        "Quand le pont a-t-il été construit ?",
        "Combien d'arches a le pont ?",
    ],
    "es": [
        "¿Quién construyó el puente?",
        "¿Cuándo se construyó el puente?",
        "¿Cuántos arcos tiene el puente?",
    ],
    "it": [
        "Chi ha costruito il ponte?",
        "Quando è stato costruito il ponte?",
        "Quanti archi ha il ponte?",
    ],
    "pt": [
        "Quem construiu a ponte?",
        "Quando foi construída a ponte?",
        "Quantos arcos tem a ponte?",
    ],
    "ru": ["Кто построил мост?", "Когда был построен мост?", "Сколько арок у моста?"],
    "zh": ["青石桥是谁设计的？", "青石桥是什么时候建成的？", "青石桥有多少个桥孔？"],
    "ja": [
        "誰がその橋を設計しましたか",
        "その橋はいつ完成しましたか",
        "その橋に柱はいくつありますか",
    ],
    "ar": ["من بنى الجسر؟", "متى بني الجسر؟", "كم عدد أقواس الجسر؟"],
}


@pytest.mark.parametrize("code", ASKED)
def test_the_expected_answer_of_questions(code, tmp_path):
    names_of = {
        "zh": ("青石桥", "设计", "李明山"),
        "ja": ("その橋", "設計", "内藤"),
        "ar": ("الجسر", "بنى", "سليم"),
        "ru": ("мост", "построил", "Орлов"),
    }
    graph = build(
        [names_of.get(code, ("Brücke", "gebaut von", "Klara und die anderen aus der Stadt"))],
        tmp_path / "g",
        "g",
    )
    if code not in names_of:
        from core.graph.names.language import choose_language

        choose_language(graph, code)
    assert [expect_answer(graph, one).answer_type for one in ASKED[code]] == [
        PERSON_ANSWER,
        TIME_ANSWER,
        NUMBER_ANSWER,
    ]
    assert all(language_code(graph, one) == code for one in ASKED[code])


def test_a_word_inside_a_question_is_no_question_word(tmp_path):
    graph = build([("الجسر", "بنى", "سليم")], tmp_path / "g", "g")
    # Here “من” means “from”.
    assert expect_answer(graph, "أين الجسر من المدينة؟").answer_type == ""


def test_words_from_the_right_are_isolated_among_others():
    from pages.parts.shared.text import plain

    # A text that begins from the right needs no isolation marks.
    assert plain("2 سليم حداد gold") == "2 سليم حداد gold"
    assert (
        plain("of سليم حداد gold") == "of \u2068سليم حداد\u2069 gold"
        and plain("who_built *It*?") == "who\\_built \\*It\\*?"
    )
