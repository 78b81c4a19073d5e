"""Replies of a user's retrievers, parsed from JSON and checked for their form.

A reply on a graph has paths, hits and answers in names, a reply on a corpus has documents. Notes
say which parts were ignored. Names are looked up later, by `path_matching` and `document_matching`.
The argument `where` of the checks names the checked part in messages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import shorten, suggest_name

REPLY_KEYS = ("paths", "nodes", "answers")
PATH_KEYS = ("nodes", "relations", "forward", "score")
DOCUMENT_KEYS = ("documents", "chunks", "answer", "prompt")
DOCUMENT_PARTS = ("id", "title", "text", "score")


@dataclass(frozen=True)
class RetrieverReplyLimits:
    """Bounds of the reply of a retriever."""

    max_paths: int = 10_000
    max_names: int = 10_000  # of hits, and of answers
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

    A relation or a direction that the reply does not give is None, and matches any.
    """

    nodes: tuple[str, ...]
    relations: tuple[str | None, ...]
    forward: tuple[bool | None, ...]
    score: float | None = None


@dataclass(frozen=True)
class RetrieverReply:
    """A retriever's reply on a graph, in names.

    The names need not be in the graph. Paths and hits are best first; a hit is a name and its
    score, or None. Answers keep the order of the reply.
    """

    paths: tuple[TextPath, ...] = ()
    hits: tuple[tuple[str, float | None], ...] = ()
    answers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReplyDocument:
    """A document or passage, given by id, title or text; empty fields are unknown.

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
    """A retriever's reply on a corpus, with its documents best first.

    Answer and prompt are None if the reply has none.
    """

    documents: tuple[ReplyDocument, ...] = ()
    answer: str | None = None
    prompt: str | None = None
    notes: tuple[str, ...] = ()


def check_reply(data: Any) -> RetrieverReply:
    """Check a reply on a graph and return it.

    Paths and hits are sorted by score. Raises UnfitReply, which names the part that is wrong.
    """
    if not isinstance(data, Mapping):
        raise UnfitReply("it should be an object with “paths”, “nodes” or “answers”")
    has_graph_parts = any(data.get(key) for key in REPLY_KEYS)
    if not has_graph_parts and any(data.get(key) for key in DOCUMENT_KEYS[:2]):
        raise UnfitReply(NOT_FOR_TRIPLES)
    notes = [_key_note("reply", key, REPLY_KEYS) for key in data if key not in REPLY_KEYS]
    path_items = _check_list(data, "paths", REPLY_LIMITS.max_paths)
    paths = [_check_path(item, f"path {i}", notes) for i, item in enumerate(path_items, 1)]
    hit_items = _check_list(data, "nodes", REPLY_LIMITS.max_names)
    hits = [_check_hit(item, f"node {i}") for i, item in enumerate(hit_items, 1)]
    answer_items = _check_list(data, "answers", REPLY_LIMITS.max_names)
    answers = [_check_name(item, f"answer {i}") for i, item in enumerate(answer_items, 1)]
    ordered = _sort_items(paths, [path.score for path in paths], "paths", notes)
    return RetrieverReply(
        tuple(ordered),
        tuple(_sort_items(hits, [score for _, score in hits], "nodes", notes)),
        tuple(dict.fromkeys(answers)),
        tuple(dict.fromkeys(notes)),
    )


def check_documents_reply(data: Any) -> DocumentsReply:
    """Check a reply on a corpus and return it, with documents sorted by score.

    Raises UnfitReply, which names the part that is wrong.

    >>> from core.retrievers.reply import check_documents_reply
    >>> [one.id for one in check_documents_reply({"documents": [{"id": "a", "score": 1},
    ...     {"id": "b", "score": 2}]}).documents]
    ['b', 'a']
    """
    if not isinstance(data, Mapping):
        raise UnfitReply("it should be an object with “documents” or “chunks”")
    has_document_parts = any(data.get(key) is not None for key in DOCUMENT_KEYS)
    if not has_document_parts and any(data.get(key) for key in REPLY_KEYS):
        raise UnfitReply(NOT_FOR_DOCUMENTS)
    notes = [_key_note("reply", key, DOCUMENT_KEYS) for key in data if key not in DOCUMENT_KEYS]
    documents: list[ReplyDocument] = []
    for key in DOCUMENT_KEYS[:2]:
        for i, item in enumerate(_check_list(data, key, REPLY_LIMITS.max_documents), 1):
            documents.append(_check_document(item, f"entry {i} of “{key}”", notes))
    scores = [document.score for document in documents]
    ordered = _sort_items(documents, scores, "documents", notes)
    answer = _check_text(data, "answer", "the reply")
    prompt = _check_text(data, "prompt", "the reply")
    return DocumentsReply(tuple(ordered), answer, prompt, tuple(dict.fromkeys(notes)))


def _check_document(data: Any, where: str, notes: list[str]) -> ReplyDocument:
    text_field = "text"
    # a bare text may be an id, a title or a text
    if isinstance(data, str):
        data, text_field = {"text": data}, "named"
    elif isinstance(data, Mapping):
        unknown_keys = [key for key in data if key not in DOCUMENT_PARTS]
        notes += [_key_note("document", key, DOCUMENT_PARTS) for key in unknown_keys]
    else:
        raise UnfitReply(
            f"{where} should be an object with “id”, “title” or “text”, not "
            f"{shorten(repr(data), 60)}"
        )
    id, title, text = (
        (_check_text(data, key, where) or "").strip() for key in ("id", "title", "text")
    )
    if not (id or title or text):
        raise UnfitReply(f"{where} has no “id”, “title” or “text”")
    score = _check_score(data.get("score"), where)
    return ReplyDocument(id, title, score=score, **{text_field: text})


def _check_text(data: Mapping, key: str, where: str) -> str | None:
    """Return the text or whole number under a key as text.

    The result is None if the key is missing.
    """
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


def _check_path(data: Any, where: str, notes: list[str]) -> TextPath:
    if not isinstance(data, Mapping):
        raise UnfitReply(f"{where} should be an object with “nodes” and “relations”")
    notes += [_key_note("path", key, PATH_KEYS) for key in data if key not in PATH_KEYS]
    node_items = _check_list(data, "nodes", REPLY_LIMITS.max_hops + 1, where)
    nodes = tuple(_check_name(item, f"a node of {where}") for item in node_items)
    if len(nodes) < 2:
        raise UnfitReply(f"{where} should have at least two nodes")
    relations = _check_steps(
        data, "relations", nodes, where, lambda item: _check_name(item, f"a relation of {where}")
    )
    forward = _check_steps(data, "forward", nodes, where, lambda item: _check_flag(item, where))
    return TextPath(nodes, relations, forward, _check_score(data.get("score"), where))


def _check_steps(
    data: Mapping, key: str, nodes: Sequence[str], where: str, check: Callable[[Any], Any]
) -> tuple[Any, ...]:
    """Return the list under `key`, with an entry for each path step.

    Each entry is checked by `check` or None. If the key is missing, all entries are None.
    """
    if data.get(key) is None:
        return (None,) * (len(nodes) - 1)
    items = _check_list(data, key, REPLY_LIMITS.max_hops, where)
    values = tuple(None if item is None else check(item) for item in items)
    if len(values) != len(nodes) - 1:
        raise UnfitReply(
            f"{where} has {len(nodes)} nodes, so “{key}” should have {len(nodes) - 1}, not "
            f"{len(values)}"
        )
    return values


def _check_hit(data: Any, where: str) -> tuple[str, float | None]:
    if not isinstance(data, Mapping):
        return _check_name(data, where), None
    name = _check_name(data.get("name"), f"the name of {where}")
    return name, _check_score(data.get("score"), where)


def _check_list(data: Mapping, key: str, limit: int, where: str = "") -> list:
    items = data.get(key)
    list_name = f"“{key}” of {where}" if where else f"“{key}”"
    if items is None:
        return []
    if not isinstance(items, list):
        raise UnfitReply(f"{list_name} should be a list")
    if len(items) > limit:
        raise UnfitReply(f"{list_name} has {len(items):,} entries; at most {limit:,} are taken")
    return items


def _check_name(value: Any, where: str) -> str:
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


def _check_score(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or abs(value) > 1e300  # also excludes whole numbers that are too large for a float
        or not math.isfinite(value)
    ):
        raise UnfitReply(f"the score of {where} should be a number, not {shorten(repr(value), 60)}")
    return float(value)


def _sort_items(items: list, scores: list[float | None], what: str, notes: list[str]) -> Iterable:
    """Return the items by descending score; equal scores keep the order of the reply.

    If an item has no score, all items keep the order of the reply, and a note says so unless no
    item has one.
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
    limit = REPLY_LIMITS.max_note_examples
    examples = ", ".join(f"“{shorten(text, 60)}”" for text in texts[:limit])
    return f"{examples} and others" if len(texts) > limit else examples


def _key_note(where: str, key: Any, known_keys: Sequence[str]) -> str:
    return (
        f"The {where}'s key “{shorten(str(key), 40)}” was ignored."
        f"{suggest_name(str(key), known_keys)}"
    )
