"""The texts of the screens for translators are all in hopscope.pot.

Translations are checked and compiled.
"""

from __future__ import annotations

import io
from gettext import GNUTranslations

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from tests.strings import POT, bring_up_to_date, fields, javascript_words, pot, python_words


def test_all_texts_are_in_the_file_for_translators():
    assert POT.read_text("utf-8") == pot(), "texts of the screens were changed: run `make strings`"


def test_texts_and_nouns_of_python_are_found_within_one_another():
    text = 'tr("{n} of " "all", n=many(len(x), "reply", "replies")); A = nouns("hop", "hops"); many(key); tr(name); other.tr("x")'
    assert sorted(map(str, python_words(text))) == [
        "('hop', 'hops')",
        "('reply', 'replies')",
        "{n} of all",
    ]


@pytest.mark.parametrize(
    "text, found",
    [
        (
            'tr("Show {all}", { all: plural(size(x, [1, 2]), "hit") })',
            ["Show {all}", ("hit", "hits")],
        ),
        ('a ? tr("One \\"b\\"") : `${tr("in it")}`', ['One "b"', "in it"]),
        (
            'nounOf(n, "step fits", "steps fit") + nouns("path")',
            [("step fits", "steps fit"), ("path", "paths")],
        ),
        ('str("no"); tr(name); plural(count(of), noun)', []),
    ],
)
def test_texts_and_nouns_of_javascript_are_found(text, found):
    assert list(javascript_words(text)) == found


def test_a_translation_is_brought_up_to_date_checked_and_compiled(tmp_path):
    texts = Catalog()
    for words in ("{found:,} of {pairs} found", "Build", "New", ("reply", "replies")):
        texts.add(words)
    polish = Catalog(locale="pl")
    polish.add("{found:,} of {pairs} found", "Z {par} znaleziono {found:,}")
    polish.add("Build", "Buduj")
    polish.add("No longer there", "Nie ma")
    polish.add(("reply", "replies"), ("odpowiedź", "odpowiedzi", "odpowiedzi"))
    po = tmp_path / "pl" / "LC_MESSAGES" / "hopscope.po"
    po.parent.mkdir(parents=True)
    with po.open("wb") as file:
        write_po(file, polish)
    (fault,) = bring_up_to_date(po, texts)
    assert "{par}" in fault and "{pairs}" in fault
    again = read_po(io.BytesIO(po.read_bytes()), locale="pl")
    assert {one.id for one in again if one.id} == {
        "{found:,} of {pairs} found",
        "Build",
        "New",
        ("reply", "replies"),
    }
    with po.with_suffix(".mo").open("rb") as file:
        compiled = GNUTranslations(file)
    assert compiled.gettext("Build") == "Buduj" and compiled.gettext("New") == "New"
    assert compiled.ngettext("reply", "replies", 1) == "odpowiedź"


def test_nouns_that_nobody_translated_stay_english(tmp_path):
    texts = Catalog()
    texts.add(("reply", "replies"))
    po = tmp_path / "de" / "LC_MESSAGES" / "hopscope.po"
    po.parent.mkdir(parents=True)
    with po.open("wb") as file:
        write_po(file, Catalog(locale="de"))
    assert not bring_up_to_date(po, texts)
    with po.with_suffix(".mo").open("rb") as file:
        compiled = GNUTranslations(file)
    assert (
        compiled.ngettext("reply", "replies", 1) == "reply"
        and compiled.ngettext("reply", "replies", 2) == "replies"
    )


def test_names_in_braces_are_the_values_of_a_text():
    assert (
        fields("{done:,} of {{all}} {name!r}") == {"done", "name"}
        and fields("lone { brace") == set()
    )
