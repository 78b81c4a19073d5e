"""Operator of stage “tell” that writes a report on each community, finest level first."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from core.builds.base import BuildContext, BuildState, SampledOperator
from core.builds.extract.model_replies import object_schema, text_schema
from core.builds.group.communities import best_connected
from core.builds.group.summaries import leading_texts
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
# Expected before the graph exists, from shipped builds (see `Reports.expected_usage`).
REPORTS_PER_CHUNK = 0.24
TOKENS_READ_PER_REPORT = 460
TOKENS_WRITTEN_PER_REPORT = 190
RATED_REPORT_SCHEMA = object_schema(
    {
        "title": text_schema(80),
        "summary": text_schema(400),
        "findings": {"type": "array", "maxItems": 4, "items": text_schema(200)},
        "rating": {"type": "number"},
    }
)
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
    """Title, report and rating of a community.

    The rating is its importance from 0 to 10, None if a reply has none.
    """

    title: str
    text: str
    rating: float | None


@dataclass(frozen=True, repr=False)
class Reports(SampledOperator):
    """A report on each community, by a language model or extracted from the texts.

    The form is that of Microsoft's GraphRAG: title, summary, findings, rating. The finest
    communities come first. An extract consists of the unchanged descriptions of the best connected
    entities and the relations between them.

    The model reads `budget` tokens of entities and relations, best connected first. If a community
    has more of them, up to half of the budget is for the reports on its parts. The rating of an
    extract depends on the number of chunks that mention the community.
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

    def later_cost_sentence(self) -> str:
        if self.writer == "llm":
            return f"Reports on communities are added, about one for {round(1 / REPORTS_PER_CHUNK)} chunks"
        return ""

    def expected_usage(self, chunks: int) -> Usage:
        """Return the usage, estimated from the mean of shipped corpora.

        These corpora ship with such reports. Their 183, 602 and 1,067 chunks gave 29, 134 and 364
        reports.
        """
        calls = math.ceil(REPORTS_PER_CHUNK * chunks) if self.writer == "llm" else 0
        return Usage(calls, TOKENS_READ_PER_REPORT * calls, TOKENS_WRITTEN_PER_REPORT * calls)

    def apply(self, state: BuildState, ctx: BuildContext) -> BuildState:
        # A line without a graph or communities is refused.
        assert state.graph is not None and state.graph.columns.communities is not None
        table = state.graph.columns.communities
        communities = CommunityTexts(state.graph, table, self.budget)
        reports: dict[int, RatedReport] = {}

        def show_progress() -> None:
            done = len(reports)
            ctx.watch.report(f"Reports: {done:,} of {len(table):,}", done / len(table))

        # The finest level has the greatest number. Reports on parts thus precede those on the
        # whole.
        for level in sorted(set(communities.levels), reverse=True):
            rows = [row for row in range(len(table)) if communities.levels[row] == level]
            show_progress()
            if self.writer == "llm":
                write = partial(self._ask_model, communities, dict(reports), ctx)
                for number, report in map_in_parallel(write, rows, self.model, ctx):
                    reports[rows[number]] = report
                    show_progress()
            else:
                for row in rows:
                    reports[row] = communities.extract(row, self.length)
                    if len(reports) % RELEASE_COMMUNITIES == 0:
                        ctx.watch.check()
                        communities.release()
        ctx.report.counts["reports"] = len(reports)
        ordered = [reports[row] for row in range(len(table))]
        table_with_reports = table.with_columns(
            title=[report.title for report in ordered],
            report=[report.text for report in ordered],
            rating=[report.rating for report in ordered],
        )
        return state.replace(graph=with_tables(state.graph, communities=table_with_reports))

    def words(self) -> str:
        origin = "by a language model" if self.writer == "llm" else "taken from the texts"
        return f"reports {origin}"

    def _ask_model(
        self,
        communities: CommunityTexts,
        lower_reports: dict[int, RatedReport],
        ctx: BuildContext,
        row: int,
    ) -> RatedReport:
        """Return the model's report, or an extract if its reply is unreadable."""
        reports, entities, relations = communities.model_input(row, lower_reports)
        prompt = make_messages(
            "communities", "report", reports=reports, entities=entities, relations=relations
        )
        schema = report_schema(self.written)
        options = {"schema": schema, "max_tokens": self.written, **self.sampling}
        reply = reply_to(prompt, ctx.chat(self.model), ctx, **options)
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
def report_schema(tokens: int) -> dict[str, Any]:
    """Return the schema of a report of at most `tokens` tokens.

    It is `RATED_REPORT_SCHEMA` with longer texts and up to ten findings, as far as the tokens
    allow.

    >>> from core.builds.group.reports import RATED_REPORT_SCHEMA, report_schema
    >>> report_schema(500) == RATED_REPORT_SCHEMA
    True
    >>> report_schema(2000)["properties"]["findings"]["maxItems"]
    10
    """
    scaled: dict[str, Any] = copy.deepcopy(RATED_REPORT_SCHEMA)
    factor = max(1.0, tokens / DEFAULT_REPORT_TOKENS)
    summary, findings = scaled["properties"]["summary"], scaled["properties"]["findings"]
    for texts in (summary, findings["items"]):
        texts["maxLength"] = int(texts["maxLength"] * factor)
    findings["maxItems"] = min(10, int(findings["maxItems"] * factor))
    return scaled


