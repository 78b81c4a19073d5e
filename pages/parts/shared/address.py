"""The address of a page that a person came to by a click, which brings none along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from urllib.parse import urlencode

import streamlit as st

from pages.parts.shared.scripts import ASSETS


@cache
def _component():
    return st.components.v2.component("hopscope_address", js=(ASSETS / "address" / "address.js").read_text("utf-8"))


def in_place(parameters: Mapping[str, Sequence[str] | str]) -> None:
    """Write these query parameters into the browser's address where it has none, as the entry that it is at.

    Whatever is written into `st.query_params` makes an entry of its own, so that Back would come to the same page again; and where
    Streamlit breaks off the first run of a page, it makes that entry on the page before.
    """
    with st.container(key="address"):  # which takes no room
        _component()(key="in_place", data={"query": urlencode(parameters, doseq=True)})
