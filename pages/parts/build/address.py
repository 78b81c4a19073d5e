"""The line of Build in the session and in the address."""

from __future__ import annotations

import streamlit as st

from core.drafts import History
from core.instances.catalogue import Instance, find
from pages.parts.build.bench import Bench
from pages.parts.shared.problems import shown_errors
from pages.parts.shared.session import went_here
from pages.parts.shared.session_state import session

LINE, FROM = "line", "from"


def restore(known: dict[str, Instance]) -> Bench:
    """The line of this session; an address that names a line or a method is loaded into it where the person went to it. An address that
    only comes along may be one that was changed since."""
    fresh = session.bench is None
    bench = session.bench = session.bench or Bench()
    wanted = st.query_params.get(LINE) or st.query_params.get(FROM) or ""
    if wanted and (fresh or went_here()) and wanted not in (bench.wanted, bench.draft.text):
        _load(bench, wanted, known)
        if fresh:
            bench.history = History(bench.draft)  # there is nothing before it
    bench.wanted, session.came = wanted, False
    return bench


def _load(bench: Bench, wanted: str, known: dict[str, Instance]) -> None:
    """Take over what an address names; what stands in the way is said."""
    with shown_errors():
        if wanted in known or "(" not in wanted:
            bench.load(find(wanted, known).line)
        else:
            bench.read(wanted)
