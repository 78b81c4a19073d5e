"""Detection of node names that are only identifiers, such as `m.0h5x3kc` in Freebase.

The nodes of Freebase mediators, Wikidata statements and RDF blank nodes connect other nodes, but
have no name that a reader could understand.
"""

from __future__ import annotations

import re

IDENTIFIER = re.compile(
    r"(m\.0|g\.1)\w+|_:[\w.-]{1,200}"
    r"|[QPL]\d{1,12}-[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
)
"""Pattern of Freebase identifiers, RDF blank nodes and Wikidata statements."""


def is_unnamed(name: str) -> bool:
    """Return whether a name is only an identifier, and therefore no useful answer.

    >>> from core.graph.identifier_names import is_unnamed
    >>> is_unnamed("m.0h5x3kc"), is_unnamed("_:b0"), is_unnamed("Inception")
    (True, True, False)
    >>> is_unnamed("Q42-F078E5B3-F9A8-480E-B7AC-D97778CBBEF9")
    True
    """
    return IDENTIFIER.fullmatch(name) is not None
