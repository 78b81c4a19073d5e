"""Names in the code keep to docs/glossary.md: one word, one sense."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from core.io.home import ROOT

ROOMS = sorted(
    {
        file.parent.relative_to(ROOT).as_posix()
        for room in ("core", "pages", "hopscope")
        for file in (ROOT / room).rglob("*.py")
    }
)
SAVED = {"SetAside"}  # operators whose names lie in saved methods
PAGE = (ROOT / "docs/glossary.md").read_text("utf-8")
SCREENS_SECTION = re.search(r"## Words that the screens do not use\n(.*?)(?=## )", PAGE, re.DOTALL)[
    1
]


def rows(section: str | None = None) -> list[tuple[str, str]]:
    """Return the rows of all tables of the page, or of that of a section.

    The table of words that the screens do not use is left out.
    """
    text = PAGE.replace(SCREENS_SECTION, "")
    if section is not None:
        text = text[text.index(f"## {section}") :]
    found = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE)
    return [row for row in found if row not in (("word", "means"), ("not", "but"))]


def avoided() -> frozenset[str]:
    """Words that the page says are no names."""
    return frozenset(
        word.strip()
        for words, _ in rows("Words that are not used as names")
        for word in words.split(",")
    )


def banned_on_screens() -> re.Pattern[str]:
    """Pattern of the phrases that the page says are not on screens, also in the plural."""
    phrases = []
    for cells in re.findall(r"^\| ([^|]+) \| [^|]+ \|$", SCREENS_SECTION, re.MULTILINE)[1:]:
        phrases += cells.split(", ")
    return re.compile(rf"\b({'|'.join(phrases)})s?\b", re.IGNORECASE)


def screen_texts() -> list[str]:
    """The texts of the screens, without the names of their values."""
    with (ROOT / "assets/locale/hopscope.pot").open("rb") as file:
        ids = [message.id for message in read_po(file)]
    texts = [text for one in ids for text in ([one] if isinstance(one, str) else one)]
    return [re.sub(r"\{[^}]*\}", "", text) for text in texts]


def names_with(words: frozenset[str], file: Path) -> Iterator[str]:
    """Yield each name in a file of Python that has one of the words as part.

    It is given as `file:line name`.
    """
    with file.open("rb") as source:
        for token in tokenize.tokenize(io.BytesIO(source.read()).readline):
            parts = (
                re.split(r"_|(?<=[a-z])(?=[A-Z])", token.string)
                if token.type == tokenize.NAME
                else ()
            )
            if not words.isdisjoint(part.lower() for part in parts) and token.string not in SAVED:
                yield f"{file.relative_to(ROOT)}:{token.start[0]} {token.string}"


def test_each_word_has_one_sense():
    words = [word for words, _ in rows() for word in words.split(", ")]
    assert len(words) == len(set(words)) and len(words) > 40


def test_a_word_that_is_avoided_is_not_used_to_explain_another():
    for word, sense in rows()[: -len(avoided())]:
        assert avoided().isdisjoint(re.findall(r"\w+", sense)), word


@pytest.mark.parametrize("room", ROOMS)
def test_names_in_the_code_are_of_the_glossary(room):
    found = [
        name for file in sorted((ROOT / room).glob("*.py")) for name in names_with(avoided(), file)
    ]
    assert not found, f"{len(found)} names: " + "; ".join(found[:40])


def test_screens_use_the_words_of_the_glossary():
    banned, texts = banned_on_screens(), screen_texts()
    assert len(texts) > 2_000 and banned.search("3 known answers are in this lane")
    assert [text for text in texts if banned.search(text)] == []


def test_a_name_is_found_by_its_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.test_glossary.ROOT", tmp_path)
    file = tmp_path / "a.py"
    file.write_text('was_told = 1\nclass ToldWalks: "what was told"\nsold = untold = 2\n')
    assert list(names_with(frozenset({"told"}), file)) == ["a.py:1 was_told", "a.py:2 ToldWalks"]
