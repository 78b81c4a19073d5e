"""Paths of the lanes as data of the board: best and lost paths, replays, and fates.

A replay shows a search for paths, or a PageRank, in frames. A fate tells whether a lane found a
path, or where it lost it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from core.datasets.relations import relation_words
from core.datasets.wording import relation_table
from core.diagnosis.causes import Cause
from core.diagnosis.evidence import Evidence, answer_evidence
from core.diagnosis.pagerank_spread import MassMoment, first_pagerank, pagerank_moments
from core.diagnosis.path_outcome import path_fate_in
from core.engine import MethodComparison, MethodLane
from core.graph.texts import hit_titles, relation_names
from core.operators import OPERATORS
from core.types import Path, State, Step
from pages.parts.shared.text import many
from pages.parts.shared.wording import tr

MAX_SHOWN_PATHS = 12  # best paths per lane
MAX_SHOWN_LOST_ANSWERS = 6  # lost answers per lane
MAX_MASS_NAMES = 8  # nodes of largest mass that are named at each frame of a PageRank

# Returns the picture's ids of a path's nodes and edges, given its graph.
PathPlacement = Callable[[Any, Path], tuple[list, list]]
Data = dict[str, Any]


def retrieved_state(lane: MethodLane) -> State:
    """Return the last state of a lane that has retrieved.

    For any other lane it is a state without results. The states between the operators of retrieval
    are not drawn: drawing them takes too long for what they show.
    """
    return lane.state if lane.retrieved else State(lane.ask.question, lane.ask.seeds)


@dataclass(frozen=True)
class DrawnPaths:
    """Paths of all lanes as data of the board.

    Attributes
    ----------
    best : for each lane its best paths, each with `key`, `rank` and `score`; None if the lane seeks
        no paths.
    lost : for each lane the paths to known answers that it lost, each with `key` and `answer`.
    stories : for each lane its replays.
    paths : data of each path by key.
    fates : by key, the fate in each lane of the paths in `best` and `lost`.
    path_by_key : the path of each key, in the ids of the first graph in which it occurred.
    keys : the key of each path, by the `id` of a graph object and the path in it.
    """

    best: list[list[Data] | None]
    lost: list[list[Data]]
    stories: list[list[Data]]
    paths: dict[str, Data]
    fates: dict[str, dict[str, Data]]
    path_by_key: dict[str, Path]
    keys: dict[tuple[int, Path], str]

    def paths_of_entries(self, entries: Sequence[Sequence[Data] | None]) -> list[list[Path]]:
        """Return the paths of each lane's entries."""
        return [[self.path_by_key[entry["key"]] for entry in part or ()] for part in entries]


