"""The pages are drawn in a made-up language, in which each text is in ⟦…⟧.

What each page draws is printed as JSON, by a process of its own.

HOPSCOPE_LANGUAGE=xx python -m tests.pages.shared.pseudo_language FOLDER [PAGE ...]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from babel.messages.mofile import write_mo

from core.sources import CorpusSource
from pages.parts.shared import wording
from tests.strings import template


def translate(folder: Path) -> None:
    """Write a translation into the made-up language into a folder, and have it taken from there."""
    catalogue = template()
    for message in catalogue:
        if message.id:
            if isinstance(message.id, tuple):
                message.string = tuple(f"⟦{one}⟧" for one in message.id)
            else:
                message.string = f"⟦{message.id}⟧"
    place = folder / "xx" / "LC_MESSAGES"
    place.mkdir(parents=True)
    with (place / f"{wording.GETTEXT_DOMAIN}.mo").open("wb") as file:
        write_mo(file, catalogue)
    wording.LOCALE_FOLDER = folder


def drawn(page: str) -> dict[str, list[str]]:
    """The texts of a page by the kind of element: labels, help and texts; and what it raised."""
    from streamlit.testing.v1 import AppTest

    at = AppTest.from_file(str(wording.ROOT / "pages" / f"{page}.py"), default_timeout=120)
    if page == "texts":
        at.session_state["source"] = CorpusSource("christmas-carol")
    at.run()
    found: dict[str, list[str]] = {"raised": [one.message for one in at.exception]}
    for kind in (
        "button",
        "selectbox",
        "multiselect",
        "text_input",
        "text_area",
        "number_input",
        "toggle",
        "checkbox",
        "radio",
        "tabs",
        "slider",
    ):
        found[kind] = [one.label for one in getattr(at, kind)]
    for kind in (
        "caption",
        "header",
        "subheader",
        "markdown",
        "title",
        "info",
        "warning",
        "error",
        "success",
    ):
        found[kind] = [str(one.value) for one in getattr(at, kind)]
    return found


if __name__ == "__main__":
    translate(Path(sys.argv[1]))
    print(json.dumps({page: drawn(page) for page in sys.argv[2:]}))
