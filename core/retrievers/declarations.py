"""Retrievers that a user declares in `retrievers.toml` or as a Python function.

The file is read and checked row by row, so a faulty row leaves the others usable.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from core.errors import BadParameter, shorten, suggest_name
from core.io.home import home_folder

RETRIEVER_KEYS = (
    "title",
    "url",
    "python",
    "folder",
    "source",
    "timeout",
    "keep",
    "version",
    "headers",
    "notes",
)
RETRIEVER_TEXT_KEYS = ("title", "url", "python", "folder", "source", "notes")
# Kinds of sources that a retriever can answer from. A row that names none serves both.
RETRIEVER_SOURCES = ("graph", "corpus")


@dataclass(frozen=True)
class RetrieverDefaults:
    """Defaults and bounds of a declared retriever."""

    timeout_seconds: float = 30.0
    max_timeout_seconds: float = 600.0
    retained_paths: int = 32
    retained_documents: int = 10
    max_retained_results: int = 1000


RETRIEVER_DEFAULTS = RetrieverDefaults()
# Headers that the program sets itself, so that a row may not.
RESERVED_HEADERS = (
    "host",
    "content-length",
    "content-type",
    "transfer-encoding",
    "connection",
    "accept-encoding",
)
_NAME_PATTERN = re.compile(r"[A-Za-z0-9][\w.\-]{0,39}", re.ASCII)
_HEADER_PATTERN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_UNFIT_CHARACTERS = re.compile(r"[^A-Za-z0-9_]+")
_FUNCTION_PATTERN = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


@dataclass(frozen=True)
class Retriever:
    """A declared retriever, called at an address (`url`) or as a function (`python`).

    Parameters
    ----------
    name : the key of its row in the file.
    python : the function, as `module:function`.
    folder : the folder in which the function's module is searched.
    timeout : seconds to wait for a reply.
    keep, keep_documents : the most paths and the most documents to request.
    version : the user's text for the version of the retriever; cached replies depend on it.
    headers : pairs of a header and the environment variable that holds its value.
    sources : the kinds of source that it serves.
    """

    name: str
    title: str
    url: str = ""
    python: str = ""
    folder: Path = Path()
    timeout: float = RETRIEVER_DEFAULTS.timeout_seconds
    keep: int = RETRIEVER_DEFAULTS.retained_paths
    keep_documents: int = RETRIEVER_DEFAULTS.retained_documents
    version: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    notes: str = ""
    sources: tuple[str, ...] = RETRIEVER_SOURCES
    # A function of this process, used instead of `url` and `python`.
    function: Callable[[dict], Any] | None = field(default=None, compare=False)

    @property
    def file(self) -> Path | None:
        """The file of the function's module, if it is in `folder`.

        It is None for an installed module and for an address.
        """
        file = self.folder / (self.python.partition(":")[0].replace(".", "/") + ".py")
        return file if self.python and file.is_file() else None

    def stamp(self) -> str:
        """Return a text that changes with the retriever's version, address, function or file.

        It is the name and a hash, so it does not show the address. Cached replies have it in their
        keys.
        """
        file = self.file
        state = (
            self.version,
            self.url,
            self.python,
            str(self.folder),
            file.stat().st_mtime_ns if file else 0,
        )
        return f"{self.name}:{hashlib.sha256(repr(state).encode()).hexdigest()[:16]}"


def own_file() -> Path:
    """Return the path of the user's file of retrievers, which need not exist."""
    return home_folder() / "retrievers.toml"


_functions: dict[str, Retriever] = {}  # retrievers that are functions of this process, by name
_versions = count(1)  # a new declaration of a name gets a new version


def declare_function(function: Callable[[dict], Any]) -> Retriever:
    """Declare a function of this process as a retriever with the function's name.

    It is called with the same request as other retrievers. Declaring the name again replaces it.

    >>> from core.retrievers.declarations import declare_function, find_retriever
    >>> def nearest(request): return {"paths": []}
    >>> declare_function(nearest).name, find_retriever("nearest").function is nearest
    ('nearest', True)
    """
    function_name = getattr(function, "__name__", "")
    name = _UNFIT_CHARACTERS.sub("", function_name).lstrip("_")[:40] or "function"
    _functions[name] = Retriever(name, name, version=f"{next(_versions)}", function=function)
    return _functions[name]


def declared_retrievers() -> dict[str, Retriever]:
    """Return the valid declared retrievers by name, in the file's order."""
    return _read_own_file()[0]


def declaration_faults() -> tuple[str, ...]:
    """Return a sentence for each unusable row, or for an unreadable file."""
    return tuple(_read_own_file()[1].values())


def find_retriever(name: str) -> Retriever:
    """Return the declared retriever of a name.

    Raises BadParameter, which says what is wrong with its row or which names are known.
    """
    if name in _functions:
        return _functions[name]
    retrievers, row_faults = _read_own_file()
    if name in retrievers:
        return retrievers[name]
    if name in row_faults or "" in row_faults:
        raise BadParameter(row_faults.get(name) or row_faults[""])
    if not retrievers:
        raise BadParameter(
            f"There is no retriever “{shorten(name, 40)}”: none is declared in {own_file().name} "
            "(docs/own-retriever.md)."
        )
    raise BadParameter(
        f"There is no retriever “{shorten(name, 40)}” in {own_file().name}."
        f"{suggest_name(name, retrievers)}"
    )


