"""The tools whose indexes are read: how each is recognised by its files, and what reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from core.corpus.indexes import microsoft
from core.corpus.indexes.files import beside
from core.corpus.indexes.index import Index
from core.errors import BadInput
from core.io.files import Source


@dataclass(frozen=True)
class Tool:
    """A tool: its name for a person, the files by which its index is known, in words, whether some names are those of its index, and the
    reader of the files of one folder by their names."""

    title: str
    known_by: str
    holds: Callable[[set[str]], bool]
    read: Callable[[Mapping[str, Source]], Index]


TOOLS: dict[str, Tool] = {
    "graphrag": Tool(
        "Microsoft GraphRAG", "entities.parquet, relationships.parquet and text_units.parquet", microsoft.holds, microsoft.read
    ),
}
"""Each tool by a short word, which names its build (`opened-graphrag`) and its chunks (`report.txt#graphrag-0`)."""


def build_of(tool: str) -> str:
    """The id of the build that takes the graph of an index of a tool."""
    return f"opened-{tool}"


def recognised(files: Mapping[str, Source], where: str) -> tuple[str, dict[str, Source]]:
    """Which tool's index some files are, and those of its folder by their names. Raises BadInput where they are none, saying what was
    looked for, or several, saying where they lie."""
    folders: dict[str, set[str]] = {}
    for name in files:
        folders.setdefault(str(PurePosixPath(name).parent), set()).add(PurePosixPath(name).name)
    found = [(tool, folder) for folder, names in sorted(folders.items()) for tool, one in TOOLS.items() if one.holds(names)]
    if not found:
        looked = "; ".join(f"{one.title} ({one.known_by})" for one in TOOLS.values())
        raise BadInput(f"{where} holds no index that can be read. Looked for: {looked}.")
    if len(found) > 1:
        several = ", ".join(f"{TOOLS[tool].title} in {folder if folder != '.' else 'the folder itself'}" for tool, folder in found[:6])
        raise BadInput(f"{where} holds several indexes: {several}. Give the folder of one of them.")
    tool, folder = found[0]
    return tool, beside(files, folder)
