"""Changes of the browser's address that Streamlit does not offer.

A page that is opened by a click has no parameters in its address until they are written, and a
sign-in loses the address that the visitor wanted. The browser code is in assets/address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from urllib.parse import urlencode

import streamlit as st

from pages.parts.shared.scripts import ASSETS_FOLDER

COMPARE_PARAMETERS = (
    "q",
    "e",
    "a",
    "lane",
    "graph",
    "corpus",
    "seed",
    "llm",
    "reader",
    "case",
    "present",
    "show",
)
# The query parameters of the page Compare above, and of all pages here.
ADDRESS_PARAMETERS = (*COMPARE_PARAMETERS, "line", "from", "entity", "add", "run", "question")


@cache
def _component(name: str):
    return st.components.v2.component(
        f"hopscope_{name}", js=(ASSETS_FOLDER / "address" / f"{name}.js").read_text("utf-8")
    )


def write_address(parameters: Mapping[str, Sequence[str] | str], page: str = "") -> None:
    """Write query parameters into the browser's address.

    They are written only if the address has none and is still that of `page` (its path; empty for
    Compare). They replace the present entry of the browser's history. A write to `st.query_params`
    would make a new entry, and Back would return to the same page. If Streamlit aborted the first
    run of a page, it would even make that entry for the previous page.
    """
    with st.container(key="address"):  # The style sheet gives this container no room.
        _component("address")(
            key="in_place", data={"query": urlencode(parameters, doseq=True), "page": page}
        )


def ask_on_enter(label: str) -> None:
    """Let Enter in the text box of this label press Ask, even if the text is unchanged."""
    with st.container(key="enter"):  # The style sheet gives it no room either.
        _component("enter")(key="on_enter", data={"label": label})


def keep_wanted_address() -> None:
    """Keep the opened address in the browser until the sign-in."""
    _wanted_address({"keep": True})


def go_to_wanted_address(pages: Sequence[str]) -> None:
    """Go once to the address that was kept, if there is one.

    Only these pages (their paths) and known parameters are accepted.
    """
    _wanted_address({"pages": list(pages), "parameters": list(ADDRESS_PARAMETERS)})


def _wanted_address(data: Mapping[str, object]) -> None:
    with st.container(key="wished"):  # The style sheet gives it no room either.
        _component("wished")(key="wished_address", data=data)
