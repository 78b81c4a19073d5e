"""Hopscope's operators on the graph of the peer programs, and the agreement of both."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from core.environment import Environment
from core.graph.building.text_graph import assemble, with_tables
from core.graph.columns import Table
from core.graph.store import Graph
from core.methods.catalogue import catalogue
from core.operators.base import Context
from core.operators.text import parse_line
from core.types import Question, State
from tests.films import Parrot, Written
from tests.peers.encoder import Encoder
from tests.peers.given import digest, given

RECORDED = Path(__file__).parent / "recorded"
HITS = ("entities", "relations", "chunks", "communities")


class ComparisonModels(Written):
    """Models with the encoder of the comparisons, and a language model with one recorded reply."""

    def encoder(self, name="encoder"):
        return encoder()


@cache
def encoder() -> Encoder:
    """The encoder of the comparisons, as the programs use it."""
    return Encoder(given()["passages"])


def recorded(name: str) -> dict[str, Any]:
    """Recorded results of a program, which must belong to the current inputs."""
    told = json.loads(gzip.decompress((RECORDED / f"{name}.json.gz").read_bytes()))
    assert told["given"] == digest(), "recorded of other passages; run make test-peers"
    return told


def cases(name: str) -> list[dict[str, Any]]:
    """Recorded results of a program on small random graphs."""
    return json.loads((RECORDED / f"{name}.json").read_text("utf-8"))["cases"]


@cache
def graph() -> Graph:
    """The input graph, with entities and relations numbered as in the inputs."""
    told = given()
    names, entities = list(told["entities"]), list(told["entities"].values())
    ids = [f"c{place}" for place in range(len(told["passages"]))]
    chunks = Table.from_columns(
        id=ids, document=ids, title=[""] * len(ids), text=told["passages"], tokens=[0] * len(ids)
    )
    ones, others, descriptions, keywords, weights, rows = zip(*told["relations"])
    columns = {"description": descriptions, "keywords": keywords, "weight": weights, "chunks": rows}
    nodes = {
        "type": [""] * len(names),
        "description": [one[0] for one in entities],
        "chunks": [one[1] for one in entities],
    }
    made = assemble(
        "given",
        names,
        [(one, "related to", other) for one, other in zip(ones, others)],
        nodes,
        columns,
        chunks,
    )
    titles, levels, members, reports, ratings = zip(*told["communities"])
    texts = [f"# {title}\n\n{report}" for title, report in zip(titles, reports)]
    parents = [-1] * len(titles)
    return with_tables(
        made,
        communities=Table.from_columns(
            title=titles,
            level=levels,
            parent=parents,
            members=members,
            report=texts,
            rating=ratings,
        ),
    )


def after(
    asked: dict[str, Any],
    line: str,
    reply: Any = None,
    on: Graph | None = None,
    choose: Any = None,
    **values: dict[str, Any],
) -> State:
    """Return the state after a catalogue row, without its tables, or after a line.

    A language model replies `reply`, by default the question's keywords, and `choose` chooses
    texts. `values` change parameters of the line's operators by name.
    """
    operators = (catalogue()[line].line if line in catalogue() else parse_line(line)).operators
    models = ComparisonModels(
        Parrot(json.dumps(reply or {"low": asked["low"], "high": asked["high"]})), choose=choose
    )
    state, context = State(Question(asked["text"])), Context(on or graph(), Environment(models))
    for operator in operators:
        if operator.stage in ("graph", "generate") or type(operator).__name__ == "ContextTables":
            continue
        state = type(operator)(**{**operator.__dict__, **values.get(type(operator).__name__, {})})(
            state, context
        )
    return state


def found(state: State) -> dict[str, list[int]]:
    """Hits in Hopscope's order, in the format of the recorded ones."""
    hits = (state.nodes, state.relations, state.chunks, state.communities)
    return {kind: list(one.items) if one else [] for kind, one in zip(HITS, hits)}


def agreement(ours: Iterable[Sequence[int]], theirs: Iterable[Sequence[int]]) -> dict[str, int]:
    """Number of questions in which two rankings are equal, equal as sets, or different."""
    how = lambda one, other: (
        "order" if list(one) == list(other) else "set" if sorted(one) == sorted(other) else "other"
    )
    return dict(Counter(how(one, other) for one, other in zip(ours, theirs, strict=True)))


def ordered(scores: dict[int, float], items: Sequence[int], within: float = 0.0) -> bool:
    """Return whether items have the order of these scores, up to differences of `within`."""
    told = np.array([scores[item] for item in items])
    return bool(np.all(np.maximum.accumulate(told[::-1])[::-1] <= told + within))
