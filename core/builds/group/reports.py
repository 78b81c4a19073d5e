"""Operator of stage “tell” that writes a report on each community, from fine to coarse."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from core.builds.base import BuildContext, BuildOperator, BuildState
from core.builds.group.communities import best_connected
from core.builds.model_requests import map_in_parallel, reply_to
from core.graph.building.text_graph import with_tables
from core.graph.columns import Table
from core.graph.store import Graph
from core.graph.texts import chunks_of, node_labels, relation_texts
from core.models.chat.json_reply import json_reply
from core.models.chat.token_estimates import estimate_text_tokens
from core.parameters import param
from core.prompts import make_messages, one_line
from core.types import Usage

# Number of communities after which the memory of their texts, read from a temporary file, is freed.
RELEASE_COMMUNITIES = 1000
DEFAULT_REPORT_TOKENS = 500  # tokens of a reply for which the lengths in the schema are chosen
# Expected before the graph exists: reports per chunk, tokens read and tokens written per report.
REPORTS_PER_CHUNK, TOKENS_READ_PER_REPORT, TOKENS_WRITTEN_PER_REPORT = (0.24, 460, 190)
RATED_REPORT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 80},
        "summary": {"type": "string", "maxLength": 400},
        "findings": {"type": "array", "maxItems": 4, "items": {"type": "string", "maxLength": 200}},
        "rating": {"type": "number"},
    },
    "required": ["title", "summary", "findings", "rating"],
    "additionalProperties": False,
}
UNREADABLE_REPORT_NOTE = (
    "A report was no whole JSON; what could be read of the community stands in its place, "
    "taken from the texts."
)
CUT_REPORT_NOTE = "A report was cut at {0:,} tokens; what had ended of it is there."
INCOMPLETE_REPORT_NOTE = (
    "A report has no title or no rating; the title is that of the community's best connected "
    "members, the rating that of an extract."
)


@dataclass(frozen=True)
class RatedReport:
    """Title, report and rating (0 to 10) of a community.

    The rating is None where a reply has none.
    """

    title: str
    text: str
    rating: float | None


@dataclass(frozen=True, repr=False)
class Reports(BuildOperator):
    """A report on each community, by a language model or extracted from the texts.

    The form is that of Microsoft's GraphRAG: title, summary, findings, rating. The model works
    bottom-up. An extract consists of the unchanged descriptions of the best connected entities and
    heaviest relations.

    The model reads `budget` tokens of entities and relations, best connected first. If a community
    needs more, the reports on its parts come first. The rating of an extract depends on the number
    of chunks that mention the community.
    """

    stage = "tell"
    title = "reports on communities"
    reads, writes = ("graph", "communities"), ("graph",)

    writer: str = param(
        "llm",
        "Written by",
        "A language model, or sentences of the texts.",
        choices=("llm", "extractive"),
    )
    budget: int = param(
        1200,
        "Tokens shown",
        "Most tokens of a community that its report reads.",
        low=20,
        high=100_000,
    )
    length: int = param(
        160,
        "Tokens of an extract",
        "Most tokens of a report taken from the texts.",
        low=20,
        high=10_000,
    )
    model: str = param("answer", "Model", "The language model that writes.", chat=True)
    written: int = param(
        DEFAULT_REPORT_TOKENS,
        "Tokens written",
        "Most tokens of a report by a language model.",
        low=100,
        high=10_000,
    )

    def models(self) -> tuple[str, ...]:
        return (self.model,) if self.writer == "llm" else ()

    def later(self) -> str:
        if self.writer == "llm":
            return f"Reports on communities are added, about one for {round(1 / REPORTS_PER_CHUNK)} chunks"
        return ""

    def expected(self, chunks: int) -> Usage:
        """Return the estimated usage, from the mean of the corpora that ship with such reports.

        Their 183, 602 and 1,067 chunks gave 29, 134 and 364 reports.
        """
        calls = math.ceil(REPORTS_PER_CHUNK * chunks) if self.writer == "llm" else 0
        return Usage(calls, TOKENS_READ_PER_REPORT * calls, TOKENS_WRITTEN_PER_REPORT * calls)

    def apply(self, state: BuildState, ctx: BuildContext) -> BuildState:
        # A line without a graph or communities is refused.
        assert state.graph is not None and state.graph.columns.communities is not None
        table = state.graph.columns.communities
        communities = CommunityTexts(state.graph, table, self.budget)
        reports: dict[int, RatedReport] = {}
        for level in sorted(set(table.numbers("level").tolist()), reverse=True):
            rows = [row for row in range(len(table)) if communities.levels[row] == level]
            ctx.watch.report(
                f"Reports: {len(reports):,} of {len(table):,}", len(reports) / len(table)
            )
            if self.writer == "llm":
                for number, report in map_in_parallel(
                    partial(self._ask_model, communities, dict(reports), ctx), rows, self.model, ctx
                ):
                    reports[rows[number]] = report
                    ctx.watch.report(
                        f"Reports: {len(reports):,} of {len(table):,}", len(reports) / len(table)
                    )
            else:
                for row in rows:
                    reports[row] = communities.extract(row, self.length)
                    if len(reports) % RELEASE_COMMUNITIES == 0:
                        ctx.watch.check()
                        communities.release()
        ctx.report.counts["reports"] = len(reports)
        columns: dict[str, list[Any]] = {
            "title": [reports[row].title for row in range(len(table))],
            "report": [reports[row].text for row in range(len(table))],
            "rating": [reports[row].rating for row in range(len(table))],
        }
        return state.replace(
            graph=with_tables(state.graph, communities=table.with_columns(**columns))
        )

    def words(self) -> str:
        return (
            f"reports {'by a language model' if self.writer == 'llm' else 'taken from the texts'}"
        )

    def _ask_model(
        self,
        communities: CommunityTexts,
        lower_reports: dict[int, RatedReport],
        ctx: BuildContext,
        row: int,
    ) -> RatedReport:
        """Return the report of the model, or an extract where its reply is not such JSON."""
        reports, entities, relations = communities.shown(row, lower_reports)
        prompt = make_messages(
            "communities", "report", reports=reports, entities=entities, relations=relations
        )
        reply = reply_to(
            prompt, ctx.chat(self.model), ctx, schema=schema(self.written), max_tokens=self.written
        )
        report = read_report(reply.text)
        if report is None:
            ctx.report.count(**{"unread reports": 1})
            ctx.report.note(UNREADABLE_REPORT_NOTE)
            return communities.extract(row, self.length)
        if reply.finish == "length":
            ctx.report.note(CUT_REPORT_NOTE.format(self.written))
        if report.title and report.rating is not None:
            return report
        ctx.report.note(INCOMPLETE_REPORT_NOTE)
        extract = communities.extract(row, self.length)
        return RatedReport(
            report.title or extract.title,
            report.text,
            extract.rating if report.rating is None else report.rating,
        )


@cache
def schema(tokens: int) -> dict[str, Any]:
    """Return the schema of a report of at most so many tokens.

    It is `RATED_REPORT_SCHEMA` with longer texts and up to ten findings, as far as the tokens
    allow.

    >>> from core.builds.group.reports import RATED_REPORT_SCHEMA, schema
    >>> schema(500) == RATED_REPORT_SCHEMA, schema(2000)["properties"]["findings"]["maxItems"]
    (True, 10)
    """
    scaled: dict[str, Any] = copy.deepcopy(RATED_REPORT_SCHEMA)
    properties, factor = scaled["properties"], max(1.0, tokens / DEFAULT_REPORT_TOKENS)
    properties["summary"]["maxLength"] = int(properties["summary"]["maxLength"] * factor)
    properties["findings"]["items"]["maxLength"] = int(
        properties["findings"]["items"]["maxLength"] * factor
    )
    properties["findings"]["maxItems"] = min(10, int(properties["findings"]["maxItems"] * factor))
    return scaled


def read_report(text: str) -> RatedReport | None:
    """Return the report in a reply, with a rating of None where it has none.

    None where the reply says nothing about the community.

    >>> from core.builds.group.reports import read_report
    >>> read_report('{"title": "Ann", "summary": "She cooks.", "findings": ["In Rome."], "rating": 11}')
    RatedReport(title='Ann', text='She cooks. In Rome.', rating=10.0)
    """
    reply = json_reply(text, ("title", "summary", "findings"))
    if reply is None:
        return None
    title, summary, findings, rating = (
        reply.value.get(name) for name in RATED_REPORT_SCHEMA["required"]
    )
    parts = [summary, *(findings if isinstance(findings, list) else [findings])]
    text = one_line(" ".join(part for part in parts if isinstance(part, str)))
    if text:
        return RatedReport(one_line(title) if isinstance(title, str) else "", text, _rating(rating))
    return None


def _rating(value: Any) -> float | None:
    """Return a rating limited to 0 to 10; None where the value is not a number."""
    try:
        rating = float(value)
    except (ValueError, TypeError, OverflowError):
        return None
    return min(10.0, max(0.0, rating)) if math.isfinite(rating) else None


class CommunityTexts:
    """Communities of a graph as texts: the input of the language model, and extracts.

    Parameters
    ----------
    graph : the graph, with descriptions.
    table : its communities.
    budget : tokens of entities, relations and reports on parts that the model reads.
    """

    def __init__(self, graph: Graph, table: Table, budget: int):
        self.graph, self.budget = graph, budget
        self.levels, self.parents = table.numbers("level").tolist(), table.numbers("parent")
        self.members, self.titles = table.lists("members"), table.texts("title")
        self._heads, self._relations, self._tails = graph.triples(np.arange(graph.n_edges))
        self._indptr, self._chunks = graph.out_indptr, chunks_of(graph, "nodes")
        self._n_chunks = max(1, len(graph.columns.chunks or ()))

    def shown(self, row: int, reports: dict[int, RatedReport]) -> tuple[str, str, str]:
        """Return the input of the language model for a community.

        Reports on parts are included only where not all entities and relations fit.

        Parameters
        ----------
        row : row of the community.
        reports : the reports on its parts, by row.

        Returns
        -------
        Reports on parts, entities, and relations, each as text.
        """
        entities, relations = self._entities(row), self._edges(row)
        if sum(map(estimate_text_tokens, entities + relations)) <= self.budget:
            return "(none)", "\n".join(entities), "\n".join(relations) or "(none)"
        part_reports = [
            f"{reports[part].title}: {reports[part].text}"
            for part in np.flatnonzero(self.parents == row).tolist()
        ]
        shown_reports = _fit(part_reports, self.budget // 2)
        room = self.budget - sum(map(estimate_text_tokens, shown_reports))
        shown_entities = _fit(entities, room // 2)
        shown_relations = _fit(relations, room - sum(map(estimate_text_tokens, shown_entities)))
        return (
            "\n".join(shown_reports) or "(none)",
            "\n".join(shown_entities),
            "\n".join(shown_relations) or "(none)",
        )

    def extract(self, row: int, limit: int) -> RatedReport:
        """Return an extract from the descriptions of entities and relations.

        Parameters
        ----------
        row : row of the community.
        limit : largest number of tokens, beyond the first text.

        Returns
        -------
        The extract, without repetitions, entities and relations in turn. Its rating, 0 to 10, grows
            with the number of chunks that mention the community.
        """
        nodes = best_connected(self.graph, self.members[row], len(self.members[row]))
        table = self.graph.columns.nodes
        descriptions = [
            text
            for text in (table.texts("description", nodes) if table is not None else [])
            if text
        ]
        edges = self._edges(row)
        parts = (
            [part for pair in zip(descriptions, edges) for part in pair]
            + descriptions[len(edges) :]
            + edges[len(descriptions) :]
        )
        texts = list(dict.fromkeys(map(one_line, parts))) or [", ".join(self.graph.names(nodes))]
        chunks = len(
            np.unique(np.concatenate([self._chunks[node] for node in self.members[row].tolist()]))
        )
        rating = 10 * math.log1p(chunks) / math.log1p(self._n_chunks)
        return RatedReport(
            self.titles[row], " ".join(_fit(texts, limit)) or texts[0], round(rating, 2)
        )

    def release(self) -> None:
        """Free the memory of descriptions that are stored in a temporary file."""
        for table in filter(None, (self.graph.columns.nodes, self.graph.columns.edges)):
            table.release()

    def _entities(self, row: int) -> list[str]:
        """Return the members with types and descriptions, best connected first."""
        return [
            one_line(text)
            for text in node_labels(
                self.graph, best_connected(self.graph, self.members[row], len(self.members[row]))
            )
        ]

    def _edges(self, row: int) -> list[str]:
        """Return the relations between members in words.

        They are ordered by (-degrees of both ends, edge).
        """
        members = self.members[row]
        out = [np.arange(self._indptr[node], self._indptr[node + 1]) for node in members.tolist()]
        edges = np.concatenate(out) if out else np.empty(0, np.int64)
        edges = edges[np.isin(self._tails[edges], members)]
        degrees = self.graph.degrees(self._heads[edges]) + self.graph.degrees(self._tails[edges])
        edges = edges[np.lexsort((edges, -degrees))]
        texts = relation_texts(self.graph, edges)
        missing = [index for index, text in enumerate(texts) if not text]
        triples = dict(zip(missing, self.graph.triple_texts(edges[missing]))) if missing else {}
        return [one_line(text or triples[index]) for index, text in enumerate(texts)]


def _fit(texts: Sequence[str], room: int) -> list[str]:
    """Return as many leading texts as fit into `room` tokens."""
    result: list[str] = []
    for text in texts:
        room -= estimate_text_tokens(text)
        if room < 0:
            break
        result.append(text)
    return result
