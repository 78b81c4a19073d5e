"""Fine-tuning of models on question sets.

It trains the sentence encoder of LEGO-GraphRAG v1's No. 5, 12 and 18, and the language model of its
No. 7, 14 and 20.
"""

DEFAULT_SETS = "metaqa-1hop-dev,metaqa-2hop-dev,metaqa-3hop-dev"
