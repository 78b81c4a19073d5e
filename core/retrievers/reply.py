"""A retriever's reply checked, and its names found in the graph: paths, hits and answers as ids, with notes on what was left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import nearest, shorten

KEYS, PATH_KEYS = ("paths", "nodes", "answers"), ("nodes", "relations", "forward", "score")
MOST_PATHS, MOST_NAMES, MOST_STEPS, LONGEST_NAME = 10_000, 10_000, 16, 2_000


class UnfitReply(ValueError):
    """A reply that cannot be used; the message says which part of it and why."""


@dataclass(frozen=True)
class TextPath:
    """A path in names. A relation or a direction that was not told is None: then any triple between the two entities will do."""

    nodes: tuple[str, ...]
    relations: tuple[str | None, ...]
    forward: tuple[bool | None, ...]
    score: float | None = None


@dataclass(frozen=True)
class RetrieverReply:
    """What a retriever told, checked for its form alone: paths and hits best first, answers as it gave them, and notes."""

    paths: tuple[TextPath, ...] = ()
    hits: tuple[tuple[str, float | None], ...] = ()
    answers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def checked(data: Any) -> RetrieverReply:
    """The reply of that data. Raises UnfitReply, naming the part that is wrong."""
    if not isinstance(data, Mapping):
        raise UnfitReply("it should be an object with “paths”, “nodes” or “answers”")
    notes = [_unknown("reply", key, KEYS) for key in data if key not in KEYS]
    paths = [_path(one, f"path {i}", notes) for i, one in enumerate(_list(data, "paths", MOST_PATHS), 1)]
    hits = [_hit(one, f"node {i}") for i, one in enumerate(_list(data, "nodes", MOST_NAMES), 1)]
    answers = [_name(one, f"answer {i}") for i, one in enumerate(_list(data, "answers", MOST_NAMES), 1)]
    ordered = _best_first(paths, [path.score for path in paths], "paths", notes)
    return RetrieverReply(
        tuple(ordered),
        tuple(_best_first(hits, [score for _, score in hits], "nodes", notes)),
        tuple(dict.fromkeys(answers)),
        tuple(dict.fromkeys(notes)),
    )


def _path(data: Any, where: str, notes: list[str]) -> TextPath:
    if not isinstance(data, Mapping):
        raise UnfitReply(f"{where} should be an object with “nodes” and “relations”")
    notes += [_unknown("path", key, PATH_KEYS) for key in data if key not in PATH_KEYS]
    nodes = tuple(_name(one, f"a node of {where}") for one in _list(data, "nodes", MOST_STEPS + 1, where))
    if len(nodes) < 2:
        raise UnfitReply(f"{where} should have at least two nodes")
    relations = _beside(data, "relations", nodes, where, lambda one: _name(one, f"a relation of {where}"))
    return TextPath(
        nodes, relations, _beside(data, "forward", nodes, where, lambda one: _truth(one, where)), _score(data.get("score"), where)
    )


def _beside(data: Mapping, key: str, nodes: Sequence[str], where: str, read: Callable[[Any], Any]) -> tuple[Any, ...]:
    """The list under `key`, one entry for each step; all None where it is absent."""
    if data.get(key) is None:
        return (None,) * (len(nodes) - 1)
    found = tuple(None if one is None else read(one) for one in _list(data, key, MOST_STEPS, where))
    if len(found) != len(nodes) - 1:
        raise UnfitReply(f"{where} has {len(nodes)} nodes, so “{key}” should have {len(nodes) - 1}, not {len(found)}")
    return found


def _hit(data: Any, where: str) -> tuple[str, float | None]:
    if isinstance(data, Mapping):
        return _name(data.get("name"), f"the name of {where}"), _score(data.get("score"), where)
    return _name(data, where), None


def _list(data: Mapping, key: str, most: int, where: str = "") -> list:
    found, of = data.get(key), f"“{key}” of {where}" if where else f"“{key}”"
    if found is None:
        return []
    if not isinstance(found, list):
        raise UnfitReply(f"{of} should be a list")
    if len(found) > most:
        raise UnfitReply(f"{of} has {len(found):,} entries; at most {most:,} are taken")
    return found


def _name(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_NAME:
        raise UnfitReply(f"{where} should be a name, not {shorten(repr(value), 60)}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise UnfitReply(f"{where} holds half a letter (a lone surrogate)") from None
    return value


def _truth(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise UnfitReply(f"“forward” of {where} should hold true or false, not {shorten(repr(value), 60)}")
    return value


def _score(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300 or not math.isfinite(value):
        raise UnfitReply(f"the score of {where} should be a number, not {shorten(repr(value), 60)}")
    return float(value)


def _best_first(items: list, scores: list[float | None], what: str, notes: list[str]) -> Iterable:
    """The items by score, ties as they came; as they came where one has no score."""
    known = [score for score in scores if score is not None]
    without = len(scores) - len(known)
    if not without:
        return [items[i] for i in sorted(range(len(items)), key=lambda i: -known[i])]
    if without < len(items):
        notes.append(f"{without:,} of {len(items):,} {what} came without a score, so all stay in the order of the reply.")
    return items


def _unknown(where: str, key: Any, known: Sequence[str]) -> str:
    return f"The {where}'s key “{shorten(str(key), 40)}” was ignored.{nearest(str(key), known)}"
