"""Names that papers give to the operators, for the Build page.

They come from the descriptions of the operators and from the methods that use them.
"""

from __future__ import annotations

LEGO_GRAPHRAG = "LEGO-GraphRAG"
INDEPTH_ANALYSIS = "In-depth Analysis"
FASTINSIGHT = "FastInsight"
WALK_AND_RETRIEVE = "Walk&Retrieve"

TERMS = {
    "EmbedQuery": f"{INDEPTH_ANALYSIS}: vector",
    "Hypothesise": "HyDE",
    "NamesInQuestion": f"{INDEPTH_ANALYSIS}: entities",
    "ExtractKeywords": "LightRAG: keywords",
    "PersonalizedPageRank": f"{LEGO_GRAPHRAG}: SBE-PPR",
    "PageRank": f"{LEGO_GRAPHRAG} v1: PageRank",
    "RandomWalks": f"{LEGO_GRAPHRAG} v1: RWR",
    "EgoNetwork": f"{LEGO_GRAPHRAG}: KSE, Ego",
    "VectorSearch": f"{LEGO_GRAPHRAG}: B.7",
    "FilterSubgraph": f"{LEGO_GRAPHRAG}: SAE",
    "ShortestPaths": f"{LEGO_GRAPHRAG}: SBR-SPR",
    "SimplePaths": f"{LEGO_GRAPHRAG} v1: complete paths",
    "BeamSearch": f"{LEGO_GRAPHRAG}: ISAR",
    "TreePaths": f"{LEGO_GRAPHRAG} v1: beam",
    "ChainRanking": "Retrieve-Rewrite-Answer",
    "ChainIntersection": "2i, ip and pi queries",
    "ChainVotes": "after ColBERT",
    "CaseMemory": "after CBR-KBQA",
    "ThinkOnGraph": "Think-on-Graph",
    "RelationPlans": "RoG",
    "NodesThenWalks": WALK_AND_RETRIEVE,
    "DrawnTriples": f"{WALK_AND_RETRIEVE}: Vanilla RAG",
    "NearestTriples": f"{WALK_AND_RETRIEVE}: Vanilla RAG",
    "ScoredTriples": "SubgraphRAG",
    "LinkNames": f"{INDEPTH_ANALYSIS}: node Link",
    "VectorNodes": f"{INDEPTH_ANALYSIS}: node VDB",
    "VectorRelations": f"{INDEPTH_ANALYSIS}: relationship VDB",
    "VectorChunks": f"{INDEPTH_ANALYSIS}: chunk VDB",
    "VectorCommunities": f"{INDEPTH_ANALYSIS}: community VDB",
    "SparseNodes": f"{INDEPTH_ANALYSIS}: node TF-IDF",
    "SparseChunks": "BM25, TF-IDF",
    "NeighbourNodes": f"{INDEPTH_ANALYSIS}: node Onehop",
    "EndpointNodes": f"{INDEPTH_ANALYSIS}: node RelNode",
    "PageRankNodes": f"{INDEPTH_ANALYSIS}: node PPR",
    "IncidentRelations": f"{INDEPTH_ANALYSIS}: relationship Onehop",
    "RelationsFromNodes": f"{INDEPTH_ANALYSIS}: relationship Aggregator",
    "ChunksFromRelations": f"{INDEPTH_ANALYSIS}: chunk Aggregator",
    "ChunksOfRelations": f"{INDEPTH_ANALYSIS}: chunk FromRel",
    "ChunksByOccurrence": f"{INDEPTH_ANALYSIS}: chunk Occurrence",
    "ChunksOfHits": "LightRAG 1.5",
    "PassagesOfFacts": "HippoRAG 2",
    "CommunitiesOfNodes": f"{INDEPTH_ANALYSIS}: community Entity",
    "CommunitiesAtLevel": f"{INDEPTH_ANALYSIS}: community Layer",
    "SteinerSubgraph": "G-Retriever: Steiner",
    "ExpandNodes": f"{FASTINSIGHT}: STeX",
    "Loop": f"{FASTINSIGHT}: algorithm 1",
    "LearnedSparseNodes": "SPLADE",
    "SimilarPageRank": "HippoRAG 2",
    "PairPaths": "PathRAG",
    "ReasonAndRetrieve": "IRCoT",
    "KhopPaths": "DALK: KhopPath",
    "NeighbourRelations": "DALK: neighbour evidence",
    "MissingEvidence": "KGP",
    "NextThought": "HippoRAG with IRCoT",
    "Rank": f"{LEGO_GRAPHRAG}: OSAR",
    "GraphRerank": f"{FASTINSIGHT}: GRanker",
    "AdaptiveRerank": "GAR",
    "RandomSelect": f"{LEGO_GRAPHRAG} v1: random",
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
    "CommunityReports": f"{LEGO_GRAPHRAG}: B.10",
    "Answer": f"{LEGO_GRAPHRAG}: generation",
    "AnswerFromTables": "nano-graphrag: local search",
    "AnswerFromPassages": "RAPTOR, KGP, HippoRAG",
    "AnswerFromEvidence": "DALK",
    "AnswerFromPoints": "GGraphRAG: reduce",
}
"""Terms by the names of the operator classes. An operator without one is in no paper."""
OWN_TERM = "Hopscope's own"


def paper_term(name: str) -> str:
    """Return the paper of an operator and its name there.

    An operator in no paper has `OWN_TERM`.

    >>> from core.drafts.terms import paper_term
    >>> paper_term("PersonalizedPageRank"), paper_term("GraphReader")
    ('LEGO-GraphRAG: SBE-PPR', "Hopscope's own")
    """
    return TERMS.get(name, OWN_TERM)
