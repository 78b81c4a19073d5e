"""Reader of pickled files as plain data, which runs none of their code.

Objects become inert stand-ins, as loading a pickle from elsewhere could run any program.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from core.errors import BadInput, shorten

# Packages of objects in indexes: the tool's own, and those of metadata. None is imported.
KNOWN_PACKAGES = frozenset(
    {
        "fast_graphrag",
        "igraph",
        "numpy",
        "_codecs",
        "collections",
        "copyreg",
        "datetime",
        "decimal",
        "pathlib",
        "uuid",
    }
)


class InertObject:
    """A stand-in for a pickled object.

    `name` is the dotted name of its class, and `arguments` are those of its creation. `state` is
    None if the object was pickled without one. Items that the pickle adds to an object are ignored.
    """

    name = ""
    arguments: tuple[Any, ...]
    state: Any = None

    def __new__(cls, *arguments: Any) -> InertObject:
        self = super().__new__(cls)
        self.arguments = arguments
        return self

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __setitem__(self, key: Any, value: Any) -> None:
        """Ignore an item of a dictionary."""

    def append(self, value: Any) -> None:
        """Ignore an item of a list."""

    def extend(self, values: Any) -> None:
        """Ignore items, as `append` does."""


class _Unpickler(pickle.Unpickler):
    """Unpickler that makes an `InertObject` for each object of a known package.

    It refuses all other objects.
    """

    def __init__(self, data: bytes, file: str):
        super().__init__(io.BytesIO(data))
        self._file = file
        self._stand_ins: dict[str, type[InertObject]] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Return the stand-in for a class. Raises BadInput for a class of another package."""
        dotted_name = f"{module}.{name}"
        if module.partition(".")[0] not in KNOWN_PACKAGES:
            raise BadInput(
                f"{self._file} asks for {shorten(dotted_name)}, which is no data; not read."
            )
        if dotted_name not in self._stand_ins:
            self._stand_ins[dotted_name] = type("Thing", (InertObject,), {"name": dotted_name})
        return self._stand_ins[dotted_name]


def read_pickle(data: bytes, file: str) -> Any:
    """Return the content of a pickled file. Nothing that it names is imported or called.

    A file may demand unbounded time or memory, or crash the process. Call this in a process with
    limits (`core.runtime.subprocess_worker`).

    Parameters
    ----------
    data : the bytes of the file.
    file : its name, for messages.

    Returns
    -------
    Lists, dicts, texts, numbers, and stand-ins for objects of known classes.

    Raises
    ------
    BadInput
        If it is damaged, or asks for objects that no index holds.

    Examples
    --------
    >>> import pickle
    >>> from core.corpus.indexes.pickled_data import read_pickle
    >>> read_pickle(pickle.dumps({"a": [1, None, True]}), "x.pkl")
    {'a': [1, None, True]}
    """
    try:
        return _Unpickler(data, file).load()
    except (BadInput, MemoryError):
        raise
    except Exception as error:  # damage causes errors of any kind
        raise BadInput(f"{file} is damaged or no pickled file ({shorten(error, 80)}).") from None
