"""Words for sentences: numbers, lists, singular and plural."""

from __future__ import annotations

from collections.abc import Sequence

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NAMED = 2  # names that a list gives before it counts the rest


def number(count: int) -> str:
    """Return a count, in words up to ten: three, 14."""
    return NUMBERS[count] if 0 <= count < len(NUMBERS) else f"{count:,}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: 1 path, 32 paths, 2 matches."""
    if count == 1:
        return f"{count:,} {noun}"
    return f"{count:,} {noun}{'es' if noun.endswith(('s', 'x', 'ch', 'sh')) else 's'}"


def are(count: int) -> str:
    """Return the verb for a count: is, or are."""
    return "is" if count == 1 else "are"


def every(count: int) -> str:
    """Return the words for all of a count: both, all three, all 14."""
    return "both" if count == 2 else f"all {number(count)}"


def joined(parts: Sequence[str], word: str = "and") -> str:
    """Join parts to a list: A; A and B; A, B and C."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {word} {parts[-1]}"


def named(names: Sequence[str], most: int = NAMED) -> str:
    """Return a list of names; of many names, the first ones and how many more."""
    if len(names) <= most + 1:
        return joined(names)
    return f"{', '.join(names[:most])} and {len(names) - most:,} more"


def sentence(text: str) -> str:
    """Capitalise the first letter of a text."""
    return text[:1].upper() + text[1:]
