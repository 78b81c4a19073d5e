"""Replies of retrievers, checked for their form.

A reply has paths, hits and answers by name, or documents. Notes say what was left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import nearest, shorten

REPLY_KEYS, PATH_KEYS = ("paths", "nodes", "answers"), ("nodes", "relations", "forward", "score")
DOCUMENT_KEYS = ("documents", "chunks", "answer", "prompt")
DOCUMENT_PARTS = ("id", "title", "text", "score")


@dataclass(frozen=True)
class RetrieverReplyLimits:
    """Bounds of the reply of a retriever."""

    max_paths: int = 10_000
    max_names: int = 10_000  # in a list
    max_hops: int = 16  # of a path
    max_name_characters: int = 2_000
    max_note_examples: int = 3  # names that a note quotes
    max_documents: int = 10_000
    max_document_characters: int = 1_000_000


REPLY_LIMITS = RetrieverReplyLimits()
NOT_FOR_TRIPLES = (
    "it has documents, and of a graph of triples paths, nodes or answers are asked for; ask it "
    "of a corpus"
)
NOT_FOR_DOCUMENTS = (
    "it has paths or nodes of a graph, and documents are asked for (“documents” or “chunks”); "
    "ask it of a graph of triples"
)


class UnfitReply(ValueError):
    """A reply that cannot be used; the message names the part and the reason."""


@dataclass(frozen=True)
class TextPath:
    """A path of names.

    A relation or a direction that was not given is None. Any triple between the two entities
    matches it.
    """

    nodes: tuple[str, ...]
    relations: tuple[str | None, ...]
    forward: tuple[bool | None, ...]
    score: float | None = None


@dataclass(frozen=True)
class RetrieverReply:
    """A retriever's reply on a graph, checked for its form alone.

    Paths and hits are best first. Answers keep the order of the reply.
    """

    paths: tuple[TextPath, ...] = ()
    hits: tuple[tuple[str, float | None], ...] = ()
    answers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReplyDocument:
    """A document, or a piece of one, as a retriever names it: by id, title or text.

    `named` is a bare text that may be any of the three.
    """

    id: str = ""
    title: str = ""
    text: str = ""
    score: float | None = None
    named: str = ""

    @property
    def label(self) -> str:
        """The name of the document in notes."""
        return self.id or self.title or self.named or self.text


@dataclass(frozen=True)
class DocumentsReply:
    """A retriever's reply on a corpus: documents best first, the answer, its prompt, and notes.

    Answer and prompt are None if the reply has none.
    """

    documents: tuple[ReplyDocument, ...] = ()
    answer: str | None = None
    prompt: str | None = None
    notes: tuple[str, ...] = ()


def check_reply(data: Any) -> RetrieverReply:
    """Check a reply on a graph.

    Raises UnfitReply, which names the part that is wrong.
    """
    if not isinstance(data, Mapping):
        raise UnfitReply("it should be an object with “paths”, “nodes” or “answers”")
    if any(data.get(key) for key in DOCUMENT_KEYS[:2]) and not any(
        data.get(key) for key in REPLY_KEYS
    ):
        raise UnfitReply(NOT_FOR_TRIPLES)
    notes = [_key_note("reply", key, REPLY_KEYS) for key in data if key not in REPLY_KEYS]
    paths = [
        _path(one, f"path {i}", notes)
        for i, one in enumerate(_list(data, "paths", REPLY_LIMITS.max_paths), 1)
    ]
    hits = [
        _hit(one, f"node {i}")
        for i, one in enumerate(_list(data, "nodes", REPLY_LIMITS.max_names), 1)
    ]
    answers = [
        _name(one, f"answer {i}")
        for i, one in enumerate(_list(data, "answers", REPLY_LIMITS.max_names), 1)
    ]
    ordered = _sort_items(paths, [path.score for path in paths], "paths", notes)
    return RetrieverReply(
        tuple(ordered),
        tuple(_sort_items(hits, [score for _, score in hits], "nodes", notes)),
        tuple(dict.fromkeys(answers)),
        tuple(dict.fromkeys(notes)),
    )


def check_documents_reply(data: Any) -> DocumentsReply:
    """Check a reply on a corpus.

    Raises UnfitReply, which names the part that is wrong.

    >>> from core.retrievers.reply import check_documents_reply
    >>> [one.id for one in check_documents_reply({"documents": [{"id": "a", "score": 1},
    ...     {"id": "b", "score": 2}]}).documents]
    ['b', 'a']
    """
    if not isinstance(data, Mapping):
        raise UnfitReply("it should be an object with “documents” or “chunks”")
    if not any(data.get(key) is not None for key in DOCUMENT_KEYS) and any(
        data.get(key) for key in REPLY_KEYS
    ):
        raise UnfitReply(NOT_FOR_DOCUMENTS)
    notes = [_key_note("reply", key, DOCUMENT_KEYS) for key in data if key not in DOCUMENT_KEYS]
    documents = [
        _document(one, f"entry {i} of “{key}”", notes)
        for key in DOCUMENT_KEYS[:2]
        for i, one in enumerate(_list(data, key, REPLY_LIMITS.max_documents), 1)
    ]
    ordered = _sort_items(documents, [one.score for one in documents], "documents", notes)
    answer, prompt = (_text(data, key, "the reply") for key in ("answer", "prompt"))
    return DocumentsReply(tuple(ordered), answer, prompt, tuple(dict.fromkeys(notes)))


def _document(data: Any, where: str, notes: list[str]) -> ReplyDocument:
    if isinstance(data, str):
        data, key = {"text": data}, "named"
    elif isinstance(data, Mapping):
        key = "text"
        notes += [
            _key_note("document", one, DOCUMENT_PARTS) for one in data if one not in DOCUMENT_PARTS
        ]
    else:
        raise UnfitReply(
            f"{where} should be an object with “id”, “title” or “text”, not "
            f"{shorten(repr(data), 60)}"
        )
    parts = {one: (_text(data, one, where) or "").strip() for one in DOCUMENT_PARTS[:3]}
    if not any(parts.values()):
        raise UnfitReply(f"{where} has no “id”, “title” or “text”")
    return ReplyDocument(
        parts["id"], parts["title"], score=_score(data.get("score"), where), **{key: parts["text"]}
    )


def _text(data: Mapping, key: str, where: str) -> str | None:
    """Return the text or number under a key, as text; None if there is none."""
    value = data.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > REPLY_LIMITS.max_document_characters:
        raise UnfitReply(f"“{key}” of {where} should be a text, not {shorten(repr(value), 60)}")
    return _without_surrogates(value, f"“{key}” of {where}")


def _without_surrogates(value: str, where: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise UnfitReply(f"{where} holds half a letter (a lone surrogate)") from None
    return value


def _path(data: Any, where: str, notes: list[str]) -> TextPath:
    if not isinstance(data, Mapping):
        raise UnfitReply(f"{where} should be an object with “nodes” and “relations”")
    notes += [_key_note("path", key, PATH_KEYS) for key in data if key not in PATH_KEYS]
    nodes = tuple(
        _name(one, f"a node of {where}")
        for one in _list(data, "nodes", REPLY_LIMITS.max_hops + 1, where)
    )
    if len(nodes) < 2:
        raise UnfitReply(f"{where} should have at least two nodes")
    relations = _step_values(
        data, "relations", nodes, where, lambda one: _name(one, f"a relation of {where}")
    )
    return TextPath(
        nodes,
        relations,
        _step_values(data, "forward", nodes, where, lambda one: _check_flag(one, where)),
        _score(data.get("score"), where),
    )


def _step_values(
    data: Mapping, key: str, nodes: Sequence[str], where: str, read: Callable[[Any], Any]
) -> tuple[Any, ...]:
    """Return the list under `key`, one entry for each step; all None if it is absent."""
    if data.get(key) is None:
        return (None,) * (len(nodes) - 1)
    values = tuple(
        None if one is None else read(one) for one in _list(data, key, REPLY_LIMITS.max_hops, where)
    )
    if len(values) != len(nodes) - 1:
        raise UnfitReply(
            f"{where} has {len(nodes)} nodes, so “{key}” should have {len(nodes) - 1}, not "
            f"{len(values)}"
        )
    return values


def _hit(data: Any, where: str) -> tuple[str, float | None]:
    if isinstance(data, Mapping):
        return _name(data.get("name"), f"the name of {where}"), _score(data.get("score"), where)
    return _name(data, where), None


def _list(data: Mapping, key: str, limit: int, where: str = "") -> list:
    items, list_name = data.get(key), f"“{key}” of {where}" if where else f"“{key}”"
    if items is None:
        return []
    if not isinstance(items, list):
        raise UnfitReply(f"{list_name} should be a list")
    if len(items) > limit:
        raise UnfitReply(f"{list_name} has {len(items):,} entries; at most {limit:,} are taken")
    return items


def _name(value: Any, where: str) -> str:
    if (
        not isinstance(value, str)
        or not value.strip()
        or len(value) > REPLY_LIMITS.max_name_characters
    ):
        raise UnfitReply(f"{where} should be a name, not {shorten(repr(value), 60)}")
    return _without_surrogates(value, where)


def _check_flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise UnfitReply(
            f"“forward” of {where} should hold true or false, not {shorten(repr(value), 60)}"
        )
    return value


def _score(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or abs(value) > 1e300
        or not math.isfinite(value)
    ):
        raise UnfitReply(f"the score of {where} should be a number, not {shorten(repr(value), 60)}")
    return float(value)


def _sort_items(items: list, scores: list[float | None], what: str, notes: list[str]) -> Iterable:
    """Return the items by score, ties in their given order.

    If an item has no score, all keep their given order.
    """
    known_scores = [score for score in scores if score is not None]
    missing = len(scores) - len(known_scores)
    if not missing:
        return [items[i] for i in sorted(range(len(items)), key=lambda i: -known_scores[i])]
    if missing < len(items):
        notes.append(
            f"{missing:,} of {len(items):,} {what} came without a score, so all stay in the order "
            "of the reply."
        )
    return items


def quote_examples(texts: Iterable[str]) -> str:
    """Quote the first of some names, for a note.

    >>> from core.retrievers.reply import quote_examples
    >>> quote_examples(["a", "b", "c", "d"])
    '“a”, “b”, “c” and others'
    """
    texts = list(texts)
    return ", ".join(
        f"“{shorten(text, 60)}”" for text in texts[: REPLY_LIMITS.max_note_examples]
    ) + (" and others" if len(texts) > REPLY_LIMITS.max_note_examples else "")


def _key_note(where: str, key: Any, known_keys: Sequence[str]) -> str:
    return (
        f"The {where}'s key “{shorten(str(key), 40)}” was ignored.{nearest(str(key), known_keys)}"
    )
