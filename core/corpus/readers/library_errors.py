"""Errors of file libraries as sentences on damage, or as lack of memory.

The library lxml reports lack of memory in its own way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from core.errors import BadInput, HopscopeError


@contextmanager
def report_damage(name: str, what: str) -> Iterator[None]:
    """Turn the errors of a library into one on damage.

    Parameters
    ----------
    name : name of the file.
    what : words for its format.

    Raises
    ------
    BadInput
        For any error of the library, since a damaged file may fail anywhere in it.
    MemoryError
        If memory ran out.
    """
    try:
        yield
    except (HopscopeError, MemoryError):
        raise
    except Exception as error:
        if is_memory_error(error):
            raise MemoryError from None
        raise BadInput(f"{name} is damaged or no {what} ({type(error).__name__}).") from None


def is_memory_error(error: Exception) -> bool:
    """Return whether an error means that memory ran out."""
    from lxml import etree

    return isinstance(error, MemoryError) or (
        isinstance(error, etree.XMLSyntaxError) and error.code == etree.ErrorTypes.ERR_NO_MEMORY
    )
