"""Numbers that Word generates before paragraphs, such as “4.2” or “(b)”.

A document stores no numbers but the numbering of lists. A paragraph or its style names a list
(“num”) and a level, and a list names a definition (“abstractNum”) with the form of each level.
Lists with the same definition continue each other's counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

WORD_NAMESPACE = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
LEVEL_PLACEHOLDER = re.compile(r"%([1-9])")
MAX_LIST_LEVELS = 9
MAX_STYLES = 20  # length of a chain of styles or lists that refer to each other
MAX_WRITTEN_NUMBER = 100_000  # largest number in letters or Roman numerals; others are in digits
ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
ORDINAL_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


@dataclass(frozen=True)
class ListLevel:
    """The numbering of one level of a list.

    In `text`, “%1” stands for the number of the first level, “%2” for that of the second, and so
    on. `format` is Word's name of a way to write numbers.
    """

    start: int = 1
    format: str = "decimal"
    text: str = ""
    after: str = " "  # the text between the number and the paragraph
    # the deepest level, from 1, whose paragraphs restart this level's numbers
    restarts_after: int = MAX_LIST_LEVELS
    is_legal: bool = False  # True if the numbers of all levels are in digits


class WordNumbers:
    """The numbers before paragraphs, to be requested in the order of the text.

    Parameters
    ----------
    numbering, styles : the root elements of these parts of the document; None for a missing part.
    """

    def __init__(self, numbering: Any, styles: Any) -> None:
        self.guessed: Counter[str] = Counter()  # formats that are written in digits instead
        all_styles = () if styles is None else styles.iter(f"{WORD_NAMESPACE}style")
        self._styles = _by_id(all_styles, "styleId")
        self._usual_style = next(filter(self._is_usual, self._styles), "")
        elements = () if numbering is None else list(numbering)
        definitions = [one for one in elements if one.tag == f"{WORD_NAMESPACE}abstractNum"]
        self._definitions = _by_id(definitions, "abstractNumId")
        lists = [one for one in elements if one.tag == f"{WORD_NAMESPACE}num"]
        self._lists = _by_id(lists, "numId")
        # the current count of each level, by the id of a definition
        self._counts: dict[str, dict[int, int]] = {}
        self._begun_lists: set[str] = set()
        self._levels: dict[str, dict[int, ListLevel]] = {}  # by the id of a list

    def style(self, id: str) -> Any:
        """Return the element of a style; None if there is none of that id."""
        return self._styles.get(id)

    def number_before(self, paragraph: Any) -> str:
        """Return the number before a paragraph.

        The blank after it is included. The result is empty if it has none.
        """
        if not self._lists:
            return ""
        list_id, index = self._paragraph_list(paragraph)
        if list_id not in self._lists:
            return ""
        definition_id = self._definition_id(list_id)
        levels = self._levels_of(list_id)
        if index not in levels:
            return ""
        counts = self._counts.setdefault(definition_id, {})
        self._begin(list_id, counts)
        self._count(counts, levels, index)
        return self._number_text(counts, levels, index)

    def _paragraph_list(self, paragraph: Any) -> tuple[str, int]:
        """Return the id of a paragraph's list and its level, from 0.

        The paragraph names them itself, or its style does.
        """
        properties = paragraph.find(f"{WORD_NAMESPACE}pPr/{WORD_NAMESPACE}numPr")
        list_id, level = _value(properties, "numId"), _value(properties, "ilvl")
        style = _value(paragraph.find(f"{WORD_NAMESPACE}pPr"), "pStyle")
        if not list_id:
            list_id, level_of_style, style = self._style_list(style or self._usual_style)
            level = level or level_of_style
            if list_id and not level:
                level = self._style_level(list_id, style)
        return list_id, int(level) if level.isdecimal() and len(level) < 3 else 0

    def _is_usual(self, id: str) -> bool:
        """Return whether a style is the one of paragraphs that name none."""
        style = self._styles[id]
        is_default = style.get(f"{WORD_NAMESPACE}default") in ("1", "true", "on")
        return is_default and style.get(f"{WORD_NAMESPACE}type") == "paragraph"

    def _style_list(self, style: str) -> tuple[str, str, str]:
        """Return the list and level of a style, and the style that names them.

        That is the style itself or one on which it is based. All are empty if none names a list.
        """
        for _ in range(MAX_STYLES):
            element = self._styles.get(style)
            if element is None:
                break
            properties = element.find(f"{WORD_NAMESPACE}pPr/{WORD_NAMESPACE}numPr")
            list_id = _value(properties, "numId")
            if list_id:
                return list_id, _value(properties, "ilvl"), style
            style = _value(element, "basedOn")
        return "", "", ""

    def _style_level(self, list_id: str, style: str) -> str:
        """Return the level of a list that names a style; “0” without one."""
        definition = self._definitions.get(self._definition_id(list_id))
        for level in () if definition is None else definition.iter(f"{WORD_NAMESPACE}lvl"):
            if _value(level, "pStyle") == style:
                return str(level.get(f"{WORD_NAMESPACE}ilvl", "0"))
        return "0"

    def _definition_id(self, list_id: str) -> str:
        """Return the id of a list's definition.

        The definition may also be linked through a style.
        """
        definition_id = _value(self._lists.get(list_id), "abstractNumId")
        for _ in range(MAX_STYLES):
            style = _value(self._definitions.get(definition_id), "numStyleLink")
            if not style:
                break
            target = _value(self._lists.get(self._style_list(style)[0]), "abstractNumId")
            if target in ("", definition_id):
                break
            definition_id = target
        return definition_id

    def _levels_of(self, list_id: str) -> dict[int, ListLevel]:
        """Return the levels of a list from 0, with the list's changes to them."""
        if list_id not in self._levels:
            definition = self._definitions.get(self._definition_id(list_id))
            levels = dict(_levels(() if definition is None else definition))
            for override in self._lists[list_id].iter(f"{WORD_NAMESPACE}lvlOverride"):
                levels |= dict(_levels(override))
            self._levels[list_id] = levels
        return self._levels[list_id]

    def _begin(self, list_id: str, counts: dict[int, int]) -> None:
        """Restart the counts that a list restarts at its first paragraph."""
        if list_id in self._begun_lists:
            return
        self._begun_lists.add(list_id)
        for override in self._lists[list_id].iter(f"{WORD_NAMESPACE}lvlOverride"):
            start = _value(override, "startOverride")
            level = override.get(f"{WORD_NAMESPACE}ilvl", "")
            if start.isdecimal() and level.isdecimal():
                counts[int(level)] = int(start) - 1

    def _count(self, counts: dict[int, int], levels: dict[int, ListLevel], index: int) -> None:
        """Count a paragraph on a level, and restart the deeper levels."""
        counts[index] = counts.get(index, levels[index].start - 1) + 1
        for deeper in range(index + 1, MAX_LIST_LEVELS):
            restarts = levels[deeper].restarts_after if deeper in levels else MAX_LIST_LEVELS
            if index < restarts:
                counts.pop(deeper, None)

    def _number_text(self, counts: dict[int, int], levels: dict[int, ListLevel], index: int) -> str:
        """Return the number of a paragraph on a level; empty for a bullet."""
        level = levels[index]
        if level.format == "bullet":
            return ""

        def number(match: re.Match[str]) -> str:
            other = int(match[1]) - 1
            other_level = levels.get(other, ListLevel())
            count = counts.get(other, other_level.start)
            return self._in_format("decimal" if level.is_legal else other_level.format, count)

        text = LEVEL_PLACEHOLDER.sub(number, level.text).strip()
        return text and f"{text}{level.after}"

    def _in_format(self, format: str, number: int) -> str:
        """Return a number in one of Word's formats, else in digits."""
        if format == "none":
            return ""
        write = NUMBER_FORMATS.get(format)
        if write is None:
            self.guessed[format] += 1
            return str(number)
        return write(number) if 0 < number <= MAX_WRITTEN_NUMBER else str(number)


