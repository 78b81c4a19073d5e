"""The errors a person may see. Every message is one sentence that says what is wrong and, where possible, what to do."""

import difflib
import errno
import re
from collections.abc import Iterable

# Codes for a terminal, other control signs but blanks, and marks that turn the direction of text.
CONTROLS = re.compile(
    "\x1b\\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]"
)
MARKUP = re.compile("</?[A-Za-z!][^<>:]*>")  # IRIs, which have a colon, stay


class HopscopeError(Exception):
    """Base of all errors whose message is meant for a person."""


class BadInput(HopscopeError):
    """Something a person gave (a question, a file, a line of it) cannot be used."""


class BadParameter(HopscopeError):
    """An operator, instance or model was described with an unknown, missing or unfit parameter."""


class UnknownEntity(HopscopeError):
    """A name that is not in the graph; `alternatives` lists the nearest names, best first."""

    def __init__(self, name: str, alternatives: tuple[str, ...] = (), message: str = ""):
        self.name, self.alternatives = name, alternatives
        hint = f" Did you mean {', '.join(alternatives[:3])}?" if alternatives else ""
        super().__init__(f"{message or f'“{shorten(name)}” is not in the graph.'}{hint}")


class StoreError(HopscopeError):
    """A graph store is missing, damaged, of another version, or just being built by another process."""


class Unreadable(StoreError):
    """Something that is stored is not damaged as far as is known: the system does not let it be read."""


class ModelUnavailable(HopscopeError):
    """A model that is not here; the message says how to get it."""


class ModelFailed(HopscopeError):
    """A model that is here, or a server that should answer, failed while it was used."""


class NothingRead(ModelFailed):
    """None of a model's replies could be read, so that there is nothing to go on from."""


class NotAllowed(HopscopeError):
    """Where Hopscope is shared, somebody asked for what only the owner of a thing, or the administrator, may do."""


class RetrieverFailed(HopscopeError):
    """A retriever of a person's own did not answer, or not as it should."""


class Cancelled(HopscopeError):
    """The run was cancelled by a person."""

    def __init__(self, message: str = "Cancelled."):
        super().__init__(message)


def is_refusal(error: BaseException) -> bool:
    """Return whether the system refused to read a file, as with too many open files, which says nothing of its content."""
    return (
        isinstance(error, OSError)
        and error.errno is not None
        and error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EINVAL)
    )


def damage(what: str, error: Exception, instead: str) -> StoreError:
    """Return what is wrong with something that is stored and could not be read.

    Parameters
    ----------
    what : the thing and its verb, such as “The graph in x is”.
    error : what reading it raised.
    instead : what to do where it is damaged.

    >>> from core.errors import damage
    >>> print(damage("The graph in x is", ValueError("short"), "build it again"))
    The graph in x is damaged (short); build it again.
    >>> print(damage("The graph in x is", OSError(24, "Too many open files"), "build it again"))
    The graph in x is not readable now: Too many open files.
    """
    if isinstance(error, Unreadable):
        return error
    if is_refusal(error):
        assert isinstance(error, OSError)
        return Unreadable(f"{what} not readable now: {error.strerror or error}.")
    return StoreError(f"{what} damaged ({error}); {instead}.")


LISTED_NAMES = 8  # of those that are known, where none is near


def nearest(word: str, known: Iterable[str]) -> str:
    """A sentence, with a space before it, that asks for the known word nearest to `word`, or lists some.

    >>> from core.errors import nearest
    >>> nearest("beem", ["beam", "rank"]), nearest("x", map(str, range(40)))
    (' Did you mean “beam”?', ' Known: 0, 1, 2, 3, 4, 5, 6, 7 and 32 more.')
    """
    known = list(known)
    if not known:
        return " There is none yet."
    inside = [name for name in known if len(word) > 3 and word.casefold() in name.casefold()]
    close = inside or difflib.get_close_matches(word, known, 1, 0.5)
    if close:
        return f" Did you mean “{close[0]}”?"
    listed = known if len(known) <= LISTED_NAMES + 1 else known[:LISTED_NAMES]
    more = f" and {len(known) - len(listed)} more" if len(listed) < len(known) else ""
    return f" Known: {', '.join(listed)}{more}."


def shorten(text: object, limit: int = 80) -> str:
    """`text` on one line without control signs, cut to `limit` characters with an ellipsis."""
    line = " ".join(CONTROLS.sub("", str(text)).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def plain_words(text: str, limit: int = 80) -> str:
    """What a server says, as `shorten` has it, without markup; empty for a page of it.

    >>> from core.errors import plain_words
    >>> plain_words("Bad <b>query</b> at <http://x/a>"), plain_words("<html>Not found")
    ('Bad query at <http://x/a>', '')
    """
    return "" if text.lstrip().startswith("<") else shorten(MARKUP.sub("", text), limit)
