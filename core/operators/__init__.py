"""One module a stage; each operator is a small frozen dataclass."""

from core.operators.beam import BeamSearch
from core.operators.cases import CaseMemory, PredictHops
from core.operators.chains import ChainRanking
from core.operators.decoded import DecodedPaths
from core.operators.external import OwnRetriever
from core.operators.extract import EgoNetwork, PersonalizedPageRank, RandomWalks
from core.operators.filter import FilterSubgraph
from core.operators.generate import Answer
from core.operators.paths import ShortestPaths, SimplePaths
from core.operators.plans import RelationPlans
from core.operators.read import GraphReader
from core.operators.refine import RandomSelect, Rank
from core.operators.reports import CommunityReports
from core.operators.tog import ThinkOnGraph
from core.operators.tree import TreePaths
from core.operators.vectors import VectorSearch

OPERATORS = {
    cls.__name__: cls
    for cls in (
        PredictHops,
        PersonalizedPageRank,
        RandomWalks,
        EgoNetwork,
        VectorSearch,
        FilterSubgraph,
        ShortestPaths,
        SimplePaths,
        BeamSearch,
        TreePaths,
        ChainRanking,
        CaseMemory,
        ThinkOnGraph,
        RelationPlans,
        OwnRetriever,
        Rank,
        RandomSelect,
        DecodedPaths,
        CommunityReports,
        GraphReader,
        Answer,
    )
}
"""Every operator by name, in the order of the stages."""
