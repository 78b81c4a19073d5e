"""The graphs and question sets that are available: those in `data/` and the user's own."""

from core.datasets.catalogue import (
    Dataset,
    dataset_of,
    datasets,
    draw,
    full_name,
    graph_for,
    keep_set,
    open_graph,
    owner,
    question_set,
    questions,
)
from core.datasets.own_graphs import add_graph, free_name
from core.datasets.sets import QuestionSet
from core.questions.reading import read_questions

__all__ = [
    "Dataset",
    "QuestionSet",
    "add_graph",
    "dataset_of",
    "datasets",
    "draw",
    "free_name",
    "full_name",
    "graph_for",
    "keep_set",
    "open_graph",
    "owner",
    "question_set",
    "questions",
    "read_questions",
]
