"""Detected languages of texts, questions, corpora and graphs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import core.languages.detection as detection
from core.builds.run import build_context, build_status
from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.corpus import Document, open_corpus
from core.corpus.corpus import Corpus, write_corpus
from core.errors import BadParameter
from core.graph.building.build import build
from core.graph.names.language import (
    DETECTED_FILE,
    LANGUAGE_FILE,
    choose_language,
    graph_language,
)
from core.graph.store import Graph
from core.languages import (
    ENGLISH,
    Detection,
    detect_language,
    known_code,
    language_of_question,
    languages,
)
from core.languages.scripts import UNSPACED_LETTER, find_script

QUESTIONS = {
    "en": [
        "Who directed Vertigo?",
        "where was ada quill born",
        "which films did Hitchcock direct",
        "what movies are about ginger rogers",
    ],
    "de": [
        "Wer baute den Turm?",
        "Wo wurde Ada Quill geboren?",
        "In welchem Jahr wurde die Brücke eröffnet?",
    ],
    "fr": [
        "Qui a écrit Les Misérables ?",
        "Où est né Victor Hugo ?",
        "Quelle est la capitale de la France ?",
    ],
    "es": [
        "¿Dónde nació Cervantes?",
        "¿Quién escribió el Quijote?",
        "¿Cuántos habitantes tiene Madrid?",
    ],
    "it": ["Chi ha scritto la Divina Commedia?", "Dove si trova la Torre di Pisa?"],
    "pt": ["Quem escreveu Os Lusíadas?", "Onde fica a Torre de Belém?"],
    "nl": ["Wie schreef Max Havelaar?", "Waar ligt Utrecht?"],
    "ru": ["Кто построил мост?", "Где родился Пушкин?"],
    "zh": ["北京大学位于哪里", "谁写了红楼梦？"],
    "ja": ["東京タワーはどこにありますか"],
    "ar": ["أين تقع جامعة القاهرة؟", "من بنى الجسر؟"],
    "ko": ["서울대학교는 어디에 있습니까?"],
    "": ["Rope", "Vertigo Hitchcock", "1999", "", "?!"],
}
GERMAN = [
    "Der Turm wurde 1901 von Ada Quill erbaut.",
    "Die Brücke verbindet die Stadt mit dem Hafen und ist sehr alt.",
]
ENGLISH_TEXT = "The tower was built by Ada Quill in 1901, and it is the oldest of the town."


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def corpus_of(folder, *texts) -> Corpus:
    return write_corpus(
        folder / "home" / "corpora" / "notes",
        [Document(f"d{at}", text, f"D{at}", f"d{at}") for at, text in enumerate(texts)],
    )


@pytest.mark.parametrize("code", QUESTIONS)
def test_the_language_of_short_questions_is_detected(code):
    assert {language_of_question(one) for one in QUESTIONS[code]} == {code}


def test_most_questions_need_no_detector(monkeypatch):
    # As if lingua were not installed.
    monkeypatch.setattr(detection, "_confidences", lambda text: {})
    asked = {one: code for code, some in QUESTIONS.items() for one in some}
    found = {one: detection.detect_text_language(one) for one in asked}
    # No detected language is wrong.
    assert all(found[one] in (code, "") for one, code in asked.items())
    assert sum(found[one] == code for one, code in asked.items() if code) >= 15


def test_scripts_are_determined_by_counting():
    assert find_script("ﬁshery – ½") == "Latin" and find_script("Ω") == "Greek"
    assert find_script("北京 Peking University in Beijing") == "Latin" and find_script("") == ""
    assert UNSPACED_LETTER.search("ไทย") and not UNSPACED_LETTER.search("한국어 русский")


def test_a_few_names_have_no_language():
    for texts in (
        ["Angela Merkel lives in Berlin.", "Angela Merkel met Barack Obama."],
        ["Ann knows Bo."],
        ["Rope director"],
    ):
        assert detect_language(texts).code in ("", "en")


def test_a_sample_of_two_languages_has_both():
    found = detect_language([*GERMAN * 3, ENGLISH_TEXT, ENGLISH_TEXT])
    assert found.code == "de" and set(found.other_languages) == {"en"}
    assert found.words().startswith("German, with ") and found.words().endswith(" % English")
    assert (
        detect_language([]) == Detection()
        and detect_language(["1871", "42"]).code == ""
        and Detection().words() == "not recognised, read as English"
    )


def test_every_language_has_a_name_and_detector_code():
    for code, one in languages().items():
        assert one.code == code and one.name and not one.stop_words & {""}
        assert {kind for kind in one.kinds_by_question_phrase.values()} <= {
            "person",
            "time",
            "number",
            "thing",
            "other",
        }
    assert all(
        set(languages()[code].kinds_by_question_phrase.values())
        >= {"person", "time", "number", "thing"}
        for code in "de fr es it pt ru zh ja ar".split()
    )
    assert known_code("german") == known_code("DE") == "de"
    with pytest.raises(BadParameter, match="Did you mean “German”"):
        known_code("Germn")


def test_the_language_of_a_corpus_is_detected_chosen_and_detected_again(tmp_path):
    corpus = corpus_of(tmp_path, *GERMAN)
    assert corpus.language.code == "de" and not corpus.language.chosen
    assert json.loads((corpus.folder / "corpus.json").read_text())["language"]["code"] == "de"
    english = corpus.with_language("en")
    assert (
        english.language == Detection("en", chosen=True) == Corpus.open(corpus.folder).language
        and english.digest == corpus.digest
    )
    # The chosen language stays.
    assert english.add([Document("d9", GERMAN[0], "", "d9")]).language.code == "en"
    assert english.with_language("").language.code == "de"


def test_the_language_of_an_earlier_corpus_is_detected_on_demand(tmp_path):
    corpus = replace(corpus_of(tmp_path, *GERMAN), stored_language={})
    assert corpus.language.code == "de"


def test_builds_follow_the_language(tmp_path):
    corpus = corpus_of(tmp_path, *GERMAN)
    assert build_context(corpus, None).language == "de"  # type: ignore[arg-type]
    assert not build_status(corpus, "kg-noun-phrases").is_built


def test_the_language_of_a_graph_follows_its_names_or_a_choice(tmp_path):
    triples = [
        ("Straße der Einheit", "liegt in", "Köln"),
        ("Der Dom", "wurde gebaut von", "Meister Gerhard"),
        ("Die Brücke", "führt über", "den Rhein"),
    ]
    graph = build(triples, tmp_path / "g", "g")
    assert graph_language(graph).code == "de"
    assert choose_language(graph, "nl") == Detection("nl", chosen=True) == graph_language(graph)
    assert json.loads((tmp_path / "g" / LANGUAGE_FILE).read_text()) == {
        "code": "nl",
        "shares": {},
        "chosen": True,
    }
    assert choose_language(graph, "").code == "de"
    (tmp_path / "g" / LANGUAGE_FILE).write_text("{damaged")
    assert choose_language(graph, "de").code == "de"


def test_the_language_of_a_graph_is_detected_once_on_a_computer(tmp_path, monkeypatch):
    triples = [("Die Brücke", "führt über", "den Rhein"), ("Der Dom", "liegt in", "der Stadt")]
    build(triples, tmp_path / "g", "g")
    detected = []

    def detect(texts):
        detected.append(texts)
        return detect_language(texts)

    monkeypatch.setattr("core.graph.names.language.detect_language", detect)
    assert {graph_language(Graph.open(tmp_path / "g")).code for _ in range(2)} == {"de"}
    assert len(detected) == 1
    build([("The bridge", "leads over", "the river")] * 2, tmp_path / "g", "g")
    assert graph_language(Graph.open(tmp_path / "g")).code == "en" and len(detected) == 2
    monkeypatch.setattr("core.graph.names.language.detection_rules", lambda: "others")
    assert graph_language(Graph.open(tmp_path / "g")).code == "en" and len(detected) == 3
    (tmp_path / "g" / DETECTED_FILE).write_text("{damaged")
    assert graph_language(Graph.open(tmp_path / "g")).code == "en" and len(detected) == 4


def test_the_command_shows_and_sets_the_language(tmp_path, capsys):
    corpus_of(tmp_path, *GERMAN)
    assert (
        main(["corpus", "language", "notes"]) == EXIT_OK
        and capsys.readouterr().out == "Language: German\n"
    )
    assert (
        main(["corpus", "language", "notes", "French"]) == EXIT_OK
        and capsys.readouterr().out == "Language: French, as chosen\n"
    )
    assert (
        main(["corpus", "show", "notes"]) == EXIT_OK
        and "Language: French, as chosen" in capsys.readouterr().out
    )
    assert (
        main(["corpus", "language", "notes", "auto"]) == EXIT_OK
        and capsys.readouterr().out == "Language: German\n"
    )
    assert (
        main(["corpus", "language", "notes", "klingon"]) == EXIT_WRONG_INPUT
        and "no language that is known" in capsys.readouterr().err
    )
    assert open_corpus("notes").language.code == "de" and ENGLISH == "en"
