"""Every building operator by name."""

from __future__ import annotations

from core.builds.base import BuildOperator
from core.builds.chunking import SentenceChunks, TokenChunks, WholeDocuments
from core.builds.communities import Communities
from core.builds.corpus_graphs import GivenLinks, NearestDocuments, SharedTerms
from core.builds.described_names import DescribedNames
from core.builds.language_model import LanguageModelExtraction
from core.builds.merging import Merge
from core.builds.noun_phrases import NounPhrases
from core.builds.passages import PassageGraph
from core.builds.reports import Reports
from core.builds.synonyms import AddIdentityEdges, AddSynonymEdges
from core.builds.tree import Tree
from core.builds.vectors import Vectors

EVERY: tuple[type[BuildOperator], ...] = (
    *(WholeDocuments, TokenChunks, SentenceChunks),
    *(NounPhrases, LanguageModelExtraction, DescribedNames),
    *(Merge, PassageGraph),
    *(GivenLinks, NearestDocuments, SharedTerms),
    *(AddIdentityEdges, AddSynonymEdges, Communities, Tree, Reports, Vectors),
)
OPERATORS: dict[str, type[BuildOperator]] = {operator.__name__: operator for operator in EVERY}
