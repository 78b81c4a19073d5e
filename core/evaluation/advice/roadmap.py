"""Which method the In-depth Analysis recommends for a kind of question (Figure 13), and how it did on one's own texts."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.errors import BadInput, nearest
from core.evaluation.reports.recommendation import figure

FILE = Path(__file__).with_name("roadmap.toml")


@dataclass(frozen=True)
class Asked:
    """A question of the roadmap: its key, its text, and what may be answered, by key with words."""

    key: str
    title: str
    options: Mapping[str, str]


@dataclass(frozen=True)
class Leaf:
    """A recommendation: the answers that lead to it in their order, the instance and the paper's name of it, what the paper says and where.

    `inferred` says by what it was decided where the figure leaves it open, and `also` is the instance that the paper proposes itself.
    """

    when: Mapping[str, str]
    method: str
    name: str
    said: str
    place: str
    inferred: str = ""
    also: str = ""
    also_said: str = ""

    def words(self) -> list[str]:
        """It in sentences, with its place in the paper."""
        found = [f"The paper recommends {self.name} here ({PLACE}): {self.said} ({self.place}.)"]
        return [*found, *filter(None, [self.inferred, self.also_said])]


PLACE = "In-depth Analysis of Graph-based RAG, Figure 13"


@cache
def questions() -> dict[str, Asked]:
    """The questions of the roadmap, by key."""
    return {
        key: Asked(key, one["title"], one["options"]) for key, one in _file()["questions"].items()
    }


@cache
def leaves() -> tuple[Leaf, ...]:
    """The recommendations, in the order of the figure."""
    return tuple(
        Leaf(place=one["from"], **{key: value for key, value in one.items() if key != "from"})
        for one in _file()["leaves"]
    )


def advised(answers: Mapping[str, str]) -> Leaf | Asked:
    """The recommendation for these answers, or the question that is to be answered next.

    Answers to questions that are not on the way are passed over. Raises BadInput for a question or an answer that there is not.

    >>> from core.evaluation.advice.roadmap import advised
    >>> advised({"kind": "specific", "depth": "simple", "chunks": "human"}).name
    'VanillaRAG'
    >>> advised({"kind": "specific"}).title
    'Where is the answer?'
    """
    known = questions()
    for key, value in answers.items():
        if key not in known:
            raise BadInput(f"The roadmap has no question “{key}”.{nearest(key, known)}")
        if value not in known[key].options:
            raise BadInput(
                f"“{value}” is no answer to “{known[key].title}”.{nearest(value, known[key].options)}"
            )
    left, way = leaves(), dict[str, str]()
    while True:
        step = next((one for one in left[0].when if one not in way), "")
        if not step:
            return left[0]
        if step not in answers:
            return known[step]
        way[step] = answers[step]
        left = tuple(one for one in left if one.when.get(step) == answers[step])


def read_answers(text: str) -> dict[str, str]:
    """The answers of a text such as `specific,complex,low,more`, each to the question that is next. Raises BadInput for one that is no
    answer, or for more than there are questions."""
    answers: dict[str, str] = {}
    for word in filter(None, map(str.strip, text.split(","))):
        asked = advised(answers)
        if isinstance(asked, Leaf):
            raise BadInput(
                f"“{word}” is one answer too many: {', '.join(answers.values())} leads to {asked.name} already."
            )
        if word not in asked.options:
            raise BadInput(
                f"“{word}” is no answer to “{asked.title}”.{nearest(word, asked.options)}"
            )
        answers[asked.key] = word
    return answers


def measured(leaf: Leaf, shares: Mapping[str, float], names: Mapping[str, str], n: int) -> str:
    """How the recommended method did on one's own texts, beside the best there, in a sentence. `shares` are by instance the gold passages
    among the first four, of `n` made questions; `names` what instances are called.

    >>> from core.evaluation.advice.roadmap import leaves, measured
    >>> measured(leaves()[0], {"vanilla-rag": 0.5, "hybrid": 0.75}, {"vanilla-rag": "Vectors", "hybrid": "Both"}, 40)
    'On these texts (40 made questions): Vectors .50 of the gold passages among the first four; the best is Both with .75.'
    """
    if leaf.when.get("kind") == "abstract":
        return "Overviews were not compared on these texts: write-questions makes questions for that, and judge compares the answers."
    if not shares:
        return "Nothing was measured on these texts yet."
    if leaf.method not in shares:
        return f"{leaf.name} was not among the methods that were asked on these texts: evaluate --instances {leaf.method} asks it."
    best = max(shares, key=lambda one: shares[one])
    here = f"{names[leaf.method]} {figure(shares[leaf.method])} of the gold passages among the first four"
    if shares[leaf.method] == shares[best]:
        rest = "the best of all"
    else:
        rest = f"the best is {names[best]} with {figure(shares[best])}"
    return f"On these texts ({n:,} made questions): {here}; {rest}."


@cache
def _file() -> dict:
    return tomllib.loads(FILE.read_text("utf-8"))
