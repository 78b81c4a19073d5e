"""Names as text: what comes from graphs, questions and models never becomes Markdown or HTML."""

from __future__ import annotations

import re

_MARKED = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$:&@^=])")


def plain(text: str) -> str:
    """`text` so that Streamlit's Markdown shows it letter by letter."""
    return _MARKED.sub(r"\\\1", " ".join(str(text).split()))
