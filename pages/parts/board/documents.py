"""Board data of a comparison on documents: answers, funnels, hits, and the fate of each passage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.comparison.build_title import build_title
from core.comparison.run import mended_in
from core.diagnosis.funnel import funnel, right
from core.diagnosis.passages import fates
from core.diagnosis.targets import answers_of, passages_of
from core.diagnosis.verdict.explanation import ComparisonVerdict, Explained
from core.engine import Comparison, Lane
from core.errors import StoreError
from core.graph.algorithms.layout import Place
from core.graph.edits import unmatched
from core.graph.names.language import graph_language
from core.graph.texts import hit_titles, n_chunks
from core.operators.retrieve.external import NAMED, UNPLACED
from core.results import graph_dict
from core.sources import CorpusSource
from core.types import State
from pages.parts.board.paths import Paths, WordsOnPaths
from pages.parts.board.text_fates import gold_titles, hit_fates
from pages.parts.board.text_hits import has_hits, passage, question_words, tables, with_lost
from pages.parts.board.text_picture import TextPicture, placed, pointed, renamed
from pages.parts.board.text_points import points_data
from pages.parts.board.text_rests import rests_data
from pages.parts.board.text_story import story
from pages.parts.board.verdict import answer_tag, tone, verdict_data
from pages.parts.shared.text import many
from pages.parts.shared.wording import tr

STAGE = dict[str, Any]


class DocumentView:
    """Board data of a comparison on documents.

    It is computed once for each state of a lane.
    """

    documents, source_word = True, tr("documents")
    ways: tuple[str, ...] = ()  # buttons in the panel of a node

    def __init__(self, comparison: Comparison, places: Mapping[Any, Place]):
        self._comparison = comparison
        # By lane index: the version of the lane, and its data.
        self._cached: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._picture = TextPicture(renamed(places, comparison.ask.source.edits))
        self._paths, self._words = Paths(comparison, placed), WordsOnPaths(placed)
        self._shared: tuple[Any, dict[str, Any]] | None = None

    @property
    def places(self) -> dict[Any, Place]:
        """Positions of the nodes, for the picture of an edited graph."""
        return self._picture.places

    def share(self, verdict: ComparisonVerdict) -> dict[str, Any]:
        """Return the data that all lanes share: picture, paths, fates, stories and keys.

        Hits are handled as paths of one node. Every path has its `fates` in each lane. The data is
        computed again when a lane has advanced.
        """
        lanes = self._comparison.lanes
        now = tuple(lane.version for lane in lanes)
        if self._shared is None or self._shared[0] != now:
            gold = self._gold()
            walked = self._paths.draw([()] * len(lanes), [True] * len(lanes))
            best = [[walked.paths[entry["key"]] for entry in part or ()] for part in walked.best]
            data = hit_fates(lanes, gold, best)
            picture = self._picture.draw(lanes, gold, data, best)
            stories = [
                story(f"lane-{i}", lane, self._comparison.ask.question.gold)
                for i, lane in enumerate(lanes)
            ]
            paths = {**walked.paths, **pointed(lanes, data)}
            fates: dict[str, Any] = {**walked.fates}
            fates.update(data.items())
            for _, more, said in stories:
                paths, fates = {**paths, **more}, {**fates, **said}
            every = [[*hops, *batches] for hops, (batches, _, _) in zip(walked.stories, stories)]
            self._shared = (
                now,
                {
                    **picture,
                    "paths": paths,
                    "fates": fates,
                    "stories": every,
                    "best": walked.best,
                    "keys": walked.keys,
                },
            )
        return self._shared[1]

    def whole(self, shared: dict[str, Any]) -> dict[str, Any]:
        """Return the remaining data of the whole comparison: marked words, and evidence by lane."""
        question = self._comparison.ask.question
        named = [name for answer in question.answers for name in question.names(answer)]
        lanes = (
            (i, lane)
            for i, lane in enumerate(self._comparison.lanes)
            if lane.retrieved and lane.state.paths is not None
        )
        resting = {f"lane-{i}": self._words(i, lane, shared["keys"]) for i, lane in lanes}
        own = next(
            (
                graph_language(lane.graph).code
                for lane in self._comparison.lanes
                if hasattr(lane.graph, "derived")
            ),
            "",
        )
        return {
            "marks": {"words": question_words(question.text, own), "answers": named},
            "evidence": resting,
        }

    def state(self, lane: Lane) -> State:
        """Return the state of a lane that is shown."""
        return lane.state

    def lane(self, i: int, lane: Lane, shared: dict[str, Any]) -> dict[str, Any]:
        """Return the data of one lane."""
        data, state, excerpt = self._found(i, lane), lane.state, lane.state.excerpt
        said, answers = state.answer is not None, self._comparison.ask.question.answers
        return {
            "reader": [excerpt.text]
            if excerpt is not None
            else hit_titles(lane.graph, "node", state.reader or ()) or None,
            "reader_name": data["excerpt"],
            "rests": rests_data(lane),
            "verdict": data["verdict"] if said else None,
            "reader_verdict": None
            if said
            else data["verdict"]
            or verdict_data(right(lane.graph, state, answers, reader=True), answers),
            "funnel": data["funnel"],
            "hits": data["hits"],
            "points": points_data(lane),
            "stands": data["stands"],
            **_drawn(shared["kept"][i], data),
        }

    def tone(self, one: Explained, data: dict[str, Any]) -> str:
        """Return the tone of a lane's sentence: good, warn or bad."""
        return tone(one, data["funnel"])

    def _gold(self) -> dict[str, str]:
        ask = self._comparison.ask
        return gold_titles(
            ask.source.graph,
            ask.question.gold,
            [
                fate
                for i, lane in enumerate(self._comparison.lanes)
                for fate in self._found(i, lane)["fates"]
            ],
        )

    def _found(self, i: int, lane: Lane) -> dict[str, Any]:
        if self._cached.get(i, ((),))[0] != lane.version:
            self._cached[i] = (lane.version, self._tell(lane, lane.state))
        return self._cached[i][1]

    def _tell(self, lane: Lane, state: State) -> dict[str, Any]:
        """Return the data of one state of a lane.

        `hits` is None until all are found.
        """
        ask = self._comparison.ask
        stages = (
            funnel(ask.source, lane.graph, state, wanted(ask.question), saved=lane.saved_alive)
            for wanted in (answers_of, passages_of)
        )
        words, passages = ({stage.name: stage for stage in found} for found in stages)
        found = (
            fates(lane.graph, lane.states, ask.question.gold)
            if lane.retrieved and lane.preview is None
            else ()
        )
        last = words.get("answer")
        alive = None if last is None else len(last.alive)
        shown = {} if state.prompt is None else dict(state.prompt.hits)
        excerpt = None
        if state.excerpt is not None:
            excerpt = tr(
                "Nearest sentence, of {title}",
                title=passage(lane.graph, state.excerpt.chunk, frozenset())["title"],
            )
        return {
            "funnel": [
                _stage(name, passages.get(name), words.get(name)) for name in CorpusSource.stages
            ]
            if words or passages
            else None,
            "verdict": answer_tag(alive, len(set(ask.question.answers)), state.answer is not None),
            "fates": found,
            "hits": with_lost(tables(lane, ask.question.gold, shown), lane, found)
            if has_hits(lane)
            else None,
            "excerpt": excerpt,
            "stands": _graph_line(self._comparison, lane) if lane.retrieved else "",
        }


