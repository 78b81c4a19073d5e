"""Operator that answers with a language model from tables of hits, and its prompt.

The in-depth analysis is the paper "In-depth Analysis of Graph-based RAG in a Unified Framework".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.operators.answer_length import answer_length
from core.operators.base import HIT_FIELDS, Context, Operator, Recorder
from core.operators.model_replies import fit_prompt, request_reply
from core.operators.texts.tables import tables_of, text_of_tables
from core.parameters import param
from core.prompts import make_messages, own_prompt, with_examples
from core.types import ContextTable, Prompt, Question, State

TABLE_PLACES = ("question", "tables")  # placeholders of a template
TABLE_TEMPLATE_HELP = (
    "A prompt of your own in the place of ours: a text with {question} and {tables} where they "
    "belong. What comes before a line --- is the system message."
)
# nano-graphrag's budgets by kind of hit, used if no `ContextTables` comes before
DEFAULT_BUDGET_TOKENS = {"triple": 4800, "community": 3200, "chunk": 4000}


@dataclass(frozen=True, repr=False)
class AnswerFromTables(Operator):
    """The answer of a language model that is shown the hits as tables.

    The tables are Entities, Relationships, Reports and Sources. This is nano-graphrag's local
    search (in-depth analysis, LGraphRAG and VGraphRAG); with chunks alone it is VanillaRAG. Without
    `ContextTables` before it, this operator makes tables with nano-graphrag's budgets.

    Rows that do not fit into the model's context are left out, from the end of the longest table
    first, and the trace says how many. The answer to an abstract question may be long. A `template`
    is a user's own prompt with the placeholders {question} and {tables}.

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
        question = state.question
        tables = tables_of_state(state, ctx, DEFAULT_BUDGET_TOKENS)
        if not ctx.answering:
            return state.replace(prompt=prompt_of(question, tables, self.template))
        ctx.watch.report("Waiting for the language model")
        chat = ctx.models.chat(self.role)
        reply_tokens = answer_length(question, self.max_tokens, chat.context)
        _, shown_tables, tokens = fit_prompt(
            chat,
            lambda part: prompt_of(question, part, self.template).messages,
            tables,
            reply_tokens,
            shrink=shorten_tables,
        )
        n_shown = sum(len(table.items) for table in shown_tables)
        n_hits = sum(len(table.items) for table in tables)
        if n_shown < n_hits:
            recorder.notes.append(
                f"Only {n_shown:,} of {n_hits:,} rows fit into the model's context of "
                f"{chat.context:,} tokens."
            )
        prompt = prompt_of(question, shown_tables, self.template)
        ctx.watch.report("Reading what was found")
        reply = request_reply(chat, prompt.messages, ctx, recorder, reply_tokens, "answer")
        prompt = replace(prompt, tokens=reply.tokens_in or tokens)
        return state.replace(prompt=prompt, answer=reply.text.strip())


def tables_of_state(
    state: State, ctx: Context, budgets: dict[str, int]
) -> tuple[ContextTable, ...]:
    """Return the tables of the state, or else of its hits.

    If the state has no tables, they are made of all its hits within `budgets`. `budgets` gives the
    tokens of each kind of hit; a kind without a budget has no limit.
    """
    return state.tables if state.tables is not None else tables_of(ctx.graph, state, budgets)


def prompt_of(question: Question, tables: tuple[ContextTable, ...], template: str = "") -> Prompt:
    """Return the prompt that shows these tables.

    It has the number of its hits by kind. `template` is a user's own prompt; if it is empty,
    Hopscope's prompt is used.
    """
    own_messages = own_prompt(template, TABLE_PLACES) if template else None
    values = {"tables": text_of_tables(tables) or "(nothing was found)", "question": question.text}
    if own_messages:
        messages = with_examples("texts", own_messages, 0, **values)
    else:
        messages = make_messages("texts", "tables", question.abstract, **values)
    return Prompt(
        messages,
        0,
        hits={table.kind: len(table.items) for table in tables if table.items},
        source=own_messages["source"] if own_messages else "",
    )


def shorten_tables(tables: tuple[ContextTable, ...], share: float) -> tuple[ContextTable, ...]:
    """Return the tables cut to at most `share` of their characters.

    `share` is a fraction below 1. The last row of the longest table is removed again and again, at
    least once, so that repeated calls come to an end. If there are no rows, no table is returned.
    """
    if not any(table.items for table in tables):
        return ()
    lengths = [[sum(map(len, row)) for row in table.rows] for table in tables]  # of rows
    max_length = share * sum(map(sum, lengths))
    while True:
        max(lengths, key=sum).pop()
        if sum(map(sum, lengths)) <= max_length or not any(lengths):
            break
    shortened = []
    for table, row_lengths in zip(tables, lengths):
        n_rows = len(row_lengths)
        left_out = table.left_out + len(table.items) - n_rows
        shortened.append(
            replace(table, rows=table.rows[:n_rows], items=table.items[:n_rows], left_out=left_out)
        )
    return tuple(shortened)
