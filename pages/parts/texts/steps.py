"""Steps of a build as editable blocks.

The steps are the operators of the build's line. A changed line is a build of its own.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.builds import GraphBuild, build_status, find_build
from core.corpus import Corpus
from core.lines.difference import change_words
from core.sources import CorpusSource
from pages.parts.build.bench import Bench
from pages.parts.build.component import draw_bricks
from pages.parts.build.line_drawing import line_data
from pages.parts.question.permalink import Permalink
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import methods
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr
from pages.parts.texts.graph_comparison import method_on_build, starts_at_build

INCOMPLETE_STEPS_NOTE = tr("These steps make no graph. The step with the red border says why.")
NO_STEPS_NOTE = tr("There are no steps. Choose a first one, or go back.")


def draw_build_steps(corpus: Corpus, base: GraphBuild) -> GraphBuild | None:
    """Draw the steps of a build, and return the build of the edited steps.

    Unedited steps return `base`. If the edited line is incomplete, a note is drawn and None is
    returned.
    """
    bench = Session.texts_bench.get_or_compute(
        (corpus.name, base.id), lambda: Bench.of_line(base.line)
    )
    with st.expander(tr("Steps of this build"), icon=":material/linear_scale:", key="texts_steps"):
        data = line_data(bench, {}, refusal=lambda operator: operator.missing_requirement(corpus))
        draw_bricks(bench, {**data, "compact": True}, Session.texts_bricks)
    line = bench.line
    if line is not None and line == base.line:
        return base
    if line is not None:
        words = change_words(base.line, line)
    elif bench.draft.bricks:
        words = INCOMPLETE_STEPS_NOTE
    else:
        words = NO_STEPS_NOTE
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="texts-changed"
    ):
        st.caption(f":material/edit: {plain(words)}", width="content")
        button(
            tr("Back to the chosen build"),
            _discard_edits,
            key="texts_steps_back",
            type="tertiary",
            icon="undo",
        )
    if line is None:
        return None
    build = find_build(repr(line))
    if not build.is_own:
        return build
    if base.is_own:
        return replace(build, title=f"{build.title}: {line.words()}")
    return replace(build, title=tr("{title}, changed", title=base.title))


def _discard_edits() -> None:
    del session.texts_bench


def draw_compare_link(corpus: Corpus, build: GraphBuild) -> None:
    """Draw the link to Compare from a graph by a user's own line.

    There, a method on this graph is compared with the same method on a graph of the catalogue.
    """
    if not build_status(corpus, build).can_be_opened:
        return
    method = next((method for method in methods().values() if starts_at_build(method, build)), None)
    if method is None:
        caption(
            "No method of the catalogue uses such a graph. To start a method on it, paste this "
            "under “As text” on Build:"
        )
        st.code(f"BuiltGraph(build={build.id!r})", language=None, wrap_lines=True)
        return
    lanes = (repr(method_on_build(method, build).line), method.id)
    st.link_button(
        tr("Ask {method} on this graph", method=plain(method.name)),
        Permalink(lanes=lanes, source=CorpusSource(corpus.name), is_typed=True).address("./"),
        icon=":material/view_column:",
        help=tr("Compares it with the method on its usual graph, in a new tab."),
    )
