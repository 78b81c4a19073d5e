"""Question sets that users add to a graph: save, read and remove them.

Each set has a folder with its file of questions and a description, `SET_DESCRIPTION`.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Container
from contextlib import suppress
from functools import partial
from pathlib import Path as FilePath

from core.datasets.sets import QuestionSet
from core.errors import BadInput, StoreError, damage_error
from core.graph.readers.formats import bare_suffix
from core.io.durable_files import move_into_place
from core.io.files import PACKED_SUFFIXES
from core.io.folders import remove_folder
from core.io.home import home_folder
from core.io.names import avoid_device_name
from core.io.stamps import StampedCache, stamp_subfolder_files
from core.io.temporary_folders import temporary_folder
from core.io.toml_file import read_toml
from core.sharing import check_may_change, forget_owner, record_owner

SET_OWNED_KIND = "question set"  # kind of thing in the records of owners
SET_DESCRIPTION = "set.toml"
MAX_SET_NAME_CHARACTERS = 40
UNFIT_SET_NAME_CHARACTERS = re.compile(r"[^a-z0-9]+")
_added_sets_cache = StampedCache[tuple[str, QuestionSet]]()


def sets_folder() -> FilePath:
    """Return the folder of the user's question sets, which holds one folder for each."""
    return home_folder() / "questions"


def clean_name(text: str) -> str:
    """Return a text as a name that a folder can have: lower-case letters, digits and dashes.

    The name is empty if no letter or digit is left.
    """
    name = UNFIT_SET_NAME_CHARACTERS.sub("-", text.casefold()).strip("-")
    return avoid_device_name(name[:MAX_SET_NAME_CHARACTERS].strip("-"))


def added_sets() -> dict[str, tuple[str, QuestionSet]]:
    """Return the added sets by name, each with the name of its graph.

    Damaged sets are left out.
    """
    sets_by_name = {}
    for file, files in stamp_subfolder_files(sets_folder(), SET_DESCRIPTION):
        name = file.parent.name
        with suppress(BadInput, StoreError):  # it is reported when the set is opened by name
            sets_by_name[name] = _added_sets_cache.get_or_make(
                file, files, partial(added_set, name)
            )
    return sets_by_name


def added_set(name: str) -> tuple[str, QuestionSet]:
    """Return the name of an added set's graph, and the set.

    Raises StoreError if the set is missing or damaged.
    """
    folder = sets_folder() / name
    try:
        description = read_toml(folder / SET_DESCRIPTION)
        # Do not read a file outside the folder of the set.
        if FilePath(description["file"]).name != description["file"]:
            raise ValueError("its file lies elsewhere")
        return str(description["graph"]), QuestionSet.from_description(
            name, description, folder, own=True
        )
    except FileNotFoundError:
        raise StoreError(f"There is no question set “{name}” of your own.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        advice = "remove it and add it again"
        raise damage_error(f"The question set in {folder} is", error, advice) from None


def save_set(
    file: FilePath, name: str, title: str, graph: str, used_names: Container[str], **settings: str
) -> QuestionSet:
    """Save a file of questions as a set of a graph.

    The set belongs to the current user. If saving fails, nothing is saved.

    Parameters
    ----------
    file : the file of questions, which is copied.
    name, title : the name of the set, and its title on screens.
    graph : the name of the graph.
    used_names : the names of all existing sets.
    settings : `format`, `graphs`, `columns` and `encoding`, as in `QuestionSet`.

    Raises
    ------
    BadInput : if the name is invalid or taken, or the file cannot be read.
    StoreError : if the set cannot be written.
    """
    import tomli_w

    set_name = clean_name(name)
    if not set_name:
        raise BadInput("Give the question set a name of letters, digits or dashes.")
    if set_name in used_names or (sets_folder() / set_name).exists():
        raise BadInput(f"There is already a question set “{set_name}”; choose another name.")
    try:
        file.open("rb").close()
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror or error}.") from None
    packed_suffix = file.suffix.lower() if file.suffix.lower() in PACKED_SUFFIXES else ""
    file_name = "questions" + bare_suffix(file) + packed_suffix
    title = " ".join(title.split()) or set_name
    description = {"title": title, "graph": graph, "file": file_name, **settings}
    set_folder = sets_folder() / set_name
    question_set = QuestionSet.from_description(set_name, description, set_folder, own=True)
    source_description = {**description, "file": file.name}
    source_set = QuestionSet.from_description(set_name, source_description, file.parent)
    folder = None
    try:
        sets_folder().mkdir(parents=True, exist_ok=True)
        source_set.questions()  # check that the whole file can be read
        folder = temporary_folder()
        shutil.copyfile(file, folder / file_name)
        (folder / SET_DESCRIPTION).write_text(tomli_w.dumps(description), "utf-8")
        move_into_place(folder, question_set.file.parent)
        record_owner(SET_OWNED_KIND, set_name)
    except OSError as error:
        raise StoreError(
            f"The question set cannot be stored in {sets_folder()}: {error.strerror or error}."
        ) from None
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
    return question_set


def remove_set(name: str) -> None:
    """Remove a set that a user added.

    Raises StoreError if there is none or it cannot be removed, NotAllowed if it belongs to another
    user.
    """
    folder = sets_folder() / clean_name(name)
    if not folder.is_dir():
        raise StoreError(f"There is no question set “{name}” of your own.")
    check_may_change(SET_OWNED_KIND, folder.name)
    try:
        remove_folder(folder, lambda: forget_owner(SET_OWNED_KIND, folder.name))
    except OSError as error:
        raise StoreError(
            f"The question set in {folder} cannot be removed: {error.strerror or error}."
        ) from None
