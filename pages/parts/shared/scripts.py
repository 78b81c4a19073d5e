"""The browser code of a component: its ES modules joined into one text, which the browser gets
once.

Streamlit would send all of it with every change of the component's data. What it sends instead is
where the code is (assets/mount.js).
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit import runtime

from core.io.home import ROOT
from pages.parts.shared.wording import as_script, tr

# Files are handed to the server by a thread that belongs to no visitor, which Streamlit warns of each time.
logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel(logging.ERROR)

ASSETS = ROOT / "assets"
IMPORT = re.compile(r'^import \{[^}]*\} from "(\.[\w./-]+\.js)";\n', re.MULTILINE)


def joined(entry: Path) -> str:
    """The module `entry` and all that it imports, each once and after what it imports, with the
    exports of the entry alone.

    No two of the modules may declare the same name. Before them come the texts in the server's
    language.
    """
    texts: dict[Path, str] = {}

    def add(file: Path) -> None:
        text = file.read_text(encoding="utf-8")
        for needed in IMPORT.findall(text):
            if (other := (file.parent / needed).resolve()) not in texts:
                add(other)
        text = IMPORT.sub("", text)
        texts[file] = text if file == entry else re.sub(r"^export ", "", text, flags=re.MULTILINE)

    add(entry)
    return "\n".join([as_script(), *texts.values()])


@cache
def component(name: str, styles: tuple[str, ...] = ()) -> Callable[..., Any]:
    """The component in the folder of that name as Streamlit mounts it, with what its module
    imports.

    `styles` names its stylesheets, where there is more than the one of its own name.
    """
    folder = ASSETS / name
    style = joined_styles(folder / f"{one}.css" for one in styles or (name,))
    code = f"{joined(folder / f'{name}.js')}\nexport const hopscopeStyle = {json.dumps(style)};\n"
    failed = tr("This part of the page could not be loaded. Reload the page.")
    constants = (
        f"const ADDRESS = {json.dumps(_served(name, code))};\nconst FAILED = "
        f"{json.dumps(failed)};\n"
    )
    mount = (ASSETS / "mount.js").read_text(encoding="utf-8")
    return st.components.v2.component(f"hopscope_{name}", js=f"{constants}{mount}")


def joined_styles(files: Iterable[Path]) -> str:
    """Some stylesheets as one text."""
    return "".join(file.read_text(encoding="utf-8") for file in files)


def _served(name: str, code: str) -> str:
    """The path on the server at which a browser gets some code from now on: it holds a hash of the
    code, so that other code has another."""
    found: list[str] = []

    def serve() -> None:
        found.append(
            runtime.get_instance().media_file_mgr.add(
                code.encode(), "text/javascript", f"hopscope-{name}"
            )
        )

    # what a thread of no visit adds is of no visit, and stays
    thread = threading.Thread(target=serve)
    thread.start()
    thread.join()
    return found[0].removeprefix("/")