def _read_own_file() -> tuple[dict[str, Retriever], dict[str, str]]:
    """Return the retrievers and the faults of the user's file, as `_read_declarations` does."""
    file = own_file()
    try:
        state = file.stat()
    except FileNotFoundError:
        return {}, {}
    except OSError as error:
        return {}, {"": f"{file.name} cannot be read: {error.strerror or error}."}
    return _read_declarations(file, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _read_declarations(
    file: Path, mtime: int, size: int
) -> tuple[dict[str, Retriever], dict[str, str]]:
    """Return the retrievers of a file, and its faults, by name.

    A fault is a sentence on a faulty row. The fault of an unreadable file has the name "". The time
    of the last change (in ns) and the size (in bytes) are keys of the cache.
    """
    try:
        rows = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        return {}, {"": f"{file.name} is not valid TOML: {error}."}
    retrievers, row_faults = {}, {}
    for name, row in rows.items():
        try:
            retrievers[name] = _make_retriever(name, row, f"{file.name}, [{shorten(name, 40)}]")
        except BadParameter as error:
            row_faults[name] = str(error)
    return retrievers, row_faults


def _make_retriever(name: str, row: Any, where: str) -> Retriever:
    """Return the retriever of a row; raises BadParameter that begins with `where`."""
    _check_row(name, row, where)
    return Retriever(
        name,
        " ".join(row.get("title", "").split()) or name,
        row.get("url", ""),
        row.get("python", ""),
        home_folder() / Path(row.get("folder", "")).expanduser(),
        timeout=_check_timeout(row, where),
        keep=_check_keep(row, RETRIEVER_DEFAULTS.retained_paths, where),
        keep_documents=_check_keep(row, RETRIEVER_DEFAULTS.retained_documents, where),
        version=str(row.get("version", "")),
        headers=_check_headers(row.get("headers", {}), where),
        notes=" ".join(row.get("notes", "").split()),
        sources=(row["source"],) if "source" in row else RETRIEVER_SOURCES,
    )


def _check_row(name: str, row: Any, where: str) -> None:
    """Raise BadParameter if the row of a retriever is wrong.

    Its name, its keys and the kinds of their values are checked.
    """
    if not isinstance(row, Mapping):
        raise BadParameter(
            f'{where}: a table was expected, as in [{shorten(name, 40)}] and url = "..." below it.'
        )
    if not _NAME_PATTERN.fullmatch(name):
        raise BadParameter(
            f"{where}: a name is made of at most 40 letters, digits, “-”, “_” and “.”."
        )
    for key in row:
        if key not in RETRIEVER_KEYS:
            raise BadParameter(
                f"{where}: unknown key “{shorten(key, 40)}”.{suggest_name(key, RETRIEVER_KEYS)}"
            )
    for key in RETRIEVER_TEXT_KEYS:
        if not isinstance(row.get(key, ""), str):
            raise BadParameter(f"{where}: “{key}” must be a text, not {row[key]!r}.")
    if ("url" in row) == ("python" in row):
        raise BadParameter(f"{where}: give either “url” or “python”.")
    if row.get("source", "graph") not in RETRIEVER_SOURCES:
        raise BadParameter(
            f"{where}: “source” is graph or corpus, not “{shorten(row['source'], 40)}”; leave it "
            "out for both."
        )
    if "url" in row:
        _check_address(row["url"], where)
    elif not _FUNCTION_PATTERN.fullmatch(row["python"]):
        raise BadParameter(
            f"{where}: “python” names a function as module:function, not "
            f"“{shorten(row['python'], 60)}”."
        )


def _check_address(url: str, where: str) -> None:
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and (parts.port or 1) > 0
        is_address = parts.scheme in ("http", "https") and has_host
    except ValueError:
        is_address = False
    if not is_address or any(letter <= " " or letter == "\x7f" for letter in url):
        raise BadParameter(
            f"{where}: “url” must be an address such as http://127.0.0.1:9000/retrieve."
        )
    if parts.username is not None:
        raise BadParameter(
            f"{where}: keep names and passwords out of “url”; give a header by “headers”."
        )


def _check_timeout(row: Mapping[str, Any], where: str) -> float:
    value = row.get("timeout", RETRIEVER_DEFAULTS.timeout_seconds)
    high = RETRIEVER_DEFAULTS.max_timeout_seconds
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.1 <= value <= high:
        raise BadParameter(
            f"{where}: “timeout” must be a number from 0.1 to {high:g}, not {value!r}."
        )
    return float(value)


def _check_keep(row: Mapping[str, Any], default: int, where: str) -> int:
    value = row.get("keep", default)
    high = RETRIEVER_DEFAULTS.max_retained_results
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= high:
        raise BadParameter(
            f"{where}: “keep” must be a whole number from 1 to {high:g}, not {value!r}."
        )
    return value


def _check_headers(table: Any, where: str) -> tuple[tuple[str, str], ...]:
    """Return pairs of header and environment variable.

    Raises BadParameter for any other value, and for headers that the program sets itself.
    """
    if not isinstance(table, Mapping) or not all(
        isinstance(value, str) and value for value in table.values()
    ):
        raise BadParameter(
            f"{where}: “headers” names environment variables, as in headers = {{ Authorization = "
            f'"MY_TOKEN" }}.'
        )
    for header in table:
        if not _HEADER_PATTERN.fullmatch(header) or header.casefold() in RESERVED_HEADERS:
            raise BadParameter(f"{where}: “{shorten(header, 40)}” cannot be a header here.")
    return tuple(table.items())
