"""Operator that takes chunks and graph from an index of another tool.

The index was opened together with the corpus. The operator belongs to stage “chunk”.
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

    The corpus was opened from this index (`corpus open`). Nothing is read or extracted. The report
    tells what of the index was left out. Documents that were added to the corpus later are not
    included.
    """

    stage = "chunk"
    title = "index of another tool"
    reads, writes = ("documents",), ("chunks", "graph", "communities")

    tool: str = param("graphrag", "Tool", "The tool that made the index.", choices=tuple(TOOLS))

    def lacks(self, corpus: Corpus) -> str:
        if opened_summary(corpus, self.tool):
            return ""
        return f"The corpus “{corpus.name}” was not opened from an index of {self.called}."

    def basis(self, corpus: Corpus) -> str:
        taken = opened_summary(corpus, self.tool)
        return (
            taken.corpus
            if taken is not None and coverage_of_index(corpus, taken).holds
            else corpus.digest
        )

    def uncovered(self, corpus: Corpus) -> str:
        taken = opened_summary(corpus, self.tool)
        return "" if taken is None else coverage_of_index(corpus, taken).sentence()

    @property
    def called(self) -> str:
        """Name of the tool."""
        return TOOLS[self.tool].title

    def apply(self, made: BuildState, ctx: BuildContext) -> BuildState:
        taken = opened_summary(made.corpus, self.tool)
        if taken is None:
            raise BadInput(
                with_command(
                    f"{self.lacks(made.corpus)} Open its folder on the page Texts.",
                    "python -m core corpus open FOLDER --name NAME",
                )
            )
        covered = coverage_of_index(made.corpus, taken)
        if not covered.holds:
            raise BadInput(covered.sentence())
        graph = opened_graph(made.corpus, self.tool)
        ctx.report.counts.update(
            {what: count for what, count in taken.counts.items() if count and what != "vectors"}
        )
        for sentence in taken.sentences():
            ctx.report.note(sentence)
        return made.replace(chunks=graph.columns.chunks, graph=graph, opened=self.tool)

    def words(self) -> str:
        return f"index of {self.called}"
