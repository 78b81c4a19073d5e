"""Recognition of a first row that names columns, by what tells it from all other rows."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

YES, NO = "yes", "no"
PARTS_OF_NAMES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+|[A-Z]")
BETWEEN_WORDS = re.compile(r"\w[_.]\w|\w\(|[a-z][A-Z]")  # as in source_id, n.name, type(r), nodeId
UNSPACED = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL"})
NUMBERS = ("01", "12", "ab", "ij", "mn", "nm", "uv", "xy")  # that tell two columns of ends apart


class Verdict(Enum):
    """Whether a first row names the columns."""

    HEADER = "header"
    UNSURE = "unsure"
    TRIPLE = "triple"


@dataclass(frozen=True)
class Rule:
    """A header has all features of `has`; of at least `rows` other rows none has all features of one of `lacked`."""

    has: frozenset[str]
    lacked: tuple[frozenset[str], ...]
    rows: int

    def fits(self, first: frozenset[str], others: Sequence[frozenset[str]]) -> bool:
        """Whether the features of the first row and of the others are those of a header."""
        return (
            len(others) >= self.rows
            and self.has <= first
            and not any(lacked <= other for lacked in self.lacked for other in others)
        )


def _rule(has: str, *lacked: str, rows: int) -> Rule:
    return Rule(frozenset(has.split()), tuple(frozenset(one.split()) for one in lacked), rows)


# The bounds come from the triple files at hand: of 42,000 windows of them for each number of rows, whose first row is a triple,
# at most 4 are taken for a header, and no file's first row is.
HEADERS = (
    _rule("alone numbered", "numbered", rows=1),
    _rule("alone letter", "letter", rows=1),
    _rule("alone foreign", "foreign", rows=1),
    _rule("alone word small joined", "word small", rows=1),
    _rule("alone word small pair", "word small", rows=2),
    _rule("alone digitless", "half_digitless", rows=2),
    _rule("alone word small plain", "word small", "alone", rows=2),
    _rule("alone word small", "word small", rows=10),
    _rule("alone word plain", "word", "alone", rows=10),
    _rule("alone word", "word", rows=200),
)
MAYBE = (
    _rule("alone pair", "pair", rows=1),
    _rule("alone word plain", "word", rows=1),
    _rule("alone", "alone", rows=2),
)


def verdict(first: Sequence[str], rows: Sequence[Sequence[str]]) -> Verdict:
    """Whether a first row names the columns that hold head, relation and tail, or the two ends of links.

    Nothing is known of names: a header's cells are in no other row, and it is written as no other row is.

    >>> from core.graph.readers.header import verdict
    >>> verdict(["arg1", "rel", "arg2"], [["Ann", "is", "kind"]]), verdict(["Bo", "is", "Al"], [["Al", "is", "kind"]])
    (<Verdict.HEADER: 'header'>, <Verdict.TRIPLE: 'triple'>)
    """
    ends = Counter(end for row in (first, *rows) for end in {row[0].casefold(), row[-1].casefold()})
    relations = Counter(row[1].casefold() for row in (first, *rows) if len(row) > 2)
    others = [_features(row, ends, relations) for row in rows]
    mine = _features(first, ends, relations)
    scripts = _scripts("".join(first))
    if scripts and not any(scripts & _scripts(cell) for row in rows for cell in row):
        mine |= {"foreign"}
    for rules, found in ((HEADERS, Verdict.HEADER), (MAYBE, Verdict.UNSURE)):
        if any(rule.fits(mine, others) for rule in rules):
            return found
    return Verdict.TRIPLE


def _features(row: Sequence[str], ends: Counter[str], relations: Counter[str]) -> frozenset[str]:
    """What may tell a row from the others, in words that the rules use."""
    cells = [cell.strip() for cell in row]
    head, tail = cells[0], cells[-1]
    differing = _differing(head, tail)
    digits = [any(map(str.isdigit, end)) for end in (head, tail)]
    found = {
        "alone": max(ends[row[0].casefold()], ends[row[-1].casefold()]) == 1
        and (len(row) < 3 or relations[row[1].casefold()] == 1),
        "letter": all(len(cell) == 1 for cell in cells),
        "word": not any(len(cell.split()) > 1 for cell in cells),
        "small": all(cell[:1] == cell[:1].lower() for cell in cells),
        "plain": all(map(str.isalpha, cells)),
        "joined": sum(bool(BETWEEN_WORDS.search(cell)) for cell in cells) > 1,
        "pair": bool(differing),
        "numbered": differing in NUMBERS,
        "digitless": not any(digits),
        "half_digitless": not all(digits),
    }
    return frozenset(name for name, holds in found.items() if holds)


@lru_cache(1 << 12)
def _differing(head: str, tail: str) -> str:
    """The two parts in which two names differ, one behind the other, where all other parts are the same; else empty."""
    left, right = _parts(head), _parts(tail)
    if len(left) != len(right) or len(left) < 2:
        return ""
    pairs = [a + b for a, b in zip(left, right) if a != b]
    return pairs[0] if len(pairs) == 1 else ""


def _parts(name: str) -> list[str]:
    """The words and numbers of a name; the signs of a script that is written without blanks."""
    found: list[str] = []
    for part in PARTS_OF_NAMES.findall(name):
        found += part if _scripts(part) & UNSPACED else [part.casefold()]
    return found


@lru_cache(1 << 14)
def _scripts(text: str) -> frozenset[str]:
    """The scripts of the letters of a text, by the first word of their names in Unicode."""
    return frozenset(
        unicodedata.name(sign, "").partition(" ")[0] for sign in text if sign.isalpha()
    )
