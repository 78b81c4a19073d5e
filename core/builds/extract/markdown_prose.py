"""Conversion of Markdown headings and tables to sentences, for a parser trained on prose.

Table rows of other file types have the same form in texts, with bars between cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

MARKDOWN_SIGNS = re.compile(r"^ {0,3}#{1,6}[ \t]|\|", re.MULTILINE)
HEADING_LINE = re.compile(r" {0,3}#{1,6}[ \t]+([^\n]{1,1000})")
RULE_CELL = re.compile(r":?-{2,}:?|:-|-:?")
EMPHASIS_MARKS = re.compile(
    r"\*\*|__|``?|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,500}\)"
)
SENTENCE_END_MARKS = (".", "!", "?", ":", ";", "。", "！", "？", "…")
TABLE_BAR = re.compile(r"(?<=\s)\|(?=\s)|^\||\|$")
BAR_PLACEHOLDER = "\u2223"  # stands for a bar within a cell
SENTENCE_BREAK = "\u2029"  # ends a sentence, overriding the parser
MAX_CELL_WORDS = 6  # of a cell that holds a name or a figure
FENCES = ("```", "~~~")


def as_prose(text: str, english: bool = True) -> str:
    r"""Return a text with its headings and table rows as sentences between `SENTENCE_BREAK`.

    In English, a row below a header becomes sentences about its first cell, one for each other
    cell. In other languages its cells are joined by semicolons. Code and all other lines are
    unchanged.

    Parameters
    ----------
    text : text of a chunk; without Markdown it is returned unchanged.
    english : the text is in English.

    Returns
    -------
    The text for a parser. Positions in it differ from those in the chunk.

    Examples
    --------
    >>> from core.builds.extract.markdown_prose import as_prose
    >>> as_prose("# Ships\n| ship | port |\n|---|---|\n| Lyra | Grenaa |").split()
    ['Ships.', 'The', 'port', 'of', 'Lyra', 'is', 'Grenaa.']
    """
    if not MARKDOWN_SIGNS.search(text):
        return text
    return "\n".join(_lines(text.split("\n"), english))


def blank_rules(text: str) -> str:
    r"""Replace the dashed rules of a text's tables by as many blanks.

    >>> from core.builds.extract.markdown_prose import blank_rules
    >>> blank_rules("| ship | port |\n|---|---|\n| Lyra | Grenaa |").split("\n")
    ['| ship | port |', '         ', '| Lyra | Grenaa |']
    """
    if "|" not in text:
        return text
    return "\n".join(" " * len(line) if _is_rule(line) else line for line in text.split("\n"))


def _lines(lines: Sequence[str], english: bool) -> Iterator[str]:
    """Yield the lines with headings and rows as sentences, without the rules of tables."""
    header: list[str] | None = None  # header of the table that the line is in
    for number, (line, is_code) in enumerate(zip(lines, _mark_code(lines))):
        stripped = line.strip()
        if is_code:
            header = None
            yield line
        elif heading := HEADING_LINE.fullmatch(line):
            header = None
            yield _sentence(_strip_marks(heading[1].rstrip("# ")))
        elif _is_header(lines, number):
            header = _cells(stripped)
        elif header is not None and _is_rule(stripped):
            continue
        elif "|" in stripped and (header is not None or TABLE_BAR.search(stripped)):
            yield _row(_cells(stripped, any_bar=header is not None), header or (), english)
        else:
            header = None
            yield line


def _mark_code(lines: Sequence[str]) -> Iterator[bool]:
    """Yield for each line whether it is code or a fence around code."""
    fence = ""
    for line in lines:
        stripped = line.strip()
        if fence:
            if stripped.startswith(fence):
                fence = ""
            yield True
        else:
            fence = stripped[:3] if stripped.startswith(FENCES) else ""
            yield bool(fence)


def _is_header(lines: Sequence[str], number: int) -> bool:
    """Return whether a line is a table's header above a dashed rule."""
    return "|" in lines[number] and number + 1 < len(lines) and _is_rule(lines[number + 1])


def _cells(line: str, any_bar: bool = True) -> list[str]:
    """Return the cells of a table row.

    With `any_bar`, every bar divides cells, otherwise only a bar between spaces or at an end.
    """
    line = line.replace(r"\|", BAR_PLACEHOLDER)
    parts = line.split("|") if any_bar else TABLE_BAR.split(line)
    start = 1 if line.startswith("|") else 0
    end = len(parts) - 1 if line.endswith("|") else len(parts)
    return [_strip_marks(part.replace(BAR_PLACEHOLDER, "|")) for part in parts[start:end]]


def _is_rule(line: str) -> bool:
    """Return whether a line is the dashed rule below the header of a table."""
    parts = [part.strip() for part in line.split("|")]
    return "|" in line and any(parts) and all(RULE_CELL.fullmatch(part) for part in parts if part)


def _row(cells: Sequence[str], header: Sequence[str], english: bool) -> str:
    """Return a row as sentences: one for each cell with a short header and value, then the rest.

    The first cell with a letter names the subject of the row. Cells before it are numbers and
    dates.
    """
    name_index = next((index for index, cell in enumerate(cells) if any(map(str.isalpha, cell))), 0)
    subject = cells[name_index] if cells else ""
    clauses: list[str] = []
    other_cells: list[str] = []
    for index, cell in enumerate(cells):
        name = header[index] if index < len(header) else ""
        if index == name_index or not cell:
            continue
        if english and name and _is_short(subject, name, cell):
            clauses.append(_sentence(f"The {name} of {subject} is {cell}"))
        else:
            other_cells.append(cell)
    if other_cells or not clauses:
        clauses.append(_sentence("; ".join(filter(None, [subject, *other_cells]))))
    return "".join(clauses)


def _is_short(*texts: str) -> bool:
    """Return whether all texts are short, such as names and figures."""
    return all(
        len(text.split()) <= MAX_CELL_WORDS and not text.endswith(SENTENCE_END_MARKS)
        for text in texts
    )


def _sentence(text: str) -> str:
    """Return a text as a sentence between breaks."""
    if not text:
        return ""
    end = "" if text.endswith(SENTENCE_END_MARKS) else "."
    return f"{SENTENCE_BREAK}{text}{end}{SENTENCE_BREAK}"


def _strip_marks(text: str) -> str:
    """Return a text without the marks of emphasis and links."""
    return EMPHASIS_MARKS.sub(lambda match: match[1] or "", text).strip()
