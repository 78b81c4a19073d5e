"""Browser code of the components, joined from ES modules.

A component is a part of a page that JavaScript draws, such as the board of a comparison.

Streamlit sends a component's code again with every change of its data. Therefore that code only
imports the rest from an address of this server (assets/mount.js).
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

# `_serve_code` adds files in a thread without a session, of which Streamlit would warn each time.
logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel(logging.ERROR)

ASSETS_FOLDER = ROOT / "assets"
IMPORT_STATEMENT = re.compile(r'^import \{[^}]*\} from "(\.[\w./-]+\.js)";\n', re.MULTILINE)


def join_modules(entry: Path) -> str:
    """Return a module and all its imports as one text.

    Each module occurs once, after its imports. Only the exports of `entry` remain. No two modules
    may declare the same name. The translated texts come first.
    """
    texts: dict[Path, str] = {}

    def add_module(file: Path) -> None:
        text = file.read_text(encoding="utf-8")
        for path in IMPORT_STATEMENT.findall(text):
            imported = (file.parent / path).resolve()
            if imported not in texts:
                add_module(imported)
        text = IMPORT_STATEMENT.sub("", text)
        texts[file] = text if file == entry else re.sub(r"^export ", "", text, flags=re.MULTILINE)

    add_module(entry)
    return "\n".join([translations_script(), *texts.values()])


@cache
def component(name: str, styles: tuple[str, ...] = ()) -> Callable[..., Any]:
    """Return the function that draws the component in the folder `assets/name`.

    Parameters
    ----------
    name : name of the folder, and of the module and the style sheet in it.
    styles : names of the style sheets, if not `name` alone.
    """
    folder = ASSETS_FOLDER / name
    style = join_styles(folder / f"{style_name}.css" for style_name in styles or (name,))
    code = f"{join_modules(folder / f'{name}.js')}\nexport const hopscopeStyle = {json.dumps(style)};\n"
    message = json.dumps(tr("This part of the page could not be loaded. Reload the page."))
    address = json.dumps(_serve_code(name, code))
    constants = f"const ADDRESS = {address};\nconst FAILED = {message};\n"
    mount = (ASSETS_FOLDER / "mount.js").read_text(encoding="utf-8")
    return st.components.v2.component(f"hopscope_{name}", js=f"{constants}{mount}")


def join_styles(files: Iterable[Path]) -> str:
    """Return the joined text of several style sheets."""
    return "".join(file.read_text(encoding="utf-8") for file in files)


def _serve_code(name: str, code: str) -> str:
    """Serve some code from now on, and return its path."""
    served_paths: list[str] = []

    def serve() -> None:
        files = runtime.get_instance().media_file_mgr
        served_paths.append(files.add(code.encode(), "text/javascript", f"hopscope-{name}"))

    # A file that is added in a session is deleted with it. A thread without a session avoids that.
    thread = threading.Thread(target=serve)
    thread.start()
    thread.join()
    return served_paths[0].removeprefix("/")
