"""Roadmap of the In-depth Analysis (Figure 13): the recommended method for a kind of question.

The figure is a decision tree. Its questions and leaves are in `roadmap.toml`. A recommendation is
reported with the method's result on the user's own texts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.errors import BadInput, suggest_name
from core.evaluation.reports.export import format_share

ROADMAP_FILE = Path(__file__).with_name("roadmap.toml")
ROADMAP_SOURCE = "In-depth Analysis of Graph-based RAG, Figure 13"


@dataclass(frozen=True)
class RoadmapQuestion:
    """A question of the roadmap: its key, its text, and the possible answers by key."""

    key: str
    title: str
    options: Mapping[str, str]


@dataclass(frozen=True)
class Leaf:
    """A leaf of the roadmap: a recommended method.

    Parameters
    ----------
    when : the answers that lead to the leaf, by key of the question and in their order.
    method : id of the recommended method.
    name : its name in the paper.
    said : the paper's statement on it.
    place : location of the statement in the paper, such as a section.
    inferred : how the choice was made if the figure leaves it open; else empty.
    also : id of a method that the paper itself proposes for this case; empty if there is none.
    also_said : the paper's statement on that method.
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
        """Return the recommendation as sentences, with its location in the paper."""
        sentence = (
            f"The paper recommends {self.name} here ({ROADMAP_SOURCE}): {self.said} ({self.place}.)"
        )
        return [sentence, *filter(None, [self.inferred, self.also_said])]


@cache
def roadmap_questions() -> dict[str, RoadmapQuestion]:
    """Return the questions of the roadmap, by key."""
    return {
        key: RoadmapQuestion(key, row["title"], row["options"])
        for key, row in _load_roadmap()["questions"].items()
    }


@cache
def roadmap_leaves() -> tuple[Leaf, ...]:
    """Return the recommendations, in the order of the figure."""
    return tuple(
        # `from` is a keyword of Python, so the field has another name than the key.
        Leaf(place=row["from"], **{key: value for key, value in row.items() if key != "from"})
        for row in _load_roadmap()["leaves"]
    )


def next_roadmap_step(answers: Mapping[str, str]) -> Leaf | RoadmapQuestion:
    """Return the recommendation for some answers, or the next question to be answered.

    Answers to questions that the other answers do not lead to are ignored. Raises BadInput for an
    unknown question or answer.

    >>> from core.evaluation.advice.roadmap import next_roadmap_step
    >>> next_roadmap_step({"kind": "specific", "depth": "simple", "chunks": "human"}).name
    'VanillaRAG'
    >>> next_roadmap_step({"kind": "specific"}).title
    'Where is the answer?'
    """
    questions_by_key = roadmap_questions()
    for key, value in answers.items():
        if key not in questions_by_key:
            raise BadInput(
                f"The roadmap has no question “{key}”.{suggest_name(key, questions_by_key)}"
            )
        if value not in questions_by_key[key].options:
            raise BadInput(
                f"“{value}” is no answer to "
                f"“{questions_by_key[key].title}”."
                f"{suggest_name(value, questions_by_key[key].options)}"
            )
    leaves = roadmap_leaves()  # those that the answers so far allow
    answered: set[str] = set()
    # The tree is given by its leaves: those that agree in some answers have the same next question.
    while True:
        key = next((key for key in leaves[0].when if key not in answered), "")
        if not key:
            return leaves[0]
        if key not in answers:
            return questions_by_key[key]
        answered.add(key)
        leaves = tuple(leaf for leaf in leaves if leaf.when.get(key) == answers[key])


def read_answers(text: str) -> dict[str, str]:
    """Return the answers in a text such as “specific,complex,low,more”, by key of the question.

    Each word answers the next question. Raises BadInput for a word that is no answer, or if there
    are more words than questions.
    """
    answers: dict[str, str] = {}
    step = next_roadmap_step(answers)
    for word in filter(None, map(str.strip, text.split(","))):
        if isinstance(step, Leaf):
            raise BadInput(
                f"“{word}” is one answer too many: {', '.join(answers.values())} leads to "
                f"{step.name} already."
            )
        answers[step.key] = word
        step = next_roadmap_step(answers)  # refuses a word that is no answer
    return answers


def measured_sentence(
    leaf: Leaf, shares: Mapping[str, float], names: Mapping[str, str], n: int
) -> str:
    """Return a sentence on the recommended method's result on the user's texts.

    The sentence also names the best method.

    Parameters
    ----------
    leaf : a leaf of the roadmap, with its recommended method.
    shares : share of gold passages among the first four, by method id. Empty if nothing was
        measured.
    names : names of the methods by id.
    n : number of made questions that all methods were asked.

    Returns
    -------
    A sentence. It says so if the method was not among those measured, or nothing was measured.

    Examples
    --------
    >>> from core.evaluation.advice.roadmap import roadmap_leaves, measured_sentence
    >>> measured_sentence(roadmap_leaves()[0], {"vanilla-rag": 0.5, "hybrid": 0.75},
    ...          {"vanilla-rag": "Vectors", "hybrid": "Both"}, 40)
    'On these texts (40 made questions): Vectors .50 of the evidence among the first four passages;
    the best is Both with .75.'
    """
    if leaf.when.get("kind") == "abstract":
        return (
            "Overviews were not compared on these texts. Generate questions about them, then grade "
            "the answers in pairs."
        )
    if not shares:
        return "Nothing was measured on these texts yet."
    if leaf.method not in shares:
        return (
            f"{leaf.name} was not among the methods that were asked on these texts. Evaluate can ask "
            f"it: {leaf.method}."
        )
    best = max(shares, key=lambda method: shares[method])
    own_result = (
        f"{names[leaf.method]} {format_share(shares[leaf.method])} of the evidence among the "
        "first four passages"
    )
    if shares[leaf.method] == shares[best]:
        best_result = "the best of all"
    else:
        best_result = f"the best is {names[best]} with {format_share(shares[best])}"
    return f"On these texts ({n:,} made questions): {own_result}; {best_result}."


@cache
def _load_roadmap() -> dict:
    return tomllib.loads(ROADMAP_FILE.read_text("utf-8"))
