"""About how many tokens a text is, where a budget needs no more."""

from __future__ import annotations


def tokens(text: str) -> int:
    """About how many tokens a text is: one for 3.5 bytes of UTF-8."""
    return -(-2 * len(text.encode("utf-8", "replace")) // 7)
