"""The address of a comparison: question, entities, known answers, lanes and switches as query parameters."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

import streamlit as st

DEFAULT_LANES = ("lego-1", "lego-12", "lego-14")
MOST_LANES = 4


@dataclass(frozen=True)
class Link:
    """What a permalink restores. `lanes` are instance ids or the canonical text of lines."""

    question: str = ""
    entities: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    lanes: tuple[str, ...] = DEFAULT_LANES
    graph: str = "metaqa"
    seed: int = 0
    model: bool = True
    reader: bool = True

    def parameters(self) -> dict[str, list[str] | str]:
        """The query parameters; what is as usual is left out."""
        told: dict[str, list[str] | str] = {"q": self.question, "e": list(self.entities), "a": list(self.answers), "lane": list(self.lanes)}
        if self.graph != "metaqa":
            told["graph"] = self.graph
        if self.seed:
            told["seed"] = str(self.seed)
        if not self.model:
            told["llm"] = "0"
        if not self.reader:
            told["reader"] = "0"
        return told

    def address(self, page: str) -> str:
        """The full address, on the page's own address without its query."""
        return f"{page.split('?')[0]}?{urlencode(self.parameters(), doseq=True)}"


def read_link() -> Link:
    """The link in the address bar; unreadable parts are as usual."""
    query = st.query_params
    seed = query.get("seed", "0")
    return Link(
        question=query.get("q", ""),
        entities=tuple(query.get_all("e")),
        answers=tuple(query.get_all("a")),
        lanes=tuple(query.get_all("lane"))[:MOST_LANES] or DEFAULT_LANES,
        graph=query.get("graph", "metaqa"),
        seed=int(seed) if seed.isdigit() and len(seed) < 10 else 0,
        model=query.get("llm", "1") != "0",
        reader=query.get("reader", "1") != "0",
    )


def write_link(link: Link) -> None:
    """Put the link in the address bar."""
    st.query_params.from_dict(link.parameters())
