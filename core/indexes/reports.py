"""Community reports by a language model, each written once and saved on disk."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import ModelUnavailable
from core.graph.algorithms.leiden import NodeCommunities
from core.graph.store import Graph
from core.indexes.index_storage import index_folder
from core.io.rows import RowFile, Schema
from core.models.base import Chat, Messages
from core.models.chat.json_reply import json_reply
from core.prompts import fill_template, load_prompts
from core.runtime.concurrent_work import map_concurrently
from core.types import Usage
from core.watch import NO_WATCH, Watch

MAX_FACTS_TOKENS, MAX_REPORT_TOKENS = 400, 240  # of the prompt's facts, and of the reply
FACTS_CHARACTERS_PER_TOKEN = 3.5  # an estimate, as the tokenizer of the model may be unknown
MAX_SHOWN_NAMES = 30  # members of the community that the prompt names
REPORT_JSON_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 80},
        "summary": {"type": "string", "maxLength": 300},
        "findings": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 140}},
    },
    "required": ["title", "summary", "findings"],
    "additionalProperties": False,
}
REPORTS_TABLE = (
    "create table reports (key text primary key, title text not null, text text not null,"
    " note text not null)"
)
REPORTS_FILE_SCHEMA = Schema("the reports", (REPORTS_TABLE,), is_recomputable=True)


@dataclass(frozen=True)
class CommunityReport:
    """A community report with its title, text and cost.

    `note` is a sentence about a reply that could not be parsed, else empty. `usage` is zero for a
    report that was already saved.
    """

    title: str
    text: str
    note: str = ""
    usage: Usage = Usage()

    @property
    def is_new(self) -> bool:
        """True if the report was written just now."""
        return self.usage.calls > 0


class ReportStore:
    """The reports on a graph's communities by one language model.

    The key of a report consists of the graph's digest, the members of the community, the model's
    signature, the prompt and its limits. An outdated report is therefore never shown.

    Parameters
    ----------
    graph : the graph.
    communities : its communities, whose numbers are those of the reports.
    chat : returns the model; called only when a report has to be written.
    signature : text that changes with the model's replies.

    Notes
    -----
    Microsoft's GraphRAG writes the reports of a hierarchy bottom-up. Here only those of the finest
    level are written (LEGO-GraphRAG, technical report, B.10, which does not name the level).
    """

    def __init__(
        self, graph: Graph, communities: NodeCommunities, chat: Callable[[], Chat], signature: str
    ):
        self.graph, self.communities = graph, communities
        self._chat, self._signature = chat, signature
        self._rows = RowFile(index_folder(graph) / "reports.sqlite", REPORTS_FILE_SCHEMA)

    def get_report(self, community: int, seed: int = 0, watch: Watch = NO_WATCH) -> CommunityReport:
        """Return the report on a community, written now if it is not saved yet.

        A saved report that could not be parsed is written again, unless the model would give the
        same reply.

        Parameters
        ----------
        community : number of the community.
        seed : seed of the sampling.
        watch : what it raises stops the work.

        Returns
        -------
        The report, with a note if the reply could not be parsed as JSON.

        Raises
        ------
        StoreError : the file of reports cannot be used.
        ModelUnavailable, ModelFailed : as the model raises.
        """
        saved_report = self.saved_report(community)
        if saved_report is not None and not saved_report.note:
            return saved_report
        try:
            chat = self._chat()
        except ModelUnavailable:
            if saved_report is None:
                raise
            return saved_report
        if saved_report is not None and getattr(chat, "is_deterministic", False):
            return saved_report
        messages = report_prompt(self.graph, self.communities.members(community))
        report = write_report(chat, messages, seed, watch)
        self._rows.save("reports", [(self._key(community), report.title, report.text, report.note)])
        return report

    def saved_report(self, community: int) -> CommunityReport | None:
        """Return the saved report on a community, or None."""
        rows = self._rows.query(
            "select title, text, note from reports where key = ?", (self._key(community),)
        )
        return CommunityReport(*rows[0]) if rows else None

    def write_missing(self, numbers: Iterable[int], watch: Watch = NO_WATCH) -> tuple[int, int]:
        """Write the reports of the given communities that are not saved yet.

        The model writes as many at a time as it accepts. Each is saved immediately, so a stop loses
        only those being written.

        Parameters
        ----------
        numbers : numbers of communities.
        watch : receives the number of finished reports; what it raises stops the work.

        Returns
        -------
        (reports written, reports saved before)

        Raises
        ------
        StoreError : the file of reports cannot be used.
        ModelUnavailable, ModelFailed : as the model raises.
        """
        numbers = list(dict.fromkeys(numbers))
        missing = self.missing(numbers)
        lock, done = threading.Lock(), 0

        def write_and_count(community: int, item_watch: Watch) -> None:
            nonlocal done
            self.get_report(community, watch=item_watch)
            with lock:
                done += 1
                watch.report(f"Reports: {done:,} of {len(missing):,}", done / len(missing))

        if missing:
            watch.report(f"Reports: 0 of {len(missing):,}", 0.0)
        map_concurrently(write_and_count, missing, self._concurrency, watch)
        return len(missing), len(numbers) - len(missing)

    def _concurrency(self) -> int:
        """Return the number of reports that the model can write at a time."""
        try:
            return getattr(self._chat(), "max_concurrent", 1)
        except ModelUnavailable:  # reported when a report is requested
            return 1

    def missing(self, numbers: Iterable[int]) -> list[int]:
        """Return the communities among `numbers` that have no parsed report, in their order."""
        readable_keys = {
            key for (key,) in self._rows.query("select key from reports where note = ''")
        }
        return [community for community in numbers if self._key(community) not in readable_keys]

    def _key(self, community: int) -> str:
        identity = [
            self.graph.digest,
            self.communities.digest(community),
            self._signature,
            load_prompts("report")["report"],
            REPORT_JSON_SCHEMA,
            MAX_FACTS_TOKENS,
            MAX_REPORT_TOKENS,
        ]
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def report_prompt(graph: Graph, members: np.ndarray) -> Messages:
    """Return the messages that ask for a report on a community.

    They hold the names of its members, then as many facts as fit into `MAX_FACTS_TOKENS`. Facts
    between two members come before those that lead outside. Within each group, facts of the best
    connected entities come first, by (-degrees of both ends, edge id).

    Parameters
    ----------
    graph : the graph.
    members : node ids of the community, int64.

    Returns
    -------
    The system and the user message.
    """
    facts: list[str] = []
    characters_left = MAX_FACTS_TOKENS * FACTS_CHARACTERS_PER_TOKEN
    for edge in _edges_by_importance(graph, members):
        text = " ".join(graph.triple_text(edge).split())
        characters_left -= len(text) + 1
        if characters_left < 0 and facts:
            break
        facts.append(text)
    shown_nodes = sorted(members.tolist(), key=lambda node: (-graph.degree(node), node))[
        :MAX_SHOWN_NAMES
    ]
    prompt = load_prompts("report")["report"]
    user = fill_template(
        prompt["user"],
        entities=", ".join(graph.names(shown_nodes)),
        facts="\n".join(facts) or "(none)",
    )
    return ({"role": "system", "content": prompt["system"]}, {"role": "user", "content": user})


def write_report(
    chat: Chat, messages: Messages, seed: int = 0, watch: Watch = NO_WATCH
) -> CommunityReport:
    """Ask the model for a report.

    Parameters
    ----------
    chat : the language model.
    messages : the result of `report_prompt`.
    seed : seed of the sampling.
    watch : what it raises stops the work.

    Returns
    -------
    The report. A reply that is not JSON becomes its text, with a note.

    Raises
    ------
    ModelUnavailable, ModelFailed : as the model raises.
    """
    reply = chat.reply(
        messages, schema=REPORT_JSON_SCHEMA, max_tokens=MAX_REPORT_TOKENS, seed=seed, watch=watch
    )
    usage = Usage(1, reply.tokens_in, reply.tokens_out)
    parsed = _parse_report(reply.text)
    if parsed is None:
        if reply.text.strip():
            note = "A report was no whole JSON and is shown as it was written."
        else:
            note = f"There is no report: {reply.describe_fault()}"
        return CommunityReport("Report", " ".join(reply.text.split()), note, usage)
    return CommunityReport(parsed[0] or "Report", parsed[1], reply.describe_fault("report"), usage)


def _parse_report(text: str) -> tuple[str, str] | None:
    """Return the title and the text of a report in a reply.

    The title may be empty. The result is None if there is no text.
    """
    reply = json_reply(text, REPORT_JSON_SCHEMA["properties"])
    if reply is None:
        return None
    title, findings = reply.value.get("title"), reply.value.get("findings")
    parts = [reply.value.get("summary"), *(findings if isinstance(findings, list) else [findings])]
    text = " ".join(" ".join(part for part in parts if isinstance(part, str)).split())
    if not text:
        return None
    return (" ".join(title.split()) if isinstance(title, str) else "", text)


def _edges_by_importance(graph: Graph, members: np.ndarray) -> list[int]:
    """Return the edges at some nodes in the order of the prompt.

    Of a hub, only the first `MAX_FACTS_TOKENS` edges are read.
    """
    edges = np.unique(
        np.concatenate([graph.steps(int(node))[1][:MAX_FACTS_TOKENS] for node in members])
    )
    heads, _, tails = graph.triples(edges)
    degrees = graph.degrees(heads) + graph.degrees(tails)
    outside = ~(np.isin(heads, members) & np.isin(tails, members))
    return edges[np.lexsort((edges, -degrees, outside))].tolist()
