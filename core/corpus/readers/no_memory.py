"""Whether a library failed for want of memory, which lxml says in a way of its own."""

from __future__ import annotations


def for_want_of_memory(error: Exception) -> bool:
    """Whether an error means that there was no more memory."""
    from lxml import etree

    return isinstance(error, MemoryError) or (
        isinstance(error, etree.XMLSyntaxError) and error.code == etree.ErrorTypes.ERR_NO_MEMORY
    )
