"""The field for the most that work may spend on language models."""

from __future__ import annotations

import streamlit as st

from core.errors import BadInput
from core.models.price import Cap, cap_of
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def spend_at_most(key: str, before: Cap | None = None) -> tuple[Cap | None, bool]:
    """Draw the field, with the cap `before` in it at first; the cap, where one was written, and
    whether work may begin: what is no cap is said below it, and nothing begins without the limit
    that somebody meant."""
    text = st.text_input(
        tr("Spend at most"),
        f"{before.most:g}{' tokens' if before.tokens else ''}" if before is not None else "",
        placeholder=tr("no limit"),
        width=220,
        key=key,
        persist_state="session",
        help=tr(
            "Money by the prices in models.toml, as 2.50, or tokens, as 200000 tokens. Work stops "
            "before language models have cost more in all; what is done is saved, and goes on "
            "with a higher limit."
        ),
    )
    try:
        return cap_of(text), True
    except BadInput as error:
        st.error(plain(str(error)))
        return None, False
