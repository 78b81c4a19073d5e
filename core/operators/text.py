"""The grammar of lines that answer a question, with its parser."""

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
    last="generate",
    kind="a method",
    noun="operator",
)
parse_line = RETRIEVAL_GRAMMAR.parse
operator_class = RETRIEVAL_GRAMMAR.operator_class
