"""The browser code of a component: its ES modules joined into one text, as Streamlit takes it."""

from __future__ import annotations

import re
from pathlib import Path

from core.io.home import ROOT

ASSETS = ROOT / "assets"
IMPORT = re.compile(r'^import \{[^}]*\} from "(\.[\w./-]+\.js)";\n', re.MULTILINE)


def joined(entry: Path) -> str:
    """The module `entry` and all that it imports, each once and after what it imports, with the exports of the entry alone.

    No two of the modules may declare the same name.
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
    return "\n".join(texts.values())