def read_report(text: str) -> RatedReport | None:
    """Parse the report in a reply.

    A missing title is empty, and a missing rating is None. None is returned if the reply has
    neither a summary nor findings, or is no JSON.

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
    """Return a rating limited to 0 to 10. The result is None if the value is not a number."""
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
        self.members, self.titles = table.id_lists("members"), table.texts("title")
        self._heads, _, self._tails = graph.triples(np.arange(graph.n_edges))
        self._chunks = chunks_of(graph, "nodes")
        self._n_chunks = max(1, len(graph.columns.chunks or ()))

    def model_input(self, row: int, reports: dict[int, RatedReport]) -> tuple[str, str, str]:
        """Return the input of the language model for a community.

        Reports on parts are included only if not all entities and relations fit.

        Parameters
        ----------
        row : row of the community.
        reports : the reports on its parts, by row.

        Returns
        -------
        Reports on parts, entities, and relations, each as text.
        """
        entities, relations = self._entity_texts(row), self._relation_texts(row)
        part_reports: list[str] = []
        if _count_tokens(entities + relations) > self.budget:
            parts = [reports[part] for part in np.flatnonzero(self.parents == row).tolist()]
            part_texts = [f"{report.title}: {report.text}" for report in parts]
            part_reports = leading_texts(part_texts, self.budget // 2)
            tokens_left = self.budget - _count_tokens(part_reports)
            entities = leading_texts(entities, tokens_left // 2)
            relations = leading_texts(relations, tokens_left - _count_tokens(entities))
        return (
            "\n".join(part_reports) or "(none)",
            "\n".join(entities),
            "\n".join(relations) or "(none)",
        )

    def extract(self, row: int, limit: int) -> RatedReport:
        """Return an extract from the descriptions of entities and relations.

        Parameters
        ----------
        row : row of the community.
        limit : largest number of tokens; the first text is included in any case.

        Returns
        -------
        The extract, without repetitions, entities and relations in turn. Its rating, 0 to 10, grows
            with the number of chunks that mention the community.
        """
        members = self.members[row]
        nodes = best_connected(self.graph, members, len(members))
        table = self.graph.columns.nodes
        descriptions: list[str] = []
        if table is not None:
            descriptions = list(filter(None, table.texts("description", nodes)))
        alternating = chain.from_iterable(zip_longest(descriptions, self._relation_texts(row)))
        texts = list(dict.fromkeys(one_line(text) for text in alternating if text is not None))
        texts = texts or [", ".join(self.graph.names(nodes))]
        chunks = np.unique(np.concatenate([self._chunks[node] for node in members.tolist()]))
        rating = 10 * math.log1p(len(chunks)) / math.log1p(self._n_chunks)
        text = " ".join(leading_texts(texts, limit)) or texts[0]
        return RatedReport(self.titles[row], text, round(rating, 2))

    def release(self) -> None:
        """Free the memory of texts in temporary files, which are read again if needed."""
        for table in filter(None, (self.graph.columns.nodes, self.graph.columns.edges)):
            table.free_memory()

    def _entity_texts(self, row: int) -> list[str]:
        """Return the members with types and descriptions, best connected first."""
        members = self.members[row]
        nodes = best_connected(self.graph, members, len(members))
        return [one_line(text) for text in node_labels(self.graph, nodes)]

    def _relation_texts(self, row: int) -> list[str]:
        """Return the relations between members in words.

        They are ordered by (-sum of the degrees of both ends, edge). A relation without a text of
        its own is given as its triple.
        """
        members, indptr = self.members[row], self.graph.out_indptr
        out_edges = [np.arange(indptr[node], indptr[node + 1]) for node in members.tolist()]
        edges = np.concatenate(out_edges) if out_edges else np.empty(0, np.int64)
        edges = edges[np.isin(self._tails[edges], members)]
        degrees = self.graph.degrees(self._heads[edges]) + self.graph.degrees(self._tails[edges])
        edges = edges[np.lexsort((edges, -degrees))]
        texts = relation_texts(self.graph, edges)
        missing = [index for index, text in enumerate(texts) if not text]
        triples = dict(zip(missing, self.graph.triple_texts(edges[missing]))) if missing else {}
        return [one_line(text or triples[index]) for index, text in enumerate(texts)]


def _count_tokens(texts: Sequence[str]) -> int:
    return sum(map(estimate_text_tokens, texts))
