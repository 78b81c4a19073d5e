"""Take something away and ask again: what was taken, undone one by one, and each lane beside what
it answered before."""

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

# what a node's panel asks for; the first of a path as well
WITHOUT, RENAME, MERGE = ("without", "rename", "merge")
WAYS = (WITHOUT, RENAME, MERGE)


def change(
    comparison: Comparison, pressed: Mapping[str, Any], paths: Mapping[str, Mapping[str, Any]]
) -> None:
    """Ask again without the node, passage or path whose button was pressed, or with the node
    renamed or merged; `paths` are those of the board."""
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
    """The edit that takes a node of the board away: of triples by its id, of documents by its kind and name. Raises BadInput for a summary
    and a community, which come from passages."""
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
    """Why a node cannot be renamed or merged as asked, in a sentence."""


def _renamed(comparison: Comparison, pressed: Mapping[str, Any]) -> Edit:
    """The edit that renames a node, or merges it into another that was clicked or whose name was
    typed. Raises Refused, and BadInput for what has no name of its own."""
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
    """The edit that takes an entity of the board away. Raises Refused for a passage."""
    edit = _of_node(comparison, node)
    if edit.kind != "node":
        raise Refused(tr("Only entities are renamed and merged, and this is a passage."))
    return edit


def _of_path(path: Mapping[str, Any]) -> list[Edit]:
    """The edits that take the triples of a path away, whose `steps` are titles of nodes and
    relations by turns."""
    relations, names, found = path["steps"][1::2], path.get("names", path["steps"][::2]), []
    for relation, start, end, forward in zip(relations, names, names[1:], path["forward"]):
        found.append(Edit("edge", (start, relation, end) if forward else (end, relation, start)))
    return found


def changes() -> None:
    """What is taken away, merged or renamed, each with a button that undoes it."""
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
    """The job of the same question with nothing taken away; None where nothing is."""
    return engine().jobs.get(session.before) if session.edits else None


def with_before(drawn: dict[str, Any], on_screen: Shown) -> dict[str, Any]:
    """The board's data with what each lane said before beside what it says, and a sentence for all
    once all have ended; as it is where nothing was edited here. The lanes hold it from then on, so
    that it is saved with them."""
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
    """Whether any of the jobs is at work."""
    return any(job is not None and not job.ended for job in jobs)
