"""Questions read from files, whatever their format and whatever they are asked of: CSV, texts of published sets, JSON rows."""

from core.questions.gold import GOLD
from core.questions.reading import QuestionFile, read_file, read_questions

__all__ = ["GOLD", "QuestionFile", "read_file", "read_questions"]