def _levels(elements: Any) -> Iterator[tuple[int, ListLevel]]:
    """Yield the levels of a definition or an override."""
    for level in elements:
        index = level.get(f"{WORD_NAMESPACE}ilvl", "")
        if level.tag != f"{WORD_NAMESPACE}lvl" or not index.isdecimal():
            continue
        start = _value(level, "start") or "0"  # Word begins at 0 if it is not stated
        restart = _value(level, "lvlRestart")
        legal = level.find(f"{WORD_NAMESPACE}isLgl")
        legal_value = "0" if legal is None else legal.get(f"{WORD_NAMESPACE}val", "1")
        yield (
            int(index),
            ListLevel(
                start=int(start) if start.isdecimal() else 1,
                format=_value(level, "numFmt") or "decimal",
                text=_value(level, "lvlText"),
                after="" if _value(level, "suff") == "nothing" else " ",
                restarts_after=int(restart) if restart.isdecimal() else MAX_LIST_LEVELS,
                is_legal=legal_value not in ("0", "false", "off"),
            ),
        )


def _letters(number: int) -> str:
    """Return `a` to `z`, then “aa” to “zz”, as Word does."""
    times, letter = divmod(number - 1, 26)
    return chr(ord("a") + letter) * (times + 1)


def _roman(number: int) -> str:
    numeral = ""
    for value, sign in ROMAN:
        times, number = divmod(number, value)
        numeral += sign * times
    return numeral


def _ordinal(number: int) -> str:
    is_teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if is_teen else ORDINAL_ENDINGS.get(number % 10, 'th')}"


NUMBER_FORMATS: dict[str, Callable[[int], str]] = {
    "decimal": str,
    "decimalZero": lambda number: f"{number:02}",
    "lowerLetter": _letters,
    "upperLetter": lambda number: _letters(number).upper(),
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "ordinal": _ordinal,
    "numberInDash": lambda number: f"- {number} -",
}


def _by_id(elements: Any, attribute: str) -> dict[str, Any]:
    return {element.get(f"{WORD_NAMESPACE}{attribute}", ""): element for element in elements}


def _value(element: Any, name: str) -> str:
    """Return the value of the child with a name; empty without one."""
    inner = None if element is None else element.find(f"{WORD_NAMESPACE}{name}")
    return "" if inner is None else str(inner.get(f"{WORD_NAMESPACE}val", ""))
