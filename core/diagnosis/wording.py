"""English words for sentences: numbers, lists, singular and plural."""

from __future__ import annotations

from collections.abc import Sequence

NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
MAX_NAMES_IN_LIST = 2  # names that a list gives before it counts the rest


def number_words(count: int) -> str:
    """Return a count, in words up to ten: three, 14."""
    return NUMBER_WORDS[count] if 0 <= count < len(NUMBER_WORDS) else f"{count:,}"


def plural(noun: str) -> str:
    """Return the plural of a noun: paths, matches, entities."""
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return f"{noun}{'es' if noun.endswith(('s', 'x', 'ch', 'sh')) else 's'}"


def count_noun(count: int, noun: str) -> str:
    """Return a count with its noun: 1 path, 32 paths, 2 matches."""
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def is_or_are(count: int) -> str:
    """Return the verb for a count: is, or are."""
    return "is" if count == 1 else "are"


def all_words(count: int) -> str:
    """Return the words for all of a count: both, all three, all 14."""
    return "both" if count == 2 else f"all {number_words(count)}"


def join_words(parts: Sequence[str], word: str = "and") -> str:
    """Join parts, at least one, to a list: A; A and B; A, B and C."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {word} {parts[-1]}"


def list_names(names: Sequence[str], limit: int = MAX_NAMES_IN_LIST) -> str:
    """Return a list of names. Of more than `limit` + 1 names, only the first `limit` are listed."""
    if len(names) <= limit + 1:
        return join_words(names)
    return f"{', '.join(names[:limit])} and {len(names) - limit:,} more"


def capitalised(text: str) -> str:
    """Capitalise the first letter of a text."""
    return text[:1].upper() + text[1:]
