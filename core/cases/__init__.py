"""Saved comparisons (cases) and ratings of answers.

They are stored in one SQLite file in the user's folder, and exported as one file. The modules:

- `store`, `exchange`: save, find, change, export and import cases.
- `comparison_data`: a comparison as data for JSON, and back.
- `examples`: the cases that ship with Hopscope.
- `feedback`: ratings of answers.
"""

from core.cases.case import Case
from core.cases.exchange import export, load
from core.cases.feedback import (
    answer_text,
    delete_rating,
    is_rated_up,
    rate,
    rating_of,
    ratings,
    solved,
)
from core.cases.store import (
    cases,
    comparison_of_case,
    delete,
    duplicate,
    edit,
    get_case,
    save,
    tags,
)

__all__ = [
    "Case",
    "answer_text",
    "cases",
    "delete",
    "duplicate",
    "edit",
    "export",
    "get_case",
    "load",
    "rate",
    "rating_of",
    "ratings",
    "save",
    "solved",
    "tags",
    "delete_rating",
    "is_rated_up",
    "comparison_of_case",
]
