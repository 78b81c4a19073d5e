"""File names that do not collide with the names of Windows devices."""

from __future__ import annotations

import re

DEVICE_NAME = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?=\.|$)", re.IGNORECASE)


def avoid_device_name(name: str) -> str:
    """Return a file name, with a number added to names of Windows devices.

    Windows reserves these names with any suffix.

    >>> from core.io.names import avoid_device_name
    >>> avoid_device_name("aux"), avoid_device_name("Con.trec"), avoid_device_name("auxiliary")
    ('aux-1', 'Con-1.trec', 'auxiliary')
    """
    match = DEVICE_NAME.match(name)
    return f"{match[0]}-1{name[match.end() :]}" if match else name
