"""Command palette of all pages: one search over whatever the app has.

The browser searches (assets/palette), and sends what was chosen: most things are an address of a
page, which the run goes to within the session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import parse_qsl

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from core.methods.catalogue import find_method, method_for_source
from core.sharing import shared
from core.sources import source_in
from pages.parts.compare.lanes import insert_line, lane_of_line, restore_lanes
from pages.parts.compare.presentation import is_presenting
from pages.parts.compare.screen_state import restore_from_address, session_link
from pages.parts.palette.search_list import list_address
from pages.parts.question.permalink import Permalink
from pages.parts.question.question_sets import question_set_source
from pages.parts.shared.actions import shown_errors
from pages.parts.shared.scripts import component
from pages.parts.shared.session import chosen_source, is_missing, methods
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.sidebar import clear_after_choice
from pages.parts.shared.wording import tr

SWITCHES = {"model": Session.model, "reader": Session.reader}  # settings of Compare, on or off


def draw_command_palette(pages: Sequence[StreamlitPage]) -> None:
    """Draw the palette, and do what was chosen in it.

    `pages` are the pages of the app. The sidebar is drawn later, as its choice of a graph may be
    set here.
    """
    pages_by_path = {page.url_path or "compare": page for page in pages}
    data = {
        "list": list_address(question_set_source()),
        "entries": _entries({path: page.title for path, page in pages_by_path.items()}),
        "builds": session.page == "build",  # a chosen method is then opened there
    }
    with st.container(key="palette-layer"):  # The style sheet gives it no room.
        result = component("palette")(key="palette", data=data, on_chosen_change=lambda: None)
    if isinstance(chosen := getattr(result, "chosen", None), Mapping):
        session.palette_choice = {name: str(value) for name, value in chosen.items()}
    # Taken before it is followed: a switch to another page ends the run.
    if (choice := Session.palette_choice.take()) is not None:
        with shown_errors():
            _follow(choice, pages_by_path)


def _entries(page_titles: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the pages, with parameters in some addresses, and the settings."""
    turn = tr("turn on or off")
    entries = [("page", path, title, "") for path, title in page_titles.items()]
    entries += [
        ("page", "compare?present=1", tr("Present"), ""),
        ("page", "graphs?add=files", tr("Add files"), tr("graphs, documents, questions")),
        ("setting", "model", tr("Answer with a language model"), turn),
        ("setting", "reader", tr("Answer without a language model"), turn),
    ]
    if shared() and st.user.get("is_logged_in"):
        entries.append(("setting", "sign-out", tr("Sign out"), ""))
    return [dict(zip(("kind", "id", "title", "note"), entry)) for entry in entries]


def _follow(choice: Mapping[str, str], pages: Mapping[str, StreamlitPage]) -> None:
    """Do what was chosen. An unknown thing is ignored."""
    kind, id = choice.get("kind", ""), choice.get("id", "")
    source = source_in({kind: id})  # None if the kind is neither a graph nor a corpus
    if source is not None and not is_missing(source):
        session.source = source
        clear_after_choice()
    elif kind == "setting" and id in SWITCHES:
        SWITCHES[id].value = not SWITCHES[id].value
    elif kind == "setting" and id == "sign-out":
        st.logout()
    elif kind == "method" and "build" not in choice:
        if session.page != "compare":
            session.palette_choice = dict(choice)
            st.switch_page(pages["compare"])  # and from there again here
        _add_method(id)
    elif source is None:
        path, query = _address(kind, id, choice.get("set", ""))
        if path in pages:
            session.arrived_by_navigation = True  # Compare opens the address, also from itself
            st.switch_page(pages[path], query_params=query)


def _address(kind: str, id: str, set_name: str) -> tuple[str, dict[str, list[str] | str]]:
    """Return the path of the page of a chosen thing, and its query parameters.

    A question and a case stay in the presentation.
    """
    presenting: dict[str, list[str] | str] = {"present": "1"} if is_presenting() else {}
    if kind in ("question", "ask"):
        return "compare", _question_link(id, set_name).parameters() | presenting
    if kind == "case":
        return ("compare", {**presenting, "show": id}) if presenting else ("cases", {"case": id})
    if kind == "method":
        return "build", {"from": id}
    path, _, query = id.partition("?")
    return path, dict(parse_qsl(query))


def _question_link(text: str, set_name: str) -> Permalink:
    """Return the link that asks a question with the lanes of the session.

    Compare adds the entities and known answers of a question of a set. Questions of some sets have
    a graph each.
    """
    source = chosen_source()
    sets_source = question_set_source()
    question = sets_source.find_question(text) if set_name in sets_source.sets else None
    if question is not None:
        source = sets_source.source_of_question(set_name, question)
    lanes = session.lanes_of_kind.get(source.kind)
    if source.kind == session.lanes_source_kind:
        lanes = session.lanes
    link = replace(session_link(), question=text, entities=(), answers=(), edits=())
    return replace(link, source=source, lanes=tuple(lanes or source.default_lanes))


def _add_method(id: str) -> None:
    """Add a method to the comparison on Compare.

    If a lane runs its line already, or there are too many, a message says so.
    """
    restore_from_address()
    restore_lanes()
    catalogue = methods()
    line = repr(method_for_source(find_method(id, catalogue), chosen_source(), catalogue).line)
    insert_line(len(session.lanes), id if lane_of_line(line) is None else line)
