"""Import of indexes that other GraphRAG tools have built, such as LightRAG or HippoRAG.

An index holds chunks, and a graph with descriptions, communities and reports. Each tool has a
reader module; `opened_indexes` makes a corpus and a graph of what it reads.
"""
