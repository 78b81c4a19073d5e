"""An answer of a language model from tables of hits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from core.operators.asking import asked, with_room
from core.operators.base import HITS, Context, Operator, Recorder
from core.operators.length import longest
from core.operators.texts.tables import as_text, tables_of
from core.parameters import param
from core.prompts import messages, own_prompt, with_examples
from core.types import ContextTable, Prompt, Question, State

PLACES = ("question", "tables")
TEMPLATE_HELP = (
    "A prompt of your own in the place of ours: a text with {question} and {tables} where they "
    "belong. What comes before a line --- is the system message."
)
# budgets of nano-graphrag, used if a line sets none
BUDGETS = {"triple": 4800, "community": 3200, "chunk": 4000}


@dataclass(frozen=True, repr=False)
class AnswerFromTables(Operator):
    """The answer of a language model that is shown the hits as tables.

    The tables are Entities, Relationships, Reports and Sources. This is nano-graphrag's local
    search (in-depth analysis, LGraphRAG and VGraphRAG); with chunks alone it is VanillaRAG. Without
    `ContextTables` before it, tables with that operator's budgets are made here.

    Rows that do not fit into the model's context are left out, from the end of the longest table
    first, and the trace says how many. An abstract question is given a long answer. A `template` is
    a person's own prompt with the places {question} and {tables}.

    >>> line = "SparseChunks(keep=1) >> AnswerFromTables()"
    >>> state = retrieve(line, graph=story, question="the clerk", models=says("Cratchit"))
    >>> state.answer, dict(state.prompt.hits)
    ('Cratchit', {'chunk': 1})
    """

    stage = "generate"
    title = "answer from tables"
    reads_any, writes = ("tables", *HITS), ("prompt", "answer")

    max_tokens: int = param(256, "Longest answer", "In tokens.", low=1, high=8192)
    role: str = param(
        "answer", "Model", "The role or name of the chat model that answers.", chat=True
    )
    template: str = param("", "Own prompt", TEMPLATE_HELP, lines=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.template:
            own_prompt(self.template, PLACES)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        question, tables = state.question, given_tables(state, ctx)
        if not ctx.answering:
            return state.replace(prompt=prompt_of(question, tables, self.template))
        ctx.watch.report("Waiting for the language model")
        chat = ctx.models.chat(self.role)
        most = longest(question, self.max_tokens, chat.context)
        prompt_for = lambda part: prompt_of(question, part, self.template).messages
        _, shown, tokens = with_room(chat, prompt_for, tables, most, less=shortened)
        count, whole = (sum(len(table.items) for table in each) for each in (shown, tables))
        if count < whole:
            recorder.notes.append(
                f"Only {count:,} of {whole:,} rows fit into the model's context of "
                f"{chat.context:,} tokens."
            )
        prompt = replace(prompt_of(question, shown, self.template), tokens=tokens)
        ctx.watch.report("Reading what was found")
        reply = asked(chat, prompt.messages, ctx, recorder, most, "answer")
        return state.replace(
            prompt=replace(prompt, tokens=reply.tokens_in or prompt.tokens),
            answer=reply.text.strip(),
        )


def given_tables(state: State, ctx: Context) -> tuple[ContextTable, ...]:
    """Return the tables of the state, made now if there are none."""
    return state.tables if state.tables is not None else tables_of(ctx.graph, state, BUDGETS)


def prompt_of(question: Question, tables: tuple[ContextTable, ...], template: str = "") -> Prompt:
    """Return the prompt with these tables, and its number of hits by kind.

    `template` is a person's own prompt; if it is empty, that of the project is used.
    """
    own = own_prompt(template, PLACES) if template else None
    values = {"tables": as_text(tables) or "(nothing was found)", "question": question.text}
    if own:
        sent = with_examples("texts", own, 0, **values)
    else:
        sent = messages("texts", "tables", question.abstract, **values)
    shown = Counter({table.kind: len(table.items) for table in tables})
    return Prompt(
        sent,
        0,
        hits={kind: count for kind, count in shown.items() if count},
        source=own["source"] if own else "",
    )


def shortened(tables: tuple[ContextTable, ...], share: float) -> tuple[ContextTable, ...]:
    """Return the tables cut to about a share of their length.

    Rows are taken from the end of the longest table each time; at least one row is removed.
    """
    if not any(table.items for table in tables):
        return ()
    left = [list(zip(table.rows, table.items)) for table in tables]
    length = lambda rows: sum(len(cell) for row, _ in rows for cell in row)
    total = sum(map(length, left))
    while True:
        longest = max(range(len(left)), key=lambda place: (length(left[place]), -place))
        left[longest].pop()
        if sum(map(length, left)) <= share * total or not any(left):
            break
    return tuple(
        replace(
            table,
            rows=tuple(row for row, _ in rows),
            items=tuple(item for _, item in rows),
            left_out=table.left_out + len(table.items) - len(rows),
        )
        for table, rows in zip(tables, left)
    )
