"""The tag on what a lane on documents says."""

from __future__ import annotations

from pages.parts.board import verdict


def test_names_of_the_tag_are_not_translated(monkeypatch):
    monkeypatch.setattr(verdict, "tr", str.upper)
    assert verdict.answer_tag(1, 1, True) == {"right": 1, "of": 1, "word": "CORRECT"}
    assert verdict.answer_tag(1, 2, True) == {"right": 1, "of": 2}
