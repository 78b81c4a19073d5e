"""Retrieval of the reports on the communities that the question entities belong to."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from core.environment import Environment
from core.graph.algorithms.igraph_library import community_mark, community_notes
from core.indexes.communities import load_communities
from core.indexes.reports import ReportStore
from core.operators.base import Context, Operator, Recorder
from core.parameters import param
from core.types import State, WrittenReport


@dataclass(frozen=True, repr=False)
class CommunityReports(Operator):
    """The reports of at most `keep` communities of the question entities, for the prompt.

    The communities are Leiden communities of the whole graph, split until they have at most `size`
    members if that is possible. A language model writes a report on each. Prepared reports are read
    from disk. A missing one is written during the run and stored, and a note says so.

    This is the Microsoft-GraphRAG method of LEGO-GraphRAG (technical report, B.10). The technical
    report names neither the level nor the size. This operator takes the finest level and the size
    of Microsoft's code.

    >>> written = says('{"title": "All five", "summary": "A to E hang together.", "findings": []}')
    >>> retrieve("CommunityReports()", "A", models=written).reports
    (WrittenReport(title='All five', text='A to E hang together.', about=('A',), members=5),)
    """

    stage = "retrieve"
    title = "community reports"
    plain = "adds reports of the communities"
    reads, writes = ("seeds",), ("reports",)

    size: int = param(
        10,
        "Largest community",
        "Communities of more entities are split further where they can be.",
        low=2,
        high=10_000,
    )
    keep: int = param(
        4, "Reports at most", "One for each entity of the question, in their order.", low=1, high=64
    )
    role: str = param(
        "answer", "Model", "The role or name of the chat model that writes reports.", chat=True
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        partition = load_communities(ctx.graph, self.size, ctx.watch)
        recorder.notes += community_notes()
        chat = partial(ctx.models.chat, self.role)
        stored_reports = ReportStore(ctx.graph, partition, chat, ctx.models.signature(self.role))
        seeds_by_community: dict[int, list[int]] = {}
        for seed in dict.fromkeys(state.seeds):
            seeds_by_community.setdefault(int(partition.community_of[seed]), []).append(seed)
        selected = list(seeds_by_community.items())[: self.keep]
        reports = []
        n_written = 0
        start = time.perf_counter()
        for number, (community, seeds) in enumerate(selected, 1):
            ctx.watch.report(
                f"Community report {number} of {len(selected)}", (number - 1) / len(selected)
            )
            ctx.watch.check()
            report = stored_reports.get_report(community, ctx.seed, ctx.watch)
            recorder.usage += report.usage
            n_written += report.is_new
            if report.note and report.note not in recorder.notes:
                recorder.notes.append(report.note)
            names = tuple(ctx.graph.names(seeds))
            n_members = len(partition.members(community))
            reports.append(WrittenReport(report.title, report.text, names, n_members))
        if n_written:
            seconds = time.perf_counter() - start
            recorder.notes.append(
                f"{n_written} of {len(selected)} reports had not been prepared and were written "
                f"now, in {seconds:.1f} s."
            )
        n_communities = len(seeds_by_community)
        if n_communities > self.keep:
            recorder.notes.append(
                f"The question's entities lie in {n_communities} communities; the reports of the "
                f"first {self.keep} are shown."
            )
        return state.replace(reports=tuple(reports))

    def stamp(self, graph: Any, environment: Environment) -> str:
        return community_mark()
