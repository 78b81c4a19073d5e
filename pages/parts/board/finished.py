"""A finished comparison on a screen: a saved case or a row of an evaluation, without the engine,
models or the whole graph."""

from __future__ import annotations

from datetime import date

import streamlit as st

from core.datasets import datasets
from core.engine import Comparison
from core.io.json_text import json_text
from core.results import comparison_dict
from pages.parts.board.component import board
from pages.parts.board.html_report import report_html
from pages.parts.board.payload import Board
from pages.parts.board.thumbs import press_thumb, show_thumbs
from pages.parts.shared.session_state import Session
from pages.parts.shared.wording import tr


def finished_board(comparison: Comparison, key: str) -> Board:
    """Draw the lanes as Compare does, with thumbs; what draws them. From a node's panel one may
    walk on where its graph is here.

    `key` names the view, so that its layout is kept for the session.
    """
    drawing = Session.finished.of(key, lambda: Board(comparison))
    graph = comparison.graph
    drawn = {
        **drawing.payload(),
        "ways": ["walk"] if drawing.view.ways and graph.name in datasets() else [],
        "repairs": False,
    }
    clicked = board(show_thumbs(comparison, drawn), key="finished_board")
    press_thumb(comparison, clicked.thumb)
    if clicked.go is not None and 0 <= (node := int(clicked.go["node"])) < graph.n_nodes:
        st.switch_page(
            "pages/graphs.py", query_params={"entity": graph.node_name(node), "graph": graph.name}
        )
    return drawing


def downloads(comparison: Comparison, drawing: Board, name: str = "hopscope") -> None:
    """The report and the data, as files."""
    st.download_button(
        tr("Report (HTML)"),
        lambda: report(comparison, drawing),
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


def report(comparison: Comparison, drawing: Board) -> str:
    """The comparison as one self-contained HTML file, without what a lane shows of a ranking that
    is not done."""
    asked = comparison.ask
    meta = {
        drawing.view.source_word: asked.source.graph.name,
        tr("seed"): asked.seed,
        tr("date"): date.today().isoformat(),
        tr("starts from"): ", ".join(asked.question.entities),
        tr("known answers"): ", ".join(asked.question.answers),
    }
    exact = drawing
    if any(lane.preview for lane in comparison.lanes):
        exact = Board(comparison, drawing, previews=False)
    return report_html(exact.payload(), asked.question.text, meta)
