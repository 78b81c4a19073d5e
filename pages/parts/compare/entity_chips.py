"""Chips of the question entities and the known answers, with inputs that complete names.

The browser code is assets/entities. The rest of the page reads the lists of names
`session.entities` and `session.answers`.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.graph.names.lookup import names
from core.graph.names.roles import described
from pages.parts.shared.edits import new_edits
from pages.parts.shared.scripts import component
from pages.parts.shared.session import graph as whole_graph
from pages.parts.shared.session import opened_graph
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import many
from pages.parts.shared.wording import tr

LISTS = {"entities": Session.entities, "answers": Session.answers}
SUGGESTED, NOTED = 8, 20  # names that are suggested; names of a list that get a description
TYPED, LONGEST = 200, 2_000  # most characters of a search text, of a name or a question


def chips(graph: Any) -> None:
    """Draw the question entities and the known answers, both editable.

    `graph` may be the part of a graph that a saved case has. The whole graph is opened when the
    user types.
    """

    @st.fragment
    def draw() -> None:
        whole = opened_graph() or (whole_graph() if session.chips_query else graph)
        # Of a live database, only the fetched part can be searched.
        known = graph if whole.live is not None else whole
        component("entities")(
            key=Session.entitychips.name, data=_data(known), on_said_change=lambda: _changed(known)
        )
        if Session.chips_changed.take():
            st.rerun()

    draw()


def _data(graph: Any) -> dict[str, Any]:
    """Return the data of the component, which entities.js describes at its top."""
    who, done = session.chips_done
    return {
        **{into: _listed(graph, key.value) for into, key in LISTS.items()},
        "hops": tr("{hops} away", hops=many(session.hops, "hop")) if session.hops else "",
        "meant": _meant(graph),
        "asked": _suggestions(graph, *session.chips_query) if session.chips_query else None,
        "who": who,
        "done": done,
    }


def _suggestions(graph: Any, into: str, text: str) -> dict[str, Any]:
    """Return the best completions of a text, each with a description.

    Names that are in the list already are left out.
    """
    there = set(LISTS[into].value)
    found = [
        (graph.node_name(node), node)
        for node in names(graph).complete(text, SUGGESTED + len(there))
    ]
    best = [(name, node) for name, node in found if name not in there][:SUGGESTED]
    return {
        "list": into,
        "text": text,
        "options": [{"name": name, "note": described(graph, node)} for name, node in best],
    }


def _meant(graph: Any) -> list[dict[str, Any]]:
    """Return the entities linked to uncertain names in the question, with alternatives."""
    text, entities, readings = " ".join(session.question.split()), session.entities, []
    for link in _links(graph, text) if text and entities and len(text) <= LONGEST else ():
        called = graph.names((link.mention.node, *link.others))
        taken = next((name for name in called if name in entities), None)
        certain = link.mention.text == called[0] != called[0].lower()
        others = list(
            dict.fromkeys(name for name in called if name != taken and name not in entities)
        )
        if taken is None or certain and taken == called[0] or not (others or link.mention.fuzzy):
            continue
        read = link.mention.text if link.mention.fuzzy and taken == called[0] else ""
        readings.append(
            _named(graph, taken)
            | {"text": read, "others": [_named(graph, name) for name in others]}
        )
    return readings


def _links(graph: Any, text: str) -> list[Any]:
    """Return the entity links of a question, computed once per question."""
    return Session.chips_links.of((graph.digest, text), lambda: names(graph).links(text))


def _listed(graph: Any, listed: list[str]) -> list[dict[str, str]]:
    """Return the names of a list; the first `NOTED` have a description."""
    return [
        _named(graph, name) if at < NOTED else {"name": name, "note": ""}
        for at, name in enumerate(listed)
    ]


def _named(graph: Any, name: str) -> dict[str, str]:
    return {"name": name, "note": _note(graph, name)}


def _note(graph: Any, name: str) -> str:
    """Return a short description of a named entity.

    If the graph does not have it, it is a note on that.
    """
    nodes = names(graph).exact(name)
    if nodes:
        return described(graph, max(nodes, key=lambda node: (graph.degree(node), -node)))
    return tr("not in the graph")


def _changed(graph: Any) -> None:
    """Apply the new edits of the browser.

    The text for which it wants suggestions is stored.
    """
    message = session.entitychips.get("said") or {}
    query = message.get("query")
    edits, session.chips_done = new_edits(message, session.chips_done)
    for edit in edits:
        if edit["list"] in LISTS:
            _edit(
                graph,
                edit["list"],
                edit["op"],
                str(edit["name"])[:LONGEST],
                str(edit.get("instead", "")),
            )
            session.chips_changed = True
    session.chips_query = (
        (query["list"], str(query["text"])[:TYPED]) if query and query["list"] in LISTS else None
    )


def _edit(graph: Any, into: str, what: str, name: str, instead: str) -> None:
    """Apply one change to a list of names."""
    known = list(LISTS[into].value)
    name = name if name in known else _written(graph, name)
    if what == "remove":
        known = [one for one in known if one != name]
    elif what == "add":
        known = list(dict.fromkeys([*known, name]))
    elif what == "swap":
        known = list(dict.fromkeys(name if one == instead else one for one in known))
        session.submit()
    LISTS[into].value = known


def _written(graph: Any, name: str) -> str:
    """Return the name as the graph spells it, if the graph has it."""
    nodes = names(graph).exact(name)
    return (
        graph.node_name(max(nodes, key=lambda node: (graph.degree(node), -node))) if nodes else name
    )
