"""Question sets that a person added: kept in their folder, each bound to a graph by its name."""

from __future__ import annotations

import re
import shutil
from collections.abc import Container
from functools import partial
from pathlib import Path as FilePath

from core.datasets.sets import QuestionSet
from core.errors import BadInput, StoreError, damage
from core.graph.readers.formats import bare_suffix
from core.io.durable import move
from core.io.files import PACKED
from core.io.folders import remove
from core.io.home import home
from core.io.names import no_device
from core.io.stamps import Remembered, described
from core.io.temporary import temporary_folder
from core.io.toml_file import read_toml
from core.sharing import check_may_change, forget_owner, made

OWNED_AS = "question set"
DESCRIPTION = "set.toml"
LONGEST_NAME = 40
UNFIT = re.compile(r"[^a-z0-9]+")  # what no name holds
_added = Remembered[tuple[str, QuestionSet]]()


def sets_folder() -> FilePath:
    """Where a person's question sets lie, one folder each."""
    return home() / "questions"


def clean_name(text: str) -> str:
    """A name as a folder can bear it: lower-case letters, digits and dashes."""
    return no_device(UNFIT.sub("-", text.casefold()).strip("-")[:LONGEST_NAME].strip("-"))


def added_sets() -> dict[str, tuple[str, QuestionSet]]:
    """The sets that a person added, by name, each with the name of its graph. A damaged one is left out; asking for it by
    name tells why."""
    found = {}
    for file, files in described(sets_folder(), DESCRIPTION):
        try:
            found[file.parent.name] = _added.of(file, files, partial(added_set, file.parent.name))
        except (BadInput, StoreError):
            continue  # said when somebody asks for it by name
    return found


def added_set(name: str) -> tuple[str, QuestionSet]:
    """The name of its graph and the set of that name. Raises StoreError where it is absent or damaged."""
    folder = sets_folder() / name
    try:
        description = read_toml(folder / DESCRIPTION)
        if FilePath(description["file"]).name != description["file"]:
            raise ValueError("its file lies elsewhere")
        return str(description["graph"]), QuestionSet.described(name, description, folder, own=True)
    except FileNotFoundError:
        raise StoreError(f"There is no question set “{name}” of your own.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        instead = "remove it and add it again"
        raise damage(f"The question set in {folder} is", error, instead) from None


def save_set(
    file: FilePath, name: str, title: str, graph: str, taken: Container[str], **how: str
) -> QuestionSet:
    """A file of questions kept as a set of that name on a graph; either all of it is kept or nothing.

    `taken` holds the names of all sets there are; `how` tells `format`, `graphs` and `columns` as a `QuestionSet` has them.
    Raises BadInput for a name that cannot be or is taken, and whatever reading the file raises; StoreError where the disk refuses.
    """
    import tomli_w

    cleaned = clean_name(name)
    if not cleaned:
        raise BadInput("Give the question set a name of letters, digits or dashes.")
    if cleaned in taken or (sets_folder() / cleaned).exists():
        raise BadInput(f"There is already a question set “{cleaned}”; choose another name.")
    try:
        file.open("rb").close()
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror or error}.") from None
    packed = file.suffix.lower() if file.suffix.lower() in PACKED else ""
    file_name = "questions" + bare_suffix(file) + packed
    description = {
        "title": " ".join(title.split()) or cleaned,
        "graph": graph,
        "file": file_name,
        **how,
    }
    known = QuestionSet.described(cleaned, description, sets_folder() / cleaned, own=True)
    folder = None
    try:
        sets_folder().mkdir(parents=True, exist_ok=True)
        QuestionSet.described(
            cleaned, {**description, "file": file.name}, file.parent
        ).questions()  # all of it can be read
        folder = temporary_folder()
        shutil.copyfile(file, folder / file_name)
        (folder / DESCRIPTION).write_text(tomli_w.dumps(description), "utf-8")
        move(folder, known.file.parent)
        made(OWNED_AS, cleaned)
    except OSError as error:
        raise StoreError(
            f"The question set cannot be stored in {sets_folder()}: {error.strerror or error}."
        ) from None
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
    return known


def remove_set(name: str) -> None:
    """Remove a set that a person added. Raises StoreError where there is none or the disk refuses, NotAllowed where it is another's."""
    folder = sets_folder() / clean_name(name)
    if not folder.is_dir():
        raise StoreError(f"There is no question set “{name}” of your own.")
    check_may_change(OWNED_AS, folder.name)
    try:
        remove(folder, lambda: forget_owner(OWNED_AS, folder.name))
    except OSError as error:
        raise StoreError(
            f"The question set in {folder} cannot be removed: {error.strerror or error}."
        ) from None
