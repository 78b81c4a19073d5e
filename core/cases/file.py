"""File format of exported cases: gzipped JSON lines, a heading and then one line per case.

A file may come from anybody, so it is checked while it is read.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from core.cases.case import (
    CASE_LIMITS,
    Case,
    check_notes,
    check_tags,
    describe_case,
    pack,
)
from core.cases.comparison_data import thaw
from core.errors import BadInput, shorten
from core.io.json_text import json_text

CASES_FILE_KIND = "hopscope-cases"
CASES_FILE_VERSION = 1
CASES_EXTENSION = ".cases.gz"
MAX_CASES_FILE_BYTES = 64_000_000
MAX_CASES = 1_000
MAX_UNPACKED_CASES_BYTES = 256_000_000
MAX_DESCRIPTION_BYTES = 100_000  # of a line without the comparison, such as notes and link
MAX_TIME_SECONDS = 1e11  # since 1970; later times are faults
CASE_ID_PATTERN = re.compile(r"[0-9a-f]{12}")


def write_cases(cases: Iterable[tuple[Case, Mapping[str, Any]]]) -> bytes:
    """Return the bytes of a file of cases.

    Each case has its comparison as `freeze` returns it.
    """
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as file:  # no time of day in the file
        file.write(_json_line({"kind": CASES_FILE_KIND, "version": CASES_FILE_VERSION}))
        for case, comparison in cases:
            names = ("id", "created", "changed", "notes", "tags", "link")
            fields = {name: getattr(case, name) for name in names}
            file.write(_json_line({**fields, "comparison": comparison}))
    return out.getvalue()


def read_cases(data: bytes) -> Iterator[tuple[Case, bytes]]:
    """Yield the cases of a file, each with its packed comparison, after a check.

    Raises BadInput, which names the faulty line.
    """
    if len(data) > MAX_CASES_FILE_BYTES:
        raise BadInput(
            f"This file of {len(data) / 1e6:,.0f} MB is too large; cases of at most "
            f"{MAX_CASES_FILE_BYTES / 1e6:,.0f} MB can be read."
        )
    lines = _lines(data)
    heading = next(lines, (1, None))[1]
    if not isinstance(heading, Mapping) or heading.get("kind") != CASES_FILE_KIND:
        raise BadInput("This is not a file of cases exported from Hopscope.")
    if heading.get("version") != CASES_FILE_VERSION:
        version = shorten(repr(heading.get("version")), 20)
        raise BadInput(
            f"These cases were exported by another version of Hopscope (format {version}; this "
            f"one reads {CASES_FILE_VERSION})."
        )
    for number, row in lines:
        if number - 1 > MAX_CASES:
            raise BadInput(f"This file holds more than {MAX_CASES:,} cases; export fewer at once.")
        try:
            yield _read_case(row)
        except BadInput as error:
            raise BadInput(f"Line {number} of this file: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput(
                f"Line {number} of this file is no case ({type(error).__name__}: "
                f"{shorten(str(error))})."
            ) from None


def _read_case(row: Mapping[str, Any]) -> tuple[Case, bytes]:
    """Return a case and its packed comparison from a line of a file.

    The description is made anew from the comparison. An invalid id is replaced by a new one.
    """
    comparison = thaw(row["comparison"])
    created, changed = float(row["created"]), float(row["changed"])
    if not all(math.isfinite(time) and 0 <= time < MAX_TIME_SECONDS for time in (created, changed)):
        raise ValueError("a time that cannot be")
    if not isinstance(row["tags"], list) or not all(
        isinstance(text, str) for text in (*row["tags"], row["notes"])
    ):
        raise TypeError("notes and tags must be texts")
    case = describe_case(comparison)
    if isinstance(row["id"], str) and CASE_ID_PATTERN.fullmatch(row["id"]):
        case = replace(case, id=row["id"])
    case = replace(
        case,
        created=created,
        changed=changed,
        link=_checked_link(row["link"]),
        notes=check_notes(row["notes"]),
        tags=check_tags(row["tags"]),
    )
    return case, pack(row["comparison"])


def _checked_link(parameters: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """Return query parameters after a check that they are texts or lists of texts."""
    for value in parameters.values():
        if not isinstance(value, str) and not (
            isinstance(value, list) and all(isinstance(text, str) for text in value)
        ):
            raise TypeError("the link must hold texts")
    if len(json.dumps(dict(parameters))) > CASE_LIMITS.max_link_characters:
        raise ValueError("the link is too long")
    return dict(parameters)


def _lines(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the number and value of each JSON line of a file.

    The file may be gzipped or plain. Lines are unpacked one at a time, so that no file can fill the
    memory.
    """
    is_gzipped = data[:2] == b"\x1f\x8b"  # the first bytes of every gzip file
    stream = gzip.GzipFile(fileobj=io.BytesIO(data)) if is_gzipped else io.BytesIO(data)
    max_line_bytes = CASE_LIMITS.max_bytes + MAX_DESCRIPTION_BYTES
    number = 0
    n_bytes = 0
    while True:
        number += 1
        try:
            text = stream.readline(max_line_bytes)
            n_bytes += len(text)
            if not text:
                return
            if len(text) >= max_line_bytes or n_bytes > MAX_UNPACKED_CASES_BYTES:
                raise BadInput(f"Line {number} of this file is larger than a case may be.")
            yield number, json.loads(text.decode())
        except (OSError, EOFError, zlib.error) as error:
            raise BadInput(f"This file is damaged or cut short ({shorten(str(error))}).") from None
        except (ValueError, RecursionError) as error:
            raise BadInput(
                f"Line {number} of this file is not JSON ({shorten(str(error))})."
            ) from None


def _json_line(row: Mapping[str, Any]) -> bytes:
    return json_text(row, separators=(",", ":")).encode() + b"\n"
