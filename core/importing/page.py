"""Tables of formats for the documentation page docs/formats.md."""

from __future__ import annotations

from collections.abc import Sequence

from core.importing.registry import IMPORTERS

FORMAT_COLUMNS = ("format", "files", "written by", "what is taken", "what is not")


def formats_page(kind: str) -> str:
    """Return a Markdown table of the formats of a kind, without empty columns."""
    rows = []
    for one in IMPORTERS.values():
        if one.kind == kind:
            files = one.files or " ".join(f"`{suffix}`" for suffix in one.suffixes)
            rows.append((f"`{one.name}`: {one.title}", files, one.tools, one.taken, one.left))
    used = [i for i in range(len(FORMAT_COLUMNS)) if any(row[i] for row in rows)]
    lines = [_line([FORMAT_COLUMNS[i] for i in used]), f"|{'|'.join(['---'] * len(used))}|"]
    lines += [_line([row[i].replace("|", "\\|") for i in used]) for row in rows]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
