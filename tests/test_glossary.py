"""Names in the code keep to docs/glossary.md: one word, one sense."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.io.home import ROOT

ROOMS = sorted(
    {
        file.parent.relative_to(ROOT).as_posix()
        for room in ("core", "pages", "hopscope")
        for file in (ROOT / room).rglob("*.py")
    }
)
SAVED = {"SetAside"}  # operators whose names lie in saved instances
PAGE = (ROOT / "docs/glossary.md").read_text("utf-8")


def rows(section: str | None = None) -> list[tuple[str, str]]:
    """The rows of all tables of the page, or of the one of a section."""
    text = PAGE if section is None else PAGE[PAGE.index(f"## {section}") :]
    found = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE)
    return [row for row in found if row not in (("word", "means"), ("not", "but"))]


def avoided() -> frozenset[str]:
    """Words that the page says are no names."""
    return frozenset(
        word.strip()
        for words, _ in rows("Words that are not used as names")
        for word in words.split(",")
    )


def names_with(words: frozenset[str], file: Path) -> Iterator[str]:
    """Where one of the words is part of a name in a file of Python, as `file:line name`."""
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


def test_a_name_is_found_by_its_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.test_glossary.ROOT", tmp_path)
    file = tmp_path / "a.py"
    file.write_text('was_told = 1\nclass ToldWalks: "what was told"\nsold = untold = 2\n')
    assert list(names_with(frozenset({"told"}), file)) == ["a.py:1 was_told", "a.py:2 ToldWalks"]
