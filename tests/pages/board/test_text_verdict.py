"""The tag on what a lane on documents says."""

from __future__ import annotations

from pages.parts.board import text_verdict


def test_names_of_the_tag_are_not_translated(monkeypatch):
    monkeypatch.setattr(text_verdict, "tr", str.upper)
    assert text_verdict.answer_tag(1, 1, True) == {"right": 1, "of": 1, "word": "RIGHT"}
    assert text_verdict.answer_tag(1, 2, True) == {"right": 1, "of": 2}
