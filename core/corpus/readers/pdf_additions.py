"""Additions to a PDF's pages: values of form fields, notes and attached files.

They are annotations, whose entries have the names of the PDF standard (ISO 32000), such as “/V” for
the value of a field and “/T” for its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from core.corpus.document import utf8_text
from core.corpus.readers.pdf_pieces import TextPiece

NOTE_TYPES = frozenset(
    (
        "/Text /FreeText /Highlight /Underline /StrikeOut /Squiggly /Stamp /Caret /Ink /Line "
        "/Square /Circle /Polygon /PolyLine"
    ).split()
)
HIDDEN_FLAG = 2  # flag of a hidden annotation
# flags of form fields
PUSH_BUTTON_FLAG = 1 << 16
RADIO_FLAG = 1 << 15
PASSWORD_FLAG = 1 << 13
MAX_PARENTS = 32  # ancestors of a field that are visited, as damaged files may have cycles
MAX_LABEL_LETTERS = 80
MAX_FILES = 10_000
LABEL_ABOVE_POINTS = 18.0  # points above a field in which its label may stand
LABEL_RIGHT_POINTS = 40.0  # points right of a checkbox in which its label may begin
LABEL_LINE_POINTS = 4.0  # points by which a label's line may lie beyond its field


@dataclass
class PageAdditions:
    """Lines for form fields and notes of a page, and names of its files."""

    fields: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def page_additions(page: Any, pieces: Sequence[TextPiece]) -> PageAdditions:
    """Return the additions to a page, with fields named by their printed labels.

    Parameters
    ----------
    page : the page of pypdf.
    pieces : pieces of text of the page, among which the labels are searched.

    Returns
    -------
    Lines for form fields and notes, and names of files.
    """
    additions = PageAdditions()
    known_fields: set[int] = set()
    for annotation in _annotations(page):
        kind = annotation.get("/Subtype")
        if kind == "/Widget":
            form_field = _field_of(annotation)
            value = _value(annotation)
            # A field may have several widgets, such as a group of radio buttons.
            if value and id(form_field) not in known_fields:
                known_fields.add(id(form_field))
                additions.fields.append(f"{_label(annotation, form_field, pieces)}: {value}")
        elif kind == "/FileAttachment":
            additions.files.append(_file_name(annotation.get("/FS")))
        elif kind in NOTE_TYPES and not _integer(annotation, "/F") & HIDDEN_FLAG:
            text = _text(annotation.get("/Contents"))
            if text:
                prefix = "" if text.casefold().startswith("note") else "Note: "
                additions.notes.append(f"{prefix}{text}")
    return additions


def attached_files(reader: Any) -> list[str]:
    """Return the names of the files that are attached to a whole PDF."""
    return [utf8_text(str(file.name)) for file in islice(reader.attachment_list, MAX_FILES)]


def _annotations(page: Any) -> Iterator[Any]:
    annotations = page.get("/Annots")
    if annotations is not None:
        annotations = annotations.get_object()
    for reference in annotations if isinstance(annotations, list) else ():
        annotation = reference.get_object()
        if isinstance(annotation, dict):
            yield annotation


def _field_of(widget: Any) -> Any:
    """Return the form field that a widget displays: itself or an ancestor."""
    for _ in range(MAX_PARENTS):
        parent = widget.get("/Parent")
        if "/T" in widget or parent is None:
            break
        widget = parent.get_object()
    return widget


def _inherited_value(node: Any, key: str) -> Any:
    """Return an entry of a field or its nearest ancestor; None without one."""
    for _ in range(MAX_PARENTS):
        if key in node:
            return node[key]
        parent = node.get("/Parent")
        if parent is None:
            return None
        node = parent.get_object()
    return None


def _value(widget: Any) -> str:
    """Return the value of a field; empty for none or a password."""
    kind, value = _inherited_value(widget, "/FT"), _inherited_value(widget, "/V")
    flags = _inherited_value(widget, "/Ff")
    flags = int(flags) if isinstance(flags, int) else 0
    if kind == "/Btn":
        state = widget.get("/AS", value)
        if flags & PUSH_BUTTON_FLAG or state in (None, "/Off"):
            return ""
        return _text(state).lstrip("/") if flags & RADIO_FLAG else "yes"
    if kind not in ("/Tx", "/Ch") or flags & PASSWORD_FLAG:
        return ""
    values = value if isinstance(value, list) else [value]
    labels = _choice_labels(_inherited_value(widget, "/Opt")) if kind == "/Ch" else {}
    texts = [_text(item) for item in values]
    return ", ".join(labels.get(text, text) for text in texts if text)


def _choice_labels(options: Any) -> dict[str, str]:
    """Return the displayed text of each value in a list of choices."""
    choices = options.get_object() if options is not None else ()
    pairs = [pair for pair in choices if isinstance(pair, list) and len(pair) == 2]
    return {_text(value): _text(label) for value, label in pairs}


def _label(widget: Any, form_field: Any, pieces: Sequence[TextPiece]) -> str:
    """Return the label of a field: stated by the form, else printed near it, else its name."""
    title = _text(form_field.get("/TU"))
    label = "" if title else _printed_label(widget, pieces)
    name = _text(form_field.get("/T")).rpartition(".")[2].partition("[")[0]
    return " ".join((title or label or name or "field").split())[:MAX_LABEL_LETTERS].rstrip(" :")


def _printed_label(widget: Any, pieces: Sequence[TextPiece]) -> str:
    """Return the text near a field as its label; empty without one.

    It is the text to the right of a checkbox, unless a text with a colon is to its left. For other
    fields it is the text to the left, else the text above.
    """
    area = _area(widget)
    if area is None:
        return ""
    candidates = [piece for piece in pieces if piece.is_level and any(map(str.isalpha, piece.text))]
    line = [piece for piece in candidates if area.bottom - LABEL_LINE_POINTS <= piece.y <= area.top]
    left = _piece_before(area, line)
    right = _piece_after(area, line)
    is_box = _inherited_value(widget, "/FT") == "/Btn"
    if is_box and right is not None and not _ends_in_colon(left):
        return right.text
    label = left or _piece_above(area, candidates)
    return label.text if label is not None else ""


@dataclass(frozen=True)
class _FieldArea:
    """The area of a form field, in points from the lower left corner."""

    left: float
    bottom: float
    right: float
    top: float


def _area(widget: Any) -> _FieldArea | None:
    """Return the area of a widget; None if it states none."""
    try:
        left, bottom, right, top = (float(one) for one in widget["/Rect"])
    except (KeyError, TypeError, ValueError):
        return None
    return _FieldArea(left, bottom, right, top)


def _piece_before(area: _FieldArea, line: Sequence[TextPiece]) -> TextPiece | None:
    """Return the last piece of a line left of a field."""
    pieces = (piece for piece in line if piece.x < area.left)
    return max(pieces, key=lambda piece: piece.x, default=None)


def _ends_in_colon(piece: TextPiece | None) -> bool:
    return piece is not None and piece.text.rstrip().endswith(":")


def _piece_after(area: _FieldArea, line: Sequence[TextPiece]) -> TextPiece | None:
    """Return the first piece of a line right of a field.

    The piece must be near the field.
    """
    pieces = (piece for piece in line if piece.x >= area.right)
    nearest = min(pieces, key=lambda piece: piece.x, default=None)
    if nearest is None or nearest.x - area.right > LABEL_RIGHT_POINTS:
        return None
    return nearest


def _piece_above(area: _FieldArea, pieces: Sequence[TextPiece]) -> TextPiece | None:
    """Return the lowest piece above a field, if it is near."""
    pieces_above = (
        piece
        for piece in pieces
        if area.top < piece.y <= area.top + LABEL_ABOVE_POINTS
        and area.left - LABEL_ABOVE_POINTS <= piece.x < area.right
    )
    return min(pieces_above, key=lambda piece: piece.y, default=None)


def _file_name(file: Any) -> str:
    name = file.get_object() if file is not None else {}
    if isinstance(name, dict):
        name = name.get("/UF") or name.get("/F")
    return _text(name) or "a file without a name"


def _integer(node: Any, key: str) -> int:
    value = node.get(key, 0)
    return int(value) if isinstance(value, int) else 0


def _text(value: Any) -> str:
    """Return a text of a PDF on one line."""
    if value is None:
        return ""
    value = value.get_object()
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    elif hasattr(value, "get_data"):
        value = value.get_data().decode("utf-8", "replace")
    return " ".join(utf8_text(str(value)).split())
