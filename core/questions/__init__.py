"""Questions read from files of any known format, for graphs and for corpora.

The formats are CSV, the text formats of published question sets, and JSON rows.
"""

from core.questions.gold import GOLD_KEYS
from core.questions.question_files import QuestionFile, read_question_file, read_questions

__all__ = ["GOLD_KEYS", "QuestionFile", "read_question_file", "read_questions"]
