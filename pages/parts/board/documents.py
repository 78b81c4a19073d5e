"""Board data of a comparison on documents: answers, funnels, hits, and the fate of each passage.

`DocumentView` has the same methods as `TripleView`, which is for graphs of triples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.comparison.build_title import build_title
from core.comparison.lane_run import uses_mended_graph
from core.diagnosis.funnel import FunnelStage, count_right_answers, funnel
from core.diagnosis.passages import fates
from core.diagnosis.targets import answers_of, passages_of
from core.diagnosis.verdict.explanation import ComparisonVerdict, LaneExplanation
from core.engine import MethodComparison, MethodLane
from core.errors import StoreError
from core.graph.algorithms.layout import Position
from core.graph.edits import unmatched_edits
from core.graph.names.language import graph_language
from core.graph.texts import hit_titles, n_chunks
from core.operators.retrieve.own_retriever import NAMED_DOCUMENTS, UNMATCHED_DOCUMENTS
from core.results import graph_dict
from core.sources import CorpusSource
from core.types import State
from pages.parts.board.paths import AnswerWordPaths, PathsDrawing
from pages.parts.board.text_fates import gold_titles, hit_fates
from pages.parts.board.text_hits import (
    add_lost_rows,
    has_hits,
    passage_data,
    question_words,
    tables_of_hits,
)
from pages.parts.board.text_picture import TextPicture, apply_renames, items_of_keys, path_items
from pages.parts.board.text_points import points_data
from pages.parts.board.text_story import batch_replay
from pages.parts.board.text_support import support_data
from pages.parts.board.verdict import answer_tag, document_tone, verdict_data
from pages.parts.shared.text import many
from pages.parts.shared.wording import tr

StageData = dict[str, Any]


class DocumentView:
    """Board data of a comparison on documents.

    It is computed once for each state of a lane. The `comparison` is drawn as it is at each call.
    `positions` are those of another view of the same documents, whose graphs may have other edits.
    """

    is_on_documents, source_word = True, tr("documents")
    node_buttons: tuple[str, ...] = ()  # buttons in the panel of a node

    def __init__(self, comparison: MethodComparison, positions: Mapping[Any, Position]):
        self._comparison = comparison
        # By lane index: the version of the lane, and its data.
        self._cached: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._picture = TextPicture(apply_renames(positions, comparison.ask.source.edits))
        self._paths, self._words = PathsDrawing(comparison, path_items), AnswerWordPaths(path_items)
        self._shared_data: tuple[Any, dict[str, Any]] | None = None

    @property
    def positions(self) -> dict[Any, Position]:
        """Positions of the nodes by key.

        They are for a view of the same question with other edits.
        """
        return self._picture.positions

    def shared_data(self, verdict: ComparisonVerdict) -> dict[str, Any]:
        """Return the data that all lanes share: picture, paths, fates, stories and keys.

        Hits are handled as paths of one node, or of two for a relation. Every path has its `fates`
        in each lane; the `stories` are the replays of each lane. The data is computed again when a
        lane has advanced. `verdict` is not needed for documents.
        """
        lanes = self._comparison.lanes
        lane_versions = tuple(lane.version for lane in lanes)
        if self._shared_data is None or self._shared_data[0] != lane_versions:
            gold = self._gold()
            drawing = self._paths.draw([()] * len(lanes), [True] * len(lanes))
            best = [[drawing.paths[entry["key"]] for entry in part or ()] for part in drawing.best]
            fates_of_hits = hit_fates(lanes, gold, best)
            picture = self._picture.draw(lanes, gold, fates_of_hits, best)
            stories = [
                batch_replay(f"lane-{i}", lane, self._comparison.ask.question.gold)
                for i, lane in enumerate(lanes)
            ]
            paths = {**drawing.paths, **items_of_keys(lanes, fates_of_hits)}
            all_fates: dict[str, Any] = {**drawing.fates}
            all_fates.update(fates_of_hits.items())
            for _, story_paths, story_fates in stories:
                paths |= story_paths
                all_fates |= story_fates
            replays = [[*hops, *batches] for hops, (batches, _, _) in zip(drawing.stories, stories)]
            self._shared_data = (
                lane_versions,
                {
                    **picture,
                    "paths": paths,
                    "fates": all_fates,
                    "stories": replays,
                    "best": drawing.best,
                    "keys": drawing.keys,
                },
            )
        return self._shared_data[1]

    def comparison_data(self, shared: dict[str, Any]) -> dict[str, Any]:
        """Return the words to mark, and the evidence of each lane."""
        question = self._comparison.ask.question
        answer_names = [
            name for answer in question.answers for name in question.answer_names(answer)
        ]
        evidence = {}
        for i, lane in enumerate(self._comparison.lanes):
            if lane.retrieved and lane.state.paths is not None:
                evidence[f"lane-{i}"] = self._words.supported_words(i, lane, shared["keys"])
        language = next(
            (
                graph_language(lane.graph).code
                for lane in self._comparison.lanes
                if hasattr(lane.graph, "derived")
            ),
            "",
        )
        return {
            "marks": {"words": question_words(question.text, language), "answers": answer_names},
            "evidence": evidence,
        }

    def shown_state(self, lane: MethodLane) -> State:
        """Return the state of a lane that is shown."""
        return lane.state

    def lane_data(self, i: int, lane: MethodLane, shared: dict[str, Any]) -> dict[str, Any]:
        """Return the data of one lane."""
        data = self._cached_data(i, lane)
        state = lane.state
        reader_answers = hit_titles(lane.graph, "node", state.reader or ()) or None
        if state.excerpt is not None:
            reader_answers = [state.excerpt.text]
        verdict = data["verdict"]
        reader_verdict = None
        if state.answer is None:
            answers = self._comparison.ask.question.answers
            reader_verdict = verdict or verdict_data(
                count_right_answers(lane.graph, state, answers, reader=True), answers
            )
            verdict = None
        return {
            "reader": reader_answers,
            "reader_name": data["excerpt"],
            "rests": support_data(lane),
            "verdict": verdict,
            "reader_verdict": reader_verdict,
            "funnel": data["funnel"],
            "hits": data["hits"],
            "points": points_data(lane),
            "stands": data["stands"],
            **_lane_picture(shared["kept"][i], data),
        }

    def tone(self, explanation: LaneExplanation, data: dict[str, Any]) -> str:
        """Return the tone of a lane's sentence: good, warn or bad."""
        return document_tone(explanation, data["funnel"])

    def _gold(self) -> dict[str, str]:
        """Return the titles of the gold passages by id."""
        ask = self._comparison.ask
        return gold_titles(
            ask.source.graph,
            ask.question.gold,
            [
                fate
                for i, lane in enumerate(self._comparison.lanes)
                for fate in self._cached_data(i, lane)["fates"]
            ],
        )

    def _cached_data(self, i: int, lane: MethodLane) -> dict[str, Any]:
        no_version = ((),)
        if self._cached.get(i, no_version)[0] != lane.version:
            self._cached[i] = (lane.version, self._lane_data(lane, lane.state))
        return self._cached[i][1]

    def _lane_data(self, lane: MethodLane, state: State) -> dict[str, Any]:
        """Return the data of one state of a lane.

        `hits` is None until all are found, and `funnel` if no stage has an outcome yet.
        """
        ask = self._comparison.ask
        stages = (
            funnel(
                ask.source, lane.graph, state, select(ask.question), saved_alive=lane.saved_alive
            )
            for select in (answers_of, passages_of)
        )
        answers, passages = ({stage.name: stage for stage in part} for part in stages)
        outcomes = (
            fates(lane.graph, lane.states, ask.question.gold)
            if lane.retrieved and lane.preview is None
            else ()
        )
        last_stage = answers.get("answer")
        right = None if last_stage is None else len(last_stage.alive)
        n_shown = {} if state.prompt is None else dict(state.prompt.hits)
        excerpt = None
        if state.excerpt is not None:
            excerpt = tr(
                "Nearest sentence, of {title}",
                title=passage_data(lane.graph, state.excerpt.chunk, frozenset())["title"],
            )
        return {
            "funnel": [
                _stage(name, passages.get(name), answers.get(name)) for name in CorpusSource.stages
            ]
            if answers or passages
            else None,
            "verdict": answer_tag(right, len(set(ask.question.answers)), state.answer is not None),
            "fates": outcomes,
            "hits": add_lost_rows(tables_of_hits(lane, ask.question.gold, n_shown), lane, outcomes)
            if has_hits(lane)
            else None,
            "excerpt": excerpt,
            "stands": _graph_line(self._comparison, lane) if lane.retrieved else "",
        }


