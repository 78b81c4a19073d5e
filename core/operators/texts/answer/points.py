"""The map and reduce operators of GraphRAG's global search.

In the map step a language model notes scored points on each part of the hits. In the reduce step it
answers from the best points.

The in-depth analysis is the paper "In-depth Analysis of Graph-based RAG in a Unified Framework".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.graph.names.word_index import words_of
from core.models.base import Chat
from core.models.chat.json_reply import json_reply
from core.operators.answer_length import answer_length
from core.operators.base import HIT_FIELDS, Context, Operator, Recorder
from core.operators.model_replies import (
    CHAT_TEMPLATE_TOKENS,
    fit_prompt,
    request_reply,
    skips_model_call,
)
from core.operators.texts.answer.generate import prompt_of, tables_of_state
from core.operators.texts.hits import HIT_SCORE_DIGITS, count_fitting_texts, count_tokens_roughly
from core.operators.texts.tables import text_of_tables
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
MAX_POINT_SCORE = 100
# names of the counts that the trace shows of the two steps
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

    Each point has a score from 1 to 100; a point of score 0 is left out. This is the map step of
    GGraphRAG and CheapRAG (in-depth analysis). With `per` "item" each row is a part, as in the
    paper (`ggraphrag-paper`), with "packed" each group of 16,384 tokens, as in the code. Parts that
    do not fit into the model's context are split. A reply that cannot be read gives no point, and a
    note says so. If the model fails at a later part, the state has the points so far.

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
        tables = tables_of_state(state, ctx, {})
        if skips_model_call(ctx, recorder, "no point was noted"):
            return state.replace(points=None)
        chat = ctx.models.chat(self.role)
        question = state.question.text
        parts = list(_readable_parts(tables, self, chat, question))
        points: list[AnswerPoint] = []
        n_unreadable = n_empty = 0
        progress = PartsProgress(len(parts))
        for number, part in enumerate(parts, 1):
            ctx.watch.report(f"Reading part {number} of {len(parts)}", (number - 1) / len(parts))
            messages = _part_messages(part, question)
            with progress.part(number):
                reply = request_reply(
                    chat, messages, ctx, recorder, self.max_tokens, schema=POINTS_SCHEMA
                )
            scored_texts = _parse_points(reply.text)
            if scored_texts is None:
                n_unreadable += 1
            for score, text in scored_texts or ():
                if not text:
                    n_empty += 1
                elif score > 0:
                    points.append(AnswerPoint(score, text, part.kind, part.items))
            recorder.sizes |= {
                PARTS_KEY: number,
                UNREADABLE_PARTS_KEY: n_unreadable,
                PARTS_NOT_REACHED_KEY: len(parts) - number,
            }
            recorder.partial_state = state.replace(points=tuple(points))
        recorder.sizes = {key: count for key, count in recorder.sizes.items() if count}
        if n_unreadable:
            recorder.notes.append(
                f"The points of {n_unreadable} of {len(parts)} parts could not be read; these gave "
                "none."
            )
        if n_empty:
            recorder.notes.append(f"{n_empty} of the points noted have no text and were left out.")
        recorder.notes.append(f"{len(points)} points from {len(parts)} parts.")
        return state.replace(points=tuple(points))

    def words(self) -> str:
        if self.per == "item":
            return "points of each report and passage"
        return "points of packed reports"


@dataclass(frozen=True, repr=False)
class AnswerFromPoints(Operator):
    """The answer of a language model that is shown the noted points, best first.

    Points of the same score keep their order. This is the reduce step of GGraphRAG and CheapRAG
    (in-depth analysis): points are sorted by score and cut at `room` tokens and at the model's
    context. The hits of the prompt are all hits that were read for the points.

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
        question = state.question.text
        tables = tables_of_state(state, ctx, {})
        hits = prompt_of(state.question, tables).hits
        if state.points is None:
            # no model noted points, so the prompt that asks for them is shown
            first_row = _table_part(tables[0], [0]) if tables else ContextTable("chunk", (), (), ())
            return state.replace(prompt=Prompt(_part_messages(first_row, question), 0, hits=hits))
        points = diversify_points(state.points, self.diversity)
        n_shown = _count_fitting_points(points, self.room)
        if not ctx.answering:
            recorder.sizes[POINTS_SHOWN_KEY] = n_shown
            messages = _reduce_messages(question, points[:n_shown])
            return state.replace(prompt=Prompt(messages, 0, hits=hits))
        chat = ctx.models.chat(self.role)
        reply_tokens = answer_length(state.question, self.max_tokens, chat.context)
        shown_messages, n_shown, _ = fit_prompt(
            chat, lambda count: _reduce_messages(question, points[:count]), n_shown, reply_tokens
        )
        recorder.sizes[POINTS_SHOWN_KEY] = n_shown
        messages = tuple(dict(message) for message in shown_messages)
        if not points and self.empty == "nothing":
            recorder.notes.append("No part gave a point, so there is no answer.")
            return state.replace(prompt=Prompt(messages, 0, hits=hits), answer="")
        if n_shown < len(points):
            how = "best" if not self.diversity else "best and most different"
            recorder.notes.append(f"Of {len(points):,} points the {how} {n_shown:,} had room.")
        ctx.watch.report("Answering from the points")
        reply = request_reply(chat, messages, ctx, recorder, reply_tokens, "answer")
        prompt = Prompt(messages, 0, reply.tokens_in, hits=hits)
        return state.replace(prompt=prompt, answer=reply.text.strip())


