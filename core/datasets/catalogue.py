"""Catalogue of data sets, and functions that open graphs and question sets by name.

A data set is a graph with its question sets. It ships in `data/`, or a user has added it.
"""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path as FilePath
from weakref import WeakValueDictionary

import numpy as np

from core.databases.live_database import LIVE_FILE, LiveSettings, open_live
from core.datasets.own_sets import added_set, added_sets, save_set, sets_folder
from core.datasets.relations import read_relation_words
from core.datasets.sets import QuestionSet
from core.errors import BadInput, HopscopeError, StoreError, shorten, suggest_name
from core.graph.building.build import open_or_build
from core.graph.protocol import KnowledgeGraph
from core.graph.store import GRAPH_META_FILE, Graph
from core.io.data_folders import SHIPPED_DATA, absent_data_advice, added_data_folder
from core.io.home import graphs_folder
from core.io.stamps import Stamp, StampedCache, stamp_subfolder_files, stamp_tree
from core.io.toml_file import read_toml
from core.sharing import LOCAL_ADMINISTRATOR, current_person
from core.types import Direction, Question
from core.watch import NO_WATCH, Watch

DATASET_DESCRIPTION = "dataset.toml"
_opening_lock = threading.Lock()  # keeps two threads from building the same graph
_shipped_cache = StampedCache["Dataset"]()
_own_cache = StampedCache["Dataset | None"]()


@dataclass(frozen=True)
class Dataset:
    """A graph and its question sets.

    Parameters
    ----------
    name, title : name of the graph, and its title on screens.
    direction : whether edges are followed from head to tail, against that, or both.
    triples : file of the triples, from which the graph is built; None for a user's graph.
    folder : folder of the stored graph.
    sets : the question sets by name.
    source : origin of the data.
    examples : example questions.
    written : well written forms of questions, by their text in the sets.
    relations : words of relations, along the triple and against it.
    is_live : True if the graph is a database that is queried live.
    """

    name: str
    title: str
    licence: str
    direction: Direction
    triples: FilePath | None
    folder: FilePath
    sets: Mapping[str, QuestionSet] = field(default_factory=dict)
    source: str = ""
    examples: tuple[str, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict)
    relations: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    is_live: bool = False

    def open(self, watch: Watch = NO_WATCH) -> KnowledgeGraph:
        """Open the graph.

        It is built first if its store is missing, damaged or out of date. If another process is
        building it, this waits. Raises StoreError or BadInput if that fails.
        """
        if self.is_live:
            return _open_shared(self.folder / LIVE_FILE, open_live)
        if self.triples is None:
            return _open_store(self.folder)
        meta_file = self.folder / GRAPH_META_FILE
        mtime = _change_time(meta_file)
        with _opening_lock:
            graph = open_or_build(
                self.triples, self.folder, self.name, self.direction, watch, wait=True
            )
        if mtime != _change_time(meta_file):  # just built, so no other caller has it
            return graph
        return _open_graphs.setdefault((meta_file, mtime), graph)

    def questions(self, set_name: str) -> Sequence[Question]:
        """Return the questions of a set, which are read on first use.

        Raises BadInput for an unknown set.
        """
        return self._set(set_name).questions()

    def kinds(self, set_name: str) -> Sequence[str]:
        """Return the kind of each question of a set.

        The result is empty if the set has no kinds. In MetaQA the kind is the chain, as in
        “actor_to_movie”.
        """
        return self._set(set_name).question_kinds()

    def graph_name(self, set_name: str, question: Question) -> str:
        """Return the name by which `open_graph` opens the graph of a question.

        It is `webqsp-cwq`, or `webqsp-cwq:WebQTest-1` if each question has a graph of its own.
        """
        is_shared = self._set(set_name).graph_scope == "union"
        return self.name if is_shared else f"{self.name}:{question.id}"

    def graph_for(self, set_name: str, question: Question) -> KnowledgeGraph:
        """Return the graph that a question of a set is asked on.

        Raises as `open` does, and BadInput if the question has no graph.
        """
        question_set = self._set(set_name)
        if question_set.graph_scope == "union":
            return self.open()
        name = self.graph_name(set_name, question)
        return question_set.question_graph(question.id, name, self.direction)

    def question_graph(self, question_id: str) -> KnowledgeGraph:
        """Return the graph of a question's own row.

        It is read from the set that has the question. Raises BadInput if no set with a graph for
        each question has it.
        """
        name = f"{self.name}:{question_id}"
        for question_set in self.sets.values():
            if question_set.graph_scope == "question" and question_set.has_question(question_id):
                return question_set.question_graph(question_id, name, self.direction)
        raise BadInput(f"No question “{question_id}” of “{self.name}” has a graph of its own.")

    def draw_question(self, set_name: str, seed: int) -> Question:
        """Return a random question of a set, always the same for a seed."""
        questions = self.questions(set_name)
        return questions[int(np.random.default_rng(seed).integers(len(questions)))]

    def _set(self, name: str) -> QuestionSet:
        if name not in self.sets:
            raise BadInput(_unknown_message("question set", name, self.sets))
        return self.sets[name]


