"""A report is named by its question, and its head by what people call the graph."""

from __future__ import annotations

import re

from core.cases import comparison_of_case
from core.cases.examples import demo
from pages.parts.board import static_board
from pages.parts.board.payload import Board


def test_files_are_named_by_the_question_and_the_head_by_titles(monkeypatch):
    comparison = comparison_of_case(demo()[0].id)
    board, names = Board(comparison), []
    monkeypatch.setattr(
        static_board.st, "download_button", lambda label, data, name, *_, **__: names.append(name)
    )
    static_board.draw_downloads(comparison, board)
    words = re.findall(r"\w+", comparison.ask.question.text)
    assert [name.rpartition(".")[2] for name in names] == ["html", "json"]
    for name in names:
        stem = name.rpartition(".")[0]
        assert len(stem) <= static_board.MAX_FILE_NAME_CHARACTERS
        assert "-".join(words).startswith(stem) and stem.split("-")[:3] == words[:3]
    head = static_board.comparison_html(comparison, board).partition('<div id="board">')[0]
    assert f"<dd>{comparison.ask.source.title}</dd>" in head
    assert comparison.ask.seed == 0 and "seed" not in head.partition("<header")[2]
