"""Edits of the graph that is asked: remove, rename or merge an item, and ask again.

They show what an answer depends on. The saved graph stays unchanged. Each edit can be undone, and
each lane is compared with its answer before the edits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.diagnosis.edit_effects import compare_edited
from core.diagnosis.wording import capitalised
from core.engine import MethodComparison
from core.errors import BadInput
from core.graph.edits import Edit, path_removals
from core.runtime.jobs import Job
from pages.parts.board.earlier_answers import edit_comparison_data, edit_effect_text
from pages.parts.compare.screen_state import ScreenComparison
from pages.parts.shared.actions import button
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

# Actions of a node's panel, as the board sends them; the panel of a path has the first one too.
REMOVE_ACTION, RENAME_ACTION, MERGE_ACTION = ("without", "rename", "merge")
EDIT_ACTIONS = (REMOVE_ACTION, RENAME_ACTION, MERGE_ACTION)


class RefusedEdit(BadInput):
    """A rename or merge that is not possible, with the reason in a sentence."""


def ask_with_edit(
    comparison: MethodComparison, click: Mapping[str, Any], paths: Mapping[str, Mapping[str, Any]]
) -> None:
    """Ask again with a clicked item removed, renamed or merged.

    The item is a node, a passage or a path. Only nodes can be renamed or merged.

    Parameters
    ----------
    click : a click on the board, with the keys
        `to`: the action;
        `node` or `path`: the item; a path is given by its key;
        `other` or `name`: the node to merge with, or the new name.
    paths : the paths of the board by key.
    """
    try:
        if click["to"] in (RENAME_ACTION, MERGE_ACTION):
            new_edits = [_rename_edit(comparison, click)]
        elif "path" in click:
            new_edits = _path_removals(paths[click["path"]])
        else:
            new_edits = [_node_removal(comparison, click["node"])]
    except RefusedEdit as error:  # before BadInput, of which it is a kind
        st.toast(plain(str(error)))
        return
    except (BadInput, KeyError):
        st.toast(tr("This cannot be changed: it has no name. Choose a node or a passage of it."))
        return
    session.edits = list(dict.fromkeys([*session.edits, *new_edits]))
    session.submit()
    st.rerun()


def _node_removal(comparison: MethodComparison, node: Any) -> Edit:
    """Return the edit that removes a node of the board.

    On triples, `node` is its id. On documents it is its kind and its name with a space between, as
    in `chunk 12`. Removing a chunk removes the whole document that it was cut from. Raises BadInput
    for a summary or a community, which are made from passages.
    """
    if not comparison.ask.source.is_corpus:
        return Edit("node", (comparison.graph.node_name(int(node)),))
    kind, _, name = str(node).partition(" ")
    if kind == "node":
        return Edit("node", (name,))
    if kind == "chunk":
        for lane in comparison.lanes:
            chunks = lane.graph.columns.chunks
            ids = [] if chunks is None else list(chunks.texts("id"))
            if name in ids:
                return Edit("passage", (chunks.text("document", ids.index(name)),))
    raise BadInput(f"{kind} {name}")


def _rename_edit(comparison: MethodComparison, click: Mapping[str, Any]) -> Edit:
    """Return the edit that renames a node, or merges it into another one.

    The other node was clicked, or its name was typed. Raises `RefusedEdit`, and BadInput for an
    item without a name.
    """
    name = _entity_name(comparison, click["node"])
    if "other" in click:
        other_name = _entity_name(comparison, click["other"])
    else:
        other_name = " ".join(str(click.get("name", "")).split())
    if not other_name:
        raise RefusedEdit(tr("A node needs a name."))
    if other_name == name:
        raise RefusedEdit(tr("It has this name already."))
    name_exists = any(lane.graph.nodes_named(other_name) for lane in comparison.lanes)
    if click["to"] == MERGE_ACTION and not name_exists:
        raise RefusedEdit(
            tr(
                "No node is called “{other}” here. Click the one that it is merged into, or type "
                "its name as it is written.",
                other=other_name,
            )
        )
    if click["to"] == RENAME_ACTION and name_exists:
        raise RefusedEdit(
            tr("Another node is called “{other}” already. Merge the two instead.", other=other_name)
        )
    return Edit(click["to"], (name, other_name))


def _entity_name(comparison: MethodComparison, node: Any) -> str:
    """Return the name of an entity of the board. Raises `RefusedEdit` for a passage."""
    edit = _node_removal(comparison, node)
    if edit.kind != "node":
        raise RefusedEdit(tr("Only entities are renamed and merged, and this is a passage."))
    return edit.names[0]  # its only one


def _path_removals(path: Mapping[str, Any]) -> list[Edit]:
    """Return the edits that remove the triples of a path.

    The `steps` of a path are the titles of its nodes and relations in turn. If the names of the
    nodes differ from the titles, the path has them as `names`. `forward` tells for each relation if
    the path follows the direction of its triple.
    """
    names = path.get("names", path["steps"][::2])
    return path_removals(names, path["steps"][1::2], path["forward"])


def draw_edits() -> None:
    """Draw the edits, each with a button that undoes it."""
    edits: Sequence[Edit] = session.edits
    if not edits:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="edits"):
        for edit_index, edit in enumerate(edits):
            button(
                plain(capitalised(edit.description)),
                partial(_undo_edit, edit),
                icon="undo",
                key=f"edit-{edit_index}",
                help=tr("Put it back and ask again")
                if edit.is_removal
                else tr("Undo it and ask again"),
            )
        if len(edits) > 1:
            button(tr("Undo all"), partial(_undo_edit, *edits), key="edits-none", type="tertiary")


def _undo_edit(*edits: Edit) -> None:
    session.edits = [edit for edit in session.edits if edit not in edits]
    session.submit()


def job_before_edits() -> Job | None:
    """Return the job of the same question on the graph without edits.

    None if there are no edits, or the engine has dropped the job.
    """
    return engine().jobs.get(session.unedited_job) if session.edits else None


def add_earlier_answers(board: dict[str, Any], on_screen: ScreenComparison) -> dict[str, Any]:
    """Return the board's data with each lane's answer before the edits.

    Once all lanes have ended, a sentence on the effect of the edits is added as `without`. The data
    of a question without edits is returned unchanged. The differences are also stored in the lanes
    of the comparison, and are saved with it.
    """
    job, edited = job_before_edits(), on_screen.comparison
    if job is None or on_screen.job is None or not edited.ask.source.edits:
        return board
    lanes = []
    for index, difference in enumerate(compare_edited(job.comparison, edited)):
        edited.change_lane(index, beside=difference)
        lanes.append({**board["lanes"][index], "beside": edit_comparison_data(difference)})
    effect = None if any_running((job, on_screen.job)) else edit_effect_text(edited)
    return {**board, "lanes": lanes, "without": effect}


def any_running(jobs: Iterable[Job | None]) -> bool:
    """Return whether any of the jobs is running."""
    return any(job is not None and not job.has_ended for job in jobs)
