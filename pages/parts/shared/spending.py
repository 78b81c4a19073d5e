"""Input field for the spending limit on language models."""

from __future__ import annotations

import streamlit as st

from core.errors import BadInput
from core.models.price import Cap, parse_cap
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def draw_spending_limit(key: str, old_cap: Cap | None = None) -> tuple[Cap | None, bool]:
    """Draw the field, and return the limit and whether work may begin.

    If the text cannot be read as a limit, an error is drawn below the field, and work may not
    begin, because a limit was meant.

    Parameters
    ----------
    key : key of the field.
    old_cap : the limit that is in the field at first.

    Returns
    -------
    The limit, None if the field is empty or wrong; and False if it is wrong.
    """
    old_text = ""
    if old_cap is not None:
        old_text = f"{old_cap.most:g}{' tokens' if old_cap.tokens else ''}"
    text = st.text_input(
        tr("Spend at most"),
        old_text,
        placeholder=tr("no limit"),
        width=220,
        key=key,
        persist_state="session",
        help=tr(
            "Money, as 2.50 (prices in models.toml), or tokens, as 200000 tokens. Work stops "
            "before language models cost more. What is done is saved; a higher limit continues it."
        ),
    )
    try:
        return parse_cap(text), True
    except BadInput as error:
        st.error(plain(str(error)))
        return None, False