def _graph_line(comparison: MethodComparison, lane: MethodLane) -> str:
    """Return the title and the size of a lane's graph.

    A saved comparison has only a part of the graph, so passages and merges are not counted. For a
    lane that runs the user's program or a file of results, the documents that it named are counted.
    """
    counts = graph_dict(lane)
    if not counts["build"]:
        for step in lane.state.trace:
            if NAMED_DOCUMENTS in step.sizes:
                return _documents_text(step.sizes[NAMED_DOCUMENTS], step.sizes[UNMATCHED_DOCUMENTS])
        return ""
    size = [many(counts["nodes"], "node"), many(counts["edges"], "edge")] if counts["nodes"] else []
    if not hasattr(lane.graph, "original_counts"):
        size += [many(n_chunks(lane.graph), "passage"), *_merge_notes(comparison, lane)]
    return ": ".join(filter(None, (build_title(lane), ", ".join(size))))


def _documents_text(n_named: int, n_absent: int) -> str:
    return tr(
        "{documents} named{unplaced}",
        documents=many(n_named, "document"),
        unplaced=tr(", {unplaced:,} not in the corpus", unplaced=n_absent) if n_absent else "",
    )


def _merge_notes(comparison: MethodComparison, lane: MethodLane) -> list[str]:
    """Describe how many saved merges apply to the lane's graph.

    Merges that do not apply are counted too.
    """
    origin = lane.graph.edited_from
    if origin is None or not uses_mended_graph(lane.method.line):
        return []
    try:
        edits = comparison.ask.source.merges.edits
    except StoreError:
        return [tr("merges cannot be read")]
    absent = len(unmatched_edits(origin.graph, edits))
    notes = [many(len(edits) - absent, "merge")] if len(edits) > absent else []
    if absent:
        merges = many(len(edits), "merge")
        notes.append(tr("{absent:,} of {merges} do not apply", absent=absent, merges=merges))
    return notes


def _lane_picture(share: dict[str, list[str]], data: dict[str, Any]) -> dict[str, Any]:
    """Return the part of the shared picture that a lane found.

    It is empty until the lane has hits.
    """
    if data["hits"] is None:
        return {}
    size = sum(len(table["rows"]) + table.get("more", 0) for table in data["hits"])
    return {
        "nodes": share["nodes"],
        "edges": share["edges"],
        "kept": share,
        "alive": share["nodes"],
        "hit_count": size,
    }


def _stage(name: str, passages: FunnelStage | None, answers: FunnelStage | None) -> StageData:
    """Return the data of a stage of the funnel.

    Its bar counts the gold passages that are left, or the known answers if no gold passage is
    known. If both are known, `held` counts the answers. A lane that has not reached the stage has
    neither, and all counts are None.
    """
    bar = passages or answers
    if bar is None:
        return {"stage": name, "alive": None, "of": None, "lost": [], "held": None}
    held = None
    if answers is not None and passages is not None:
        held = {"alive": len(answers.alive), "of": answers.n_targets}
    return {
        "stage": name,
        "alive": len(bar.alive),
        "of": bar.n_targets,
        "lost": list(bar.lost),
        "held": held,
    }