class PathsDrawing:
    """Drawing of the paths of one comparison, repeated as its lanes advance.

    A path keeps its key, which is the same in all lanes. `place_path` returns the ids of a path's
    nodes and edges in the picture.
    """

    def __init__(self, comparison: MethodComparison, place_path: PathPlacement):
        self._comparison, self._place_path = comparison, place_path
        self._keys: dict[Any, str] = {}
        # By key and `id` of a graph: the graph, and the path in its ids.
        self._occurrences: dict[str, dict[int, tuple[Any, Path]]] = {}
        self._path_data_by_key: dict[str, Data] = {}
        # Replays of a PageRank by the `id` of its graph and its operators.
        self._pagerank_replays: dict[tuple[int, str], list[Data]] = {}

    def draw(
        self, lost: Sequence[Sequence[tuple[str, Path]]], by_model: Sequence[bool]
    ) -> DrawnPaths:
        """Return the data of the paths as they are now.

        Parameters
        ----------
        lost : for each lane the known answers that it lost, each with a path to it, most important
            first.
        by_model : for each lane whether its language model's answer counts, as in
            `core.diagnosis.path_outcome.path_fate_in`.
        """
        self._occurrences = {}
        best, lost_entries, stories = [], [], []
        for lane, lost_answers in zip(self._comparison.lanes, lost):
            state = retrieved_state(lane)
            best.append(self._best_data(lane, state))
            lost_entries.append(self._lost_data(lane, lost_answers))
            stories.append([*self._search_replays(lane, state), *self._pagerank_replays_of(lane)])
        path_by_key, paths = self._known_paths()
        shown_keys = {entry["key"] for part in (*best, *lost_entries) for entry in part or ()}
        fates = {key: self._fates(key, by_model) for key in paths if key in shown_keys}
        return DrawnPaths(
            best, lost_entries, stories, paths, fates, path_by_key, self._keys_by_path()
        )

    def _best_data(self, lane: MethodLane, state: State) -> list[Data] | None:
        """Return a lane's best paths with ranks and scores.

        It is None if the lane seeks no paths.
        """
        if state.paths is None:
            return None
        head = state.paths.head(MAX_SHOWN_PATHS)
        rows = [(path, head.score(i)) for i, path in enumerate(head.items)]
        return [
            {"key": self._path_key(lane, path), "rank": rank, "score": score}
            for rank, (path, score) in enumerate(rows, 1)
        ]

    def _lost_data(self, lane: MethodLane, lost_answers: Sequence[tuple[str, Path]]) -> list[Data]:
        """Return the first paths to known answers that a lane lost."""
        return [
            {"key": self._path_key(lane, path), "answer": answer}
            for answer, path in lost_answers[:MAX_SHOWN_LOST_ANSWERS]
        ]

    def _search_replays(self, lane: MethodLane, state: State) -> list[Data]:
        """Return the replays of a lane's searches for paths.

        The list is empty during a preview.
        """
        if lane.preview is not None:
            return []
        return [
            self._search_replay(lane, step)
            for step in state.trace
            if step.frames and step.frames[0].ranking.kind == "path"
        ]

    def _known_paths(self) -> tuple[dict[str, Path], dict[str, Data]]:
        """Return all paths of this drawing and their data, each by key."""
        path_by_key: dict[str, Path] = {}
        paths: dict[str, Data] = {}
        tables: dict[str, Mapping[str, tuple[str, str]]] = {}
        for key, occurrences in self._occurrences.items():
            graph, path = next(iter(occurrences.values()))
            path_by_key[key] = path
            if key not in self._path_data_by_key:
                if graph.name not in tables:
                    tables[graph.name] = relation_table(graph.name)
                self._path_data_by_key[key] = self._path_data(graph, path, tables[graph.name])
            paths[key] = self._path_data_by_key[key]
        return path_by_key, paths

    def _keys_by_path(self) -> dict[tuple[int, Path], str]:
        """Return the key of each path.

        Paths are given by the `id` of a graph and the path in it.
        """
        keys: dict[tuple[int, Path], str] = {}
        for key, occurrences in self._occurrences.items():
            for graph_id, (_, path) in occurrences.items():
                keys[graph_id, path] = key
        return keys

    def _path_key(self, lane: MethodLane, path: Path) -> str:
        """Return the key of a path, and record its graph.

        Paths of two graphs have the same key if they are drawn by the same nodes and edges, and
        have the same relations and directions.
        """
        nodes, edges = self._place_path(lane.graph, path)
        relations = tuple(relation_names(lane.graph, path.edges))
        key = self._keys.setdefault(
            (*nodes, *edges, relations, path.forward), f"p{len(self._keys)}"
        )
        self._occurrences.setdefault(key, {}).setdefault(id(lane.graph), (lane.graph, path))
        return key

    def _path_data(self, graph, path: Path, table: Mapping[str, tuple[str, str]]) -> Data:
        nodes, edges = self._place_path(graph, path)
        titles = hit_titles(graph, "node", path.nodes)
        relations = [graph.relation_name(edge) for edge in path.edges]
        steps = [titles[0], *chain.from_iterable(zip(relations, titles[1:]))]
        words = [
            relation_words(relation, forward, table)
            for relation, forward in zip(relations, path.forward)
        ]
        data = {
            "nodes": nodes,
            "edges": edges,
            "forward": list(path.forward),
            "steps": steps,
            "words": words,
        }
        node_names = graph.names(path.nodes)
        # Nodes that are passages are shown by titles, which differ from their names.
        return data if node_names == titles else {**data, "names": node_names}

    def _fates(self, key: str, by_model: Sequence[bool]) -> dict[str, Data]:
        """Return the fate of a path in each lane that has retrieved."""
        occurrences, fates_by_lane = self._occurrences[key], {}
        for i, (lane, model) in enumerate(zip(self._comparison.lanes, by_model)):
            if lane.retrieved:
                # A path that does not occur in the lane's graph is given in another graph.
                graph, path = occurrences.get(id(lane.graph)) or next(iter(occurrences.values()))
                fate = path_fate_in(lane.graph, lane.states, path, graph, model)
                # During a preview, a path that is not found may still be found.
                if lane.preview is None or fate.cause is Cause.FOUND:
                    fates_by_lane[f"lane-{i}"] = {
                        "fate": fate.kind,
                        "text": fate.text,
                        "place": fate.rank if fate.cause is Cause.FOUND else None,
                    }
        return fates_by_lane

    def _pagerank_replays_of(self, lane: MethodLane) -> list[Data]:
        """Return the replay of a lane's first PageRank.

        The list is empty if it has none. Its frames have the mass of the nodes by their ids in the
        picture.
        """
        index = first_pagerank(lane) if lane.retrieved and lane.preview is None else None
        if index is None:
            return []
        # Lanes with the same first operators share one replay.
        key = (id(lane.graph), repr(lane.method.line.operators[: index + 1]))
        if key not in self._pagerank_replays:
            frames = [self._mass_frame(lane, moment) for moment in pagerank_moments(lane)]
            self._pagerank_replays[key] = (
                [{"title": "PageRank", "of": "mass", "frames": frames}] if frames else []
            )
        return self._pagerank_replays[key]

    def _mass_frame(self, lane: MethodLane, moment: MassMoment) -> Data:
        """Return the mass of the nodes after some steps of PageRank."""
        nodes, shares = list(moment.mass), list(moment.mass.values())
        ids, _ = self._place_path(lane.graph, Path(tuple(nodes)))
        names = hit_titles(lane.graph, "node", nodes[:MAX_MASS_NAMES])
        steps = moment.steps
        if steps is None:  # the mass at convergence
            title = tr("settled")
        elif not steps:
            title = tr("at the start")
        else:
            title = tr("after {steps}", steps=many(steps, "step"))
        best = [{"name": name, "share": share} for name, share in zip(names, shares)]
        return {
            "title": title,
            "paths": [],
            "mass": [[node, round(share, 5)] for node, share in zip(ids, shares)],
            "best": best,
        }

    def _search_replay(self, lane: MethodLane, step: Step) -> Data:
        frames = []
        for frame in step.frames:
            keys = [self._path_key(lane, path) for path in frame.ranking.items]
            frames.append({"title": frame.title, "considered": frame.considered, "paths": keys})
        return {"title": tr(OPERATORS[step.operator].title).capitalize(), "frames": frames}


