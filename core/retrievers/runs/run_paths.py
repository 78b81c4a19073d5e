"""Reader of the reasoning paths in a finished run: triples, chains, or lines of a prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from core.retrievers.reply import REPLY_LIMITS, TextPath
from core.retrievers.runs.run_rows import list_in, to_number

PATH_LIST_KEYS = (
    "paths",
    "reasoning_paths",
    "reasoning_chains",
    "retrieved_paths",
    "triples",
    "triplets",
    "retrieved_triples",
    "scored_triples",
    "scored_triplets",
)
PROMPT_KEYS = ("input", "prompt", "user_query")  # keys of prompts, which may show paths
PATHS_HEADING = re.compile(r"^(?:Reasoning Paths|Triplets|Triples)[ \t]*:[ \t]*$", re.MULTILINE)
PATH_ARROW = " -> "
TRIPLE_KEYS = (
    ("head", "relation", "tail"),
    ("subject", "predicate", "object"),
    ("source", "relation", "target"),
)


def paths_in(row: Mapping[str, Any]) -> tuple[tuple[TextPath, ...], int]:
    """Return the paths of a row, and the number of other entries.

    The paths are under the first of `PATH_LIST_KEYS` that has some. Otherwise they are the lines
    that the prompt shows under “Reasoning Paths:” or “Triplets:”. Each path is returned once.

    A text is a path with arrows between its parts, or a triple in brackets. A list of names is a
    triple, or a path that alternates entities and relations. A list of triples is one path if each
    triple begins at the end of the one before, and several paths otherwise. The direction of a step
    stays open (None), as some programs write each triple from the node that they came from.

    >>> from core.retrievers.runs.run_paths import paths_in
    >>> [path.nodes for path
    ...     in paths_in({"triples": [["A", "knows", "B"], ["B", "knows", "C", 0.5]]})[0]]
    [('A', 'B'), ('B', 'C')]
    >>> [path.nodes for path in paths_in({"input": "Reasoning Paths:\\n"
    ...     "A -> knows -> B -> knows -> C\\n\\nQuestion:\\nwho?"})[0]]
    [('A', 'B', 'C')]
    """
    lists = (list_in(row.get(key)) for key in PATH_LIST_KEYS)
    entries = next((entries for entries in lists if entries), None) or list(_prompt_lines(row))
    paths_found: dict[TextPath, None] = {}
    odd_entries = 0
    for entry in entries[: REPLY_LIMITS.max_paths]:
        paths = list(_entry_paths(entry))
        odd_entries += not paths
        paths_found.update(dict.fromkeys(paths))
    # Think-on-Graph writes the single steps of its search
    if "reasoning_chains" in row:
        paths_found = dict.fromkeys(_join_chains(list(paths_found)))
    return tuple(paths_found)[: REPLY_LIMITS.max_paths], odd_entries


def _prompt_lines(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines below the heading of paths in a prompt.

    They end at a blank line.
    """
    for text in (row[key] for key in PROMPT_KEYS if isinstance(row.get(key), str)):
        heading = PATHS_HEADING.search(text)
        if heading:
            section = text[heading.end() :].lstrip("\r\n").partition("\n\n")[0]
            yield from filter(None, (line.strip() for line in section.splitlines()))
            return


def _entry_paths(entry: Any) -> Iterator[TextPath]:
    """Yield the paths of one entry; none if it is no path."""
    if isinstance(entry, str):
        entry = entry.split(PATH_ARROW) if PATH_ARROW in entry else _split_brackets(entry)
    if isinstance(entry, Mapping):
        yield from _object_paths(entry)
    elif isinstance(entry, Sequence) and not isinstance(entry, str):
        yield from _list_paths(list(entry))


def _split_brackets(text: str) -> list[str]:
    """Return the parts of `(head, relation, tail)`; empty if there are not exactly three."""
    inside = text.strip()
    parts = inside[1:-1].split(",") if inside[:1] == "(" and inside[-1:] == ")" else []
    return [part.strip().strip("'\"") for part in parts] if len(parts) == 3 else []


def _object_paths(entry: Mapping[str, Any]) -> Iterator[TextPath]:
    """Yield the path or triple of an object; none if it has neither."""
    score = to_number(entry.get("score"))
    nodes, relations = entry.get("nodes"), entry.get("relations")
    if isinstance(nodes, list) and isinstance(relations, list) and len(relations) == len(nodes) - 1:
        yield from _path([*sum(zip(nodes, relations), ()), nodes[-1]], score)
        return
    for keys in TRIPLE_KEYS:
        if all(key in entry for key in keys):
            yield from _path([entry[key] for key in keys], score)
            return


def _list_paths(entry: list[Any]) -> Iterator[TextPath]:
    """Yield the paths in a list of paths or of names.

    A list of names is one path.
    """
    if entry and all(isinstance(part, (list, Mapping)) for part in entry):
        paths: list[TextPath] = []
        for part in entry:
            paths += _entry_paths(part)
        if _are_steps(paths):
            parts: list[Any] = []
            for step in paths:
                parts += (step.nodes[0], step.relations[0])
            yield from _path([*parts, paths[-1].nodes[1]])
        else:
            yield from paths
        return
    # a triple may end with its score
    score = to_number(entry[-1]) if len(entry) == 4 and not isinstance(entry[-1], str) else None
    yield from _path(entry[:3] if score is not None else entry, score)


def _are_steps(paths: Sequence[TextPath]) -> bool:
    """Return whether paths are triples that form one chain."""
    if len(paths) < 2 or any(len(path.nodes) != 2 for path in paths):
        return False
    return all(path.nodes[1] == following.nodes[0] for path, following in pairwise(paths))


def _path(parts: list[Any], score: float | None = None) -> Iterator[TextPath]:
    """Yield the path of names that alternate entities and relations.

    There is none if the names do not alternate.
    """
    names = [" ".join(part.split()) if isinstance(part, str) else "" for part in parts]
    if (
        len(names) % 2
        and 3 <= len(names) <= 2 * REPLY_LIMITS.max_hops + 1
        and all(0 < len(name) <= REPLY_LIMITS.max_name_characters for name in names)
    ):
        yield TextPath(tuple(names[::2]), tuple(names[1::2]), (None,) * (len(names) // 2), score)


def _join_chains(paths: list[TextPath]) -> list[TextPath]:
    """Join the steps of Think-on-Graph's search to paths.

    A path that begins at the end of earlier ones extends them. The longer paths replace those that
    they extend.
    """
    chains: dict[TextPath, None] = {}
    extended: set[TextPath] = set()
    for path in paths:
        earlier_chains = [
            chain
            for chain in chains
            if chain.nodes[-1] == path.nodes[0]
            # joined they share a node, so they have at most `max_hops` hops
            and len(chain.nodes) + len(path.nodes) <= REPLY_LIMITS.max_hops + 2
        ]
        extended.update(earlier_chains)
        longer_chains = [
            TextPath(
                (*chain.nodes, *path.nodes[1:]),
                (*chain.relations, *path.relations),
                (*chain.forward, *path.forward),
            )
            for chain in earlier_chains
        ]
        chains.update(dict.fromkeys(longer_chains or [path]))
    return [path for path in chains if path not in extended]
