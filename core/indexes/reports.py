"""Reports on communities by a language model, each written once and saved on disk."""

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
TABLE = (
    "create table reports (key text primary key, title text not null, text text not null,"
    " note text not null)"
)
SAVED = Schema("the reports", (TABLE,), again=True)


@dataclass(frozen=True)
class Written:
    """A community report with its title, its text, a note and its cost.

    `note` says that the model's reply could not be read. `usage` is empty for a report that was
    already saved.
    """

    title: str
    text: str
    note: str = ""
    usage: Usage = Usage()

    @property
    def fresh(self) -> bool:
        """True if the report was written just now."""
        return self.usage.calls > 0


class Reports:
    """The reports on a graph's communities by one language model.

    The key of a report consists of the graph's digest, the members of the community, the model's
    `signature`, the prompt and its limits. An outdated report is therefore never shown. `chat` is
    called for the model only when a report has to be written.

    Microsoft's GraphRAG writes the reports of a hierarchy bottom-up. Here only those of the finest
    level are written (LEGO-GraphRAG, technical report, B.10, which does not name the level).
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
        """Return the report on a community, written now where it is not saved yet.

        A saved report that could not be read is written again, unless the model would give the same
        reply. Raises StoreError and what the model raises.
        """
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
        """Return the saved report on a community, or None."""
        rows = self._rows.query(
            "select title, text, note from reports where key = ?", (self._key(community),)
        )
        return Written(*rows[0]) if rows else None

    def prepare(self, wanted: Iterable[int], watch: Watch = NO_WATCH) -> tuple[int, int]:
        """Write those of the wanted reports that are not saved yet.

        As many are written at a time as the model accepts. Each is saved at once, so a stop loses
        only those being written. `watch` receives the number of finished reports.

        Returns
        -------
        (reports written, reports saved before)
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
        """Return how many reports the model can write at a time."""
        try:
            return getattr(self._chat(), "at_once", 1)
        except ModelUnavailable:  # reported when a report is requested
            return 1

    def missing(self, wanted: Iterable[int]) -> list[int]:
        """Return those of the wanted communities without a readable report, in their order."""
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
    """Return the messages that ask for a report on a community.

    They hold the names of its members, then as many facts as fit into `FACTS_TOKENS`. Facts between
    two members come before those that lead outside. Within each group, facts of the best connected
    entities come first, by (-degrees of both ends, edge id).
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
    """Ask the model for a report.

    A reply without readable JSON is kept as plain text, with a note.
    """
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
    """Return the title and the text of a report in a reply.

    The title is empty where it is missing. None where there is no text.
    """
    found = json_reply(text, SCHEMA["properties"])
    if found is None:
        return None
    title, findings = found.value.get("title"), found.value.get("findings")
    parts = [found.value.get("summary"), *(findings if isinstance(findings, list) else [findings])]
    text = " ".join(" ".join(part for part in parts if isinstance(part, str)).split())
    return (" ".join(title.split()) if isinstance(title, str) else "", text) if text else None


def _edges(graph: Graph, members: np.ndarray) -> list[int]:
    """Return the edges at some nodes in the order of the prompt.

    Of a hub, only the first `FACTS_TOKENS` edges are read.
    """
    edges = np.unique(
        np.concatenate([graph.steps(int(node))[1][:FACTS_TOKENS] for node in members])
    )
    heads, _, tails = graph.triples(edges)
    degrees = graph.degrees(heads) + graph.degrees(tails)
    outside = ~(np.isin(heads, members) & np.isin(tails, members))
    return edges[np.lexsort((edges, -degrees, outside))].tolist()
