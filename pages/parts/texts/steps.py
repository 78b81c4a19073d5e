"""Steps of a build as blocks, which can be edited. A changed line is a build of its own."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.builds import Build, find, status
from core.corpus import Corpus
from core.lines.difference import change_words
from core.sources import CorpusSource
from pages.parts.build.bench import Bench
from pages.parts.build.component import bricks
from pages.parts.build.drawn import drawn
from pages.parts.question.permalink import Link
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import instances
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr
from pages.parts.texts.beside import on_build, on_one_graph

LACKS = tr("These steps make no graph: the brick with the red border says why.")
EMPTY = tr("There are no steps. Choose a first one, or go back.")


def changed_build(corpus: Corpus, base: Build) -> Build | None:
    """Draw the steps of a build, and return the build that they are now.

    It is `base` unless they were changed. If the line is incomplete, that is shown and None is
    returned.
    """
    bench = Session.texts_bench.of((corpus.name, base.id), lambda: Bench.of(base.line))
    with st.expander(tr("Steps of this build"), icon=":material/linear_scale:", key="texts_steps"):
        data = drawn(bench, {}, refused=lambda operator: operator.lacks(corpus))
        bricks(bench, {**data, "compact": True}, Session.texts_bricks)
    line = bench.line
    if line is not None and line == base.line:
        return base
    if line is not None:
        words = change_words(base.line, line)
    elif bench.draft.bricks:
        words = LACKS
    else:
        words = EMPTY
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="texts-changed"
    ):
        st.caption(f":material/edit: {plain(words)}", width="content")
        button(
            tr("Back to the chosen build"),
            _back,
            key="texts_steps_back",
            type="tertiary",
            icon="undo",
        )
    if line is None:
        return None
    found = find(repr(line))
    if not found.own:
        return found
    return replace(
        found,
        title=f"{found.title}: {line.words()}"
        if base.own
        else tr("{title}, changed", title=base.title),
    )


def _back() -> None:
    del session.texts_bench


def ask_on(corpus: Corpus, one: Build) -> None:
    """Draw the link to Compare from a graph by a user's own line.

    It has a method on this graph, and the same method on a graph of the catalogue.
    """
    if not status(corpus, one).serves:
        return
    row = next((row for row in instances().values() if on_one_graph(row, one)), None)
    if row is None:
        caption(
            "No method of the catalogue is made for such a graph. A line begins on it so, with "
            "“As text” on Build:"
        )
        st.code(f"BuiltGraph(build={one.id!r})", language=None, wrap_lines=True)
        return
    lanes = (repr(on_build(row, one).line), row.id)
    st.link_button(
        tr("Ask {method} on this graph", method=plain(row.name)),
        Link(lanes=lanes, source=CorpusSource(corpus.name), typed=True).address("./"),
        icon=":material/view_column:",
        help=tr("Compares it with the method on its usual graph, in a new tab."),
    )
