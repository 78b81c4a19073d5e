"""The grammar of lines of retrieval operators, and the parser of their text form.

`parse_line` makes a `Line` of a text such as `EgoNetwork() >> ShortestPaths()`.
"""

from __future__ import annotations

from collections import ChainMap

from core.lines import Grammar
from core.operators import OPERATORS
from core.operators.base import RETRIEVAL_STAGES, Line
from core.operators.branch import Branch

RETRIEVAL_GRAMMAR = Grammar(
    ChainMap({Branch.__name__: Branch}, OPERATORS),  # the branch is listed last
    RETRIEVAL_STAGES,
    Line,
    last_stage="generate",
    line_noun="a method",
    operator_noun="operator",
)
parse_line = RETRIEVAL_GRAMMAR.parse
operator_class = RETRIEVAL_GRAMMAR.find_class_with_stage
