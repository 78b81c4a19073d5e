"""Evidence for the names in an answer: the node of each name, its paths, and its prompt lines.

The screen marks these names in the answer, and shows the evidence of a chosen name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from core.diagnosis.prompt_items import context_lines
from core.languages.spelling import end_offset, fold, fold_with_offsets
from core.types import Path, State

MAX_EVIDENCE_NAMES = 50  # names of one lane for which evidence is collected
MIN_FOLDED_CHARACTERS = 3  # shorter names must match letter by letter, in case and accents too


@dataclass(frozen=True)
class Evidence:
    """The evidence for one name in an answer.

    Parameters
    ----------
    text : the part of the answer, as it is written there.
    node : the node that it names.
    paths : the paths that end at the node; if none does, those that pass it.
    lines : indices of the prompt's lines, counted over all messages from 0.
    """

    text: str
    node: int
    paths: tuple[Path, ...]
    lines: tuple[int, ...]


def answer_evidence(graph, state: State, answer: str = "") -> tuple[Evidence, ...]:
    """Return the evidence for the names in the reader's and the model's answer.

    Only nodes of the kept paths count, and question entities do not. If several nodes have the same
    name, the node on the better path is taken. The names of the reader come first, then those of
    the model, in the order of its text.

    Parameters
    ----------
    graph : the graph of the lane.
    state : the last state of the lane.
    answer : the text of the language model, complete or still being written.
    """
    if state.paths is None:
        return ()
    path_nodes = ((path.end, *path.nodes) for path in state.paths.items)
    nodes = list(dict.fromkeys(chain.from_iterable(path_nodes)))
    seeds = set(state.seeds)
    names = {node: name for node, name in zip(nodes, graph.names(nodes)) if node not in seeds}
    words = [(names[node], node) for node in state.reader or () if node in names]
    words += _names_in_text(answer, names)
    words = list(dict.fromkeys(words))[:MAX_EVIDENCE_NAMES]
    paths = _paths_by_node(state.paths.items, {node for _, node in words})
    lines = context_lines(state.prompt)
    return tuple(
        Evidence(text, node, paths.get(node, ()), _lines_with(lines, names[node]))
        for text, node in words
    )


def _names_in_text(answer: str, names: dict[int, str]) -> list[tuple[str, int]]:
    """Return the names that a text contains as whole words, in order.

    Longer names take precedence if names overlap.
    """
    folded, offsets = fold_with_offsets(answer)
    matches: list[tuple[int, str, int]] = []  # (start, text, node)
    is_used = [False] * len(answer)  # characters that belong to a name
    for node, name in sorted(names.items(), key=lambda pair: -len(pair[1])):
        folded_name = fold(name)
        if not folded_name.strip() or folded_name not in folded:
            continue
        for match in re.finditer(_whole_word(folded_name), folded):
            start, end = offsets[match.start()], end_offset(offsets, match.end())
            is_match = len(name) >= MIN_FOLDED_CHARACTERS or answer[start:end] == name
            if is_match and not any(is_used[start:end]):
                is_used[start:end] = [True] * (end - start)
                matches.append((start, answer[start:end], node))
    return [(text, node) for _, text, node in sorted(matches)]


def _whole_word(name: str) -> str:
    """Return a pattern that finds a name as a whole word.

    A name that begins or ends with a letter or digit must not be continued by another one there.
    """
    before = r"(?<!\w)" if name[0].isalnum() else ""
    after = r"(?!\w)" if name[-1].isalnum() else ""
    return f"{before}{re.escape(name)}{after}"


def _paths_by_node(paths: Sequence[Path], nodes: set[int]) -> dict[int, tuple[Path, ...]]:
    """Return the paths that end at each node, else those that pass it."""
    ending: dict[int, list[Path]] = {}
    passing: dict[int, list[Path]] = {}
    for path in paths:
        for node in nodes.intersection(path.nodes):
            (ending if path.end == node else passing).setdefault(node, []).append(path)
    return {node: tuple(ending.get(node) or passing.get(node) or ()) for node in nodes}


def _lines_with(lines: Iterable[tuple[int, str]], name: str) -> tuple[int, ...]:
    """Return the indices of the lines that contain a name.

    It is a whole word there, in its own spelling.
    """
    pattern = re.compile(_whole_word(" ".join(name.split()))) if name.strip() else None
    return tuple(index for index, line in lines if pattern is not None and pattern.search(line))
