"""Texts are found in the server's language, with their values.

They follow the plural forms of the language, and are English where there is no translation.
"""

from __future__ import annotations

import json

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from pages.parts.shared.text import many
from pages.parts.shared.wording import catalogue, noun, tr, translations_script


@pytest.fixture
def in_language(tmp_path, monkeypatch):
    """Yield a function that sets the server's language to Polish.

    It puts a translation of some texts into the person's folder.
    """

    def set_to(code: str, texts: dict) -> None:
        folder = tmp_path / "locale" / "pl" / "LC_MESSAGES"
        folder.mkdir(parents=True)
        translation = Catalog(locale="pl")
        for text, translated in texts.items():
            translation.add(text, translated)
        with (folder / "hopscope.mo").open("wb") as file:
            write_mo(file, translation)
        monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
        monkeypatch.setenv("HOPSCOPE_LANGUAGE", code)
        _forget()

    yield set_to
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    catalogue.cache_clear()
    translations_script.cache_clear()


def test_in_english_texts_are_as_they_are():
    assert (
        tr("Build") == "Build"
        and tr("") == ""
        and tr("{a:,} {{b}} {c}", a=1200, c="{d}") == "1,200 {b} {d}"
    )
    assert tr("{not a value}") == "{not a value}"  # nothing is put in where there is nothing
    assert [noun(count, "fits", "fit") for count in (1, 0, 2)] == ["fits", "fit", "fit"]
    assert json.loads(
        translations_script().removeprefix("const TRANSLATIONS = ").removesuffix(";")
    ) == {
        "texts": {},
        "nouns": {},
        "plurals": [],
    }


def test_a_translation_puts_values_where_it_wants_and_counts_as_its_language_does(in_language):
    in_language(
        "pl",
        {
            "{a} of {b}": "z {b} tylko {a}",
            ("reply", "replies"): ("odpowiedź", "odpowiedzi", "odpowiedzi…"),
        },
    )
    assert tr("{a} of {b}", a=1, b=2) == "z 2 tylko 1" and tr("Build") == "Build"
    assert [many(count, "reply", "replies") for count in (1, 3, 5, 22)] == [
        "1 odpowiedź",
        "3 odpowiedzi",
        "5 odpowiedzi…",
        "22 odpowiedzi",
    ]
    assert many(2, "hop") == "2 hops" and tr("reply") == "odpowiedź"
    tables = json.loads(
        translations_script().removeprefix("const TRANSLATIONS = ").removesuffix(";")
    )
    assert tables["texts"] == {"{a} of {b}": "z {b} tylko {a}", "reply": "odpowiedź"}
    assert tables["nouns"] == {"reply": ["odpowiedź", "odpowiedzi", "odpowiedzi…"]}
    assert [tables["plurals"][count] for count in (1, 3, 5, 22, 112)] == [0, 1, 2, 1, 2]


@pytest.mark.parametrize(
    "wrong", ["{c} of {b}", "{a of {b}", "{a.x} of {b}", "{} of {b}", "{a:,d} of {b}"]
)
def test_a_translation_whose_braces_are_wrong_is_not_used(in_language, wrong):
    in_language("pl", {"{a} of {b}": wrong})
    assert tr("{a} of {b}", a="one", b=2) == "one of 2"


@pytest.mark.parametrize("code", ["xx", "../pl", "pl/..", "p" * 400])
def test_a_language_without_a_translation_is_english_and_the_log_says_so(in_language, caplog, code):
    in_language(code, {"Build": "Buduj"})
    assert tr("Build") == "Build" and "There is no translation" in caplog.text
