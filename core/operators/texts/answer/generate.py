"""An answer of a language model from tables of hits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from core.operators.answer_length import answer_length
from core.operators.base import HIT_FIELDS, Context, Operator, Recorder
from core.operators.model_replies import fit_prompt, request_reply
from core.operators.texts.tables import tables_of, text_of_tables
from core.parameters import param
from core.prompts import make_messages, own_prompt, with_examples
from core.types import ContextTable, Prompt, Question, State

TABLE_PLACES = ("question", "tables")
TABLE_TEMPLATE_HELP = (
    "A prompt of your own in the place of ours: a text with {question} and {tables} where they "
    "belong. What comes before a line --- is the system message."
)
# budgets of nano-graphrag, used if a line sets none
DEFAULT_BUDGET_TOKENS = {"triple": 4800, "community": 3200, "chunk": 4000}


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
    reads_any, writes = ("tables", *HIT_FIELDS), ("prompt", "answer")

    max_tokens: int = param(256, "Longest answer", "In tokens.", low=1, high=8192)
    role: str = param(
        "answer", "Model", "The role or name of the chat model that answers.", chat=True
    )
    template: str = param("", "Own prompt", TABLE_TEMPLATE_HELP, lines=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.template:
            own_prompt(self.template, TABLE_PLACES)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        question, tables = state.question, tables_of_state(state, ctx)
        if not ctx.answering:
            return state.replace(prompt=prompt_of(question, tables, self.template))
        ctx.watch.report("Waiting for the language model")
        chat = ctx.models.chat(self.role)
        reply_tokens = answer_length(question, self.max_tokens, chat.context)
        make_prompt = lambda part: prompt_of(question, part, self.template).messages
        _, shown_tables, tokens = fit_prompt(
            chat, make_prompt, tables, reply_tokens, shrink=shorten_tables
        )
        n_shown, n_hits = (
            sum(len(table.items) for table in each) for each in (shown_tables, tables)
        )
        if n_shown < n_hits:
            recorder.notes.append(
                f"Only {n_shown:,} of {n_hits:,} rows fit into the model's context of "
                f"{chat.context:,} tokens."
            )
        prompt = replace(prompt_of(question, shown_tables, self.template), tokens=tokens)
        ctx.watch.report("Reading what was found")
        reply = request_reply(chat, prompt.messages, ctx, recorder, reply_tokens, "answer")
        return state.replace(
            prompt=replace(prompt, tokens=reply.tokens_in or prompt.tokens),
            answer=reply.text.strip(),
        )


def tables_of_state(state: State, ctx: Context) -> tuple[ContextTable, ...]:
    """Return the tables of the state, made now if there are none."""
    return (
        state.tables
        if state.tables is not None
        else tables_of(ctx.graph, state, DEFAULT_BUDGET_TOKENS)
    )


def prompt_of(question: Question, tables: tuple[ContextTable, ...], template: str = "") -> Prompt:
    """Return the prompt with these tables, and its number of hits by kind.

    `template` is a person's own prompt; if it is empty, that of the project is used.
    """
    own_messages = own_prompt(template, TABLE_PLACES) if template else None
    values = {"tables": text_of_tables(tables) or "(nothing was found)", "question": question.text}
    if own_messages:
        sent = with_examples("texts", own_messages, 0, **values)
    else:
        sent = make_messages("texts", "tables", question.abstract, **values)
    hits_by_kind = Counter({table.kind: len(table.items) for table in tables})
    return Prompt(
        sent,
        0,
        hits={kind: count for kind, count in hits_by_kind.items() if count},
        source=own_messages["source"] if own_messages else "",
    )


def shorten_tables(tables: tuple[ContextTable, ...], share: float) -> tuple[ContextTable, ...]:
    """Return the tables cut to about a share of their length.

    Rows are taken from the end of the longest table each time; at least one row is removed.
    """
    if not any(table.items for table in tables):
        return ()
    remaining_rows = [list(zip(table.rows, table.items)) for table in tables]
    length = lambda rows: sum(len(cell) for row, _ in rows for cell in row)
    total = sum(map(length, remaining_rows))
    while True:
        longest = max(
            range(len(remaining_rows)), key=lambda place: (length(remaining_rows[place]), -place)
        )
        remaining_rows[longest].pop()
        if sum(map(length, remaining_rows)) <= share * total or not any(remaining_rows):
            break
    return tuple(
        replace(
            table,
            rows=tuple(row for row, _ in rows),
            items=tuple(item for _, item in rows),
            left_out=table.left_out + len(table.items) - len(rows),
        )
        for table, rows in zip(tables, remaining_rows)
    )
