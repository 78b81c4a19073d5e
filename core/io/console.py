"""Output on terminals and in files whose encoding lacks characters that Hopscope prints."""

from __future__ import annotations

import codecs
import sys
import unicodedata

ASCII_SUBSTITUTES = {
    "→": "->",
    "←": "<-",
    "–": "-",
    "—": "-",
    "“": '"',
    "”": '"',
    "’": "'",
    "…": "...",
    "·": "*",
}
ERROR_HANDLER = "hopscope.plain"


def keep_printable() -> None:
    """Make standard output and standard error replace characters that their encoding lacks.

    An arrow becomes `->`, an accented letter loses its accent, any other character becomes `?`.
    """
    codecs.register_error(ERROR_HANDLER, _substitute)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=ERROR_HANDLER)


def _substitute(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(_to_ascii(letter) for letter in letters), error.end


def _to_ascii(letter: str) -> str:
    if letter in ASCII_SUBSTITUTES:
        return ASCII_SUBSTITUTES[letter]
    ascii_text = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return ascii_text or "?"
