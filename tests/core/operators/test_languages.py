"""Warnings about mismatched languages of models, questions, builds and prompts."""

from __future__ import annotations

import pytest

from core.builds.base import BuildContext
from core.builds.catalogue import find_build
from core.builds.cost import language_fit
from core.builds.model_requests import in_language
from core.corpus import Document
from core.corpus.corpus import write_corpus
from core.datasets import datasets
from core.errors import BadParameter
from core.graph.building.build import build
from core.languages import language_of_question
from core.models.base import NoModels
from core.models.chat.token_estimates import estimate_text_tokens
from core.models.declarations import make_row
from core.models.registry import Registry
from core.operators.generate import estimate_prompt_tokens
from core.operators.languages import language_mismatches, notes_on_language
from core.operators.text import parse_line as parse
from core.prompts import load_prompts, make_messages, with_examples
from tests.notes import NoteWith

BY_MEANING, BY_WORDS = parse("EmbedQuery() >> VectorChunks()"), parse("SparseChunks()")
GERMAN = "Der Turm wurde von Ada Quill erbaut, und die Brücke ist sehr alt."


class TrainedModels(NoModels):
    """Models whose encoder was trained on some languages."""

    def __init__(self, *codes: str):
        self.codes = codes

    def languages(self, name: str) -> tuple[str, ...]:
        return self.codes

    def title(self, name: str) -> str:
        return "The encoder"


def test_english_encoder_warns_of_a_russian_question():
    (said,) = language_mismatches(BY_MEANING, TrainedModels("en"), "en", "Кто построил мост?")
    assert said.startswith(
        "The encoder was trained on English alone, and the question is in Russian"
    )
    (said,) = language_mismatches(BY_MEANING, TrainedModels("en"), "de", "Wer baute den Turm?")
    assert "the question and the texts are in German" in said
    (said,) = language_mismatches(BY_MEANING, TrainedModels("en"), "de", "who built the tower")
    assert "the texts are in German" in said and "question" not in said
    assert (
        language_mismatches(BY_MEANING, TrainedModels(), "de", "Кто построил мост?") == ()
    )  # This encoder knows many languages.
    assert (
        language_mismatches(BY_MEANING, TrainedModels("en", "de"), "de", "Wer baute den Turm?")
        == ()
    )
    assert (
        language_mismatches(BY_MEANING, TrainedModels("en"), "en", "who built the tower")
        == language_mismatches(BY_MEANING, TrainedModels("en"), "", "Rope")
        == ()
    )


def test_word_search_warns_of_another_language():
    (said,) = language_mismatches(BY_WORDS, TrainedModels("en"), "en", "Кто построил мост?")
    assert said == NoteWith("question", "Russian", "texts", "English")
    assert language_mismatches(BY_WORDS, TrainedModels("en"), "de", "Wer baute den Turm?") == ()


def test_language_warning_is_in_the_trace(tmp_path):
    graph = build([("Ada Quill", "wrote", "The Salt Road")], tmp_path / "g", "g")
    (said,) = notes_on_language(
        parse("EmbedQuery()"), graph, TrainedModels("en"), "Кто написал The Salt Road?"
    )
    assert "the question is in Russian" in said
    assert (
        notes_on_language(
            parse("EmbedQuery()"), graph, TrainedModels("en"), "who wrote The Salt Road?"
        )
        == ()
    )


def test_english_questions_are_recognised():
    sets = {
        name: one
        for known in datasets().values()
        for name, one in known.sets.items()
        if name in ("metaqa-1hop-test", "webqsp-test")
    }
    asked = [question.text for one in sets.values() for question in one.questions()[::25]]
    assert len(asked) > 200 and {language_of_question(text, False) for text in asked} <= {"en", ""}


def test_build_reports_its_language_and_its_encoders(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    documents = [Document(f"d{n}", GERMAN, "", f"d{n}") for n in range(3)]
    corpus = write_corpus(tmp_path / "home" / "corpora" / "notes", documents)
    names, vectors = language_fit(corpus, find_build("kg-noun-phrases"), TrainedModels("en"))
    assert names == NoteWith("documents", "German", "rules")
    assert vectors == NoteWith("encoder", "English alone", "German texts")
    (wrong,) = language_fit(
        corpus.with_language("en"), find_build("kg-noun-phrases"), TrainedModels("en")
    )
    assert wrong == NoteWith("documents", "German", "English", "chosen")
    # The chosen language fits.
    assert (
        len(
            language_fit(
                corpus.with_language("de"), find_build("kg-noun-phrases"), TrainedModels("en")
            )
        )
        == 2
    )
    english = "The bridge was built by Ada Quill, and it is the oldest of the town."
    (mixed, *_) = language_fit(
        corpus.with_language("").add([Document("e", english, "", "e")]),
        find_build("chunks"),
        TrainedModels(),
    )
    assert "is in English; " in mixed and mixed.endswith("as German.")


def test_models_declare_their_languages():
    registry = Registry()
    assert registry.languages("minilm") == ("en",) and registry.languages("bge-m3") == ()
    with pytest.raises(BadParameter, match="“?xx"):
        make_row("own", {"kind": "encoder", "backend": "minilm", "languages": "en xx"}, "here")


def test_prompts_name_the_language_except_english():
    asked = make_messages("passages", "numbered", passages="P", question="Wer baute den Turm?")
    assert asked[0]["content"].endswith(" Answer in German, the language of the question.")
    english = make_messages("passages", "numbered", passages="P", question="Who built the tower?")
    assert english[0]["content"] == load_prompts("passages")["numbered"]["system"]
    prompt = load_prompts("answer")["question-in-words"]
    assert (
        "Answer in Chinese"
        in with_examples("answer", prompt, 0, question="谁设计了青石桥？")[0]["content"]
    )
    assert all(
        "Answer in" not in one["content"]
        for one in make_messages("texts", "keywords", question="谁设计了青石桥？")
    )


def test_documents_are_parsed_in_their_language():
    asked = [{"role": "user", "content": "Text"}]
    assert in_language(asked, BuildContext(NoModels(), language="en")) is asked
    system, user = in_language(asked, BuildContext(NoModels(), language="ar"))
    assert (
        system["content"] == "The text is in Arabic: write in Arabic, and names as they are in it."
        and user == asked[0]
    )


def test_token_counts_depend_on_the_script():
    russian = "Кто построил мост через реку в нашем городе в том году"  # 54 letters and spaces.
    assert (
        36 <= estimate_text_tokens(russian) <= 48
        and 36 <= estimate_prompt_tokens([{"content": russian}]) <= 48
    )
    assert (
        estimate_text_tokens("seven b") == 2
        and estimate_prompt_tokens([{"content": "seven b"}]) == 2
    )
    assert (
        8 <= estimate_text_tokens("北京大学位于北京市海") <= 10
        and estimate_text_tokens("Straße") == 2
    )
