"""Entity linking of questions as written, in lower case, with one typing error, and with both.

    python -m tests.benchmarks linking
    python -m tests.benchmarks.linking --wrong 20 --part dev

The first uses 1,000 development questions and 1,000 test questions. The second also prints
questions that were linked to something else. A question is right if the linked names are exactly
its entity. Names that differ in case only are different.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np

from core.datasets import datasets
from core.graph.names.lookup import name_lookup
from core.types import Question

SAMPLE, SEED = 1_000, 13
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WAYS = ("as it is", "in lower case", "with a typing error", "with both")
OTHER = ("webqsp-cwq", "pathquestion-2hop", "pathquestion-3hop")


def run() -> list[dict]:
    """The rows of the benchmark: fractions and milliseconds."""
    from core.engine import Engine

    rows = []
    for part in ("dev", "test"):
        rows += _rows(f"linking {part}", Engine().graph("metaqa"), sample(part))
    for name in OTHER:
        dataset = datasets()[name]
        for title in dataset.sets:
            graph = Engine().graph(name) if dataset.sets[title].graph_scope != "question" else None
            if graph is not None:
                rows += _rows(
                    f"linking {title}", graph, _fitting(graph, dataset.questions(title)), WAYS[:1]
                )
    return rows


def sample(part: str, size: int = SAMPLE, seed: int = SEED) -> list[Question]:
    """Questions of MetaQA's 1, 2 and 3 hops in equal parts, without brackets around entities."""
    found: list[Question] = []
    rng = np.random.default_rng(seed)
    for hops, count in zip((1, 2, 3), (size - 2 * (size // 3), size // 3, size // 3)):
        known = datasets()["metaqa"].questions(f"metaqa-{hops}hop-{part}")
        found += [known[i] for i in np.sort(rng.choice(len(known), count, replace=False)).tolist()]
    return found


def typed(question: Question, way: str, rng: np.random.Generator) -> str:
    """The question as typed in this way."""
    text = question.text.replace("[", "").replace("]", "")
    if way in WAYS[2:]:
        name = question.entities[0]
        text = text.replace(name, mistyped(name, rng), 1)
    return text.lower() if way in (WAYS[1], WAYS[3]) else text


def mistyped(name: str, rng: np.random.Generator) -> str:
    """The name with one letter swapped, dropped, doubled or replaced.

    The result differs from the name by more than case.
    """
    places = [i for i, letter in enumerate(name) if letter.isalpha()]
    for _ in range(20):
        kind, at = int(rng.integers(4)), int(rng.choice(places)) if places else 0
        if not places:
            break
        if kind == 0:
            told = name[:at] + name[at + 1 : at + 2] + name[at] + name[at + 2 :]
        elif kind == 1:
            told = name[:at] + name[at + 1 :]
        elif kind == 2:
            told = name[:at] + name[at] + name[at:]
        else:
            told = name[:at] + str(rng.choice(list(LETTERS))) + name[at + 1 :]
        if told.strip().casefold() != name.casefold() and told.strip():
            return told
    return name


def linked(graph, text: str) -> set[str]:
    """The names that a text is linked to."""
    return {graph.node_name(mention.node) for mention in name_lookup(graph).find_mentions(text)}


def judged(
    graph, questions: list[Question], way: str, link: Callable = linked
) -> Iterator[tuple[Question, str, set[str], float]]:
    """Each question with the typed text, the linked names, and the processor seconds."""
    rng = np.random.default_rng(SEED)
    for question in questions:
        text = typed(question, way, rng)
        start = time.thread_time()
        found = link(graph, text)
        yield question, text, found, time.thread_time() - start


def _rows(name: str, graph, questions: list[Question], ways=WAYS) -> list[dict]:
    name_lookup(graph).find_mentions("warm up")
    rows = []
    for way in ways:
        told = list(judged(graph, questions, way))
        right = sum(found == set(question.entities) for question, _, found, _ in told)
        held = sum(set(question.entities) <= found for question, _, found, _ in told)
        seconds = np.array([one[3] for one in told]) * 1e3
        note = f"of {len(told):,}; {held / len(told):.3f} hold it among others"
        rows.append(
            {"name": f"{name}: {way}", "value": right / len(told), "unit": "share", "note": note}
        )
        note = f"largest {seconds.max():.0f}"
        rows.append(
            {
                "name": f"{name}: {way}, a question",
                "value": float(np.median(seconds)),
                "unit": "ms",
                "note": note,
            }
        )
    return rows


def _fitting(graph, questions: list[Question], most: int = SAMPLE) -> list[Question]:
    """Up to `most` questions whose entities are all in the graph, evenly spread."""
    fit = [
        question
        for question in questions
        if question.entities and all(graph.nodes_named(name) for name in question.entities)
    ]
    if fit:
        return [
            fit[i] for i in np.unique(np.linspace(0, len(fit) - 1, min(most, len(fit))).astype(int))
        ]
    return []


def main() -> None:
    """Print the fractions of one part, and questions linked to something else."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.linking")
    parser.add_argument("--part", default="dev")
    parser.add_argument("--wrong", type=int, default=20)
    options = parser.parse_args()
    from core.engine import Engine

    graph = Engine().graph("metaqa")
    for way in WAYS:
        told = list(judged(graph, sample(options.part), way))
        wrong = [one for one in told if one[2] != set(one[0].entities)]
        print(f"{way}: {1 - len(wrong) / len(told):.3f}")
        for question, text, found, _ in wrong[: options.wrong]:
            print(f"    {text} | {question.entities[0]} | {sorted(found)}")


if __name__ == "__main__":
    main()