def datasets() -> dict[str, Dataset]:
    """Return all data sets by name.

    They have the question sets that users added to them. Shipped ones come first, then graphs that
    users built, each sorted by name. The disk is examined on each call, and changed files are read
    again.
    """
    datasets_by_name = shipped_datasets()
    for folder in _own_folders():
        if folder.name not in datasets_by_name:
            own_dataset = _own_dataset(folder)
            if own_dataset is not None:
                datasets_by_name[folder.name] = own_dataset
    return _add_user_sets(datasets_by_name)


def _own_folders() -> list[FilePath]:
    return sorted(graphs_folder().iterdir()) if graphs_folder().is_dir() else []


def _add_user_sets(datasets_by_name: dict[str, Dataset]) -> dict[str, Dataset]:
    """Add the question sets of users to their data sets, and return these."""
    for graph, added in added_sets().values():
        dataset = datasets_by_name.get(graph)
        if dataset is not None and added.name not in dataset.sets:
            all_sets = {**dataset.sets, added.name: added}
            datasets_by_name[graph] = replace(dataset, sets=all_sets)
    return datasets_by_name


def _own_dataset(folder: FilePath) -> Dataset | None:
    """Return a user's graph in a folder.

    None if there is none or it is damaged. The fault of a damaged graph is reported when it is
    opened by name.
    """
    files = stamp_tree(folder)
    return (
        _own_cache.get_or_make(folder, files, partial(_read_own_dataset, folder)) if files else None
    )


def _read_own_dataset(folder: FilePath) -> Dataset | None:
    name = folder.name
    with suppress(HopscopeError):
        if (folder / GRAPH_META_FILE).is_file():
            store = Graph.open(folder)
            return Dataset(name, store.name, "", store.direction, None, folder)
        if (folder / LIVE_FILE).is_file():
            direction = LiveSettings.read(folder / LIVE_FILE).direction
            return Dataset(name, f"{name} (live)", "", direction, None, folder, is_live=True)
    return None


def shipped_datasets() -> dict[str, Dataset]:
    """Return the data sets in `data/` by name, with those that the person added there."""
    datasets_by_name = {}
    own_folder = graphs_folder()
    added = stamp_subfolder_files(added_data_folder(), DATASET_DESCRIPTION)
    for path, files in [*added, *_shipped_descriptions()]:
        # A data set has the folder of its graph, which another home changes.
        key = (path, own_folder)
        dataset = _shipped_cache.get_or_make(key, files, partial(_read_description, path))
        datasets_by_name[dataset.name] = dataset
    return datasets_by_name


@cache
def _shipped_descriptions() -> list[tuple[FilePath, Stamp]]:
    # Looked up once, because shipped files stay the same and every drawing asks for them.
    return stamp_subfolder_files(SHIPPED_DATA, DATASET_DESCRIPTION)


