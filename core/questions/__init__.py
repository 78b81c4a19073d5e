"""Questions read from files of any known format, for graphs and for corpora.

The formats are CSV, the text formats of published question sets, and JSON rows.
"""

from core.questions.gold import GOLD
from core.questions.reading import QuestionFile, read_file, read_questions

__all__ = ["GOLD", "QuestionFile", "read_file", "read_questions"]
