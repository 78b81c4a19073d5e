"""Static site of saved cases: a folder of pages that a web server or a disk can show.

The pages draw with the scripts and style sheets of the app and ask no server for anything. The
command `export` runs this module as a program: the folder, then the cases.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping
from datetime import date
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from core.cases import Case
from core.cases.case import unpack
from core.cases.comparison_data import thaw
from core.cases.examples import examples, picture_file
from core.cases.file import CASES_EXTENSION, read_cases
from core.cases.store import packed_case
from core.cli import run_command
from core.commands.terminal import EXIT_OK
from core.errors import BadInput, HopscopeError
from core.io.console import keep_printable
from core.runtime.jobs import error_sentence
from pages.parts.board.html_report import (
    CYTOSCAPE_FILE,
    PageFrame,
    board_html,
    join_report_script,
    join_report_styles,
)
from pages.parts.board.payload import Board
from pages.parts.board.static_board import report_facts
from pages.parts.board.thumbnail import thumbnail_svg
from pages.parts.shared.text import label_list, many
from pages.parts.shared.wording import tr

SHIPPED = "shipped"  # word of the command for all cases that ship
INDEX_FILE = "index.html"
GENERATOR_MARK = b'<meta name="generator" content="Hopscope">'
PAGE_PREFIX = "case-"  # of the files of a case
# Cytoscape adds a style element unless an element has this id.
STYLES = '<link rel="stylesheet" href="board.css" id="__________cytoscape_stylesheet">'
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'"
)
CASE_FRAME = PageFrame(
    policy=POLICY,
    styles=STYLES,
    scripts='<script src="cytoscape.min.js"></script>\n<script src="board.js"></script>',
)
INDEX_FRAME = PageFrame(policy=POLICY.replace("script-src 'self'; ", ""), styles=STYLES)

PackedCase = tuple[Case, bytes]


def find_cases(names: Iterable[str]) -> list[PackedCase]:
    """Return the cases of files, ids and the word `shipped`, each with its packed comparison.

    Raises BadInput for a file that cannot be read, for an unknown id, and if there are none.
    """
    found: list[PackedCase] = []
    for name in names:
        if name == SHIPPED:
            found += examples()
        elif name.endswith(CASES_EXTENSION):
            try:
                found += read_cases(Path(name).read_bytes())
            except OSError as error:
                raise BadInput(f"{name} cannot be read: {error.strerror or error}.") from None
        else:
            found.append(packed_case(name))
    unique: list[PackedCase] = []
    for packed in found:  # which has no hash
        if packed not in unique:
            unique.append(packed)
    if not unique:
        raise BadInput("There are no cases in these files.")
    return unique


def site_files(cases: Iterable[PackedCase]) -> dict[str, bytes]:
    """Return the files of a site by name. Raises BadInput if a case cannot be drawn."""
    files = {
        "board.js": join_report_script().encode(),
        "board.css": join_report_styles().encode(),
        CYTOSCAPE_FILE.name: CYTOSCAPE_FILE.read_bytes(),
        "cytoscape.LICENSE.txt": CYTOSCAPE_FILE.with_name("cytoscape.LICENSE.txt").read_bytes(),
    }
    entries = []
    for number, (case, packed) in enumerate(cases, 1):
        name = f"{PAGE_PREFIX}{case.id}"
        if f"{name}.html" in files:  # another comparison, or other notes, with the same id
            name = f"{name}-{number}"
        try:
            board = Board(thaw(unpack(packed)))
            payload = board.payload()
        # An imported file may have data that no run could make.
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise BadInput(f"{case.id} cannot be drawn. {error_sentence(error)}") from None
        files[f"{name}.html"] = _case_page(case, board, payload).encode()
        pictures = _picture_files(case, name)
        files |= pictures
        picture = _picture_html(*pictures) if pictures else thumbnail_svg(payload)
        entries.append(_entry_html(case, f"{name}.html", picture))
    files[INDEX_FILE] = _index_page(entries).encode()
    return files


def write_site(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a site, and remove the pages of cases that an earlier export wrote.

    Other files of the folder stay. Raises BadInput if its list is not of an earlier export.
    """
    index = folder / INDEX_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if index.exists() and GENERATOR_MARK not in index.read_bytes():
            raise BadInput(f"{index} is another page; choose another folder.")
        for file in folder.glob(f"{PAGE_PREFIX}*"):
            if index.exists() and file.name not in files:
                file.unlink()
        for name, data in files.items():
            (folder / name).write_bytes(data)
    except OSError as error:
        raise HopscopeError(f"{folder} cannot be written: {error.strerror or error}.") from None


def _case_page(case: Case, board: Board, payload: Mapping[str, Any]) -> str:
    """Return the page of a case: what the app shows of it, without what needs a server."""
    remarks = [
        f'<p class="notes">{escape(case.notes)}</p>' if case.notes else "",
        f'<p class="quiet"><a href="{INDEX_FILE}">{escape(tr("All cases"))}</a> · ',
        escape(tr("Asking again, repairs and other methods need Hopscope itself.")),
        "</p>",
    ]
    facts = report_facts(board, date.fromtimestamp(case.created))
    drawn = {**payload, "ways": [], "repairs": False}
    return CASE_FRAME.page_html(
        case.question, board_html(drawn, case.question, facts, "".join(remarks))
    )


def _index_page(entries: Iterable[str]) -> str:
    """Return the page that lists the cases."""
    entries = list(entries)
    title = tr("Compared retrieval methods")
    return INDEX_FRAME.page_html(
        title,
        f"<h1>{escape(title)}</h1>\n"
        f'<p class="quiet">{escape(many(len(entries), "question"))}</p>\n'
        f'<ul class="cases">\n{"".join(entries)}</ul>',
    )


def _entry_html(case: Case, address: str, picture: str) -> str:
    """Return the entry of a case in the list."""
    facts = " · ".join((label_list(map(tr, case.method_labels)), case.graph, *case.tags))
    notes = f"<p>{escape(case.notes)}</p>" if case.notes else ""
    return (
        f'<li><a href="{address}">{picture}<h2>{escape(case.question)}</h2></a>'
        f'<p class="quiet">{escape(facts)}</p>{notes}</li>\n'
    )


def _picture_files(case: Case, name: str) -> dict[str, bytes]:
    """Return the light and the dark picture of a shipped case by file name. Empty for others."""
    light = picture_file(case)
    dark = picture_file(case, dark=True)
    if light is None or dark is None:
        return {}
    return {f"{name}.webp": light.read_bytes(), f"{name}-dark.webp": dark.read_bytes()}


def _picture_html(light: str, dark: str) -> str:
    """Return the element of a picture with a light and a dark file."""
    return (
        f'<picture><source srcset="{dark}" media="(prefers-color-scheme: dark)">'
        f'<img src="{light}" alt="" loading="lazy"></picture>'
    )


def _export(folder: str, names: list[str], options: Namespace) -> int:
    """Write the site of the named cases, and return the exit code."""
    files = site_files(find_cases(names))
    os.umask(0o022)  # The web server may run as another user.
    write_site(Path(folder), files)
    n_cases = sum(name.endswith(".html") for name in files) - 1
    print(f"{n_cases:,} cases in {folder}. Open {Path(folder) / INDEX_FILE}")
    return EXIT_OK


if __name__ == "__main__":
    keep_printable()
    sys.exit(run_command(Namespace(run=partial(_export, sys.argv[1], sys.argv[2:]))))
