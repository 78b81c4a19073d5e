"""Graphs that users add: build, connect and remove them.

A graph of triples is built and stored. Of a live database only the address is saved.
"""

from __future__ import annotations

from pathlib import Path

from core.databases.live_database import LiveDatabase, LiveSettings, open_live, save_live
from core.datasets.catalogue import datasets, shipped_datasets
from core.datasets.own_sets import clean_name
from core.errors import BadInput, StoreError, shorten
from core.graph.building.build import TripleInput, build
from core.graph.protocol import KnowledgeGraph
from core.graph.storage.store_files import lock_store
from core.graph.store import GRAPH_META_FILE
from core.io.folders import remove_folder
from core.io.home import graphs_folder
from core.sharing import check_may_change, forget_owner, record_owner
from core.types import Direction
from core.watch import NO_WATCH, Watch

GRAPH_OWNED_KIND = "graph"  # kind of thing in the records of owners


def free_graph_name(name: str) -> str:
    """Return the cleaned name for a new graph.

    Raises BadInput if nothing is left of the name, or it is taken.
    """
    graph_name = clean_name(name)
    if not graph_name:
        raise BadInput("Give the graph a name of letters, digits or dashes.")
    if graph_name in datasets() or (graphs_folder() / graph_name).exists():
        raise BadInput(_taken_message(graph_name))
    return graph_name


def add_graph(
    triples: TripleInput, name: str, direction: Direction = "both", watch: Watch = NO_WATCH
) -> KnowledgeGraph:
    """Build a graph of triples and save it under a name that `free_graph_name` returned.

    The graph belongs to the current user. Raises BadInput if the name has been taken since, and
    as `build` does.
    """
    if (
        clean_name(name) != name
        or name in datasets()
        or (graphs_folder() / name / GRAPH_META_FILE).is_file()
    ):
        raise BadInput(_taken_message(name))
    graph = build(triples, graphs_folder() / name, name, direction, watch)
    record_owner(GRAPH_OWNED_KIND, name)
    return graph


def add_live(settings: LiveSettings, name: str, watch: Watch = NO_WATCH) -> KnowledgeGraph:
    """Save the address of a live database as a graph.

    The name is one that `free_graph_name` returned. The graph belongs to the current user. The
    database is queried once first. Raises BadInput if the name has been taken since or the database
    does not answer, and StoreError.
    """
    if clean_name(name) != name or name in datasets() or (graphs_folder() / name).exists():
        raise BadInput(_taken_message(name))
    LiveDatabase(name, settings).check_connection(watch)
    save_live(graphs_folder() / name, settings)
    record_owner(GRAPH_OWNED_KIND, name)
    return open_live(graphs_folder() / name)


def own_folder(name: str) -> Path | None:
    """Return the folder of a user's graph, even if it is damaged.

    None if there is none.
    """
    folder = graphs_folder() / name
    if name in shipped_datasets() or folder.name != name or name.startswith("."):
        return None
    return folder if folder.is_dir() else None


def remove_graph(name: str) -> None:
    """Remove a user's graph, even if it is damaged.

    Question sets that were added to it stay. A later graph of the same name has them again.

    Raises
    ------
    BadInput : if the user has no such graph, or it comes with Hopscope.
    NotAllowed : if it belongs to another user.
    StoreError : if the folder cannot be removed, or another process is building the graph.
    """
    if name in shipped_datasets():
        raise BadInput(f"The graph “{name}” comes with Hopscope and cannot be removed.")
    folder = own_folder(name)
    if folder is None:
        raise BadInput(f"There is no graph “{shorten(name)}” of your own.")
    check_may_change(GRAPH_OWNED_KIND, name)
    with lock_store(folder, wait=False):
        try:
            remove_folder(folder, lambda: forget_owner(GRAPH_OWNED_KIND, name))
        except OSError as error:
            raise StoreError(
                f"The graph in {folder} cannot be removed: {error.strerror or error}."
            ) from None


def _taken_message(name: str) -> str:
    return f"There is already a graph “{name}”; choose another name."
