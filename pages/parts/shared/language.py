"""Display of the language of a corpus or graph, and the choice of another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from core.languages import Detection, languages
from pages.parts.shared.actions import run_action
from pages.parts.shared.session_state import Session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

AS_DETECTED = tr("As detected")


def language_choice(
    detection: Detection, choose: Callable[[str], Any], key: str, effect: str
) -> None:
    """Draw a language with a choice of another one.

    Parameters
    ----------
    detection : the language of the corpus or graph.
    choose : called with the code of the chosen language; empty for the detected one.
    key : id of the corpus or graph, for the key of the choice.
    effect : a sentence on the effects of the language.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(tr("Language: {words}", words=detection.words())), width="content")
        with st.popover(tr("Change"), type="tertiary", icon=":material/translate:"):
            codes = ["", *sorted(languages(), key=lambda code: languages()[code].name)]
            st.selectbox(
                tr("Language"),
                codes,
                index=codes.index(detection.code)
                if detection.chosen and detection.code in codes
                else 0,
                format_func=lambda code: languages()[code].name if code else AS_DETECTED,
                key=Session.language[key].name,
                on_change=lambda: run_action(lambda: choose(Session.language[key].value)),
            )
            st.caption(effect)
