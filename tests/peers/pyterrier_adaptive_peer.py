"""pyterrier-adaptive: the batches that its GAR reads in small random graphs, and its ranking, as JSON.

What its own models need (torch) is not installed: a module stands there of which nothing but a type's name can be read.
"""

from __future__ import annotations

import json
import random
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

sys.modules["torch"] = torch = ModuleType("torch")
torch.device = object  # named in the signatures of its models

import pandas as pd  # noqa: E402
import pyterrier as pt  # noqa: E402
from pyterrier_adaptive import GAR  # noqa: E402

CASES = 60
DOCUMENTS = "abcdefghijkl"


class Written(pt.Transformer):
    """A re-ranker whose scores are written down; it remembers what it was asked."""

    def __init__(self, scores: dict[str, float]):
        self.scores, self.asked = scores, []

    def transform(self, asked: pd.DataFrame) -> pd.DataFrame:
        self.asked.append(list(asked.docno))
        return asked.assign(score=[self.scores[name] for name in asked.docno])


class Near:
    """A corpus graph of given neighbours."""

    def __init__(self, near: dict[str, list[str]]):
        self.near = near

    def neighbours(self, name: str) -> list[str]:
        return self.near[name]


def case(number: int) -> dict:
    """Twelve documents with up to three neighbours each, some of them found first; in every other case many have one score."""
    chance = random.Random(number)
    places = lambda: [place / 100 for place in chance.sample(range(1, 100), len(DOCUMENTS))]
    few = lambda: [place / 4 for place in chance.choices(range(1, 4), k=len(DOCUMENTS))]
    draw = few if number % 2 else places
    near = {
        name: [other for other in chance.sample(DOCUMENTS, chance.randint(0, 3)) if other != name]
        for name in DOCUMENTS
    }
    scores = dict(zip(DOCUMENTS, draw()))
    first = {
        name: score
        for name, score in zip(chance.sample(DOCUMENTS, len(DOCUMENTS)), draw())
        if chance.random() < 0.4
    }
    budget, batch = chance.randint(3, 10), chance.randint(1, 3)
    asked = pd.DataFrame(
        {
            "qid": "1",
            "query": "q",
            "docno": list(first),
            "score": list(first.values()),
            "rank": range(len(first)),
        }
    )
    scorer = Written(scores)
    if first:
        found = GAR(scorer, Near(near), num_results=budget, batch_size=batch)(asked)
    else:
        found = pd.DataFrame({"docno": []})
    how = {"first": first, "near": near, "scores": scores, "budget": budget, "batch": batch}
    return {**how, "batches": scorer.asked, "order": list(found.docno)}


if __name__ == "__main__":
    told = {
        "program": f"pyterrier-adaptive {version('pyterrier-adaptive')}",
        "cases": [case(number) for number in range(CASES)],
    }
    Path(sys.argv[1]).write_text(json.dumps(told) + "\n", "utf-8")
