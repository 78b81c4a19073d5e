"""Nodes without a name of their own, such as those of Freebase that only tie others together."""

from __future__ import annotations

import re

IDENTIFIER = re.compile(r"(m\.0|g\.1)\w+")  # what stands in Freebase where there is no name


def unnamed(name: str) -> bool:
    """Whether a name is only an identifier, so that nobody could take it for an answer.

    >>> from core.graph.unnamed import unnamed
    >>> unnamed("m.0h5x3kc"), unnamed("Inception")
    (True, False)
    """
    return IDENTIFIER.fullmatch(name) is not None
