"""Permalink of a comparison: the query parameters of its address.

They have the question, its entities and known answers, the lanes and the switches. The address of a
saved case has only its id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

import streamlit as st

from core.cases import Case
from core.errors import BadInput
from core.graph.edits import Edit
from core.io.input_checks import encodable_text
from core.sources import AnswerSource, GraphSource, source_in
from pages.parts.shared.session import DEFAULT_SOURCE

DEFAULT_LANES = GraphSource.default_lanes
MAX_COMPARE_LANES = 4  # lanes of a comparison on the page Compare


@dataclass(frozen=True)
class Permalink:
    """Contents of a permalink.

    Attributes
    ----------
    entities, answers : names of the question entities and the known answers.
    lanes : for each lane the id of a method, or a line (operators) in its canonical text.
    source : the graph or corpus that is asked.
    seed : seed of all random choices.
    model, reader : whether a language model and the graph reader answer.
    edits : removed, merged or renamed items of the graph or corpus.
    case : id of a saved case; the address then has nothing else.
    is_typed : whether the address has a question even if that is empty. The page shows an empty
        question then. Without any question in the address it shows an example.
    """

    question: str = ""
    entities: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    lanes: tuple[str, ...] = DEFAULT_LANES
    source: AnswerSource = DEFAULT_SOURCE
    seed: int = 0
    model: bool = True
    reader: bool = True
    edits: tuple[Edit, ...] = ()
    case: str = ""
    is_typed: bool = False

    @property
    def is_empty(self) -> bool:
        """True if the link has default lanes, and no question, corpus or case."""
        return (
            not self.is_typed
            and not self.question
            and not self.source.corpus_name
            and not self.case
            and self.lanes == DEFAULT_LANES
        )

    def parameters(self) -> dict[str, list[str] | str]:
        """Return the query parameters without those at their default."""
        if self.case:
            return {"case": self.case}
        query: dict[str, list[str] | str] = {}
        if self.is_typed or self.question:
            query["q"] = self.question
        query |= {"e": list(self.entities), "a": list(self.answers), "lane": list(self.lanes)}
        if self.source != DEFAULT_SOURCE:
            query |= self.source.parameters
        if self.edits:
            query["edit"] = [edit.to_text() for edit in self.edits]
        if self.seed:
            query["seed"] = str(self.seed)
        if not self.model:
            query["llm"] = "0"
        if not self.reader:
            query["reader"] = "0"
        return query

    def address(self, page: str) -> str:
        """Return the full address of the link on a page."""
        return f"{page.split('?')[0]}?{urlencode(self.parameters(), doseq=True)}"


def read_link() -> Permalink:
    """Return the link in the browser's address, except for a case.

    Unreadable parts get their defaults.
    """
    query = st.query_params
    return parse_link({key: query.get_all(key) for key in query})


def parse_link(query: Mapping[str, Sequence[str] | str]) -> Permalink:
    """Return the link with some query parameters, as `Permalink.parameters` returns them.

    The parameter `case` is not read. Unreadable parts get their defaults.
    """

    def values(key: str) -> tuple[str, ...]:
        value = query.get(key, ())
        texts = (value,) if isinstance(value, str) else value
        return tuple(encodable_text(text) for text in texts)

    def last_value(key: str, default: str) -> str:
        return (values(key) or (default,))[-1]

    seed = last_value("seed", "0")
    source = source_in({key: last_value(key, "") for key in query}) or DEFAULT_SOURCE
    return Permalink(
        question=last_value("q", ""),
        entities=values("e"),
        answers=values("a"),
        lanes=values("lane")[:MAX_COMPARE_LANES] or source.default_lanes,
        source=source,
        edits=tuple(_edits(values("edit"))),
        seed=int(seed) if seed.isdecimal() and len(seed) < 10 else 0,  # below 2**31
        model=last_value("llm", "1") != "0",
        reader=last_value("reader", "1") != "0",
        is_typed="q" in query,
    )


def _edits(texts: Iterable[str]) -> Iterator[Edit]:
    for text in texts:
        try:
            yield Edit.from_text(text)
        # An unreadable edit becomes one of a node that no graph has, so that the page reports it.
        except BadInput:
            yield Edit("node", (text or "?",))


def case_link(case: Case) -> Permalink:
    """Return the link of a case, with its question and lanes."""
    fallback = Permalink(case.question, case.entities, case.answers, source=GraphSource(case.graph))
    return replace(parse_link(case.link) if case.link else fallback, case=case.id)


def write_link(link: Permalink) -> None:
    """Write the link into the address bar."""
    st.query_params.from_dict(link.parameters())
