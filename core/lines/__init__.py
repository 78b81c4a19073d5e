"""Lines of operators as data: those that ask a graph, those that build one, and drafts of both.

`line` has the line and its edits, `holder` operators that hold lines, `text` the expressions that
write a line, `brick` the tree that is read of them, `grammar` makes lines of texts and of TOML rows
and back, and `difference` says how two lines differ.
"""

from core.lines.grammar import Grammar
from core.lines.line import OperatorLine

__all__ = ["Grammar", "OperatorLine"]
