"""Errors that are meant for a person."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from core.errors import HopscopeError
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain


@contextmanager
def shown_errors() -> Iterator[None]:
    """Show an error at this place of the page, and go on behind the block."""
    try:
        yield
    except HopscopeError as error:
        st.error(plain(str(error)))


@contextmanager
def noted_errors() -> Iterator[None]:
    """Keep an error for the next drawing of the page, as in the callback of a button."""
    try:
        yield
    except HopscopeError as error:
        session.problem = str(error)
