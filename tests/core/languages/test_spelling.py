"""Normal forms in which texts are compared.

Spellings of the same text become equal, and different values stay different.
"""

from __future__ import annotations

import unicodedata

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.languages.spelling import (
    answer_words,
    contains_text,
    contains_whole,
    contains_words,
    end_offset,
    fold,
    fold_with_offsets,
    name_key,
    normalize,
    row_pattern,
)

SAME = [
    ("Jo'Ann O'Neil", "Jo’Ann O＇Neil"),
    ("Hawai'i", "Hawaiʻi"),
    ("Stone-Hill", "Stone\u2011Hill"),
    ("1939-1945", "1939–1945"),
    ("Åse Krüger", "A\u030ase Kru\u0308ger"),
    ("Nguyễn", unicodedata.normalize("NFD", "Nguyễn")),
    ("ABC 12", "ＡＢＣ　１２"),
    ("office", "oﬃce"),
    ("light house", "light\u00a0house"),
    ("lighthouse", "light\u00adho\u200buse\ufeff"),
    ("Straße", "STRASSE"),
    ("İzmir", "izmir"),
    ("DİYARBAKIR", "Diyarbakır"),
    ("ΟΔΥΣΣΕΥΣ", "Οδυσσευς"),
    ("كتب", "كَتَبَ"),
    ("35", "٣٥"),
    ("३५", "35"),
    ("ガ", "ｶﾞ"),
    ("北京大学", "北京大学。"),
    ("北京大学", "北京\n大学"),
    ("The Heron", "“The Heron”"),
    ("The Heron", "«The Heron»!?…"),
    ("1984", "1984.0"),
    ("1984", "1,984"),
    ("1234567.5", "1.234.567,5"),
    ("12500", "12\u202f500"),
    ("3.5", "3,5"),
    ("10^6", "10⁶"),
    ("CO2", "CO₂"),
    ("½", "1/2"),
    ("3½", "3 1/2"),
    ("-5", "−5"),
]
DIFFERENT = [
    ("10⁶", "106"),
    ("x²", "x2"),
    ("10₂", "102"),
    ("½", "12"),
    ("3½", "31/2"),
    ("3.5", "35"),
    ("0.125", "0125"),
    (".5", "5"),
    ("5-10", "510"),
    ("1/2", "12"),
    ("10:30", "1030"),
    ("-5", "5"),
    ("2①", "21"),
    ("1.2.3", "123"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_the_same_are_equal(one, other):
    assert normalize(one) == normalize(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_values_stay_different(one, other):
    assert normalize(one) != normalize(other)
    assert name_key(one) != name_key(other)


def test_names_keep_symbols_that_are_part_of_them():
    assert len({name_key(name) for name in ("C", "C++", "C#")}) == 3
    assert name_key("Mr. Fox, the “Red”") == "mr fox the red"
    assert name_key("?!") == ""


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("in 1984.0 or so", "1984", True),
        ("in 2012", "12", False),
        ("2012 and 12", "12", True),
        ("it is 12.5 m", "12", False),
        ("it is 12.5 m", "5", False),
        ("from 1939–1945", "1945", True),
        ("at −5 degrees", "5", False),
        ("10⁶ stars", "10", False),
        ("flat b/-165", "16", False),
        ("on 12.5.2020", "2020", True),
        ("Anna", "Ann", True),  # Words follow the rule of the papers.
    ],
)
def test_a_number_is_found_whole(text, wanted, found):
    assert contains_text(normalize(text), normalize(wanted)) is found


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("Ann built the harbour.", "Bo", False),
        ("the harbour of Bo", "Bo", True),  # the second place is a whole word
        ("Bob and Anna", "Ann", False),
        ("Bo’s boat", "Bo", True),
        ("Bo-Ann came", "Bo", True),
        ("Paris–Lyon", "Lyon", True),
        ("Spider-Man's web", "spiderman", True),
        ("Spider-Man's web", "Spider-Man", True),
        ("the U.S.-led army", "US", True),
        ("made by D. Smith", "A.D.", False),
        ("in the 1990s", "1990", True),  # a number ends where its digits do
        ("in 2012", "12", False),
        ("at 5km", "5", True),
        ("北京大学。", "北京", True),
        ("서울에서", "서울", True),
        ("وباريس", "باريس", True),
        ("Лондона", "Лондон", False),
        ("हिन्दी", "हिन्द", False),  # a vowel sign continues the word
        ("Kru\u0308ger’s", "Krüger", True),
        ("anything", "The", False),
        ("", "Bo", False),
    ],
)
def test_a_name_is_found_as_whole_words(text, name, found):
    assert contains_whole(text, name) is found


