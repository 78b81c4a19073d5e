"""Edits of the asked graph: an item is removed, renamed or merged, and the question asked again.

Each edit can be undone, and each lane is compared with its answer before the edits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.diagnosis.without import beside
from core.diagnosis.wording import sentence
from core.engine import Comparison
from core.errors import BadInput
from core.graph.edits import Edit
from core.runtime.jobs import Job
from pages.parts.board.beside import beside_data, without_text
from pages.parts.compare.asked import Shown
from pages.parts.shared.actions import button
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

# Actions of a node's panel; a path has the first one too.
WITHOUT, RENAME, MERGE = ("without", "rename", "merge")
WAYS = (WITHOUT, RENAME, MERGE)


def change(
    comparison: Comparison, pressed: Mapping[str, Any], paths: Mapping[str, Mapping[str, Any]]
) -> None:
    """Ask again with a clicked item removed, renamed or merged.

    The item is a node, a passage or a path. Only nodes can be renamed or merged.

    Parameters
    ----------
    pressed : the click on the board.
    paths : the paths of the board by key.
    """
    try:
        if pressed["to"] in (RENAME, MERGE):
            found = [_renamed(comparison, pressed)]
        else:
            if "path" in pressed:
                found = _of_path(paths[pressed["path"]])
            else:
                found = [_of_node(comparison, pressed["node"])]
    except Refused as error:
        st.toast(plain(str(error)))
        return
    except (BadInput, KeyError):
        st.toast(
            tr("This cannot be changed: it has no name of its own. Take a node or a passage of it.")
        )
        return
    session.edits = list(dict.fromkeys([*session.edits, *found]))
    session.submit()
    st.rerun()


def _of_node(comparison: Comparison, node: Any) -> Edit:
    """Return the edit that removes a node of the board.

    A node of triples is given by its id, one of documents by its kind and name. Raises BadInput for
    a summary or a community, which are made from passages.
    """
    if not comparison.ask.source.is_corpus:
        return Edit("node", (comparison.graph.node_name(int(node)),))
    kind, _, name = str(node).partition(" ")
    if kind == "node":
        return Edit("node", (name,))
    for graph in (lane.graph for lane in comparison.lanes if kind == "chunk"):
        chunks = graph.columns.chunks
        if chunks is not None:
            row = next((row for row, id in enumerate(chunks.texts("id")) if id == name), None)
        else:
            row = None
        if row is not None:
            return Edit("passage", (chunks.text("document", row),))
    raise BadInput(f"{kind} {name}")


class Refused(BadInput):
    """A rename or merge that is not possible, with the reason in a sentence."""


def _renamed(comparison: Comparison, pressed: Mapping[str, Any]) -> Edit:
    """Return the edit that renames a node, or merges it into another one.

    The other node was clicked, or its name was typed. Raises `Refused`, and BadInput for an item
    without a name.
    """
    (name,) = _entity(comparison, pressed["node"]).names
    if "other" in pressed:
        other = _entity(comparison, pressed["other"]).names[0]
    else:
        other = " ".join(str(pressed.get("name", "")).split())
    there = any(lane.graph.nodes_named(other) for lane in comparison.lanes) if other else False
    if not other or other == name:
        raise Refused(tr("It has this name already.") if other else tr("A node needs a name."))
    if pressed["to"] == MERGE and not there:
        raise Refused(
            tr(
                "No node is called “{other}” here. Click the one that it is merged into, or type "
                "its name as it is written.",
                other=other,
            )
        )
    if pressed["to"] == RENAME and there:
        raise Refused(
            tr("Another node is called “{other}” already. Merge the two instead.", other=other)
        )
    return Edit(pressed["to"], (name, other))


def _entity(comparison: Comparison, node: Any) -> Edit:
    """Return the edit that removes an entity of the board. Raises `Refused` for a passage."""
    edit = _of_node(comparison, node)
    if edit.kind != "node":
        raise Refused(tr("Only entities are renamed and merged, and this is a passage."))
    return edit


def _of_path(path: Mapping[str, Any]) -> list[Edit]:
    """Return the edits that remove the triples of a path.

    The `steps` of a path are titles of nodes and relations in turn.
    """
    relations, names, found = path["steps"][1::2], path.get("names", path["steps"][::2]), []
    for relation, start, end, forward in zip(relations, names, names[1:], path["forward"]):
        found.append(Edit("edge", (start, relation, end) if forward else (end, relation, start)))
    return found


def changes() -> None:
    """Draw the edits, each with a button that undoes it."""
    edits: Sequence[Edit] = session.edits
    if not edits:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="edits"):
        for place, edit in enumerate(edits):
            button(
                plain(sentence(edit.words)),
                partial(_put_back, edit),
                icon="undo",
                key=f"edit-{place}",
                help=tr("Put it back and ask again")
                if edit.removes
                else tr("Undo it and ask again"),
            )
        if len(edits) > 1:
            button(tr("Undo all"), partial(_put_back, *edits), key="edits-none", type="tertiary")


def _put_back(*edits: Edit) -> None:
    session.edits = [edit for edit in session.edits if edit not in edits]
    session.submit()


def before_job() -> Job | None:
    """Return the job of the same question without edits.

    None if there are no edits.
    """
    return engine().jobs.get(session.before) if session.edits else None


def with_before(drawn: dict[str, Any], on_screen: Shown) -> dict[str, Any]:
    """Return the board's data with each lane's answer before the edits.

    Once all lanes have ended, it has a sentence for all of them. Without edits it stays as it is.
    The lanes store the comparison, so that it is saved with them.
    """
    job, now = before_job(), on_screen.comparison
    if job is None or on_screen.job is None or not now.ask.source.edits:
        return drawn
    found = beside(job.comparison, now)
    for place, one in enumerate(found):
        now.change(place, beside=one)
    lanes = [{**data, "beside": beside_data(one)} for data, one in zip(drawn["lanes"], found)]
    return {
        **drawn,
        "lanes": lanes,
        "without": None if running((job, on_screen.job)) else without_text(now),
    }


def running(jobs: Iterable[Job | None]) -> bool:
    """Return whether any of the jobs is running."""
    return any(job is not None and not job.ended for job in jobs)
