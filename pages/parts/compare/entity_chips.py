"""Editable chips of the question entities and known answers, with name completion.

The page Compare draws them below the question (assets/entities). The result of the edits are the
lists of names `session.entities` and `session.answers`.
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
MAX_SUGGESTED_NAMES = 8  # completions of a typed text
MAX_DESCRIBED_NAMES = 20  # names of a list that get a description
MAX_SEARCH_CHARACTERS = 200
MAX_CHIP_CHARACTERS = 2_000  # most characters of a name, or of a question with links


def draw_chips(graph: Any) -> None:
    """Draw the question entities and the known answers, both editable.

    `graph` may be the part of a graph that a saved case has. When the user types, the whole graph
    is opened, so that all names can be completed.
    """

    @st.fragment
    def draw() -> None:
        full_graph = graph_if_open() or (whole_graph() if session.chips_query else graph)
        # Of a live database, only the fetched part can be searched.
        lookup_graph = graph if full_graph.live is not None else full_graph
        component("entities")(
            key=Session.entitychips.name,
            data=_component_data(lookup_graph),
            on_said_change=lambda: _apply_edits(lookup_graph),
        )
        if Session.chips_changed.take():
            st.rerun()

    draw()


def _component_data(graph: Any) -> dict[str, Any]:
    """Return the data of the component, which entities.js describes at its top."""
    sender, n_done = session.chips_last_edit
    return {
        **{list_name: _listed_names(graph, key.value) for list_name, key in NAME_LISTS.items()},
        "hops": tr("{hops} from the start", hops=many(session.hops, "hop")) if session.hops else "",
        "meant": _uncertain_links(graph),
        "asked": _suggestions(graph, *session.chips_query) if session.chips_query else None,
        "who": sender,
        "done": n_done,
    }


def _suggestions(graph: Any, list_name: str, text: str) -> dict[str, Any]:
    """Return the best completions of a text, each with a description.

    `list_name` is a key of `NAME_LISTS`. Names that are in that list already are left out.
    """
    listed_names = set(NAME_LISTS[list_name].value)
    matches = [
        (graph.node_name(node), node)
        for node in name_lookup(graph).complete(text, MAX_SUGGESTED_NAMES + len(listed_names))
    ]
    options = [
        {"name": name, "note": roles_and_degree(graph, node)}
        for name, node in matches
        if name not in listed_names
    ]
    return {"list": list_name, "text": text, "options": options[:MAX_SUGGESTED_NAMES]}


def _uncertain_links(graph: Any) -> list[dict[str, Any]]:
    """Return the question entities that were linked to uncertain names, with alternatives."""
    text = " ".join(session.question.split())
    entities = session.entities
    if not text or not entities or len(text) > MAX_CHIP_CHARACTERS:
        return []
    entries = []
    for link in _entity_links(graph, text):
        entry = _uncertain_link(graph, link, entities)
        if entry is not None:
            entries.append(entry)
    return entries


def _uncertain_link(graph: Any, link: Any, entities: list[str]) -> dict[str, Any] | None:
    """Return the entity linked to a name, with alternatives.

    None if the link is certain, or leads to none of the question entities. It is certain if the
    question spells a capitalised name exactly, or a name without errors that no other entity has.
    """
    names = graph.names((link.mention.node, *link.alternatives))
    chosen_name = next((name for name in names if name in entities), None)
    if chosen_name is None:
        return None
    is_best = chosen_name == names[0]
    is_exact_name = link.mention.text == names[0] != names[0].lower()
    if is_exact_name and is_best:
        return None
    alternatives = list(dict.fromkeys(name for name in names if name not in entities))
    if not alternatives and not link.mention.fuzzy:
        return None
    return _described_name(graph, chosen_name) | {
        "text": link.mention.text if link.mention.fuzzy and is_best else "",
        "others": [_described_name(graph, name) for name in alternatives],
    }


def _entity_links(graph: Any, text: str) -> list[Any]:
    """Return the entity links of a question, computed once per question."""
    return Session.chips_links.get_or_compute(
        (graph.digest, text), lambda: name_lookup(graph).find_links(text)
    )


def _listed_names(graph: Any, names: list[str]) -> list[dict[str, str]]:
    """Return names with descriptions.

    After the first `MAX_DESCRIBED_NAMES`, descriptions are empty, since each is looked up.
    """
    return [
        _described_name(graph, name) if i < MAX_DESCRIBED_NAMES else {"name": name, "note": ""}
        for i, name in enumerate(names)
    ]


def _described_name(graph: Any, name: str) -> dict[str, str]:
    return {"name": name, "note": _note(graph, name)}


def _note(graph: Any, name: str) -> str:
    """Return a short description of a named entity, or a note that the graph lacks it."""
    node = _best_node(graph, name)
    return tr("not in the graph") if node is None else roles_and_degree(graph, node)


def _best_node(graph: Any, name: str) -> int | None:
    """Return the node of that name with the most edges.

    Of several, it is the one with the smallest id. None if the graph lacks the name.
    """
    nodes = name_lookup(graph).find_exact(name)
    return max(nodes, key=lambda node: (graph.degree(node), -node), default=None)


def _apply_edits(graph: Any) -> None:
    """Apply the new edits, and store the text to complete."""
    message = session.entitychips.get("said") or {}
    query = message.get("query")
    edits, session.chips_last_edit = new_edits(message, session.chips_last_edit)
    for edit in edits:
        if edit["list"] in NAME_LISTS:
            _edit_list(
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


def _edit_list(graph: Any, list_name: str, operation: str, name: str, instead: str) -> None:
    """Apply one change to a list of names.

    Parameters
    ----------
    operation : `remove`, `add`, or `swap`, which replaces the name `instead` and asks again.
    """
    list_names = list(NAME_LISTS[list_name].value)
    name = name if name in list_names else _graph_spelling(graph, name)
    if operation == "remove":
        list_names = [listed for listed in list_names if listed != name]
    elif operation == "add":
        list_names = list(dict.fromkeys([*list_names, name]))
    elif operation == "swap":
        list_names = list(
            dict.fromkeys(name if listed == instead else listed for listed in list_names)
        )
        session.submit()
    NAME_LISTS[list_name].value = list_names


def _graph_spelling(graph: Any, name: str) -> str:
    """Return the name as the graph spells it, if the graph has it."""
    node = _best_node(graph, name)
    return name if node is None else graph.node_name(node)
