"""Ten instances answer ten questions as they did when the answers were recorded.

To the byte, except that paths whose scores agree to four digits may change places: the last digits of an encoder differ from one processor
to another. A change that is meant to change answers records them anew: python -m tests.core.instances.test_recorded_answers
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
CLOSE = 1e-4  # scores that two processors may put in different orders


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


def runs(lane: dict) -> list[set[str]]:
    """The lane's paths by place, those of close scores together, without the last of these runs, which the cut may have parted."""
    grouped: list[set[str]] = []
    for i, (path, score) in enumerate(zip(lane["paths"], lane["scores"], strict=True)):
        if i and score is not None and abs(score - lane["scores"][i - 1]) < CLOSE:
            grouped[-1].add(path)
        else:
            grouped.append({path})
    return grouped[:-1]


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
            assert runs(after) == runs(before), name


if __name__ == "__main__":
    graph = Engine().graph("metaqa")
    answers = {text: found(graph, text) for text in QUESTIONS}
    RECORDED.write_text(json.dumps(answers, ensure_ascii=False, indent=0) + "\n", "utf-8")
