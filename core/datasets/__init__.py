"""The graphs and question sets that are available: those in `data/` and the user's own."""

from core.datasets.catalogue import (
    Dataset,
    add_question_set,
    dataset_of,
    dataset_of_set,
    datasets,
    draw_from_set,
    full_set_name,
    graph_for,
    open_graph,
    question_set,
    questions,
)
from core.datasets.own_graphs import add_graph, free_graph_name
from core.datasets.sets import QuestionSet
from core.questions.question_files import read_questions

__all__ = [
    "Dataset",
    "QuestionSet",
    "add_graph",
    "dataset_of",
    "datasets",
    "draw_from_set",
    "free_graph_name",
    "full_set_name",
    "graph_for",
    "add_question_set",
    "open_graph",
    "dataset_of_set",
    "question_set",
    "questions",
    "read_questions",
]
