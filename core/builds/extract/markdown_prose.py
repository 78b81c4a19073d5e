"""Headings and tables of Markdown as sentences, for a parser that knows prose alone.

Rows of tables of other files stand in texts in the same form, with bars between their cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

SIGNS = re.compile(r"^ {0,3}#{1,6}[ \t]|\|", re.MULTILINE)
HEADING = re.compile(r" {0,3}#{1,6}[ \t]+([^\n]{1,1000})")
RULE_CELL = re.compile(r":?-{2,}:?|:-|-:?")
MARKS = re.compile(
    r"\*\*|__|``?|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,500}\)"
)
ENDS = (".", "!", "?", ":", ";", "。", "！", "？", "…")
BAR = re.compile(r"(?<=\s)\|(?=\s)|^\||\|$")
ESCAPED = "\u2223"  # for a bar within a cell
BREAK = "\u2029"  # a sentence ends here, whatever a parser takes it for
MAX_CELL_WORDS = 6  # of a cell that is a name or a figure
FENCES = ("```", "~~~")


def as_prose(text: str, english: bool = True) -> str:
    """Return a text with its headings and rows of tables as sentences between `BREAK`.

    A row of a table under a header says of its first cell what the others are, in English; its
    cells stand side by side otherwise. Code and all other lines stay as they are.

    >>> from core.builds.extract.markdown_prose import as_prose
    >>> as_prose("# Ships\\n| ship | port |\\n|---|---|\\n| Lyra | Grenaa |").split()
    ['Ships.', 'The', 'port', 'of', 'Lyra', 'is', 'Grenaa.']
    """
    if not SIGNS.search(text):
        return text
    return "\n".join(_lines(text.split("\n"), english))


def blank_rules(text: str) -> str:
    """Return a text with the dashed rules of its tables as blanks, so that places in it stay.

    >>> from core.builds.extract.markdown_prose import blank_rules
    >>> blank_rules("| ship | port |\\n|---|---|\\n| Lyra | Grenaa |").split("\\n")
    ['| ship | port |', '         ', '| Lyra | Grenaa |']
    """
    if "|" not in text:
        return text
    return "\n".join(" " * len(line) if _is_rule(line) else line for line in text.split("\n"))


def _lines(lines: Sequence[str], english: bool) -> Iterator[str]:
    fence = ""
    header: list[str] | None = None  # of the table that the line stands in
    for at, line in enumerate(lines):
        bare = line.strip()
        if fence or bare.startswith(FENCES):
            fence = "" if fence and bare.startswith(fence) else fence or bare[:3]
            header = None
            yield line
        elif heading := HEADING.fullmatch(line):
            header = None
            yield _sentence(_plain(heading[1].rstrip("# ")))
        elif "|" in bare and at + 1 < len(lines) and _is_rule(lines[at + 1]):
            header = _cells(bare)
        elif header is not None and _is_rule(bare):
            continue
        elif "|" in bare and (header is not None or BAR.search(bare)):
            yield _row(_cells(bare, loose=header is not None), header or (), english)
        else:
            header = None
            yield line


def _cells(line: str, loose: bool = True) -> list[str]:
    """The cells of a row of a table, which any bar divides where `loose`, else one between blanks."""
    line = line.replace(r"\|", ESCAPED)
    parts = line.split("|") if loose else BAR.split(line)
    start = 1 if line.startswith("|") else 0
    end = len(parts) - 1 if line.endswith("|") else len(parts)
    return [_plain(part.replace(ESCAPED, "|")) for part in parts[start:end]]


def _is_rule(line: str) -> bool:
    """Return whether a line is the dashed rule below a table's header."""
    parts = [part.strip() for part in line.split("|")]
    return "|" in line and any(parts) and all(RULE_CELL.fullmatch(one) for one in parts if one)


def _row(cells: Sequence[str], header: Sequence[str], english: bool) -> str:
    """A row as sentences: what its columns say of the one that names it, and its other cells side by side.

    The first cell with a letter names the row; those before it are numbers and dates.
    """
    named = next((at for at, cell in enumerate(cells) if any(map(str.isalpha, cell))), 0)
    subject = cells[named] if cells else ""
    said: list[str] = []
    others: list[str] = []
    for at, cell in enumerate(cells):
        name = header[at] if at < len(header) else ""
        if at == named or not cell:
            continue
        if english and name and _is_short(subject, name, cell):
            said.append(_sentence(f"The {name} of {subject} is {cell}"))
        else:
            others.append(cell)
    if others or not said:
        said.append(_sentence("; ".join(filter(None, [subject, *others]))))
    return "".join(said)


def _is_short(*texts: str) -> bool:
    """Return whether all texts are short, such as names and figures."""
    return all(len(text.split()) <= MAX_CELL_WORDS and not text.endswith(ENDS) for text in texts)


def _sentence(text: str) -> str:
    """A text as a sentence between breaks."""
    if not text:
        return ""
    return f"{BREAK}{text}{'' if text.endswith(ENDS) else '.'}{BREAK}"


def _plain(text: str) -> str:
    """A text without the marks around emphasised words and links."""
    return MARKS.sub(lambda found: found[1] or "", text).strip()