def _graph_line(comparison: Comparison, lane: Lane) -> str:
    """Return a lane's graph and its size in words.

    A saved comparison has only some of its passages, so their number is left out. For documents
    named by the user's program or file, the text is how many there are and how many are not in the
    corpus.
    """
    counts, part = graph_dict(lane), hasattr(lane.graph, "whole")
    if not counts["build"]:
        return next(
            (
                _named(step.sizes[NAMED], step.sizes[UNPLACED])
                for step in lane.state.trace
                if NAMED in step.sizes
            ),
            "",
        )
    size = [many(counts["nodes"], "node"), many(counts["edges"], "edge")] if counts["nodes"] else []
    size += [] if part else [many(n_chunks(lane.graph), "chunk")]
    size += _merged(comparison, lane) if not part else []
    return ": ".join(filter(None, (build_title(lane), ", ".join(size))))


def _named(given: int, unplaced: int) -> str:
    return tr(
        "{documents} named{unplaced}",
        documents=many(given, "document"),
        unplaced=tr(", {unplaced:,} not in the corpus", unplaced=unplaced) if unplaced else "",
    )


def _merged(comparison: Comparison, lane: Lane) -> list[str]:
    """Return how many saved merges were applied to the graph.

    Merges that fit no node are counted too.
    """
    origin = lane.graph.edited_from
    if origin is None or not mended_in(lane.instance.line):
        return []
    try:
        edits = comparison.ask.source.mends.edits
    except StoreError:
        return [tr("merges cannot be read")]
    absent = len(unmatched(origin.graph, edits))
    found = [many(len(edits) - absent, "merge")] if len(edits) > absent else []
    return [
        *found,
        *(
            [
                tr(
                    "{absent:,} of {merges} not in it",
                    absent=absent,
                    merges=many(len(edits), "merge"),
                )
            ]
            if absent
            else []
        ),
    ]


def _drawn(share: dict[str, list[str]], data: dict[str, Any]) -> dict[str, Any]:
    """Return the part of the shared picture that a lane found."""
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


def _stage(name: str, passages, words) -> STAGE:
    """Return the data of a stage.

    Its bar counts the gold passages, or the answer's words if no gold passage is known.
    """
    bar = passages or words
    held = (
        None if words is None or passages is None else {"alive": len(words.alive), "of": words.of}
    )
    if bar is None:
        return {"stage": name, "alive": None, "of": None, "lost": [], "held": None}
    return {
        "stage": name,
        "alive": len(bar.alive),
        "of": bar.of,
        "lost": list(bar.lost),
        "held": held,
    }
