"""The items behind an answer, their lines in the prompt, and states without some of them.

The answer was made from the items. `core.diagnosis.influence` answers again from such states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.operators.base import Operator
from core.prompts import OWN_SOURCE
from core.types import ContextTable, Kind, Prompt, Ranking, State

# Fields of a state by kind of item.
STATE_FIELDS = {
    "path": "paths",
    "node": "nodes",
    "triple": "relations",
    "chunk": "chunks",
    "community": "communities",
}
Item = tuple[Kind, int]  # the kind of an item, and its index among those of the kind


def items_of(state: State, by_model: bool) -> list[Item]:
    """Return the items that an answer was made from, kind by kind.

    These are the items that the prompt shows, or for the graph reader's answer the items that it
    read.
    """
    if by_model and state.tables is not None and state.prompt is not None:
        counts = state.prompt.hits
        heads = [(table.kind, table.items[: counts.get(table.kind, 0)]) for table in state.tables]
    else:
        rankings = (only_shown_items(state) if by_model else only_read_items(state)).ranked
        heads = [(kind, ranking.items) for kind, ranking in rankings.items()]
    items: list[Item] = []
    for kind, head in heads:
        items += [(kind, index) for index in range(len(head))]
    return items


def context_lines(prompt: Prompt | None) -> list[tuple[int, str]]:
    """Return the lines that can show what was retrieved, with their indices among all lines.

    They are those of the last message and, in a user's own prompt, of the system message. The turns
    before the last message are solved examples.
    """
    if prompt is None:
        return []
    lines: list[tuple[int, str]] = []
    first_index = 0
    for number, message in enumerate(prompt.messages, 1):
        message_lines = message["content"].split("\n")
        is_own_system = message["role"] == "system" and prompt.source == OWN_SOURCE
        if number == len(prompt.messages) or is_own_system:
            lines += enumerate(message_lines, first_index)
        first_index += len(message_lines)
    return lines


def context_text(prompt: Prompt | None, question: str) -> str:
    """Return the text of `context_lines`, without the question."""
    return "\n".join(line for _, line in context_lines(prompt)).replace(question, " ")


def item_at(state: State, by_model: bool, kind: Kind, index: int) -> Any:
    """Return the path or hit id that an item stands for.

    The item is one of `items_of`. `kind` and `index` are the two parts of the item. Raises
    LookupError if the state lacks it.
    """
    tables = (state.tables or ()) if by_model else ()
    items = {table.kind: table.items for table in tables} or {
        kind: ranking.items for kind, ranking in state.ranked.items()
    }
    return items[kind][index]


def only_shown_items(state: State, operator: Operator | None = None) -> State:
    """Return the state with only the items that its prompt shows.

    All reports stay, unless `operator` is given and there is one report for each path: then the
    reports of the shown paths stay.
    """
    prompt = state.prompt
    only_shown = _keep_first(state, {} if prompt is None else {"path": prompt.paths, **prompt.hits})
    if prompt is None or operator is None or not has_report_per_path(state, operator):
        return only_shown
    return replace(only_shown, reports=(state.reports or ())[: prompt.paths])


def only_read_items(state: State) -> State:
    """Return the state with only the items that a reader read.

    These are paths. If it read an excerpt of texts, they are passages, or nodes without passages.
    The reader's answer is removed.
    """
    kind: Kind = "path"
    if state.excerpt is not None:
        kind = "chunk" if state.chunks else "node"
    counts: dict[str, int] = {kind: len(state.ranked[kind])} if kind in state.ranked else {}
    return replace(_keep_first(state, counts), reader=None, excerpt=None)


def without_items(state: State, left_out: Iterable[Item], operator: Operator) -> State:
    """Return the state without some items, and without the reports of removed paths.

    `operator` is the operator that answers from the state.
    """
    skipped = set(left_out)
    counts = {table.kind: len(table.items) for table in state.tables or ()}
    for kind, ranking in state.ranked.items():
        counts[kind] = max(counts.get(kind, 0), len(ranking))
    chosen: list[Item] = []
    for kind, count in counts.items():
        chosen += [(kind, index) for index in range(count) if (kind, index) not in skipped]
    return with_items(state, chosen, operator)


def with_items(state: State, chosen: Iterable[Item], operator: Operator) -> State:
    """Return the state with the chosen items alone, in their order within each kind.

    Reports of paths follow their paths. `operator` is the operator that answers from the state.
    """
    indices: dict[Kind, list[int]] = {}
    for kind, index in chosen:
        indices.setdefault(kind, []).append(index)

    def select(values: Sequence[Any], kind: Kind) -> tuple:
        return tuple(values[index] for index in indices.get(kind, ()) if index < len(values))

    changes: dict[str, Any] = {"tables": _cut_tables(state, select)}
    for kind, ranking in state.ranked.items():
        if indices.get(kind, []) == list(range(len(ranking))):
            continue
        scores = None if ranking.scores is None else select(ranking.scores, kind)
        changes[STATE_FIELDS[kind]] = Ranking(kind, select(ranking.items, kind), scores)
    if has_report_per_path(state, operator):
        changes["reports"] = select(state.reports or (), "path")
    return replace(state, **changes)


def has_report_per_path(state: State, operator: Operator) -> bool:
    """Return whether there is one report for each path, as after paths were verbalised."""
    reports, paths = state.reports, state.paths
    return (
        reports is not None
        and paths is not None
        and len(reports) == len(paths)
        and "reports" not in operator.reads
    )


def _keep_first(state: State, counts: Mapping[str, int]) -> State:
    """Return the state with only the first items of each kind. `counts` holds their numbers."""
    changes: dict[str, Any] = {
        STATE_FIELDS[kind]: ranking.head(counts.get(kind, 0))
        for kind, ranking in state.ranked.items()
    }
    changes["tables"] = _cut_tables(state, lambda values, kind: values[: counts.get(kind, 0)])
    return replace(state, **changes)


def _cut_tables(
    state: State, part: Callable[[tuple, Kind], tuple]
) -> tuple[ContextTable, ...] | None:
    """Return the tables with a part of their rows, if any.

    `part(values, kind)` selects the rows.
    """
    if state.tables is None:
        return None
    return tuple(
        replace(table, rows=part(table.rows, table.kind), items=part(table.items, table.kind))
        for table in state.tables
    )
