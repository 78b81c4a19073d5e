"""Registry of all building operators by name, and the grammar of their lines."""

from __future__ import annotations

from core.builds.base import BUILD_STAGES, BuildLine, BuildOperator
from core.builds.chunkers import CharacterChunks, SentenceChunks, TokenChunks, WholeDocuments
from core.builds.extract.described_names import DescribedNames
from core.builds.extract.language_model import LanguageModelExtraction
from core.builds.extract.names_and_terms import NamesAndTerms
from core.builds.extract.noun_phrases import NounPhrases
from core.builds.group.communities import Communities
from core.builds.group.reports import Reports
from core.builds.group.tree import Tree
from core.builds.merge.corpus_graphs import (
    CitedDocuments,
    GivenLinks,
    NearestDocuments,
    SharedTerms,
)
from core.builds.merge.fact_merge import Merge
from core.builds.merge.passages import PassageGraph
from core.builds.merge.synonyms import AddIdentityEdges, AddSynonymEdges
from core.builds.resolve.names import ResolveNames
from core.builds.tool_graph import OpenedIndex
from core.builds.vectors import Vectors
from core.lines import Grammar

# In the order of the stages, merge on two lines. The last line has the stages link to index.
BUILD_OPERATORS: tuple[type[BuildOperator], ...] = (
    *(WholeDocuments, TokenChunks, SentenceChunks, CharacterChunks, OpenedIndex),
    *(NounPhrases, NamesAndTerms, LanguageModelExtraction, DescribedNames),
    *(ResolveNames,),
    *(Merge, PassageGraph),
    *(GivenLinks, CitedDocuments, NearestDocuments, SharedTerms),
    *(AddIdentityEdges, AddSynonymEdges, Communities, Tree, Reports, Vectors),
)
BUILD_OPERATORS_BY_NAME: dict[str, type[BuildOperator]] = {
    operator.__name__: operator for operator in BUILD_OPERATORS
}
BUILD_GRAMMAR = Grammar(
    BUILD_OPERATORS_BY_NAME,
    BUILD_STAGES,
    BuildLine,
    last_stage="index",
    line_noun="a build",
    operator_noun="building operator",
)
