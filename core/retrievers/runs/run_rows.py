"""Rows of finished runs, and readers of their documents, texts and answers from JSON.

The readers accept the keys and shapes that many tools write.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.corpus.document import utf8_text
from core.retrievers.reply import REPLY_LIMITS, ReplyDocument, TextPath

MAX_ROW_DOCUMENTS = 1000  # further documents of a question are ignored
RESULT_ID_KEYS = (
    "id",
    "doc_id",
    "docid",
    "document_id",
    "chunk_id",
    "passage_id",
    "_id",
    "pid",
    "node_id",
)
RESULT_TITLE_KEYS = ("title", "document_title", "doc_title")
RESULT_TEXT_KEYS = (
    "text",
    "content",
    "page_content",
    "pageContent",
    "contents",
    "passage",
    "chunk",
    "body",
    "snippet",
)
RESULT_SCORE_KEYS = ("score", "relevance", "relevance_score", "similarity")
INPUT_TEXT_KEYS = ("question", "query", "input", "user_input", "message", "prompt", "text")
OUTPUT_TEXT_KEYS = ("answer", "output", "response", "result", "content", "text", "generated_answer")


@dataclass(frozen=True)
class RunRow:
    """One question of a finished run, with its results.

    Parameters
    ----------
    id, question : the question's id or its text, or both; empty if unknown.
    documents : the retrieved documents, best first.
    answer, prompt : None if the file has none.
    references : the known answers in the file.
    gold : the ids of the documents that are judged relevant.
    paths : reasoning paths in names.
    odd : the number of entries in the file's list of paths that are no path.
    """

    id: str = ""
    question: str = ""
    documents: tuple[ReplyDocument, ...] = ()
    answer: str | None = None
    references: tuple[str, ...] = ()
    prompt: str | None = None
    gold: tuple[str, ...] = ()
    paths: tuple[TextPath, ...] = ()
    odd: int = 0

    @property
    def has_results(self) -> bool:
        """True if the run has a result for the question, and not only judgements."""
        return bool(self.documents or self.paths) or self.answer is not None


def text_in(value: Any, keys: Sequence[str] = ()) -> str:
    """Return the text in a JSON value; empty if there is none.

    Texts and numbers are returned as text. For an object, also one written as JSON in a text, the
    result is the value of the first of `keys` that has a text. For a list of chat messages it is
    the content of the last one.

    >>> from core.retrievers.runs.run_rows import INPUT_TEXT_KEYS, text_in
    >>> (text_in("who"), text_in({"query": "who"}, INPUT_TEXT_KEYS),
    ...  text_in('{"question": "who"}', INPUT_TEXT_KEYS), text_in(7), text_in(None))
    ('who', 'who', 'who', '7', '')
    """
    if isinstance(value, str) and keys and value.lstrip().startswith(("{", "[")):
        value = parse_text(value)
    if isinstance(value, str):
        return utf8_text(value[: REPLY_LIMITS.max_document_characters])
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int | float):
        return str(value)
    texts: Iterable[str] = ()
    if isinstance(value, Mapping):
        texts = (text_in(value.get(key), keys) for key in keys)
    elif isinstance(value, list) and keys:  # chat messages
        texts = (text_in(message, ("content", *keys)) for message in reversed(value))
    return next(filter(None, texts), "")


def parse_text(text: str) -> Any:
    """Parse a text as a JSON or Python list or object.

    A text that is neither is returned unchanged.
    """
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(text) if len(text) < REPLY_LIMITS.max_document_characters else text
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, list | dict):
            return value
    return text


def list_in(value: Any) -> list[Any]:
    """Return a value as a list.

    A list may also be written in a text, in JSON or Python. Any other value becomes a list of one.
    None and an empty text give an empty list.
    """
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = parse_text(value)
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def documents_in(value: Any, ids: Any = None, scores: Any = None) -> tuple[ReplyDocument, ...]:
    """Return the documents of a list, in its order, without entries that name none.

    An entry is a text, an object, or a pair of title and text. `ids` and `scores` are lists
    parallel to `value`, if the file has them.

    >>> from core.retrievers.runs.run_rows import documents_in
    >>> documents_in(  # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
    ...     ["a", {"page_content": "b", "metadata": {"id": "2"}}, ["T", ["x ", "y"]]])
    (ReplyDocument(id='', title='', text='', score=None, named='a'),
     ReplyDocument(id='2', ..., text='b', ...), ...)
    """
    ids, scores = list_in(ids), list_in(scores)
    documents: list[ReplyDocument] = []
    for index, entry in enumerate(list_in(value)[:MAX_ROW_DOCUMENTS]):
        id = text_in(ids[index]) if index < len(ids) else ""
        score = to_number(scores[index]) if index < len(scores) else None
        document = _document(entry, id, score)
        if document is not None:
            documents.append(document)
    return tuple(documents)


def _document(entry: Any, id: str, score: float | None) -> ReplyDocument | None:
    """Return the document of an entry; None if it names none."""
    if isinstance(entry, Mapping):
        document = _document_of_object(entry, id, score)
    elif isinstance(entry, list) and len(entry) >= 2 and isinstance(entry[0], str):
        title, body = entry[:2]
        text = "".join(map(str, body)) if isinstance(body, list) else text_in(body)
        document = ReplyDocument(id, title.strip(), utf8_text(text).strip(), score)
    elif id:
        document = ReplyDocument(id, text=text_in(entry).strip(), score=score)
    else:
        document = ReplyDocument(named=text_in(entry).strip(), score=score)
    return document if document.label else None


def _document_of_object(entry: Mapping[str, Any], id: str, score: float | None) -> ReplyDocument:
    """Return the document of an object by the usual keys.

    Those of its `metadata` are used too.
    """
    fields = entry["document"] if isinstance(entry.get("document"), Mapping) else entry
    metadata = fields.get("metadata")
    if isinstance(metadata, str):
        metadata = parse_text(metadata)
    levels = [fields, metadata] if isinstance(metadata, Mapping) else [fields]
    return ReplyDocument(
        id or _first_text(levels, RESULT_ID_KEYS),
        _first_text(levels, RESULT_TITLE_KEYS),
        _first_text(levels, RESULT_TEXT_KEYS),
        _first_score(levels) if score is None else score,
    )


def _first_text(levels: Iterable[Mapping[str, Any]], keys: Sequence[str]) -> str:
    """Return the first text under some keys of some objects.

    It is empty if there is none.
    """
    for fields in levels:
        for key in keys:
            text = text_in(fields.get(key)).strip()
            if text:
                return text
    return ""


def _first_score(levels: Iterable[Mapping[str, Any]]) -> float | None:
    for fields in levels:
        for key in RESULT_SCORE_KEYS:
            score = to_number(fields.get(key))
            if score is not None:
                return score
    return None


def to_number(value: Any) -> float | None:
    """Return a number, also one written as text.

    The result is None if the value is no finite number.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < 1e300 else None


def texts_in(value: Any) -> tuple[str, ...]:
    """Return the texts of a list, or of one value, each once.

    Of an object it is the text under the first of `OUTPUT_TEXT_KEYS` that has one.
    """
    texts = (text_in(entry, OUTPUT_TEXT_KEYS).strip() for entry in list_in(value))
    return tuple(dict.fromkeys(filter(None, texts)))


def flat_leaves(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of nested objects, with their keys joined by dots.

    Lists of objects use their indices as keys.

    >>> from core.retrievers.runs.run_rows import flat_leaves
    >>> dict(flat_leaves({"a": {"b": 1}, "c": [{"d": 2}]}))
    {'a.b': 1, 'c.0.d': 2}
    """
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from flat_leaves(part, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
        for index, part in enumerate(value):
            yield from flat_leaves(part, f"{prefix}.{index}")
    else:
        yield prefix, value