def test_letters_of_scripts_without_spaces_are_words():
    assert answer_words("答案是 PKU。") == ["答", "案", "是", "pku"]
    assert answer_words("ที่นี่") == ["ที่", "นี่"]
    assert answer_words("Heron—boat… 2") == ["heron", "boat", "2"]


def test_typed_words_are_found_in_any_order():
    assert contains_words("Jo’Ann O’Neil", "o'neil JO") and not contains_words("Ann", "ann bob")


# Letters with a one-to-one mapping of case. Others, such as ŉ, have no capital of their own.
ALPHABET = "abkosxyzABKOSXYZäéñüçøæłđ北京大学日カナгдежαβγאבגعربไทยहिन ,.’'-–‑“”!"
TEXTS = st.text(alphabet=ALPHABET + "ı", max_size=30)
INVISIBLE = st.sampled_from("\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u2066")


@given(TEXTS)
def test_case_and_composition_do_not_count(text):
    forms = {normalize(form(text)) for form in (str, str.upper, str.lower)}
    forms |= {normalize(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")}
    assert len(forms) == 1


@given(TEXTS, st.lists(st.tuples(st.integers(0, 30), INVISIBLE), max_size=4))
def test_invisible_characters_do_not_count(text, inserted):
    changed = text
    for at, sign in inserted:
        changed = changed[:at] + sign + changed[at:]
    assert normalize(changed) == normalize(text) and fold(changed) == fold(text)


@given(TEXTS, st.sampled_from("‐‑‒–—−－"), st.sampled_from("’‘ʼ＇`´′"), st.sampled_from("“”„«»＂"))
def test_kinds_of_marks_do_not_count(text, dash, apostrophe, quote):
    plain = f"{text} a-b 'c' \"d\" 3-4"
    changed = plain.replace("-", dash).replace("'", apostrophe).replace('"', quote)
    assert normalize(changed) == normalize(plain) and fold(changed) == fold(plain).replace("‑", "-")


@given(st.text(max_size=30))
def test_forms_are_stable(text):
    assert fold(fold(text)) == fold(text)
    assert normalize(text) == normalize(unicodedata.normalize("NFC", text))


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_whole_numbers_are_the_same_only_where_they_are_equal(one, other):
    for form in ("{}", "{}.0", "{:,}"):
        assert (normalize(form.format(one)) == normalize(str(other))) is (one == other)


@given(st.decimals(0, 1000, places=2), st.decimals(0, 1000, places=2))
def test_decimals_are_the_same_only_where_they_are_equal(one, other):
    assert (normalize(str(one)) == normalize(str(other).replace(".", ","))) is (one == other)


@given(st.text(max_size=20))
def test_folded_places_lie_in_the_text(text):
    folded, places = fold_with_offsets(text)
    assert len(places) == len(folded) + 1 and list(places) == sorted(places)
    for at in range(len(folded)):
        assert places[at] < end_offset(places, at + 1) <= len(text)


@given(TEXTS, TEXTS)
def test_the_search_pattern_misses_no_row(before, name):
    wanted, text = normalize(name), f"{before}{unicodedata.normalize('NFD', name).upper()}"
    pattern = row_pattern(wanted)
    if pattern and contains_text(normalize(text), wanted):
        found = pc.match_substring_regex(pa.array([text]), pattern, ignore_case=True)
        assert found.to_pylist() == [True]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_rows_are_found_in_any_spelling(one, other):
    for name, text in ((one, other), (other, one)):
        pattern = row_pattern(normalize(name))
        found = pc.match_substring_regex(pa.array([text]), pattern, ignore_case=True)
        assert found.to_pylist() == [True]
