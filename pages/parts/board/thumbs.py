"""Thumbs up and down on the lanes' answers, saved in the log of ratings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.cases import answer_text, delete_rating, is_rated_up, rate, rating_of
from core.engine import MethodComparison, MethodLane
from core.errors import HopscopeError
from core.runtime.jobs import JOB_DONE
from pages.parts.shared.actions import shown_errors
from pages.parts.shared.text import plain

# By `is_rated_up`. No rating is None in the board's data, and “none” in a click.
THUMB_WORDS = {True: "up", False: "down", None: None}


def add_thumbs(comparison: MethodComparison, payload: dict[str, Any]) -> dict[str, Any]:
    """Return the board's payload with the saved rating of each answer.

    If the log of ratings cannot be read, the error is drawn, and the remaining answers have no
    thumbs.
    """
    lanes = list(payload["lanes"])
    try:
        for i, lane in enumerate(comparison.lanes):
            if lane.status == JOB_DONE and answer_text(lane):
                lanes[i] = {**lanes[i], "thumb": THUMB_WORDS[is_rated_up(*_rating_key(lane))]}
    except HopscopeError as error:
        st.caption(plain(str(error)))
    return {**payload, "lanes": lanes}


def save_thumb(comparison: MethodComparison, click: Mapping[str, str] | None) -> None:
    """Save the thumb that was clicked, if any, and draw the page again.

    A second click on the same thumb removes the rating.
    """
    if click is None:
        return
    lane = comparison.lanes[int(click["lane"].removeprefix("lane-"))]
    with shown_errors():
        if click["verdict"] == "none":
            delete_rating(*_rating_key(lane))
        else:
            rate(rating_of(lane, click["verdict"] == "up"))
        st.rerun()


def _rating_key(lane: MethodLane) -> tuple[str, str, str, str]:
    """Return the graph's digest, question, line and answer.

    Together they identify a rating.
    """
    rating = rating_of(lane, True)  # up or down does not matter for the key
    return rating.digest, rating.question, rating.line, rating.answer
