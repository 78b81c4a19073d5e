"""All operators, one module per method; each operator is a small frozen dataclass."""

from core.operators.constrained_paths import DecodedPaths
from core.operators.extract import EgoNetwork, PageRank, PersonalizedPageRank, RandomWalks
from core.operators.filter import FilterSubgraph
from core.operators.generate import Answer
from core.operators.loop import Loop
from core.operators.nodes.adaptive_reranking import AdaptiveRerank
from core.operators.nodes.documents import DocumentsOfNodes
from core.operators.nodes.expansion import ExpandNodes
from core.operators.nodes.hypothesise import Hypothesise
from core.operators.nodes.learned_sparse import LearnedSparseNodes
from core.operators.nodes.page_rank import SimilarPageRank
from core.operators.nodes.pair_paths import PairPaths
from core.operators.nodes.reason_and_retrieve import ReasonAndRetrieve
from core.operators.nodes.smoothing import GraphRerank
from core.operators.read import GraphReader
from core.operators.refine import RandomSelect, Rank
from core.operators.retrieve.beam import BeamSearch
from core.operators.retrieve.cases import CaseMemory, PredictHops
from core.operators.retrieve.chain_intersection import ChainIntersection
from core.operators.retrieve.chain_votes import ChainVotes
from core.operators.retrieve.chains import ChainRanking
from core.operators.retrieve.file_runs import FileAnswer, FileDocuments, FilePaths
from core.operators.retrieve.own_retriever import OwnDocuments, OwnRetriever
from core.operators.retrieve.paths import ShortestPaths, SimplePaths
from core.operators.retrieve.plans import RelationPlans
from core.operators.retrieve.reports import CommunityReports
from core.operators.retrieve.scored_triples import ScoredTriples
from core.operators.retrieve.tog import ThinkOnGraph
from core.operators.retrieve.tree_paths import TreePaths
from core.operators.retrieve.triples import DrawnTriples, NearestTriples
from core.operators.retrieve.walks import NodesThenWalks
from core.operators.rewrite import RewritePaths
from core.operators.route import KeepResults, PredictArm
from core.operators.texts.answer.excerpt import NearestSentence
from core.operators.texts.answer.generate import AnswerFromTables
from core.operators.texts.answer.graph_tables import SubgraphTables
from core.operators.texts.answer.own_answer import OwnAnswer
from core.operators.texts.answer.passages import AnswerFromPassages
from core.operators.texts.answer.points import AnswerFromPoints, Points
from core.operators.texts.answer.reasoning import AnswerFromEvidence
from core.operators.texts.built_graph import BuiltGraph
from core.operators.texts.chunks import ChunksByOccurrence, ChunksOfHits, ChunksOfRelations
from core.operators.texts.communities import CommunitiesAtLevel, CommunitiesOfNodes
from core.operators.texts.evidence import (
    ChoosePaths,
    ChooseRelations,
    HitsOfPaths,
    NeighbourRelations,
)
from core.operators.texts.facts import PassagesOfFacts
from core.operators.texts.khop import KhopPaths
from core.operators.texts.merge import Merge, SetAside, Truncate
from core.operators.texts.missing_evidence import MissingEvidence
from core.operators.texts.name_linking import LinkNames
from core.operators.texts.neighbours import EndpointNodes, IncidentRelations, NeighbourNodes
from core.operators.texts.next_thought import NextThought
from core.operators.texts.pagerank import PageRankNodes
from core.operators.texts.question import EmbedQuery, ExtractKeywords, NamesInQuestion
from core.operators.texts.rank_hits import RankHits
from core.operators.texts.scores import ChunksFromRelations, RelationsFromNodes
from core.operators.texts.sparse import SparseChunks, SparseNodes
from core.operators.texts.steiner import SteinerSubgraph
from core.operators.texts.tables import ContextTables
from core.operators.texts.vectors import (
    VectorChunks,
    VectorCommunities,
    VectorNodes,
    VectorRelations,
)
from core.operators.union import Union
from core.operators.vectors import VectorSearch

OPERATORS = {
    cls.__name__: cls
    for cls in (
        BuiltGraph,
        PredictHops,
        PredictArm,
        EmbedQuery,
        Hypothesise,
        NamesInQuestion,
        ExtractKeywords,
        PersonalizedPageRank,
        PageRank,
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
        NodesThenWalks,
        DrawnTriples,
        NearestTriples,
        ScoredTriples,
        OwnRetriever,
        OwnDocuments,
        FileDocuments,
        FilePaths,
        FileAnswer,
        LinkNames,
        VectorNodes,
        VectorRelations,
        VectorChunks,
        VectorCommunities,
        SparseNodes,
        SparseChunks,
        NeighbourNodes,
        EndpointNodes,
        PageRankNodes,
        IncidentRelations,
        RelationsFromNodes,
        ChunksFromRelations,
        ChunksOfRelations,
        ChunksByOccurrence,
        ChunksOfHits,
        PassagesOfFacts,
        CommunitiesOfNodes,
        CommunitiesAtLevel,
        SteinerSubgraph,
        ExpandNodes,
        Loop,
        Union,
        LearnedSparseNodes,
        SimilarPageRank,
        PairPaths,
        ReasonAndRetrieve,
        DocumentsOfNodes,
        KhopPaths,
        HitsOfPaths,
        NeighbourRelations,
        MissingEvidence,
        NextThought,
        Rank,
        GraphRerank,
        AdaptiveRerank,
        RandomSelect,
        KeepResults,
        RewritePaths,
        RankHits,
        SetAside,
        Merge,
        Truncate,
        ContextTables,
        SubgraphTables,
        ChoosePaths,
        ChooseRelations,
        Points,
        DecodedPaths,
        CommunityReports,
        GraphReader,
        NearestSentence,
        Answer,
        AnswerFromTables,
        OwnAnswer,
        AnswerFromPassages,
        AnswerFromEvidence,
        AnswerFromPoints,
    )
}
"""Every operator by name, in the order of the stages."""
