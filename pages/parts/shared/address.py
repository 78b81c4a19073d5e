"""The browser's address: of a page that a person came to by a click, which brings none along, and
over a sign-in, which takes it away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from urllib.parse import urlencode

import streamlit as st

from pages.parts.shared.scripts import ASSETS

COMPARE = (
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
PARAMETERS = (*COMPARE, "line", "from", "entity", "add", "run", "question")  # of all pages


@cache
def _component(name: str):
    return st.components.v2.component(
        f"hopscope_{name}", js=(ASSETS / "address" / f"{name}.js").read_text("utf-8")
    )


def in_place(parameters: Mapping[str, Sequence[str] | str], page: str = "") -> None:
    """Write these query parameters into the browser's address where it has none, as the entry that
    it is at, as long as it is at `page`.

    Whatever is written into `st.query_params` makes an entry of its own, so that Back would come to
    the same page again; and where Streamlit breaks off the first run of a page, it makes that entry
    on the page before.
    """
    with st.container(key="address"):  # which takes no room
        _component("address")(
            key="in_place", data={"query": urlencode(parameters, doseq=True), "page": page}
        )


def ask_on_enter(label: str) -> None:
    """Let Enter in the text box of this label press Ask, also where its text is unchanged."""
    with st.container(key="enter"):  # which takes no room
        _component("enter")(key="on_enter", data={"label": label})


def keep_wished() -> None:
    """Keep the address that a person came with, in this tab of their browser, until they have
    signed in there."""
    _wished({"keep": True})


def go_to_wished(pages: Sequence[str]) -> None:
    """Go to the address that was kept, once: to one of these pages, with the parameters that ours
    have."""
    _wished({"pages": list(pages), "parameters": list(PARAMETERS)})


def _wished(data: Mapping[str, object]) -> None:
    with st.container(key="wished"):  # which takes no room
        _component("wished")(key="wished_address", data=data)
