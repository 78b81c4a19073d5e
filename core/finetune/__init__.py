"""Fine-tuning of models on question sets.

It trains the sentence encoder of the methods No. 5, 12 and 18 of LEGO-GraphRAG v1, the language
model of its methods No. 7, 14 and 20, a cross-encoder reranker, and the triple scorer of
SubgraphRAG.
"""

# Names of the question sets to learn from if none are given.
DEFAULT_SETS = "metaqa-1hop-dev,metaqa-2hop-dev,metaqa-3hop-dev"
