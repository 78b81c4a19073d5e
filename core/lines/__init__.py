"""Lines of operators: lines that retrieve from a graph, lines that build one, and drafts of both.

A line is a pipeline of operators, written `A(x=1) >> B()`, and a row is a line inside an operator.

`line` has the line and its edits, and `holder` the operators that hold lines. `text` reads the
expressions in which a line is written, and `brick` has the tree of steps that they describe.
`grammar` converts lines from and to text and TOML rows. `difference` describes how two lines
differ.
"""

from core.lines.grammar import Grammar
from core.lines.line import OperatorLine

__all__ = ["Grammar", "OperatorLine"]
