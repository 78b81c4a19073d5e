"""pyterrier-adaptive: batches and rankings of its GAR in small random graphs, as JSON.

torch, which only its own models need, is not installed: a stub module has the one type that its
signatures name.
"""

from __future__ import annotations

import json
import random
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

sys.modules["torch"] = torch = ModuleType("torch")
torch.device = object  # The signatures of its models name this type.

import pandas as pd  # noqa: E402
import pyterrier as pt  # noqa: E402
from pyterrier_adaptive import GAR  # noqa: E402

CASES = 60
DOCUMENTS = "abcdefghijkl"


class FixedScores(pt.Transformer):
    """A reranker with fixed scores that records its requests."""

    def __init__(self, scores: dict[str, float]):
        self.scores, self.asked = scores, []

    def transform(self, asked: pd.DataFrame) -> pd.DataFrame:
        self.asked.append(list(asked.docno))
        return asked.assign(score=[self.scores[name] for name in asked.docno])


class GivenNeighbours:
    """A corpus graph with given neighbours."""

    def __init__(self, near: dict[str, list[str]]):
        self.near = near

    def neighbours(self, name: str) -> list[str]:
        return self.near[name]


def case(number: int) -> dict:
    """Twelve documents with up to three neighbours each, some of them as initial hits.

    In every other case many scores are equal.
    """
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
    scorer = FixedScores(scores)
    if first:
        found = GAR(scorer, GivenNeighbours(near), num_results=budget, batch_size=batch)(asked)
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
