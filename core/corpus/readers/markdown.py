"""Markdown: its text as it stands, its headings as places."""

from __future__ import annotations

import re

from core.corpus.document import Document, Place
from core.corpus.readers.text import stem, text_of

HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$|^(\S[^\n]*)\n {0,3}(=+|-+)[ \t]*$", re.MULTILINE)
FENCED = re.compile(r"\A---\n.*?^---[ \t]*$|^ {0,3}(```+|~~~+)[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
MARKS = re.compile(r"[*_`]+|!?\[([^\]]*)\]\([^)]*\)")


def markdown(name: str, data: bytes) -> list[Document]:
    """A Markdown file as one document; its title is the first heading of the first rank. Raises BadInput as `text_of` does."""
    text = text_of(name, data)
    code = [match.span() for match in FENCED.finditer(text)]  # and what stands before the text about it
    places: list[Place] = []
    title = ""
    for match in HEADING.finditer(text):
        label = MARKS.sub(r"\1", match.group(2) or match.group(3)).strip()
        if not label or any(start <= match.start() < end for start, end in code):
            continue
        places.append((match.start(), label))
        if not title and (match.group(1) == "#" or (match.group(4) or "").startswith("=")):
            title = label
    return [Document(name, text, title or stem(name), name, tuple(places))]
