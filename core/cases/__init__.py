"""Saved comparisons and the feedback log: SQLite in the person's folder, one file to carry them elsewhere."""

from core.cases.case import Case
from core.cases.exchange import export, load
from core.cases.feedback import Rating, rate, ratings, solved, unrate, verdict
from core.cases.finished import Finished, FinishedLane
from core.cases.store import cases, delete, duplicate, edit, get, save, tags, whole

__all__ = [
    "Case",
    "Finished",
    "FinishedLane",
    "Rating",
    "cases",
    "delete",
    "duplicate",
    "edit",
    "export",
    "get",
    "load",
    "rate",
    "ratings",
    "save",
    "solved",
    "tags",
    "unrate",
    "verdict",
    "whole",
]
