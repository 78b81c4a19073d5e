"""Ten instances answer ten questions as they did when the answers were recorded.

To the byte, except that paths of close scores may change places: an encoder's digits differ from one kind of processor to another.
A change that is meant to change answers records them anew: python -m tests.core.instances.test_recorded_answers
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.comparison.run import LaneRun, Prefixes, Progress
from core.engine import Engine
from core.instances.catalogue import catalogue
from core.types import Question

RECORDED = Path(__file__).with_name("recorded_answers.json")
INSTANCES = (
    *("lego-1", "lego-2", "lego-6", "lego-12", "lego-14", "lego-14-triple"),
    *("chain-ranking", "chain-intersection", "chain-votes", "case-memory-100"),
)
QUESTIONS = (
    "which person directed the movie Inception",
    "what genre is the film The Matrix",
    "who directed the movies written by Woody Allen",
    "who starred in the films directed by Ridley Scott",
    "which movies have the same actor of Alien",
    "what are the languages spoken in the films directed by Akira Kurosawa",
    "when did the films written by Joel Coen release",
    "what types are the films starred by actors in Blade Runner",
    "which films did Christopher Nolan direct and Michael Caine star in",
    "who are movie co-writers of Charlie Kaufman",
)
KEPT = 12  # paths of each lane
CLOSE = 3e-3  # what the scores of two processors may differ by: up to 0.0018 was seen, where one computes in bfloat16


def found(graph, text: str) -> dict[str, dict]:
    """By instance its best paths, in words, and the first answers of the graph reader; no language model answers."""
    engine, prefixes, lanes = Engine(), Prefixes(), {}
    ask = engine.ask(graph, Question(text), model=False)
    for name in INSTANCES:
        lane = LaneRun(ask, catalogue()[name].line, engine.environment, prefixes)
        lane.retrieve(Progress())
        paths = lane.state.paths.head(KEPT)
        scores = [None] * len(paths.items) if paths.scores is None else [round(float(score), 5) for score in paths.scores]
        lanes[name] = {"paths": graph.texts(paths.items), "scores": scores, "answers": list(graph.names(lane.state.reader[:KEPT]))}
    return lanes


def alike(before: dict, after: dict) -> bool:
    """Whether the same paths have scores that are close, and one that only one of the two has was as close to being cut off there."""
    if None in before["scores"] or None in after["scores"]:
        return before["paths"] == after["paths"]
    was, now = (dict(zip(one["paths"], one["scores"], strict=True)) for one in (before, after))
    if any(abs(was[path] - now[path]) > CLOSE for path in was.keys() & now.keys()):
        return False
    last = max(min(was.values()), min(now.values())) + CLOSE
    return len(was) == len(now) and all((was | now)[path] <= last for path in was.keys() ^ now.keys())


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_those_recorded(movies, question):
    if not Engine().models.info("encoder").present:
        pytest.skip("the encoder is not on this computer: python -m core prepare")
    recorded, now = json.loads(RECORDED.read_text("utf-8"))[question], found(movies, question)
    for name in INSTANCES:
        before, after = recorded[name], now[name]
        if after["paths"] == before["paths"]:
            assert after["answers"] == before["answers"], name
        else:
            assert alike(before, after), name


if __name__ == "__main__":
    graph = Engine().graph("metaqa")
    answers = {text: found(graph, text) for text in QUESTIONS}
    RECORDED.write_text(json.dumps(answers, ensure_ascii=False, indent=0) + "\n", "utf-8")
