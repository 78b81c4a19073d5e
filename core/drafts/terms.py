"""Names that the papers give to each operator.

They come from the description of the operator or from the instances that use it.
"""

from __future__ import annotations

LEGO, ANALYSIS, FAST, WALK = "LEGO-GraphRAG", "In-depth Analysis", "FastInsight", "Walk&Retrieve"

TERMS = {
    "EmbedQuery": f"{ANALYSIS}: vector",
    "Hypothesise": "HyDE",
    "NamesInQuestion": f"{ANALYSIS}: entities",
    "ExtractKeywords": "LightRAG: keywords",
    "PersonalizedPageRank": f"{LEGO}: SBE-PPR",
    "PageRank": f"{LEGO} v1: PageRank",
    "RandomWalks": f"{LEGO} v1: RWR",
    "EgoNetwork": f"{LEGO}: KSE, Ego",
    "VectorSearch": f"{LEGO}: B.7",
    "FilterSubgraph": f"{LEGO}: SAE",
    "ShortestPaths": f"{LEGO}: SBR-SPR",
    "SimplePaths": f"{LEGO} v1: complete paths",
    "BeamSearch": f"{LEGO}: ISAR",
    "TreePaths": f"{LEGO} v1: beam",
    "ChainRanking": "Retrieve-Rewrite-Answer",
    "ChainIntersection": "2i, ip and pi queries",
    "ChainVotes": "after ColBERT",
    "CaseMemory": "after CBR-KBQA",
    "ThinkOnGraph": "Think-on-Graph",
    "RelationPlans": "RoG",
    "NodesThenWalks": WALK,
    "DrawnTriples": f"{WALK}: Vanilla RAG",
    "NearestTriples": f"{WALK}: Vanilla RAG",
    "ScoredTriples": "SubgraphRAG",
    "LinkNames": f"{ANALYSIS}: node Link",
    "VectorNodes": f"{ANALYSIS}: node VDB",
    "VectorRelations": f"{ANALYSIS}: relationship VDB",
    "VectorChunks": f"{ANALYSIS}: chunk VDB",
    "VectorCommunities": f"{ANALYSIS}: community VDB",
    "SparseNodes": f"{ANALYSIS}: node TF-IDF",
    "SparseChunks": "BM25, TF-IDF",
    "NeighbourNodes": f"{ANALYSIS}: node Onehop",
    "EndpointNodes": f"{ANALYSIS}: node RelNode",
    "PageRankNodes": f"{ANALYSIS}: node PPR",
    "IncidentRelations": f"{ANALYSIS}: relationship Onehop",
    "RelationsFromNodes": f"{ANALYSIS}: relationship Aggregator",
    "ChunksFromRelations": f"{ANALYSIS}: chunk Aggregator",
    "ChunksOfRelations": f"{ANALYSIS}: chunk FromRel",
    "ChunksByOccurrence": f"{ANALYSIS}: chunk Occurrence",
    "ChunksOfHits": "LightRAG 1.5",
    "PassagesOfFacts": "HippoRAG 2",
    "CommunitiesOfNodes": f"{ANALYSIS}: community Entity",
    "CommunitiesAtLevel": f"{ANALYSIS}: community Layer",
    "SteinerSubgraph": "G-Retriever: Steiner",
    "ExpandNodes": f"{FAST}: STeX",
    "Loop": f"{FAST}: algorithm 1",
    "LearnedSparseNodes": "SPLADE",
    "SimilarPageRank": "HippoRAG 2",
    "PairPaths": "PathRAG",
    "ReasonAndRetrieve": "IRCoT",
    "KhopPaths": "DALK: KhopPath",
    "NeighbourRelations": "DALK: neighbour evidence",
    "MissingEvidence": "KGP",
    "NextThought": "HippoRAG with IRCoT",
    "Rank": f"{LEGO}: OSAR",
    "GraphRerank": f"{FAST}: GRanker",
    "AdaptiveRerank": "GAR",
    "RandomSelect": f"{LEGO} v1: random",
    "RewritePaths": "Retrieve-Rewrite-Answer",
    "SetAside": "LightRAG: hybrid",
    "Merge": "LightRAG: hybrid",
    "Truncate": "LightRAG: cut by tokens",
    "ContextTables": "nano-graphrag: local search",
    "SubgraphTables": "G-Retriever: textual graph",
    "ChoosePaths": "DALK: AgentPath",
    "ChooseRelations": "DALK: rerank",
    "Points": "GGraphRAG: map",
    "DecodedPaths": "GCR",
    "CommunityReports": f"{LEGO}: B.10",
    "Answer": f"{LEGO}: generation",
    "AnswerFromTables": "nano-graphrag: local search",
    "AnswerFromPassages": "RAPTOR, KGP, HippoRAG",
    "AnswerFromEvidence": "DALK",
    "AnswerFromPoints": "GGraphRAG: reduce",
}
"""By the name of the operator; those without one are Hopscope's own."""
OWN = "Hopscope's own"


def term(name: str) -> str:
    """Return what a paper calls an operator.

    >>> from core.drafts.terms import term
    >>> term("PersonalizedPageRank"), term("GraphReader")
    ('LEGO-GraphRAG: SBE-PPR', "Hopscope's own")
    """
    return TERMS.get(name, OWN)