class AnswerWordPaths:
    """Words in the lanes' answers with the paths that support them.

    Only paths that have a key on the board are listed. The data is computed again as an answer is
    being written.
    """

    def __init__(self, place_path: PathPlacement):
        self._place_path = place_path
        # By lane index: the inputs of the data, and the data.
        self._word_data: dict[int, tuple[tuple, list[Data]]] = {}

    def supported_words(
        self, i: int, lane: MethodLane, keys: Mapping[tuple[int, Path], str]
    ) -> list[Data]:
        """Return the supported words of a lane's answer.

        Each has its `text`, the `node` that it names, the keys of its `paths`, and the lines of the
        `prompt`.
        """
        answer = lane.answer or lane.state.answer or ""
        version = (lane.version, answer, id(keys))  # a new drawing makes a new mapping of keys
        if self._word_data.get(i, (None,))[0] != version:
            evidence = answer_evidence(lane.graph, lane.state, answer)
            self._word_data[i] = (version, [self._word(lane, word, keys) for word in evidence])
        return self._word_data[i][1]

    def _word(self, lane: MethodLane, word: Evidence, keys: Mapping[tuple[int, Path], str]) -> Data:
        """Return the data of one supported word."""
        (node,), _ = self._place_path(lane.graph, Path((word.node,)))
        path_keys = [keys[key] for path in word.paths if (key := (id(lane.graph), path)) in keys]
        return {"text": word.text, "node": node, "paths": path_keys, "prompt": list(word.lines)}


def path_counts(state: State) -> Data | None:
    """Count the paths that a lane has (`kept`) and ranked (`ranked`).

    `ranked` counts the candidates of the last operator that selected paths. The result is None if
    the lane seeks no paths.
    """
    if state.paths is None:
        return None
    ranked_counts = [
        len(step.before_cut)
        for step in state.trace
        if step.before_cut is not None and step.before_cut.kind == "path"
    ]
    return {
        "kept": len(state.paths),
        "ranked": max(len(state.paths), ranked_counts[-1] if ranked_counts else 0),
    }