def unreadable_graphs(readable: Mapping[str, Dataset]) -> list[str]:
    """Return the names of users' graphs that are not among the `readable` ones.

    They are damaged. The fault is reported when such a graph is opened by name.
    """
    return [
        folder.name
        for folder in _own_folders()
        if folder.name not in readable
        and any((folder / file).is_file() for file in (GRAPH_META_FILE, LIVE_FILE))
    ]


def dataset_of(graph_name: str) -> Dataset | None:
    """Return the data set of a graph, by the graph's name.

    None if it has none. The name may be that of a question's graph, such as
    `webqsp-cwq:WebQTest-1`.
    """
    shipped_by_name = shipped_datasets()
    for name in (graph_name, graph_name.partition(":")[0]):
        dataset = shipped_by_name.get(name)
        if dataset is None and FilePath(name).name == name:
            dataset = _own_dataset(graphs_folder() / name)
        if dataset is not None:
            return _add_user_sets({name: dataset})[name]
    return None


def open_graph(name: str | FilePath, watch: Watch = NO_WATCH) -> KnowledgeGraph:
    """Open a graph by name or folder.

    The name is that of a data set, or that of one question's graph (`webqsp-cwq:WebQTest-1`). On a
    shared server, folders cannot be named from a browser. Raises BadInput, which names the known
    graphs, or StoreError.
    """
    known_datasets = datasets()
    if str(name) in known_datasets:
        return known_datasets[str(name)].open(watch)
    folders = [graphs_folder() / FilePath(name).name]
    if current_person() == LOCAL_ADMINISTRATOR:
        folders = [FilePath(name), graphs_folder() / str(name)]
    for folder in folders:
        if (folder / GRAPH_META_FILE).is_file():
            return _open_store(folder)
        if (folder / LIVE_FILE).is_file():
            return open_live(folder)
    base, colon, question_id = str(name).partition(":")
    if colon and base in known_datasets:
        return known_datasets[base].question_graph(question_id)
    raise BadInput(_unknown_message("graph", str(name), known_datasets))


def questions(set_or_file: str | FilePath) -> Sequence[Question]:
    """Return the questions of a set of any data set, or of a file.

    Raises BadInput, which names the known sets or the fault in the file.
    """
    return question_set(set_or_file).questions()


def question_set(set_or_file: str | FilePath, columns: str = "") -> QuestionSet:
    """Return a question set by name, or a file of questions as a set.

    `columns` names the columns of a file. A name takes precedence over a file. On a shared server,
    files cannot be named from a browser. Raises BadInput, which names the known sets.
    """
    name, file = str(set_or_file), FilePath(set_or_file)
    may_name_files = current_person() == LOCAL_ADMINISTRATOR
    if may_name_files and file.is_file() and name not in _datasets_by_set():
        return QuestionSet(file.name.split(".")[0], file.name, file.absolute(), columns=columns)
    if columns:
        raise BadInput(f"Columns can be named for a file of questions; “{name}” is none.")
    return dataset_of_set(name).sets[full_set_name(name)]


def add_question_set(
    file: FilePath, name: str, title: str, graph: str, **settings: str
) -> QuestionSet:
    """Save a file of questions as a set of a known graph.

    It is saved as `save_set` does. Raises BadInput for an unknown graph too.
    """
    known_datasets = datasets()
    if graph not in known_datasets:
        raise BadInput(_unknown_message("graph", graph, known_datasets))
    return save_set(file, name, title, graph, _datasets_by_set(), **settings)


def graph_for(set_or_file: str | FilePath, question: Question) -> KnowledgeGraph:
    """Return the graph that a question is asked on.

    It is the graph of its set's data set, or that of its own row. Raises BadInput for a question of
    a file without a graph of its own, and as `open_graph` does.
    """
    name = str(set_or_file)
    found_set = question_set(set_or_file)
    if FilePath(name).is_file() and name not in _datasets_by_set():
        return found_set.question_graph(question.id, f"{found_set.name}:{question.id}", "both")
    return dataset_of_set(name).graph_for(found_set.name, question)


