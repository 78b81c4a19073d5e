"""Agreement of two annotations of the same chunks, the two passes of the gold standard.

    python -m tests.benchmarks.gold_agreement

One is scored as a system with the other as gold standard; the F1 is the same from both sides.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PASSES = Path(__file__).with_name("gold") / "two-passes"
Chunk = dict[str, Any]


def agreement(first: list[Chunk], second: list[Chunk]) -> dict[str, float]:
    """F1 of entities, of entities with all mentions, and of relations, over all chunks.

    It also gives the fractions of equal types and directions. Two entities are the same if they
    share a name or mention, whatever its case. A relation is a pair of entities, whose direction
    counts only in `directions`. Chunks are matched by their `id`.
    """
    others = {chunk["id"]: chunk for chunk in second}
    names = (
        "entities",
        "mentions",
        "types",
        "relations",
        "directions",
        "all_entities",
        "all_relations",
    )
    counts = dict.fromkeys(names, 0)
    for one in first:
        for name, count in zip(names, _counted(one, others[one["id"]]), strict=True):
            counts[name] += count
    return {
        "entities": 2 * counts["entities"] / counts["all_entities"],
        "mentions": 2 * counts["mentions"] / counts["all_entities"],
        "types": counts["types"] / counts["entities"],
        "relations": 2 * counts["relations"] / counts["all_relations"],
        "directions": counts["directions"] / counts["relations"],
    }


def _counted(one: Chunk, other: Chunk) -> tuple[int, ...]:
    """Counts of one chunk in both passes.

    They are entities in both, those with the same mentions, those of the same type, pairs joined in
    both, those in the same direction, and all entities and pairs of both passes.
    """
    same: dict[str, str] = {}
    mentions = types = 0
    for entity in one["entities"]:
        match = next(
            (
                found
                for found in other["entities"]
                if _forms(found) & _forms(entity) and found["name"] not in same.values()
            ),
            None,
        )
        if match:
            same[entity["name"]] = match["name"]
            mentions += _forms(entity, named=False) == _forms(match, named=False)
            types += entity["type"] == match["type"]
    left = {
        (
            same.get(relation["head"], (relation["head"],)),
            same.get(relation["tail"], (relation["tail"],)),
        )
        for relation in one["relations"]
    }
    right = {(relation["head"], relation["tail"]) for relation in other["relations"]}
    pairs, other_pairs = {frozenset(ends) for ends in left}, {frozenset(ends) for ends in right}
    both = pairs & other_pairs
    directed = {frozenset(ends) for ends in left & right}
    sizes = len(one["entities"]) + len(other["entities"]), len(pairs) + len(other_pairs)
    return len(same), mentions, types, len(both), len(directed), *sizes


def _forms(entity: Chunk, named: bool = True) -> set[str]:
    """The case-folded mentions, and the name."""
    return {form.casefold() for form in (*entity["mentions"], *([entity["name"]] if named else []))}


def passes() -> tuple[list[Chunk], list[Chunk]]:
    """The 20 chunks of the first annotation and of the second."""
    first, second = (
        [json.loads(line) for line in (PASSES / f"{name}.jsonl").read_text("utf-8").splitlines()]
        for name in ("first", "second")
    )
    return first, second


if __name__ == "__main__":
    for measure, value in agreement(*passes()).items():
        print(f"{measure:<12}{value:.3f}")
