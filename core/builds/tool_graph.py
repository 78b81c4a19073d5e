"""Operator that takes chunks and graph from a tool's index.

An example of a tool is Microsoft's GraphRAG. The index was opened together with the corpus. The
operator belongs to stage “chunk”, because a line begins with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.builds.base import BuildContext, BuildOperator, BuildState
from core.corpus import Corpus
from core.corpus.indexes.coverage import coverage_of_index
from core.corpus.indexes.opened_indexes import opened_graph, opened_summary
from core.corpus.indexes.tools import TOOLS
from core.errors import BadInput, with_command
from core.parameters import param


@dataclass(frozen=True, repr=False)
class OpenedIndex(BuildOperator):
    """Chunks, entities, relations, communities and reports from the index of `tool`.

    The corpus was opened from this index (`corpus open`). No chunk is cut and no fact extracted.
    The report has notes on parts of the index that were left out. Documents that were added to the
    corpus later are not included.
    """

    stage = "chunk"
    title = "index of another tool"
    reads, writes = ("documents",), ("chunks", "graph", "communities")

    tool: str = param("graphrag", "Tool", "The tool that made the index.", choices=tuple(TOOLS))

    def missing_requirement(self, corpus: Corpus) -> str:
        if opened_summary(corpus, self.tool):
            return ""
        return f"The corpus “{corpus.name}” was not opened from an index of {self.tool_title}."

    def source_digest(self, corpus: Corpus) -> str:
        """Return the digest of the corpus when the index was opened.

        Documents that were added later thus do not make the build outdated. Without such an index,
        or if its documents were changed or removed, it is the digest of the present corpus.
        """
        summary = opened_summary(corpus, self.tool)
        if summary is not None and coverage_of_index(corpus, summary).is_complete:
            return summary.corpus
        return corpus.digest

    def uncovered_sentence(self, corpus: Corpus) -> str:
        summary = opened_summary(corpus, self.tool)
        return "" if summary is None else coverage_of_index(corpus, summary).sentence()

    @property
    def tool_title(self) -> str:
        """Name of the tool."""
        return TOOLS[self.tool].title

    def apply(self, state: BuildState, ctx: BuildContext) -> BuildState:
        summary = opened_summary(state.corpus, self.tool)
        if summary is None:
            sentence = (
                f"{self.missing_requirement(state.corpus)} Open its folder on the page Texts."
            )
            command = "hopscope corpus open FOLDER --name NAME"
            raise BadInput(with_command(sentence, command))
        coverage = coverage_of_index(state.corpus, summary)
        if not coverage.is_complete:
            raise BadInput(coverage.sentence())
        graph = opened_graph(state.corpus, self.tool)
        ctx.report.counts.update(
            {name: count for name, count in summary.counts.items() if count and name != "vectors"}
        )
        for sentence in summary.sentences():
            ctx.report.note(sentence)
        return state.replace(chunks=graph.columns.chunks, graph=graph, index_tool=self.tool)

    def words(self) -> str:
        return f"index of {self.tool_title}"
