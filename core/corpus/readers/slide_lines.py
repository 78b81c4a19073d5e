"""The lines of text on a slide of python-pptx: shapes and groups, tables and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from core.corpus.readers.formulas import write_office_formula
from core.corpus.readers.raised_text import (
    FORMULA_EDGE,
    LOWERED_START,
    RAISED_START,
    SCRIPT_END,
    on_one_line,
)


def slide_lines(slide: Any) -> Iterator[str]:
    """Yield the lines of a slide, those of its notes last."""
    yield from _shape_lines(slide.shapes)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        yield from frame_text(slide.notes_slide.notes_text_frame).split("\n")


def frame_text(frame: Any) -> str:
    """Return the text of a text frame, with a line for each paragraph."""
    return "\n".join(
        on_one_line("".join(_pieces(paragraph))) for paragraph in frame._txBody.iter("{*}p")
    )


def _shape_lines(shapes: Iterable[Any]) -> Iterator[str]:
    """Yield the lines of shapes, also of those within groups."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shape_lines(shape.shapes)
        elif getattr(shape, "has_table", False):
            yield from _rows(shape.table)
        elif shape.has_text_frame:
            yield from frame_text(shape.text_frame).split("\n")


def _rows(table: Any) -> Iterator[str]:
    """Yield the rows of a table.

    A cell over several columns is written once, and a cell over several rows in each row.
    """
    above: dict[int, tuple[str, int]] = {}  # text and number of rows left, by column
    for row in table.rows:
        texts = []
        for column, cell in enumerate(row.cells):
            text, rows_left = above.pop(column, ("", 0))
            if not cell.is_spanned:
                text = " ".join(frame_text(cell.text_frame).split())
                rows_left = cell.span_height - 1 if cell.is_merge_origin else 0
            elif not rows_left:
                continue
            else:
                rows_left -= 1
            texts.append(text)
            if rows_left:
                above[column] = (text, rows_left)
        yield " | ".join(texts)


def _pieces(element: Any) -> Iterator[str]:
    """Yield the texts of a paragraph, with marks around raised and lowered texts."""
    for child in element:
        name = str(child.tag).rpartition("}")[2]
        if name in ("r", "fld"):
            yield from _run(child)
        elif name == "br":
            yield "\n"
        elif name == "oMath":
            yield f"{FORMULA_EDGE}{write_office_formula(child)}{FORMULA_EDGE}"
        elif name == "AlternateContent":
            yield from _pieces(child[0]) if len(child) else ()
        elif name in ("m", "oMathPara", "Choice"):
            yield from _pieces(child)


def _run(run: Any) -> Iterator[str]:
    """Yield the text of a run, between marks if raised or lowered."""
    text = run.findtext("{*}t") or ""
    properties = run.find("{*}rPr")
    # the rise above the line in thousandths of a percent of the font size; below 0 if lowered
    rise = "0" if properties is None else properties.get("baseline", "0")
    if rise.strip("-0%.") == "":
        yield text.replace("\v", "\n")
    else:
        start = LOWERED_START if rise.startswith("-") else RAISED_START
        yield from (start, text, SCRIPT_END)
