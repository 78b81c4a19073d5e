"""Examples of docstrings as code and the pages that they name as links: an extension of Griffe, which mkdocstrings reads Python with."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


PAGE = re.compile(r"\bdocs/([\w-]+\.md)\b")


class Doctests(griffe.Extension):
    """Puts fences around each example, which would be a quotation of Markdown, and makes links of pages."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = EXAMPLE.sub(
                lambda found: f"```pycon\n{found[0]}\n```",
                PAGE.sub(r"[\1](\1)", obj.docstring.value),
            )
