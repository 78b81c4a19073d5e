"""Detection of elements of a page that a browser does not show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

HIDING_STYLE = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b", re.IGNORECASE
)
VISIBILITY_PROPERTY = re.compile(r"(?:^|;)\s*(?:display|visibility)\s*:", re.IGNORECASE)
BRACES = re.compile("([{}])")
# a selector with a single class or id
ONE_NAME = re.compile(r"[\w-]*([.#][\w-]+)")
SELECTOR_NAME = re.compile(r"[.#][\w-]+")
MAX_STYLE_LETTERS = 1 << 20  # letters of a page's styles that are read


class HiddenElements:
    """Detector of hidden elements, by their attributes and by the page's own styles.

    Of styles, only rules for a single class or id are used, such as “.key {display: none}”. A class
    that another rule shows counts as shown, as for the open one of several tabs.
    """

    def __init__(self) -> None:
        self._names: set[str] = set()  # hidden classes and ids, with “.” or “#” before them
        self._letters_left = MAX_STYLE_LETTERS

    def add_style(self, style: str) -> None:
        """Add the rules of a style element of the page."""
        style = style[: self._letters_left]
        self._letters_left -= len(style)
        shown_names: set[str] = set()
        for selectors, body in _rules(style):
            hides = HIDING_STYLE.search(body)
            if not hides and not VISIBILITY_PROPERTY.search(body):
                continue
            for selector in selectors.split(","):
                name_match = ONE_NAME.fullmatch(selector.strip())
                if hides and name_match:
                    self._names.add(name_match[1])
                elif not hides:
                    shown_names.update(SELECTOR_NAME.findall(selector))
        self._names -= shown_names

    def hides(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Return whether a browser hides an element.

        Parameters
        ----------
        tag : name of the element in small letters.
        attributes : its attributes.

        Returns
        -------
        False for an element whose class another rule shows.
        """
        if "hidden" in attributes or HIDING_STYLE.search(attributes.get("style", "")):
            return True
        if tag == "dialog":
            return "open" not in attributes
        if not self._names:
            return False
        names = {f".{name}" for name in attributes.get("class", "").split()}
        return not self._names.isdisjoint(names | {f"#{attributes.get('id', '')}"})


def _rules(style: str) -> Iterator[tuple[str, str]]:
    """Yield the selectors and the body of each rule that always applies.

    Rules that apply only in print are left out.
    """
    first, *others = style.split("/*")
    css = "".join([first, *(part.partition("*/")[2] for part in others)])
    heads: list[str] = []  # the text before each open brace
    text = ""
    for token in BRACES.split(css):
        if token == "{":
            heads.append(text.rpartition(";")[2])
        elif token == "}":
            selectors = heads.pop() if heads else "@"
            if not heads and "@" not in selectors:
                yield selectors, text
        else:
            text = token
