"""Fine-tuning on a question set: the sentence encoder of LEGO-GraphRAG v1's No. 5, 12 and 18, the language model of No. 7, 14 and 20."""

DEFAULT_SETS = "metaqa-1hop-dev,metaqa-2hop-dev,metaqa-3hop-dev"
