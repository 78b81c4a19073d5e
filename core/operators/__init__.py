"""One module a stage; each operator is a small frozen dataclass."""

from core.operators.decoded import DecodedPaths
from core.operators.extract import EgoNetwork, PersonalizedPageRank, RandomWalks
from core.operators.filter import FilterSubgraph
from core.operators.generate import Answer
from core.operators.read import GraphReader
from core.operators.refine import RandomSelect, Rank
from core.operators.retrieve.beam import BeamSearch
from core.operators.retrieve.cases import CaseMemory, PredictHops
from core.operators.retrieve.chains import ChainRanking
from core.operators.retrieve.external import OwnRetriever
from core.operators.retrieve.meeting import ChainIntersection
from core.operators.retrieve.paths import ShortestPaths, SimplePaths
from core.operators.retrieve.plans import RelationPlans
from core.operators.retrieve.reports import CommunityReports
from core.operators.retrieve.tog import ThinkOnGraph
from core.operators.retrieve.tree import TreePaths
from core.operators.retrieve.votes import ChainVotes
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
        ChainIntersection,
        ChainVotes,
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
