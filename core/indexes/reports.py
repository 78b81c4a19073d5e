"""Reports that a language model writes about communities, each written once and kept on disk."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import ModelUnavailable
from core.graph.algorithms.leiden import Communities
from core.graph.store import Graph
from core.indexes.place import index_folder
from core.io.rows import RowFile, Schema
from core.models.base import Chat, Messages
from core.models.chat.json_reply import json_reply
from core.prompts import filled, prompts
from core.runtime.flight import together
from core.types import Usage
from core.watch import NO_WATCH, Watch

FACTS_TOKENS, REPORT_TOKENS = 400, 240
CHARACTERS_A_TOKEN = 3.5
NAMES_SHOWN = 30
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 80},
        "summary": {"type": "string", "maxLength": 300},
        "findings": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 140}},
    },
    "required": ["title", "summary", "findings"],
    "additionalProperties": False,
}
TABLE = "create table reports (key text primary key, title text not null, text text not null, note text not null)"
SAVED = Schema("the reports", (TABLE,), again=True)


@dataclass(frozen=True)
class Written:
    """A report: its title and text, a note where the model's reply could not be read, and what it cost (nothing where kept)."""

    title: str
    text: str
    note: str = ""
    usage: Usage = Usage()

    @property
    def fresh(self) -> bool:
        """Whether it was written just now."""
        return self.usage.calls > 0


class Reports:
    """The reports of a graph's communities by one model.

    A report is known by the graph's digest, the community's members, the model's `signature`, the prompt and its limits, so
    that nothing outdated is ever shown. `chat` is called for the model only when a report must be written. Microsoft's
    GraphRAG writes the reports of a hierarchy bottom-up; here only those of the finest level are written (LEGO-GraphRAG,
    technical report, B.10, which does not name the level).
    """

    def __init__(
        self, graph: Graph, communities: Communities, chat: Callable[[], Chat], signature: str
    ):
        self.graph, self.communities, self._chat, self._signature = (
            graph,
            communities,
            chat,
            signature,
        )
        self._rows = RowFile(index_folder(graph) / "reports.sqlite", SAVED)

    def get(self, community: int, seed: int = 0, watch: Watch = NO_WATCH) -> Written:
        """The report of a community, written now where it is not saved yet, or could not be read and the model may do better now.

        Raises StoreError and what the model raises."""
        known = self.saved(community)
        if known is not None and not known.note:
            return known
        try:
            chat = self._chat()
        except ModelUnavailable:
            if known is None:
                raise
            return known
        if known is not None and getattr(chat, "steady", False):
            return known
        made = write(
            chat, report_prompt(self.graph, self.communities.members(community)), seed, watch
        )
        self._rows.save("reports", [(self._key(community), made.title, made.text, made.note)])
        return made

    def saved(self, community: int) -> Written | None:
        """The report of a community where it is kept, else None."""
        rows = self._rows.query(
            "select title, text, note from reports where key = ?", (self._key(community),)
        )
        return Written(*rows[0]) if rows else None

    def prepare(self, wanted: Iterable[int], watch: Watch = NO_WATCH) -> tuple[int, int]:
        """Write the wanted reports that are not kept yet, as many at a time as the model takes: (written, kept before). Each is kept at
        once, so that a stop costs those at work.

        `watch` hears how many are done.
        """
        wanted = list(dict.fromkeys(wanted))
        missing = self.missing(wanted)
        lock, done = threading.Lock(), 0

        def one(community: int, own: Watch) -> None:
            nonlocal done
            self.get(community, watch=own)
            with lock:
                done += 1
                watch.report(f"Reports: {done:,} of {len(missing):,}", done / len(missing))

        if missing:
            watch.report(f"Reports: 0 of {len(missing):,}", 0.0)
        together(one, missing, self._at_once, watch)
        return len(missing), len(wanted) - len(missing)

    def _at_once(self) -> int:
        """How many reports the model may be asked for at a time."""
        try:
            return getattr(self._chat(), "at_once", 1)
        except ModelUnavailable:  # said where a report is asked for
            return 1

    def missing(self, wanted: Iterable[int]) -> list[int]:
        """Those of the wanted communities whose reports are not kept yet, in their order."""
        there = {key for (key,) in self._rows.query("select key from reports where note = ''")}
        return [community for community in wanted if self._key(community) not in there]

    def _key(self, community: int) -> str:
        known = [
            self.graph.digest,
            self.communities.digest(community),
            self._signature,
            prompts("report")["report"],
        ]
        return hashlib.sha256(
            json.dumps([*known, SCHEMA, FACTS_TOKENS, REPORT_TOKENS], sort_keys=True).encode()
        ).hexdigest()


def report_prompt(graph: Graph, members: np.ndarray) -> Messages:
    """The messages that ask for a report on some nodes: their names, then as many facts as `FACTS_TOKENS` holds.

    Facts between two members come before those that lead outside, and within each those of the best connected entities
    first, by (-degrees of both ends, edge id).
    """
    facts: list[str] = []
    room = FACTS_TOKENS * CHARACTERS_A_TOKEN
    for edge in _edges(graph, members):
        text = " ".join(graph.triple_text(edge).split())
        room -= len(text) + 1
        if room < 0 and facts:
            break
        facts.append(text)
    shown = sorted(members.tolist(), key=lambda node: (-graph.degree(node), node))[:NAMES_SHOWN]
    prompt = prompts("report")["report"]
    user = filled(
        prompt["user"], entities=", ".join(graph.names(shown)), facts="\n".join(facts) or "(none)"
    )
    return ({"role": "system", "content": prompt["system"]}, {"role": "user", "content": user})


def write(chat: Chat, messages: Messages, seed: int = 0, watch: Watch = NO_WATCH) -> Written:
    """The report in the model's reply. What is no such JSON is shown as it was said, with a note."""
    reply = chat.reply(messages, schema=SCHEMA, max_tokens=REPORT_TOKENS, seed=seed, watch=watch)
    usage = Usage(1, reply.tokens_in, reply.tokens_out)
    found = _parts(reply.text)
    if found is None:
        if reply.text.strip():
            why = "A report was no whole JSON and is shown as it was written."
        else:
            why = f"There is no report: {reply.fault()}"
        return Written("Report", " ".join(reply.text.split()), why, usage)
    return Written(found[0] or "Report", found[1], reply.fault("report"), usage)


def _parts(text: str) -> tuple[str, str] | None:
    """The title and the text of a report, the title empty where there is none; None where there is no text."""
    found = json_reply(text, SCHEMA["properties"])
    if found is None:
        return None
    title, findings = found.value.get("title"), found.value.get("findings")
    parts = [found.value.get("summary"), *(findings if isinstance(findings, list) else [findings])]
    text = " ".join(" ".join(part for part in parts if isinstance(part, str)).split())
    return (" ".join(title.split()) if isinstance(title, str) else "", text) if text else None


def _edges(graph: Graph, members: np.ndarray) -> list[int]:
    """The edges at some nodes in the order in which a report hears of them; of a hub, the first `FACTS_TOKENS` only."""
    edges = np.unique(
        np.concatenate([graph.steps(int(node))[1][:FACTS_TOKENS] for node in members])
    )
    heads, _, tails = graph.triples(edges)
    degrees = graph.degrees(heads) + graph.degrees(tails)
    outside = ~(np.isin(heads, members) & np.isin(tails, members))
    return edges[np.lexsort((edges, -degrees, outside))].tolist()
