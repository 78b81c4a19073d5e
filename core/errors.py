"""Errors that a person may see.

Every message is one sentence. It says what is wrong and, if possible, what to do.
"""

import difflib
import errno
import re
from collections.abc import Iterable

# Terminal codes, control characters except white space, and marks of text direction.
CONTROL_CHARACTERS = re.compile(
    "\x1b\\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]"
)
COMMAND_MARK = "\n$ "  # begins the line of a message that holds a shell command
MARKUP_TAG = re.compile("</?[A-Za-z!][^<>:]*>")  # An IRI in angle brackets has a colon and stays.


class HopscopeError(Exception):
    """Base class of all errors whose message is meant for a person."""


class BadInput(HopscopeError):
    """An unusable input from a person.

    Examples are a question, a file, or a row of it.
    """


class BadParameter(HopscopeError):
    """An unknown, missing or wrong parameter of an operator, method or model."""


class UnknownEntity(HopscopeError):
    """A name that is not in the graph.

    Attributes
    ----------
    name : the name.
    alternatives : the nearest names of the graph, best first.
    """

    def __init__(self, name: str, alternatives: tuple[str, ...] = (), message: str = ""):
        self.name, self.alternatives = name, alternatives
        hint = f" Did you mean {', '.join(alternatives[:3])}?" if alternatives else ""
        super().__init__(f"{message or f'“{shorten(name)}” is not in the graph.'}{hint}")


class UnknownMethod(BadParameter):
    """A name that no method has.

    Attributes
    ----------
    name : the name.
    alternatives : ids of the nearest methods, best first.
    """

    def __init__(self, name: str, labels: dict[str, str]):
        self.name, self.alternatives = name, tuple(labels)
        nearest = ", ".join(labels.values())
        super().__init__(f"There is no method “{shorten(name)}”. Nearest: {nearest}.")


class StoreError(HopscopeError):
    """A graph store that cannot be used.

    It is missing, damaged, of another version, or being built by another process.
    """


class UnreadableData(StoreError):
    """Stored data that the operating system refuses to read. The data may be intact."""


class ModelUnavailable(HopscopeError):
    """A model that is not installed. The message says how to get it."""


class FetchFailed(HopscopeError):
    """A download that failed, or whose digest is wrong."""


class ModelFailed(HopscopeError):
    """A failure of an installed model or of a model server."""


class UnparsedReplies(ModelFailed):
    """A failure because no reply of a model could be parsed."""


class NotAllowed(HopscopeError):
    """An action that the current person may not do.

    In a shared installation, only the owner of a thing or the administrator may do it.
    """


class RetrieverFailed(HopscopeError):
    """A failure of a user's own retriever: no reply, or a malformed one."""


class RunCancelled(HopscopeError):
    """A run that a person cancelled."""

    def __init__(self, message: str = "Cancelled."):
        super().__init__(message)


def is_access_error(error: BaseException) -> bool:
    """Return whether the operating system refused to read a file.

    Too many open files are an example. Such an error says nothing about the content of the file. A missing file, or a folder in its
    place, is no access error.
    """
    return (
        isinstance(error, OSError)
        and error.errno is not None
        and error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EINVAL)
    )


def damage_error(subject_and_verb: str, error: Exception, advice: str) -> StoreError:
    """Return an error that says why stored data could not be read.

    Parameters
    ----------
    subject_and_verb : the beginning of the sentence, such as “The graph in x is”.
    error : the exception of the reader.
    advice : what to do if the data is damaged.

    >>> from core.errors import damage_error
    >>> print(damage_error("The graph in x is", ValueError("short"), "build it again"))
    The graph in x is damaged (short); build it again.
    >>> print(damage_error("The graph in x is", OSError(24, "Too many open files"), "build it again"))
    The graph in x is not readable now: Too many open files.
    """
    if isinstance(error, UnreadableData):
        return error
    if is_access_error(error):
        assert isinstance(error, OSError)
        return UnreadableData(f"{subject_and_verb} not readable now: {error.strerror or error}.")
    return StoreError(f"{subject_and_verb} damaged ({error}); {advice}.")


MAX_LISTED_NAMES = 8  # known names that are listed if none is similar


def suggest_name(word: str, names: Iterable[str]) -> str:
    """Return a sentence that suggests a known name for `word`.

    It suggests the name most similar to `word`, or lists some. The sentence begins with a space, as
    it follows another one.

    >>> from core.errors import suggest_name
    >>> suggest_name("beem", ["beam", "rank"]), suggest_name("x", map(str, range(40)))
    (' Did you mean “beam”?', ' Known: 0, 1, 2, 3, 4, 5, 6, 7 and 32 more.')
    """
    names = list(names)
    if not names:
        return " There is none yet."
    containing = [name for name in names if len(word) > 3 and word.casefold() in name.casefold()]
    similar = containing or difflib.get_close_matches(word, names, 1, 0.5)
    if similar:
        return f" Did you mean “{similar[0]}”?"
    # "and 1 more" is no shorter than the last name
    first_names = names if len(names) <= MAX_LISTED_NAMES + 1 else names[:MAX_LISTED_NAMES]
    more = f" and {len(names) - len(first_names)} more" if len(first_names) < len(names) else ""
    return f" Known: {', '.join(first_names)}{more}."


def shorten(text: object, limit: int = 80) -> str:
    """Return a text on one line without control characters, cut to `limit` characters.

    A cut is marked by an ellipsis.
    """
    line = " ".join(CONTROL_CHARACTERS.sub("", str(text)).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def with_command(sentence: str, command: str) -> str:
    """Return a message with a helpful shell command on a separate line.

    The command line, Python and HTTP show both. The app shows the sentence alone.

    >>> from core.errors import split_command, with_command
    >>> split_command(with_command("Ray is not installed.", "pip install ray"))
    ('Ray is not installed.', 'pip install ray')
    """
    return f"{sentence}{COMMAND_MARK}{command}"


def library_message(name: str, packages: str) -> str:
    """Return the message for a library that `name` needs and that is not installed."""
    return with_command(f"{name} needs a library that is not installed.", f"pip install {packages}")


def split_command(message: str) -> tuple[str, str]:
    """Split a message into its sentence and its shell command, which may be empty."""
    sentence, _, command = message.partition(COMMAND_MARK)
    return sentence, command


def strip_markup(text: str, limit: int = 80) -> str:
    """Return a server's message on one short line without markup.

    The result is empty if the message is an HTML page.

    >>> from core.errors import strip_markup
    >>> strip_markup("Bad <b>query</b> at <http://x/a>"), strip_markup("<html>Not found")
    ('Bad query at <http://x/a>', '')
    """
    return "" if text.lstrip().startswith("<") else shorten(MARKUP_TAG.sub("", text), limit)
