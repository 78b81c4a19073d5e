"""Chips of the question entities and the known answers, with inputs that complete names.

The browser code is assets/entities. The rest of the page reads the lists of names
`session.entities` and `session.answers`.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.graph.names.lookup import name_lookup
from core.graph.names.roles import roles_and_degree
from pages.parts.shared.edits import new_edits
from pages.parts.shared.scripts import component
from pages.parts.shared.session import chosen_graph as whole_graph
from pages.parts.shared.session import graph_if_open
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import many
from pages.parts.shared.wording import tr

NAME_LISTS = {"entities": Session.entities, "answers": Session.answers}
# names that are suggested; names of a list that get a description
MAX_SUGGESTED_NAMES = 8
MAX_DESCRIBED_NAMES = 20
# most characters of a search text, of a name or a question
MAX_SEARCH_CHARACTERS = 200
MAX_CHIP_CHARACTERS = 2_000


def chips(graph: Any) -> None:
    """Draw the question entities and the known answers, both editable.

    `graph` may be the part of a graph that a saved case has. The whole graph is opened when the
    user types.
    """

    @st.fragment
    def draw() -> None:
        full_graph = graph_if_open() or (whole_graph() if session.chips_query else graph)
        # Of a live database, only the fetched part can be searched.
        lookup_graph = graph if full_graph.live is not None else full_graph
        component("entities")(
            key=Session.entitychips.name,
            data=_data(lookup_graph),
            on_said_change=lambda: _apply_edits(lookup_graph),
        )
        if Session.chips_changed.take():
            st.rerun()

    draw()


def _data(graph: Any) -> dict[str, Any]:
    """Return the data of the component, which entities.js describes at its top."""
    sender, n_done = session.chips_done
    return {
        **{into: _listed_names(graph, key.value) for into, key in NAME_LISTS.items()},
        "hops": tr("{hops} from the start", hops=many(session.hops, "hop")) if session.hops else "",
        "meant": _uncertain_links(graph),
        "asked": _suggestions(graph, *session.chips_query) if session.chips_query else None,
        "who": sender,
        "done": n_done,
    }


def _suggestions(graph: Any, into: str, text: str) -> dict[str, Any]:
    """Return the best completions of a text, each with a description.

    Names that are in the list already are left out.
    """
    listed_names = set(NAME_LISTS[into].value)
    matches = [
        (graph.node_name(node), node)
        for node in name_lookup(graph).complete(text, MAX_SUGGESTED_NAMES + len(listed_names))
    ]
    best = [(name, node) for name, node in matches if name not in listed_names][
        :MAX_SUGGESTED_NAMES
    ]
    return {
        "list": into,
        "text": text,
        "options": [{"name": name, "note": roles_and_degree(graph, node)} for name, node in best],
    }


def _uncertain_links(graph: Any) -> list[dict[str, Any]]:
    """Return the entities linked to uncertain names in the question, with alternatives."""
    text = " ".join(session.question.split())
    entities = session.entities
    if not text or not entities or len(text) > MAX_CHIP_CHARACTERS:
        return []
    entries = []
    for link in _links(graph, text):
        entry = _uncertain_link(graph, link, entities)
        if entry is not None:
            entries.append(entry)
    return entries


def _uncertain_link(graph: Any, link: Any, entities: list[str]) -> dict[str, Any] | None:
    """Return the entity linked to a name, with alternatives; None if it is certain."""
    names = graph.names((link.mention.node, *link.others))
    chosen_name = next((name for name in names if name in entities), None)
    if chosen_name is None:
        return None
    is_best = chosen_name == names[0]
    is_exact_name = link.mention.text == names[0] != names[0].lower()
    if is_exact_name and is_best:
        return None
    others = list(dict.fromkeys(name for name in names if name not in entities))
    if not others and not link.mention.fuzzy:
        return None
    return _described_name(graph, chosen_name) | {
        "text": link.mention.text if link.mention.fuzzy and is_best else "",
        "others": [_described_name(graph, name) for name in others],
    }


def _links(graph: Any, text: str) -> list[Any]:
    """Return the entity links of a question, computed once per question."""
    return Session.chips_links.of((graph.digest, text), lambda: name_lookup(graph).links(text))


def _listed_names(graph: Any, names: list[str]) -> list[dict[str, str]]:
    """Return the names of a list; the first `MAX_DESCRIBED_NAMES` have a description."""
    return [
        _described_name(graph, name) if i < MAX_DESCRIBED_NAMES else {"name": name, "note": ""}
        for i, name in enumerate(names)
    ]


def _described_name(graph: Any, name: str) -> dict[str, str]:
    return {"name": name, "note": _note(graph, name)}


def _note(graph: Any, name: str) -> str:
    """Return a short description of a named entity.

    If the graph does not have it, it is a note on that.
    """
    nodes = name_lookup(graph).exact(name)
    if nodes:
        return roles_and_degree(graph, max(nodes, key=lambda node: (graph.degree(node), -node)))
    return tr("not in the graph")


def _apply_edits(graph: Any) -> None:
    """Apply the new edits of the browser.

    The text for which it wants suggestions is stored.
    """
    message = session.entitychips.get("said") or {}
    query = message.get("query")
    edits, session.chips_done = new_edits(message, session.chips_done)
    for edit in edits:
        if edit["list"] in NAME_LISTS:
            _edit(
                graph,
                edit["list"],
                edit["op"],
                str(edit["name"])[:MAX_CHIP_CHARACTERS],
                str(edit.get("instead", "")),
            )
            session.chips_changed = True
    session.chips_query = (
        (query["list"], str(query["text"])[:MAX_SEARCH_CHARACTERS])
        if query and query["list"] in NAME_LISTS
        else None
    )


def _edit(graph: Any, into: str, what: str, name: str, instead: str) -> None:
    """Apply one change to a list of names."""
    list_names = list(NAME_LISTS[into].value)
    name = name if name in list_names else _graph_spelling(graph, name)
    if what == "remove":
        list_names = [one for one in list_names if one != name]
    elif what == "add":
        list_names = list(dict.fromkeys([*list_names, name]))
    elif what == "swap":
        list_names = list(dict.fromkeys(name if one == instead else one for one in list_names))
        session.submit()
    NAME_LISTS[into].value = list_names


def _graph_spelling(graph: Any, name: str) -> str:
    """Return the name as the graph spells it, if the graph has it."""
    nodes = name_lookup(graph).exact(name)
    return (
        graph.node_name(max(nodes, key=lambda node: (graph.degree(node), -node))) if nodes else name
    )
