"""Board of a saved case or of an evaluated question.

It needs no engine, no models, and only the part of the graph that was saved with the comparison.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import streamlit as st

from core.datasets import datasets
from core.engine import MethodComparison
from core.io.json_text import json_text
from core.results import comparison_dict
from pages.parts.board.component import board as draw_board
from pages.parts.board.html_report import report_html
from pages.parts.board.payload import Board
from pages.parts.board.thumbs import add_thumbs, save_thumb
from pages.parts.shared.session_state import Session
from pages.parts.shared.wording import tr

MAX_FILE_NAME_CHARACTERS = 60  # of a question that names its files; as in assets/board/picture.js


def draw_finished_board(comparison: MethodComparison, key: str) -> Board:
    """Draw the lanes as on Compare, with thumbs, and return the board.

    The panel of a node leads to the page Graphs if its graph exists. The
    session caches the board under `key`, which identifies the comparison.
    """
    board = Session.finished_drawing.get_or_compute(key, lambda: Board(comparison))
    graph = comparison.graph
    board_data = {
        **board.payload(),
        # Buttons of a node's panel: only the one that opens it on Graphs.
        "ways": ["walk"] if board.view.node_buttons and graph.name in datasets() else [],
        "repairs": False,
    }
    clicks = draw_board(add_thumbs(comparison, board_data), key="finished_board")
    save_thumb(comparison, clicks.thumb)
    if clicks.go is not None:
        node = int(clicks.go["node"])
        if 0 <= node < graph.n_nodes:
            query = {"entity": graph.node_name(node), "graph": graph.name}
            st.switch_page("pages/graphs.py", query_params=query)
    return board


def draw_downloads(comparison: MethodComparison, board: Board) -> None:
    """Draw the buttons that download the report and the data, in files named by the question."""
    words = re.sub(r"[\W_]+", "-", comparison.ask.question.text)[:MAX_FILE_NAME_CHARACTERS]
    name = words.strip("-") or "hopscope"
    st.download_button(
        tr("Report (HTML)"),
        lambda: comparison_html(comparison, board),
        f"{name}.html",
        "text/html",
        on_click="ignore",
    )
    st.download_button(
        tr("Data (JSON)"),
        lambda: json_text(comparison_dict(comparison), indent=1),
        f"{name}.json",
        "application/json",
        on_click="ignore",
    )


def comparison_html(comparison: MethodComparison, board: Board) -> str:
    """Return the comparison as one self-contained HTML file.

    Previews of unfinished rankings are left out.
    """
    complete_board = board
    if any(lane.preview for lane in comparison.lanes):
        complete_board = Board(comparison, earlier=board, previews=False)
    facts = report_facts(complete_board, date.today())
    return report_html(complete_board.payload(), comparison.ask.question.text, facts)


def report_facts(board: Board, day: date) -> dict[str, Any]:
    """Return by name what a report says of its question: source, seed, day, seeds, answers."""
    ask = board.comparison.ask
    return {
        board.view.source_word: ask.source.title,
        tr("seed"): ask.seed or "",  # 0 is what everybody begins with
        tr("date"): day.isoformat(),
        tr("starts at"): ", ".join(ask.question.entities),
        tr("correct answers"): ", ".join(ask.question.answers),
    }
