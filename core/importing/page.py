"""Tables of formats for the documentation page docs/formats.md, where comments name the calls."""

from __future__ import annotations

from collections.abc import Sequence

from core.importing.registry import IMPORTERS

FORMAT_COLUMNS = ("format", "files", "written by", "what is taken", "what is not")


def formats_page(kind: str) -> str:
    """Return a Markdown table of the formats of a kind, without empty columns."""
    rows = []
    for importer in IMPORTERS.values():
        if importer.kind == kind:
            title = f"`{importer.name}`: {importer.title}"
            files = importer.files or " ".join(f"`{suffix}`" for suffix in importer.suffixes)
            rows.append((title, files, importer.tools, importer.contents, importer.omissions))
    columns = [index for index in range(len(FORMAT_COLUMNS)) if any(row[index] for row in rows)]
    rule = f"|{'|'.join(['---'] * len(columns))}|"
    lines = [_line([FORMAT_COLUMNS[index] for index in columns]), rule]
    lines += [_line([row[index].replace("|", "\\|") for index in columns]) for row in rows]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
