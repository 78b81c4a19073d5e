"""What the words of an answer rest on: a node, the paths that lead to it, and the lines of the prompt that hold it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.languages.spelling import fold, fold_with_places, place_behind
from core.types import Path, State

MOST = 50  # words of one lane
SHORT = 3  # characters below which a name counts only in its own spelling


@dataclass(frozen=True)
class Evidence:
    """`text` is a part of the answer as it stands there, `node` what it names; `paths` end at the node or, where none does, pass
    it; `lines` are the places of the prompt's lines, counted over all messages from 0."""

    text: str
    node: int
    paths: tuple[Path, ...]
    lines: tuple[int, ...]


def evidence(graph, state: State, answer: str = "") -> tuple[Evidence, ...]:
    """What the names of the graph reader and the names in a language model's `answer` (as far as it is written) rest on.

    Only nodes of the kept paths count, the question's own entities do not. Of several nodes of one name the one on the better
    path is meant. In the order of the reader, then of the answer.
    """
    if state.paths is None:
        return ()
    nodes = list(
        dict.fromkeys(node for path in state.paths.items for node in (path.end, *path.nodes))
    )
    seeds = set(state.seeds)
    named = {node: name for node, name in zip(nodes, graph.names(nodes)) if node not in seeds}
    words = [(named[node], node) for node in state.reader or () if node in named]
    words += _in_text(answer, named)
    words = list(dict.fromkeys(words))[:MOST]
    routes, lines = _routes(state.paths.items, {node for _, node in words}), _lines(state)
    return tuple(
        Evidence(text, node, routes.get(node, ()), _holding(lines, named[node]))
        for text, node in words
    )


def _in_text(answer: str, named: dict[int, str]) -> list[tuple[str, int]]:
    """The names that stand in a text as words of their own, longer ones first where they overlap, in the text's order."""
    folded, places = fold_with_places(answer)
    found, taken = list[tuple[int, str, int]](), [False] * len(answer)
    for node, name in sorted(named.items(), key=lambda pair: -len(pair[1])):
        wanted = fold(name)
        if not wanted.strip() or wanted not in folded:
            continue
        for match in re.finditer(_whole(wanted), folded):
            start, end = places[match.start()], place_behind(places, match.end())
            own = len(name) >= SHORT or answer[start:end] == name
            if own and not any(taken[start:end]):
                taken[start:end] = [True] * (end - start)
                found.append((start, answer[start:end], node))
    return [(text, node) for _, text, node in sorted(found)]


def _whole(name: str) -> str:
    """A name as a word of its own: no letter or digit goes on where it begins or ends with one."""
    before = r"(?<!\w)" if name[0].isalnum() else ""
    after = r"(?!\w)" if name[-1].isalnum() else ""
    return f"{before}{re.escape(name)}{after}"


def _routes(paths: Sequence[Path], nodes: set[int]) -> dict[int, tuple[Path, ...]]:
    """The paths that end at each node, else those that pass it, the best first."""
    ends: dict[int, list[Path]] = {}
    passing: dict[int, list[Path]] = {}
    for path in paths:
        for node in nodes.intersection(path.nodes):
            (ends if path.end == node else passing).setdefault(node, []).append(path)
    return {node: tuple(ends.get(node) or passing.get(node) or ()) for node in nodes}


def _lines(state: State) -> list[tuple[int, str]]:
    """The lines of the prompt's last message, with their places among those of all messages."""
    if state.prompt is None or not state.prompt.messages:
        return []
    *before, last = (message["content"].split("\n") for message in state.prompt.messages)
    first = sum(map(len, before))
    return list(enumerate(last, first))


def _holding(lines: Iterable[tuple[int, str]], name: str) -> tuple[int, ...]:
    whole = re.compile(_whole(" ".join(name.split()))) if name.strip() else None
    return tuple(place for place, line in lines if whole is not None and whole.search(line))
