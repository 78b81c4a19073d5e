"""An answer in two steps: points from parts of the hits, then an answer.

The steps are the map and reduce of GraphRAG's global search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from core.graph.names.word_index import words_of
from core.models.base import Chat, Messages
from core.models.chat.json_reply import json_reply
from core.operators.answer_length import answer_length
from core.operators.base import HIT_FIELDS, Context, Operator, Recorder
from core.operators.model_replies import (
    CHAT_TEMPLATE_TOKENS,
    fit_prompt,
    request_reply,
    skips_model_call,
)
from core.operators.texts.answer.generate import prompt_of
from core.operators.texts.hits import HIT_SCORE_DIGITS, count_tokens_roughly
from core.operators.texts.tables import tables_of, text_of_tables
from core.parameters import param
from core.prompts import make_messages, one_line
from core.runtime.meter import PartsProgress
from core.types import AnswerPoint, ContextTable, Prompt, State

POINT_SCHEMA = {
    "type": "object",
    "properties": {
        "description": {"type": "string", "maxLength": 400},
        "score": {"type": "integer", "minimum": 0, "maximum": 100},
    },
    "required": ["description", "score"],
    "additionalProperties": False,
}
POINTS_SCHEMA = {
    "type": "object",
    "properties": {"points": {"type": "array", "maxItems": 5, "items": POINT_SCHEMA}},
    "required": ["points"],
    "additionalProperties": False,
}
MAX_POINT_SCORE = 100  # highest score of a point
# keys in the sizes of the two steps
PARTS_KEY = "parts"
UNREADABLE_PARTS_KEY = "unreadable parts"
PARTS_NOT_REACHED_KEY = "parts not reached"
POINTS_SHOWN_KEY = "points"
POINTS_PER_HELP = (
    "item: each report and each passage on its own (the paper); packed: as many together as "
    "`group` holds (the code)."
)
GROUP_HELP = "Of what is read at once; less where the model has less room."
EMPTY_HELP = (
    "ask: the model is told that there is no point; nothing: it is not asked, and there is no "
    "answer (nano-graphrag replies with one fixed sentence)."
)


DIVERSITY_HELP = (
    "How much a point that repeats others gives way to one that says something else; 0: by score "
    "alone (the paper)."
)


@dataclass(frozen=True, repr=False)
class Points(Operator):
    """Points that a language model notes on each part of the hits.

    Each point has a score from 1 to 100. Map of GGraphRAG and CheapRAG (in-depth analysis); a point
    of score 0 is left out. `per` "item" is the paper's reading (`ggraphrag-paper`), "packed" the
    code's groups of 16,384 tokens. Parts that do not fit into the model's context are split. A
    reply that cannot be read gives no point, which a note says. If the model fails on the way, the
    points so far are kept.

    >>> models = says('{"points": [{"description": "Cratchit is the clerk.", "score": 90}]}')
    >>> line, question = "SparseChunks(keep=2) >> Points()", "the clerk Cratchit"
    >>> state = retrieve(line, graph=story, question=question, models=models)
    >>> [(point.score, point.items) for point in state.points], state.trace[-1].usage.calls
    ([(90, (1,)), (90, (2,))], 2)
    """

    stage = "refine"
    title = "points of each part"
    plain = "draws points from each"
    reads_any, writes = ("tables", *HIT_FIELDS), ("points",)
    without_model = True

    per: str = param("item", "Map over", POINTS_PER_HELP, choices=("item", "packed"))
    group: int = param(16384, "Tokens of a group", GROUP_HELP, low=20, high=1_000_000)
    max_tokens: int = param(256, "Longest reply", "In tokens.", low=1, high=8192)
    role: str = param(
        "answer", "Model", "The role or name of the chat model that notes them.", chat=True
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        tables = tables_for_points(state, ctx)
        if skips_model_call(ctx, recorder, "no point was noted"):
            return state.replace(points=None)
        chat, points, unreadable, empty = ctx.models.chat(self.role), list[AnswerPoint](), 0, 0
        parts = list(_readable_parts(tables, self, chat, state.question.text))
        progress = PartsProgress(len(parts))
        for number, table_part in enumerate(parts, 1):
            ctx.watch.report(f"Reading part {number} of {len(parts)}", (number - 1) / len(parts))
            with progress.part(number):
                scored_texts = _read_points(
                    request_reply(
                        chat,
                        _part_messages(table_part, state.question.text),
                        ctx,
                        recorder,
                        self.max_tokens,
                        schema=POINTS_SCHEMA,
                    ).text
                )
            unreadable, empty = (
                unreadable + (scored_texts is None),
                empty + sum(not text for _, text in scored_texts or ()),
            )
            points += [
                AnswerPoint(score, text, table_part.kind, table_part.items)
                for score, text in scored_texts or ()
                if text and score > 0
            ]
            recorder.sizes |= {
                PARTS_KEY: number,
                UNREADABLE_PARTS_KEY: unreadable,
                PARTS_NOT_REACHED_KEY: len(parts) - number,
            }
            recorder.so_far = state.replace(points=tuple(points))
        recorder.sizes = {what: count for what, count in recorder.sizes.items() if count}
        if unreadable:
            recorder.notes.append(
                f"The points of {unreadable} of {len(parts)} parts could not be read; these gave "
                "none."
            )
        if empty:
            recorder.notes.append(f"{empty} of the points noted have no text and were left out.")
        recorder.notes.append(f"{len(points)} points from {len(parts)} parts.")
        return state.replace(points=tuple(points))

    def words(self) -> str:
        if self.per == "item":
            return "points of each report and passage"
        return "points of packed reports"


@dataclass(frozen=True, repr=False)
class AnswerFromPoints(Operator):
    """The answer of a language model that is shown the noted points, best first.

    Points of the same score keep their order. Reduce of GGraphRAG and CheapRAG (in-depth analysis):
    points are sorted by score and cut at `room` tokens and at the model's context. The prompt
    counts every hit that was read for the points.

    With `diversity` d points are picked one by one, by (1 - d) score/100 - d similarity, see
    `diversify_points`. This is maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998).
    The analysis leaves it to future work.

    >>> models = says('{"points": [{"description": "Cratchit is the clerk.", "score": 90}]}')
    >>> line = "SparseChunks(keep=2) >> Points() >> AnswerFromPoints()"
    >>> state = retrieve(line, graph=story, question="the clerk Cratchit", models=models)
    >>> (
    ...     "- (90) Cratchit is the clerk." in state.prompt.messages[1]["content"],
    ...     dict(state.prompt.hits),
    ... )
    (True, {'chunk': 2})
    """

    stage = "generate"
    title = "answer from points"
    reads, writes = ("points",), ("prompt", "answer")

    room: int = param(
        2000, "Tokens of points", "The best that have room are shown.", low=100, high=1_000_000
    )
    diversity: float = param(0.0, "Diversity", DIVERSITY_HELP, low=0, high=1)
    empty: str = param("ask", "Without a point", EMPTY_HELP, choices=("ask", "nothing"))
    max_tokens: int = param(256, "Longest answer", "In tokens.", low=1, high=8192)
    role: str = param(
        "answer", "Model", "The role or name of the chat model that answers.", chat=True
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        hits = prompt_of(state.question, tables_for_points(state, ctx)).hits
        if state.points is None:
            return state.replace(prompt=Prompt(tuple(self._part_prompt(state, ctx)), 0, hits=hits))
        best_points = diversify_points(state.points, self.diversity)
        make_prompt = lambda count: _reduce_prompt(state.question.text, best_points[:count])
        n_shown = _count_fitting_points(best_points, self.room)
        chat = ctx.models.chat(self.role) if ctx.answering else None
        reply_tokens = answer_length(state.question, self.max_tokens, chat.context) if chat else 0
        prompt, n_shown, _ = (
            fit_prompt(chat, make_prompt, n_shown, reply_tokens)
            if chat
            else (make_prompt(n_shown), n_shown, 0)
        )
        recorder.sizes[POINTS_SHOWN_KEY] = n_shown
        state = state.replace(prompt=Prompt(tuple(prompt), 0, hits=hits))
        if not chat:
            return state
        if not best_points and self.empty == "nothing":
            recorder.notes.append("No part gave a point, so there is no answer.")
            return state.replace(answer="")
        if n_shown < len(best_points):
            how = "best" if not self.diversity else "best and most different"
            recorder.notes.append(f"Of {len(best_points):,} points the {how} {n_shown:,} had room.")
        ctx.watch.report("Answering from the points")
        reply = request_reply(chat, prompt, ctx, recorder, reply_tokens, "answer")
        return state.replace(
            prompt=Prompt(tuple(prompt), 0, reply.tokens_in, hits=hits), answer=reply.text.strip()
        )

    def _part_prompt(self, state: State, ctx: Context) -> Messages:
        """Return the prompt of the first part, if no model noted points."""
        first_part = next(
            (_table_part(table, [0]) for table in tables_for_points(state, ctx)),
            ContextTable("chunk", (), (), ()),
        )
        return _part_messages(first_part, state.question.text)


def diversify_points(points: Sequence[AnswerPoint], diversity: float) -> tuple[AnswerPoint, ...]:
    """Return the points in the order in which they are picked.

    Each time the point with the largest (1 - d) score/100 - d s is picked. Here s is the largest
    similarity with a picked point, the Jaccard index of their words. Of equal points the one with
    the larger score comes first, then the one noted first. With a diversity of 0 the order is
    (-score, order of notes).

    >>> from core.operators.texts.answer.points import diversify_points
    >>> from core.types import AnswerPoint
    >>> texts = {90: "Tim is lame.", 80: "Tim is lame.", 50: "Fred is merry."}
    >>> points = [AnswerPoint(score, text, "chunk", (0,)) for score, text in texts.items()]
    >>> (
    ...     [point.score for point in diversify_points(points, 0)],
    ...     [point.score for point in diversify_points(points, 0.5)],
    ... )
    ([90, 80, 50], [90, 50, 80])
    """
    ordered = sorted(points, key=lambda point: -point.score)
    if not diversity or len(ordered) < 2:
        return tuple(ordered)
    column_of_word: dict[str, int] = {}
    rows = [
        sorted(
            {
                column_of_word.setdefault(word.text, len(column_of_word))
                for word in words_of(point.text)
            }
        )
        for point in ordered
    ]
    sizes = np.array([len(row) for row in rows])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    shape = len(ordered), max(1, len(column_of_word))
    words = csr_array((np.ones(starts[-1]), np.concatenate(rows).astype(np.int64), starts), shape)
    worth = (1 - diversity) * np.array([point.score for point in ordered]) / MAX_POINT_SCORE
    nearest = np.zeros(len(ordered))
    picked = list[int]()
    for _ in ordered:
        value = np.round(worth - diversity * nearest, HIT_SCORE_DIGITS)
        value[picked] = -np.inf
        best_row = int(np.argmax(value))
        picked.append(best_row)
        common = np.zeros(max(1, len(column_of_word)))
        common[rows[best_row]] = 1
        shared = words @ common
        nearest = np.maximum(nearest, shared / np.maximum(sizes + sizes[best_row] - shared, 1))
    return tuple(ordered[index] for index in picked)


def tables_for_points(state: State, ctx: Context) -> tuple[ContextTable, ...]:
    """Return the tables on which points are noted.

    They are those of the state, else tables of all hits.
    """
    return state.tables if state.tables is not None else tables_of(ctx.graph, state, {})


def _readable_parts(
    tables: tuple[ContextTable, ...], points: Points, chat: Chat, question: str
) -> Iterator[ContextTable]:
    """Yield the parts to read, each within the model's context.

    A group that does not fit is halved, and a single row that does not fit is cut.
    """
    room = chat.context - points.max_tokens - CHAT_TEMPLATE_TOKENS
    waiting = list(_row_groups(tables, points.per, min(points.group, room)))
    while waiting:
        table_part = waiting.pop(0)
        n_tokens = chat.count_tokens(_part_messages(table_part, question))
        half = len(table_part.items) // 2
        if n_tokens <= room:
            yield table_part
        elif half:
            waiting[:0] = [
                _table_part(table_part, list(range(half))),
                _table_part(table_part, list(range(half, len(table_part.items)))),
            ]
        elif cut := _cut_longest_cell(table_part, room / n_tokens):
            waiting.insert(0, cut)


def _row_groups(tables: tuple[ContextTable, ...], per: str, group: int) -> Iterator[ContextTable]:
    """Yield single rows of the tables, or groups of at most `group` tokens."""
    for table in tables:
        group_rows: list[int] = []
        tokens_used = 0
        for index, row in enumerate(table.rows):
            size = sum(map(count_tokens_roughly, row))
            if group_rows and (per == "item" or tokens_used + size > group):
                yield _table_part(table, group_rows)
                group_rows, tokens_used = [], 0
            group_rows, tokens_used = [*group_rows, index], tokens_used + size
        if group_rows:
            yield _table_part(table, group_rows)


def _cut_longest_cell(part: ContextTable, share: float) -> ContextTable | None:
    """Return a part of one row with its longest cell cut.

    The cell keeps a little less than the given share. Returns None if nothing of the cell is left.
    """
    (row,) = part.rows
    longest = max(range(len(row)), key=lambda place: len(row[place]))
    cell = row[longest][: int(len(row[longest]) * share * 0.9)]
    return replace(part, rows=((*row[:longest], cell, *row[longest + 1 :]),)) if cell else None


def _table_part(table: ContextTable, indices: list[int]) -> ContextTable:
    return replace(
        table,
        rows=tuple(table.rows[i] for i in indices),
        items=tuple(table.items[i] for i in indices),
        left_out=0,
    )


def _part_messages(part: ContextTable, question: str) -> tuple[dict[str, str], ...]:
    return make_messages(
        "texts", "map", tables=text_of_tables([part]) or "(nothing was found)", question=question
    )


def _reduce_prompt(question: str, points: tuple[AnswerPoint, ...]) -> Messages:
    """Return the prompt that asks for an answer from these points."""
    lines = "\n".join(f"- ({point.score}) {one_line(point.text)}" for point in points)
    return make_messages("texts", "reduce", points=lines or "(no point)", question=question)


def _count_fitting_points(points: tuple[AnswerPoint, ...], room: int) -> int:
    """Return how many of the first points fit into so many tokens."""
    used = list(accumulate(count_tokens_roughly(point.text) for point in points))
    return sum(size <= room for size in used)


def _read_points(text: str) -> list[tuple[int, str]] | None:
    """Return the scores and texts of the points in a reply, or None.

    None means that the reply is no such JSON. A point without a text has an empty one. A point
    without a score counts 1 (Microsoft's rule).
    """
    reply_fields = json_reply(text, ("points",))
    if reply_fields is None or not isinstance(reply_fields.value["points"], list):
        return None
    points = [
        point if isinstance(point, dict) else {"description": point}
        for point in reply_fields.value["points"]
    ]
    texts = (point.get("description") for point in points)
    return [
        (_point_score(point.get("score")), text.strip() if isinstance(text, str) else "")
        for point, text in zip(points, texts)
    ]


def _point_score(value: Any) -> int:
    try:
        return min(MAX_POINT_SCORE, int(1 if value is None else value))
    except (ValueError, TypeError, OverflowError):
        return 1
