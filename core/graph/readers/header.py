"""Detection of a header row in delimited text.

A header is recognised by its differences from all other rows. It is for headers whose column names
are not known to `core.graph.readers.header_columns`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

# Settings of the user on the first row; an empty text means that the reader decides.
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
    """A condition under which a first row is a header.

    The first row has all `required` features. There are at least `min_other_rows` other rows, and
    none of them has all features of any set in `forbidden`. See `_features`.
    """

    required: frozenset[str]
    forbidden: tuple[frozenset[str], ...]
    min_other_rows: int

    def fits(self, first: frozenset[str], others: Sequence[frozenset[str]]) -> bool:
        """Return whether the features of the rows fulfil the rule.

        `first` are those of the first row, `others` those of the other rows.
        """
        return (
            len(others) >= self.min_other_rows
            and self.required <= first
            and not any(features <= other for features in self.forbidden for other in others)
        )


def _rule(required: str, *forbidden: str, rows: int) -> HeaderRule:
    """Return a rule from texts of features that are separated by spaces."""
    forbidden_sets = tuple(frozenset(features.split()) for features in forbidden)
    return HeaderRule(frozenset(required.split()), forbidden_sets, rows)


# The numbers of rows were chosen on a collection of triple files. For each number, 42,000 excerpts
# that begin with a triple were tested. At most 4 of these triples are taken for a header, and no
# first row of a whole file is.
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
# If one of these rules fits, but none above, the row is read as a triple with a warning.
UNSURE_RULES = (
    _rule("alone pair", "pair", rows=1),
    _rule("alone word plain", "word", rows=1),
    _rule("alone", "alone", rows=2),
)


def header_verdict(first: Sequence[str], rows: Sequence[Sequence[str]]) -> HeaderVerdict:
    """Decide whether a first row is a header.

    A header names the columns of head, relation and tail, or of the two ends of links. The decision
    uses no list of names: the cells of a header occur in no other row, and a header is written
    differently from all other rows.

    Parameters
    ----------
    first : the cells of the first row: head, relation and tail, or two ends.
    rows : the same cells of the other rows.

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
    """Return the features of a row, as named in the rules.

    - alone: the ends and the relation occur in no other row.
    - letter, word: each cell is a single letter, or at most one word.
    - small: no cell begins with a capital letter.
    - plain: all cells consist of letters.
    - joined: at least two cells are compound identifiers, such as source_id.
    - pair: head and tail differ in exactly one part, such as node_from and node_to.
    - numbered: these parts number the ends, such as node1 and node2.
    - digitless, half_digitless: no end has a digit, or at most one end has.

    `header_verdict` adds foreign to a first row in a script that no other row has.
    `ends` and `relations` count in how many rows each text occurs, ignoring case.
    """
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
    """Return the parts of two names that differ, joined: “12” for node1 and node2.

    The result is empty unless the names have equally many parts and differ in exactly one.
    """
    left, right = _parts(head), _parts(tail)
    if len(left) != len(right) or len(left) < 2:
        return ""
    pairs = [a + b for a, b in zip(left, right) if a != b]
    return pairs[0] if len(pairs) == 1 else ""


def _parts(name: str) -> list[str]:
    """Split a name into words and numbers.

    Words of scripts without spaces are split into characters.
    """
    parts: list[str] = []
    for part in NAME_PART.findall(name):
        parts += part if _scripts(part) & UNSPACED_SCRIPTS else [part.casefold()]
    return parts


@lru_cache(1 << 14)
def _scripts(text: str) -> frozenset[str]:
    """Return the scripts of a text's letters.

    The script is the first word of a letter's name in Unicode, such as LATIN.
    """
    return frozenset(
        unicodedata.name(sign, "").partition(" ")[0] for sign in text if sign.isalpha()
    )
