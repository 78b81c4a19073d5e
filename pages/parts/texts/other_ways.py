"""Dialog with the other ways to build a graph."""

from __future__ import annotations

import streamlit as st

from core.corpus import Corpus
from pages.parts.shared.required_choice import required_choice
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.wording import tr
from pages.parts.texts.build_choice import (
    AI_WAY,
    FAST_WAY,
    PAPER_WAY,
    choose_corpus_build,
    choose_way_build,
)
from pages.parts.texts.corpus_choice import draw_language
from pages.parts.texts.graph_builds import draw_build_card
from pages.parts.texts.steps import draw_build_steps

EXPERT_WAY = tr("Expert")
# What each way costs, in words.
WAY_CAPTIONS = {
    FAST_WAY: tr("Names are found by rules. Nothing leaves this computer."),
    AI_WAY: tr("A language model reads each chunk: better descriptions, and it costs calls."),
    PAPER_WAY: tr("The graph of a published method. Most need a model with a long context."),
    EXPERT_WAY: tr("Every kind of graph, every way to find entities, and each step."),
}


def draw_other_ways(corpus: Corpus) -> None:
    """Draw the dialog if it is open. It stays open while the page behind it is drawn again."""
    if session.texts_ways:
        title = tr("Ways to build a graph")
        st.dialog(title, width="large", on_dismiss=Session.texts_ways.drop)(_draw_ways)(corpus)


def _draw_ways(corpus: Corpus) -> None:
    """Draw the choice of a way, its builds, and the cost and start of the chosen one."""
    way = required_choice(tr("Ways to build a graph"), WAY_CAPTIONS, Session.texts_way)
    assert way is not None  # one is required
    st.caption(WAY_CAPTIONS[way])
    if way == EXPERT_WAY:
        build = draw_build_steps(corpus, choose_corpus_build(corpus))
        draw_language(corpus)
    else:
        build = choose_way_build(corpus, way)
    if build is not None:
        draw_build_card(corpus, build, "way")
        caption("The graph is shown on the page once it is built. Other graphs stay.")
