"""Browser code of the components: ES modules joined into one text that the browser loads once.

Streamlit would send the whole code again with every change of a component's data. It gets only the
address of the code instead (assets/mount.js).
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
from pages.parts.shared.wording import tr, translations_script

# Files are given to the server by a thread without a session. Streamlit warns of that each time.
logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel(logging.ERROR)

ASSETS_FOLDER = ROOT / "assets"
IMPORT_STATEMENT = re.compile(r'^import \{[^}]*\} from "(\.[\w./-]+\.js)";\n', re.MULTILINE)


def join_modules(entry: Path) -> str:
    """Return a module and all its imports as one text.

    Each module occurs once, after its imports. Only the exports of `entry` remain. No two modules
    may declare the same name. The translated texts come first.
    """
    texts: dict[Path, str] = {}

    def add(file: Path) -> None:
        text = file.read_text(encoding="utf-8")
        for path in IMPORT_STATEMENT.findall(text):
            if (other := (file.parent / path).resolve()) not in texts:
                add(other)
        text = IMPORT_STATEMENT.sub("", text)
        texts[file] = text if file == entry else re.sub(r"^export ", "", text, flags=re.MULTILINE)

    add(entry)
    return "\n".join([translations_script(), *texts.values()])


@cache
def component(name: str, styles: tuple[str, ...] = ()) -> Callable[..., Any]:
    """Return the Streamlit component in the folder of that name.

    Parameters
    ----------
    name : the folder, and its module and style sheet.
    styles : names of the style sheets, if there are others than the one of the same name.
    """
    folder = ASSETS_FOLDER / name
    style = joined_styles(folder / f"{one}.css" for one in styles or (name,))
    code = f"{join_modules(folder / f'{name}.js')}\nexport const hopscopeStyle = {json.dumps(style)};\n"
    failed = tr("This part of the page could not be loaded. Reload the page.")
    constants = (
        f"const ADDRESS = {json.dumps(_serve_code(name, code))};\nconst FAILED = "
        f"{json.dumps(failed)};\n"
    )
    mount = (ASSETS_FOLDER / "mount.js").read_text(encoding="utf-8")
    return st.components.v2.component(f"hopscope_{name}", js=f"{constants}{mount}")


def joined_styles(files: Iterable[Path]) -> str:
    """Return the text of several style sheets."""
    return "".join(file.read_text(encoding="utf-8") for file in files)


def _serve_code(name: str, code: str) -> str:
    """Serve some code from now on and return its path on the server.

    The path has a hash of the code, so that changed code has a new path.
    """
    served_paths: list[str] = []

    def serve() -> None:
        served_paths.append(
            runtime.get_instance().media_file_mgr.add(
                code.encode(), "text/javascript", f"hopscope-{name}"
            )
        )

    # A file that is added in a session is deleted with it. A thread without a session avoids that.
    thread = threading.Thread(target=serve)
    thread.start()
    thread.join()
    return served_paths[0].removeprefix("/")
