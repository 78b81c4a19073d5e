"""Names of files that every system takes."""

from __future__ import annotations

import re

DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?=\.|$)", re.IGNORECASE)


def no_device(name: str) -> str:
    """The name of a file or folder, with a number where Windows has a device of it, whatever its ending.

    >>> from core.io.names import no_device
    >>> no_device("aux"), no_device("Con.trec"), no_device("auxiliary")
    ('aux-1', 'Con-1.trec', 'auxiliary')
    """
    found = DEVICE.match(name)
    return f"{found[0]}-1{name[found.end() :]}" if found else name
