"""The graphs and question sets at hand: those shipped in `data/` and those a person built."""

from core.datasets.catalogue import Dataset, datasets, draw, open_graph, questions
from core.datasets.questions import read_questions

__all__ = ["Dataset", "datasets", "draw", "open_graph", "questions", "read_questions"]
