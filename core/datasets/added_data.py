"""Addition of folders of data that an installation lacks."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path, PurePosixPath

from core.corpus.catalogue import DESCRIPTION_FILE
from core.datasets.catalogue import DATASET_DESCRIPTION
from core.errors import BadInput, FetchFailed, suggest_name, with_command
from core.io.data_folders import DataFolder, added_data_folder, listed_data
from core.io.downloads import check_digest, download_file
from core.io.durable_files import move_into_place
from core.io.temporary_folders import temporary_folder
from core.io.toml_file import read_toml
from core.sharing import check_administrator
from core.watch import NO_WATCH, Watch

MAX_UNPACKED_BYTES = 2 << 30  # of a publisher's archive


def add_data(name: str, source: Path | None = None, watch: Watch = NO_WATCH) -> Path:
    """Add a folder of data to the person's, from a checkout or from its publisher.

    Parameters
    ----------
    name : its name in the table of licences.
    source : a checkout, its `data`, or the folder itself; None for the publisher's address.
    watch : receives the progress; it may raise RunCancelled.

    Returns
    -------
    The folder, also if it was there before.

    Raises
    ------
    BadInput
        If the name is unknown, no address is known, or what came is not that folder.
    FetchFailed
        If the download fails, or its digest is not the declared one.
    NotAllowed
        If the user may not add data.
    """
    check_administrator("add data")
    row = listed_data().get(name)
    if row is None:
        raise BadInput(f"No data set is named “{name}”.{suggest_name(name, listed_data())}")
    if row.path is not None:
        return row.path
    temporary = temporary_folder()
    try:
        made = temporary / "made"
        if source is not None:
            shutil.copytree(_find_folder(row, source), made, symlinks=True)
        else:
            _fetch(row, made, watch)
        _check_content(row, made)
        target = added_data_folder() / name
        target.parent.mkdir(parents=True, exist_ok=True)
        move_into_place(made, target)
    except OSError as error:
        raise BadInput(f"{name} cannot be added: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def _find_folder(row: DataFolder, source: Path) -> Path:
    for folder in (source / "data" / row.name, source / row.name, source):
        if folder.is_dir() and folder.resolve().name == row.name.rpartition("/")[2]:
            return folder
    raise BadInput(f"{source} has no folder data/{row.name}; name a checkout of Hopscope.")


def _fetch(row: DataFolder, folder: Path, watch: Watch) -> None:
    """Download and unpack the publisher's archive of a row."""
    if not row.url:
        raise BadInput(
            with_command(
                f"No address of {row.name} with a known digest is public. Take it from a checkout.",
                f"hopscope data --add {row.name} --from FOLDER",
            )
        )
    partial = added_data_folder() / f"{row.name}.part"
    partial.parent.mkdir(parents=True, exist_ok=True)
    try:
        download_file(row.url, partial, row.name, "its publisher", watch)
        check_digest(row.name, partial, row.sha256, watch)
    except FetchFailed as error:
        raise FetchFailed(f"{row.url}: {error}") from error
    _unpack(partial, row.inside, folder)
    (folder / DESCRIPTION_FILE).write_text(row.description, "utf-8")
    partial.unlink()


def _unpack(archive: Path, inside: str, folder: Path) -> None:
    """Unpack what lies in `inside` of a zip.

    Raises BadInput for a damaged or too large archive, and for members outside of it.
    """
    try:
        with zipfile.ZipFile(archive) as packed:
            members = [member for member in packed.infolist() if not member.is_dir()]
            if sum(member.file_size for member in members) > MAX_UNPACKED_BYTES:
                raise BadInput(f"{archive.name} unpacks to more than {MAX_UNPACKED_BYTES:,} bytes.")
            for member in members:
                path = PurePosixPath(member.filename)
                if path.is_absolute() or {"..", "\\", ":"} & {*path.parts, *member.filename}:
                    raise BadInput(f"{archive.name} has a member outside of it: {path}.")
                if path.is_relative_to(inside):
                    target = folder / path.relative_to(inside)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with packed.open(member) as stream, target.open("wb") as out:
                        shutil.copyfileobj(stream, out)
    # RuntimeError is raised for an encrypted member, NotImplementedError for an unknown packing.
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise BadInput(f"{archive.name} cannot be unpacked: {error}.") from None


def _check_content(row: DataFolder, folder: Path) -> None:
    """Raise BadInput unless the folder can be read and has the name of its row."""
    if any(path.is_symlink() for path in folder.rglob("*")):
        raise BadInput(f"{row.name} has links to other files; only plain files are taken.")
    for file in (DATASET_DESCRIPTION, DESCRIPTION_FILE):
        if (folder / file).is_file():
            try:
                if read_toml(folder / file).get("name") == row.name:
                    return
            except ValueError as error:
                raise BadInput(f"{row.name}/{file} cannot be read: {error}.") from None
    if not any(folder.glob("*.safetensors")):  # the weights in `models`
        raise BadInput(f"The folder does not hold {row.name}.")