def draw_from_set(set_name: str, seed: int) -> Question:
    """Return a random question of a set, always the same for a seed.

    Raises BadInput, which names the known sets.
    """
    return dataset_of_set(set_name).draw_question(full_set_name(set_name), seed)


def dataset_of_set(set_name: str) -> Dataset:
    """Return the data set of a question set. Raises BadInput, which names the known sets."""
    return _datasets_by_set()[full_set_name(set_name)]


def full_set_name(set_name: str) -> str:
    """Return the full name of a question set, such as `metaqa-2hop-test` for `metaqa-2hop`.

    If there is no set of a name, `-test` is added to it. Raises BadInput, which names the known sets.
    """
    datasets_by_set = _datasets_by_set()
    name = set_name if set_name in datasets_by_set else f"{set_name}-test"
    if name not in datasets_by_set:
        if FilePath(set_name).name == set_name and (sets_folder() / set_name).is_dir():
            graph, _ = added_set(set_name)  # raises if the set is damaged
            raise BadInput(
                f"The question set “{set_name}” belongs to the graph “{graph}”, which is not here."
            )
        raise BadInput(_unknown_message("question set", set_name, datasets_by_set))
    return name


def _datasets_by_set() -> dict[str, Dataset]:
    """Return the data set of each question set, by the name of the set."""
    return {name: dataset for dataset in datasets().values() for name in dataset.sets}


def _unknown_message(noun: str, name: str, known_names: Mapping) -> str:
    advice = absent_data_advice(name) or suggest_name(name, known_names)
    return f"There is no {noun} “{shorten(name)}”.{advice}"


def _read_description(path: FilePath) -> Dataset:
    """Read the data set that a `dataset.toml` describes.

    Raises BadInput, which names the file and the wrong key.
    """
    try:
        description = read_toml(path)
        sets = {
            name: QuestionSet.from_description(name, row, path.parent)
            for name, row in description.get("questions", {}).items()
        }
        return Dataset(
            name=description["name"],
            title=description["title"],
            licence=description["licence"],
            direction=description["direction"],
            triples=path.parent / description["triples"],
            folder=graphs_folder() / description["name"],
            sets=sets,
            source=description.get("source", ""),
            examples=tuple(description.get("examples", ())),
            written=dict(description.get("written", {})),
            relations=read_relation_words(description.get("relations", {})),
        )
    except KeyError as error:
        raise BadInput(f"{path.parent.name}/{path.name} lacks {error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, TypeError, AttributeError) as error:
        raise BadInput(f"{path.parent.name}/{path.name} cannot be read: {error}.") from None


# Graphs in use, by a file of the graph and the file's time of change.
_open_graphs: WeakValueDictionary[tuple[FilePath, int], KnowledgeGraph] = WeakValueDictionary()


def _open_shared(file: FilePath, load: Callable[[FilePath], KnowledgeGraph]) -> KnowledgeGraph:
    """Open the folder of a file with `load`, as one object for all callers.

    The object is shared while the file is unchanged and the object is in use.
    """
    key = (file, _change_time(file))
    graph = _open_graphs.get(key)
    if graph is None:
        graph = _open_graphs[key] = load(file.parent)
    return graph


def _change_time(file: FilePath) -> int:
    """Return the time of a file's last change in ns.

    It is -1 for a missing file.
    """
    try:
        return file.stat().st_mtime_ns
    except FileNotFoundError:
        return -1


def _open_store(folder: FilePath) -> KnowledgeGraph:
    """Return the graph in a folder.

    It is one object for all callers until the graph is built again.
    """
    if not (folder / GRAPH_META_FILE).exists():
        raise StoreError(f"There is no graph in {folder}.")
    return _open_shared(folder / GRAPH_META_FILE, Graph.open)
