"""Translation of the errors of file libraries into a message on a damaged file.

A lack of memory is no damage and becomes MemoryError, for which lxml has an error of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from core.errors import BadInput, HopscopeError


@contextmanager
def report_damage(name: str, format_name: str) -> Iterator[None]:
    """Report errors of a file library within the block as a damaged file.

    Parameters
    ----------
    name : name of the file.
    format_name : name of its format in the message, such as “PDF”.

    Raises
    ------
    BadInput
        For any other error than those below, since a damaged file may fail anywhere in the library.
    HopscopeError
        If the block raises one, it is passed on unchanged.
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
        raise BadInput(f"{name} is damaged or no {format_name} ({type(error).__name__}).") from None


def is_memory_error(error: Exception) -> bool:
    """Return whether an error means that memory ran out."""
    from lxml import etree

    return isinstance(error, MemoryError) or (
        isinstance(error, etree.XMLSyntaxError) and error.code == etree.ErrorTypes.ERR_NO_MEMORY
    )
