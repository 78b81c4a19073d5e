"""Indexes of other tools, read from their folders: documents, chunks, and a graph with descriptions, communities and reports."""
