"""The grammar of lines that answer a question, with its parser."""

from __future__ import annotations

from collections import ChainMap

from core.lines import Grammar
from core.operators import OPERATORS
from core.operators.base import STAGES, Line
from core.operators.branch import Branch

RETRIEVAL = Grammar(
    ChainMap({Branch.__name__: Branch}, OPERATORS),  # the branch is listed last
    STAGES,
    Line,
    last="generate",
    kind="an instance",
    noun="operator",
)
parse_line = RETRIEVAL.parse
operator_class = RETRIEVAL.operator_class
