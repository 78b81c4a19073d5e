"""Steps that the tests of the drop zone share.

They drop files, name something, and choose what it is.
"""

from __future__ import annotations

import io
import zipfile

from streamlit.testing.v1 import AppTest

from core.importing import IMPORT_KINDS, IMPORTERS
from pages.parts.bringing.drop_zone import PATH_CHOICE


def zone(at: AppTest):
    """The uploader of the drop zone."""
    return next(one for one in at.file_uploader if one.key.startswith("bring_files"))


def drop(at: AppTest, *files: tuple[str, bytes | str], brought_as: str = "") -> AppTest:
    """The page after these files were dropped, and a kind or a format of theirs chosen."""
    contents = [
        (name, content if isinstance(content, bytes) else content.encode(), "text/plain")
        for name, content in files
    ]
    zone(at).set_value(contents).run()
    assert not at.exception, at.exception
    return choose(at, brought_as) if brought_as else at


def name_it(at: AppTest, text: str, brought_as: str = "") -> AppTest:
    """The page after a path, an address or an id was typed."""
    at.segmented_control(key="bring_way").set_value(PATH_CHOICE).run()
    field = next(one for one in at.text_input if (one.key or "").startswith("bring_named"))
    field.set_value(text).run()
    assert not at.exception, at.exception
    return choose(at, brought_as) if brought_as else at


def choice(at: AppTest):
    """The choice of what was dropped is."""
    return next(one for one in at.selectbox if one.label == "What it is")


def chosen(at: AppTest) -> str:
    """The key of the importer that is chosen; empty for none."""
    return choice(at).value.key if choice(at).value is not None else ""


def choose(at: AppTest, wanted: str) -> AppTest:
    """The page with a format chosen, or with the first one of a kind that is offered."""
    box = choice(at)
    if box.value is None or wanted not in (box.value.kind, box.value.key):
        kind = IMPORT_KINDS[wanted.partition("/")[0]].title
        title = IMPORTERS[wanted].title if wanted in IMPORTERS else ""
        label = next(one for one in box.options if one.startswith(f"{kind} · {title}"))
        box.select_index(box.options.index(label)).run()
        assert not at.exception, at.exception
    return at


def zipped(**files: str | bytes) -> bytes:
    """A zip of some files by their names."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, content in files.items():
            archive.writestr(file, content)
    return held.getvalue()
