"""Folders whose content is replaced in one step, as those of graphs and corpora.

The data files of each version lie in a subfolder `data-DIGEST` of their own. A JSON file next to
the subfolders, the description, names the current one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.io import digests
from core.io.durable_files import move_into_place, sync, temporary_prefix, write_whole

TEMPORARY = "building"  # the subfolder in which data files are written first


def install_files(folder: Path, temporary: Path, description: str, meta: Mapping[str, Any]) -> None:
    """Move data files into `folder` and make them current in one step.

    The previous data stays readable until then, and is removed afterwards. Raises OSError.

    Parameters
    ----------
    folder : the folder whose content is replaced.
    temporary : a folder with the data files, on the same disk. It becomes a subfolder.
    description : name of the JSON file that is written into `folder`.
    meta : the content of that file. Its `digest`, a hexadecimal text, names the subfolder.
    """
    if not (temporary / digests.DIGESTS_FILE).exists():
        digests.write_digests(temporary)
    for file in (*sorted(temporary.rglob("*")), temporary):
        sync(file)
    base = folder / f"data-{meta['digest'][:16]}"
    data = base
    number = 1
    while data.exists():  # the same content is installed again
        number += 1
        data = base.with_name(f"{base.name}-{number}")
    move_into_place(temporary, data)
    sync(folder)
    text = json.dumps(
        digests.with_digest({**meta, "data": data.name}), ensure_ascii=False, indent=1
    )
    write_whole(folder / description, lambda temporary: temporary.write_text(text, "utf-8"))
    sync(folder)
    clean_folder(folder, description)


def clean_folder(folder: Path, description: str) -> None:
    """Remove replaced data, and temporary files of killed processes, from `folder`.

    The caller holds the folder's lock. `description` is the name of the JSON file that names the
    current subfolder.
    """
    try:
        current = json.loads((folder / description).read_text("utf-8")).get("data")
    except (OSError, ValueError, AttributeError):
        current = None
    for entry in sorted(folder.iterdir()):
        is_data = entry.name == TEMPORARY or entry.name.startswith("data-")
        if is_data and entry.is_dir() and entry.name != current:
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name.startswith(temporary_prefix(folder / description)):
            entry.unlink(missing_ok=True)


def remove_folder(folder: Path, after_move: Callable[[], None] = lambda: None) -> None:
    """Move a folder away in one step, call `after_move`, and delete its content.

    Raises OSError, and what `after_move` raises.
    """
    trash = folder.with_name(f".{folder.name}-removed")
    shutil.rmtree(trash, ignore_errors=True)
    move_into_place(folder, trash)
    after_move()
    shutil.rmtree(trash)