def diversify_points(points: Sequence[AnswerPoint], diversity: float) -> tuple[AnswerPoint, ...]:
    """Return points ordered by maximal marginal relevance, the first to show first.

    Each time the point with the largest (1 - d) score/100 - d s is picked, where d is the diversity
    and s the largest similarity with a picked point, the Jaccard index of their words. Of equal
    points the one with the larger score comes first, then the one noted first. With a diversity of
    0 the order is (-score, order of notes).

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
    from scipy.sparse import csr_array  # every command would wait for it at the top

    columns: dict[str, int] = {}  # the column of each word in the incidence matrix
    rows = []
    for point in ordered:
        words = dict.fromkeys(word.text for word in words_of(point.text))
        rows.append(sorted(columns.setdefault(word, len(columns)) for word in words))
    sizes = np.array([len(row) for row in rows])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    n_columns = max(1, len(columns))
    incidence = csr_array(
        (np.ones(starts[-1]), np.concatenate(rows).astype(np.int64), starts),
        (len(ordered), n_columns),
    )
    relevance = (1 - diversity) * np.array([point.score for point in ordered]) / MAX_POINT_SCORE
    similarity = np.zeros(len(ordered))  # the largest similarity with a picked point
    picked: list[int] = []
    for _ in ordered:
        value = np.round(relevance - diversity * similarity, HIT_SCORE_DIGITS)
        value[picked] = -np.inf
        best_row = int(np.argmax(value))
        picked.append(best_row)
        best_words = np.zeros(n_columns)
        best_words[rows[best_row]] = 1
        n_shared = incidence @ best_words
        n_all = np.maximum(sizes + sizes[best_row] - n_shared, 1)
        similarity = np.maximum(similarity, n_shared / n_all)
    return tuple(ordered[index] for index in picked)


def _readable_parts(
    tables: tuple[ContextTable, ...], operator: Points, chat: Chat, question: str
) -> Iterator[ContextTable]:
    """Yield the parts that the model reads, each within its context.

    A part is a table of some rows. If a part of several rows does not fit, it is halved. If a
    single row does not fit, its longest cell is cut.
    """
    max_prompt_tokens = chat.context - operator.max_tokens - CHAT_TEMPLATE_TOKENS
    waiting = list(_row_groups(tables, operator.per, min(operator.group, max_prompt_tokens)))
    while waiting:
        part = waiting.pop(0)
        n_tokens = chat.count_tokens(_part_messages(part, question))
        half = len(part.items) // 2
        if n_tokens <= max_prompt_tokens:
            yield part
        elif half:
            halves = (range(half), range(half, len(part.items)))
            waiting[:0] = [_table_part(part, indices) for indices in halves]
        else:
            waiting[:0] = _cut_longest_cell(part, max_prompt_tokens / n_tokens)


def _row_groups(
    tables: tuple[ContextTable, ...], per: str, max_tokens: int
) -> Iterator[ContextTable]:
    """Yield the rows of the tables one by one or in groups.

    A group has at most `max_tokens` tokens. A single row may have more tokens.
    """
    for table in tables:
        group: list[int] = []
        tokens_used = 0
        for index, row in enumerate(table.rows):
            n_tokens = sum(map(count_tokens_roughly, row))
            if group and (per == "item" or tokens_used + n_tokens > max_tokens):
                yield _table_part(table, group)
                group = []
                tokens_used = 0
            group.append(index)
            tokens_used += n_tokens
        if group:
            yield _table_part(table, group)


def _cut_longest_cell(part: ContextTable, share: float) -> list[ContextTable]:
    """Return a list of a one-row part with its longest cell cut.

    A little less than `share` of the cell is left, so that the part is likely to fit. The list is
    empty if nothing is left of the cell.
    """
    (row,) = part.rows
    longest = max(range(len(row)), key=lambda column: len(row[column]))
    cell = row[longest][: int(len(row[longest]) * share * 0.9)]
    if not cell:
        return []
    return [replace(part, rows=((*row[:longest], cell, *row[longest + 1 :]),))]


def _table_part(table: ContextTable, indices: Sequence[int]) -> ContextTable:
    """Return the table of the rows with these indices."""
    return replace(
        table,
        rows=tuple(table.rows[i] for i in indices),
        items=tuple(table.items[i] for i in indices),
        left_out=0,
    )


def _part_messages(part: ContextTable, question: str) -> tuple[dict[str, str], ...]:
    """Return the prompt of the map step."""
    return make_messages(
        "texts", "map", tables=text_of_tables([part]) or "(nothing was found)", question=question
    )


def _reduce_messages(question: str, points: tuple[AnswerPoint, ...]) -> tuple[dict[str, str], ...]:
    """Return the prompt of the reduce step."""
    lines = "\n".join(f"- ({point.score}) {one_line(point.text)}" for point in points)
    return make_messages("texts", "reduce", points=lines or "(no point)", question=question)


def _count_fitting_points(points: tuple[AnswerPoint, ...], max_tokens: int) -> int:
    """Return how many of the first points fit into a budget of tokens."""
    return count_fitting_texts((point.text for point in points), max_tokens)


def _parse_points(reply: str) -> list[tuple[int, str]] | None:
    """Return the scores and texts of the points in a reply; None if unreadable.

    A point without a text has an empty one. A point without a score has 1, as in Microsoft's code.
    """
    parsed = json_reply(reply, ("points",))
    if parsed is None or not isinstance(parsed.value["points"], list):
        return None
    points = []
    for point in parsed.value["points"]:
        if not isinstance(point, dict):
            point = {"description": point}
        text = point.get("description")
        score = _parse_score(point.get("score"))
        points.append((score, text.strip() if isinstance(text, str) else ""))
    return points


def _parse_score(value: Any) -> int:
    """Return the score of a point; 1 if it is missing or no number."""
    try:
        return min(MAX_POINT_SCORE, int(1 if value is None else value))
    except (ValueError, TypeError, OverflowError):
        return 1
