"""An answer in two steps: points from each part of what was found, then an answer from the points."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from core.models.base import Chat
from core.operators.base import HITS, Context, Operator, Recorder
from core.operators.texts.generate import given_tables, prompt_of, shortened
from core.operators.texts.hits import tokens
from core.operators.texts.tables import as_text
from core.parameters import param
from core.prompts import messages, plain
from core.types import ContextTable, State, Usage

POINT = {
    "type": "object",
    "properties": {"description": {"type": "string", "maxLength": 400}, "score": {"type": "integer", "minimum": 0, "maximum": 100}},
    "required": ["description", "score"],
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "properties": {"points": {"type": "array", "maxItems": 5, "items": POINT}},
    "required": ["points"],
    "additionalProperties": False,
}
Point = tuple[int, str]  # score, text
GROUP_HELP = "item: each report and each passage on its own (the paper); packed: as many together as `group` holds (the code)."


@dataclass(frozen=True, repr=False)
class MapReduceAnswer(Operator):
    """What a language model answers from points that it noted before on each part of what was found, the best points first.

    GGraphRAG and CheapRAG (in-depth analysis, METHODS 3.4.8, 3.6): map gives points with scores from 0 to 100, those of 0 are dropped, the
    rest sorted and cut at `group` tokens, reduce answers from them. `per` "item" is the paper's reading, "packed" the
    code's groups of 16,384 tokens. A reply without readable points is told and gives none.

    >>> models = says('{"points": [{"description": "Cratchit is the clerk.", "score": 90}]}')
    >>> state = retrieve("SparseChunks(keep=2) >> MapReduceAnswer()", graph=story, question="the clerk Cratchit", models=models)
    >>> state.trace[-1].usage.calls, dict(state.prompt.hits)  # two chunks, then the answer
    (3, {'chunk': 2})
    """

    stage = "generate"
    title = "answer from points"
    reads_any, writes = ("tables", *HITS), ("prompt", "answer")

    per: str = param("item", "Map over", GROUP_HELP, choices=("item", "packed"))
    group: int = param(2000, "Tokens of a group", "Of what is read at once, and of the points.", low=100, high=1_000_000)
    max_tokens: int = param(256, "Longest answer", "In tokens.", low=1, high=8192)
    role: str = param("answer", "Model", "The role or name of the chat model.", chat=True)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        tables, question = given_tables(state, ctx), state.question.text
        groups = list(_groups(tables, self.per, self.group))
        shown = prompt_of(question, tables).hits
        if not ctx.answering:  # what the first part would be read with
            first = messages("texts", "map", tables=as_text(groups[0]) if groups else "(nothing was found)", question=question)
            return state.replace(prompt=replace(prompt_of(question, ()), messages=first, hits=shown))
        chat, points = ctx.models.chat(self.role), []
        for number, part in enumerate(groups, 1):
            ctx.progress(f"Reading part {number} of {len(groups)}", (number - 1) / len(groups))
            points += self._points(chat, part, question, ctx, recorder)
        asked = messages("texts", "reduce", points=_best(points, self.group) or "(no point)", question=question)
        ctx.progress("Answering from the points", None)
        reply = chat.reply(asked, max_tokens=self.max_tokens, seed=ctx.seed, on_text=ctx.on_text, check=ctx.check)
        recorder.usage += Usage(1, reply.tokens_in, reply.tokens_out)
        prompt = replace(prompt_of(question, ()), messages=asked, hits=shown, tokens=reply.tokens_in)
        return state.replace(prompt=prompt, answer=reply.text.strip())

    def _points(self, chat: Chat, part: tuple[ContextTable, ...], question: str, ctx: Context, recorder: Recorder) -> list[Point]:
        """What the model notes on a part; a part that is too long for it is shortened."""
        room = chat.context - self.max_tokens - 8
        while True:
            asked = messages("texts", "map", tables=as_text(part), question=question)
            if (needed := chat.count_tokens(asked)) <= room or not any(table.items for table in part):
                break
            part = shortened(part, room / needed)
        reply = chat.reply(asked, schema=SCHEMA, max_tokens=self.max_tokens, seed=ctx.seed, check=ctx.check)
        recorder.usage += Usage(1, reply.tokens_in, reply.tokens_out)
        found = _read(reply.text)
        if found is None:
            recorder.notes.append("A part's points could not be read; it gave none.")
        return [point for point in found or [] if point[0] > 0]


def _groups(tables: tuple[ContextTable, ...], per: str, group: int) -> Iterator[tuple[ContextTable, ...]]:
    """The parts that are read one by one."""
    for table in tables:
        part: list[int] = []
        used = 0
        for place, row in enumerate(table.rows):
            size = sum(map(tokens, row))
            if part and (per == "item" or used + size > group):
                yield (_part(table, part),)
                part, used = [], 0
            part, used = [*part, place], used + size
        if part:
            yield (_part(table, part),)


def _best(points: list[Point], room: int) -> str:
    """The points by score, those of the same score as they came, as far as they have room."""
    lines, used = [], 0
    for score, text in sorted(points, key=lambda point: -point[0]):
        used += tokens(text)
        if used > room:
            break
        lines.append(f"- ({score}) {plain(text)}")
    return "\n".join(lines)


def _part(table: ContextTable, places: list[int]) -> ContextTable:
    return replace(table, rows=tuple(table.rows[i] for i in places), items=tuple(table.items[i] for i in places), left_out=0)


def _read(text: str) -> list[Point] | None:
    """The points of a reply; one without a score counts 1 (Microsoft's rule); None where it is no such JSON."""
    try:
        points = json.loads(text)["points"]
        return [(int(point.get("score", 1)), str(point["description"])) for point in points if point.get("description")]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
