"""Questions read from MetaQA-like files: a text with its [topic entity], a tab, answers separated by bars."""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import Path as FilePath

from core.errors import BadInput, shorten
from core.types import Question

BRACKETS = re.compile(r"\[([^\[\]]+)\]")


def read_questions(path: str | FilePath, name: str, hops: int | None = None) -> tuple[Question, ...]:
    """The questions of a file, plain or gzipped, with ids `name-<line from 1>`.

    The entities are what stood in brackets, which the text loses; answers keep their order, repeats dropped. Raises
    BadInput, naming file and line, for a line without a tab or without text, and for bytes that are not UTF-8.
    """
    path = FilePath(path)
    questions = []
    for number, line in enumerate(_text(path).split("\n"), 1):
        line = line.rstrip("\r")
        if not line.strip():
            continue
        text, tab, answers = line.partition("\t")
        if not tab or not text.strip():
            raise BadInput(
                f"{path.name}, line {number}: expected a question, a tab and its answers separated by “|”, found “{shorten(line)}”."
            )
        questions.append(
            Question(
                text=BRACKETS.sub(r"\1", text).strip(),
                id=f"{name}-{number}",
                entities=tuple(BRACKETS.findall(text)),
                answers=tuple(dict.fromkeys(answer for answer in answers.split("|") if answer)),
                hops=hops,
            )
        )
    if not questions:
        raise BadInput(f"{path.name} holds no questions.")
    return tuple(questions)


def read_lines(path: str | FilePath) -> tuple[str, ...]:
    """The lines of a text file, plain or gzipped, in order."""
    return tuple(_text(FilePath(path)).splitlines())


def _text(path: FilePath) -> str:
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = error.object[: error.start].count(b"\n") + 1
        raise BadInput(f"{path.name}, line {number}: not UTF-8 text.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"{path.name} cannot be read: {error}.") from None
