"""Detection of a header row by its differences from all other rows."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

WITH_HEADER, WITHOUT_HEADER = "yes", "no"
NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+|[A-Z]")
WORD_BOUNDARY = re.compile(r"\w[_.]\w|\w\(|[a-z][A-Z]")  # as in source_id, n.name, type(r), nodeId
UNSPACED_SCRIPTS = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL"})
# Pairs of signs that number the two columns of ends, as in node1 and node2.
END_NUMBERINGS = ("01", "12", "ab", "ij", "mn", "nm", "uv", "xy")


class HeaderVerdict(Enum):
    """Result of the detection of a header row."""

    HEADER = "header"
    UNSURE = "unsure"
    TRIPLE = "triple"


@dataclass(frozen=True)
class HeaderRule:
    """A rule by which a first row is a header.

    The first row has all features of `has`. There are at least `rows` other rows, and none of them
    has all features of a set in `lacked`.
    """

    has: frozenset[str]
    lacked: tuple[frozenset[str], ...]
    rows: int

    def fits(self, first: frozenset[str], others: Sequence[frozenset[str]]) -> bool:
        """Return whether the features of the rows fulfil the rule.

        `first` are those of the first row, `others` those of the other rows.
        """
        return (
            len(others) >= self.rows
            and self.has <= first
            and not any(features <= other for features in self.lacked for other in others)
        )


def _rule(has: str, *lacked: str, rows: int) -> HeaderRule:
    return HeaderRule(frozenset(has.split()), tuple(frozenset(one.split()) for one in lacked), rows)


# The bounds were chosen on the triple files at hand. For each number of rows, 42,000 windows of
# these files that begin with a triple were tested. In at most 4 of them the triple is taken for a
# header, and in no file the first row.
HEADER_RULES = (
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
UNSURE_RULES = (
    _rule("alone pair", "pair", rows=1),
    _rule("alone word plain", "word", rows=1),
    _rule("alone", "alone", rows=2),
)


def header_verdict(first: Sequence[str], rows: Sequence[Sequence[str]]) -> HeaderVerdict:
    """Decide whether a first row is a header.

    A header names the columns of head, relation and tail, or of the two ends of links. The decision
    uses no list of names: the cells of a header occur in no other row, and it is written
    differently from all other rows.

    >>> from core.graph.readers.header import header_verdict
    >>> header_verdict(["arg1", "rel", "arg2"], [["Ann", "is", "kind"]])
    <HeaderVerdict.HEADER: 'header'>
    >>> header_verdict(["Bo", "is", "Al"], [["Al", "is", "kind"]])
    <HeaderVerdict.TRIPLE: 'triple'>
    """
    ends = Counter(end for row in (first, *rows) for end in {row[0].casefold(), row[-1].casefold()})
    relations = Counter(row[1].casefold() for row in (first, *rows) if len(row) > 2)
    other_features = [_features(row, ends, relations) for row in rows]
    first_features = _features(first, ends, relations)
    scripts = _scripts("".join(first))
    if scripts and not any(scripts & _scripts(cell) for row in rows for cell in row):
        first_features |= {"foreign"}
    for rules, verdict in (
        (HEADER_RULES, HeaderVerdict.HEADER),
        (UNSURE_RULES, HeaderVerdict.UNSURE),
    ):
        if any(rule.fits(first_features, other_features) for rule in rules):
            return verdict
    return HeaderVerdict.TRIPLE


def _features(row: Sequence[str], ends: Counter[str], relations: Counter[str]) -> frozenset[str]:
    """Return the features of a row, as named in the rules."""
    cells = [cell.strip() for cell in row]
    head, tail = cells[0], cells[-1]
    differing = _differing_parts(head, tail)
    digits = [any(map(str.isdigit, end)) for end in (head, tail)]
    holds_feature = {
        "alone": max(ends[row[0].casefold()], ends[row[-1].casefold()]) == 1
        and (len(row) < 3 or relations[row[1].casefold()] == 1),
        "letter": all(len(cell) == 1 for cell in cells),
        "word": not any(len(cell.split()) > 1 for cell in cells),
        "small": all(cell[:1] == cell[:1].lower() for cell in cells),
        "plain": all(map(str.isalpha, cells)),
        "joined": sum(bool(WORD_BOUNDARY.search(cell)) for cell in cells) > 1,
        "pair": bool(differing),
        "numbered": differing in END_NUMBERINGS,
        "digitless": not any(digits),
        "half_digitless": not all(digits),
    }
    return frozenset(name for name, holds in holds_feature.items() if holds)


@lru_cache(1 << 12)
def _differing_parts(head: str, tail: str) -> str:
    """Return the two parts in which two names differ, joined.

    The result is empty unless exactly one part differs.
    """
    left, right = _parts(head), _parts(tail)
    if len(left) != len(right) or len(left) < 2:
        return ""
    pairs = [a + b for a, b in zip(left, right) if a != b]
    return pairs[0] if len(pairs) == 1 else ""


def _parts(name: str) -> list[str]:
    """Split a name into words and numbers; scripts without spaces into single signs."""
    parts: list[str] = []
    for part in NAME_PART.findall(name):
        parts += part if _scripts(part) & UNSPACED_SCRIPTS else [part.casefold()]
    return parts


@lru_cache(1 << 14)
def _scripts(text: str) -> frozenset[str]:
    """Return the scripts of a text's letters.

    A script is the first word of the letters' names in Unicode.
    """
    return frozenset(
        unicodedata.name(sign, "").partition(" ")[0] for sign in text if sign.isalpha()
    )
