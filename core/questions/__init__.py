"""Questions of published sets or a person's own, read from files.

`read_question_file` recognises the format. The modules `rows`, `table` and `topics` read the
formats; `forms`, `answers`, `gold` and `values` read the parts of a row that several formats share.
"""

from core.questions.gold import GOLD_KEYS
from core.questions.question_files import QuestionFile, read_question_file, read_questions

__all__ = ["GOLD_KEYS", "QuestionFile", "read_question_file", "read_questions"]
